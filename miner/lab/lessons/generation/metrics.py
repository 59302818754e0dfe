"""Words, what is known of the training texts, and the seventeen metrics of GD.

GD computes them with dialog-eval (github.com/ricsinaruto/dialog-eval). What each metric is and what
it skips is taken from there; the tests hold examples worked by hand. All but two are the mean over
answers of a number that each answer has for itself; an answer that a metric skips has none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from math import log2, nan
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from miner.errors import InputError
from miner.extras import import_extra
from miner.lab.lessons.embeddings import WordVectors
from miner.lab.lessons.examples import Example, books_of
from miner.lab.lessons.generation.answers import Answer
from miner.languages.en import LANGUAGE

if TYPE_CHECKING:
    from nltk.tokenize import NLTKWordTokenizer, PunktSentenceTokenizer

NGram = tuple[str, ...]
Words = tuple[str, ...]
# The number of each answer by one metric, [answers]; NaN where the metric skips the answer.
Values = NDArray[np.float64]
MetricValues = Mapping[str, Values]  # by the name of the metric
_Matrix = NDArray[np.float64]
_Item = TypeVar("_Item", bound=Hashable)

EXTRA = "generation"  # what brings NLTK
UNKNOWN = "<unk>"  # what a word is that is not in the vocabulary; never a word of `split_words`
MOST_WORDS = 100_000  # of a vocabulary; GD, section 5.2
_SMALL = 0.001  # the weight of a word is this over the sum of it and the word's probability
SMOOTHING = 4  # of the methods of NLTK, after Chen and Cherry (2014); the default of dialog-eval
# As in dialog-eval: three times 0.33, so that b3 is a little above the BLEU of thirds.
_WEIGHTS = ((1, 0, 0, 0), (0.5, 0.5, 0, 0), (0.33, 0.33, 0.33, 0), (0.25, 0.25, 0.25, 0.25))
# As people type, so that typography makes no difference: NLTK leaves "well—no" one word.
_AS_TYPED = str.maketrans(
    {"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "‚": "'", "—": "--", "…": "..."}
)
_ABBREVIATIONS = frozenset(
    "ms prof capt col gen rev hon lieut serjt sergt sgt supt esq jr".split()
) | {one.lower() for one in LANGUAGE.attribution.abbreviations}


def split_words(text: str) -> list[str]:
    """Returns the words of a text as GD prepares it: in lower case, the tokens of NLTK (5.2).

    NLTK divides a text into sentences first, so that only the full stop of a sentence becomes a
    word of its own. The trained rules for it are a download, and words must not depend on what is
    on a computer: here a full stop ends a sentence unless it stands after an abbreviation or an
    initial. Contractions and abbreviations are those of English; in other languages words are
    those between blanks and punctuation, and scores cannot be compared across languages.

    >>> split_words("“Don’t!” said Mr. Otway—twice.")
    ['``', 'do', "n't", '!', "''", 'said', 'mr.', 'otway', '--', 'twice', '.']
    """
    sentences, words = _tokenizers()
    typed = text.translate(_AS_TYPED).lower()
    return [word for sentence in sentences.tokenize(typed) for word in words.tokenize(sentence)]


@cache
def _tokenizers() -> tuple[PunktSentenceTokenizer, NLTKWordTokenizer]:
    punkt = import_extra("nltk.tokenize.punkt", EXTRA)
    rules = punkt.PunktParameters()
    rules.abbrev_types |= _ABBREVIATIONS
    library = import_extra("nltk.tokenize", EXTRA)
    return punkt.PunktSentenceTokenizer(rules), library.NLTKWordTokenizer()


def nltk_version() -> str:
    """Returns the version of NLTK, by which BLEU and words may differ."""
    return import_extra("nltk", EXTRA).__version__


def n_grams(words: Sequence[str], n: int) -> Iterator[NGram]:
    """Yields the `n` words from each word on, as many times as there are.

    >>> list(n_grams(["a", "lamp", "burns"], 2))
    [('a', 'lamp'), ('lamp', 'burns')]
    """
    return zip(*(words[start:] for start in range(n)), strict=False)


def count_n_grams(texts: Iterable[Sequence[str]], n: int) -> Counter[NGram]:
    """Returns how often each n-gram is in texts; none crosses from one text to the next."""
    return Counter(one for words in texts for one in n_grams(words, n))


def share_counts(counts: Mapping[_Item, int]) -> dict[_Item, float]:
    """Returns the share of each in all of them, 0..1."""
    total = sum(counts.values())
    return {one: n / total for one, n in counts.items()}


@dataclass(frozen=True, slots=True)
class Reference:
    """What the scores of answers need of training texts.

    The probabilities of words and bigrams are those of the last turns of contexts, as dialog-eval
    takes those of the source utterances. In mined dialogues nearly every response is also the last
    turn of the next context; so a corpus counts each turn once, however long its contexts are.
    """

    source: str  # what a record says of where the texts come from ("corpus/jsonl/pairs, train")
    vocabulary: frozenset[str]  # the most frequent words of the texts
    probabilities: Mapping[int, Mapping[NGram, float]]  # of words under 1, of bigrams under 2
    responses: tuple[str, ...]  # those from which random ones are drawn
    books: tuple[str, ...]  # the ids of the books of the texts
    n_words: int  # how many words the turns have
    sha256: str  # of the turns and the responses

    def known(self, words: Iterable[str]) -> list[str]:
        """Returns the words, with `UNKNOWN` for each that is not in the vocabulary."""
        return [word if word in self.vocabulary else UNKNOWN for word in words]

    def probability(self, word: str) -> float:
        """Returns the probability of a word; 0 if it is not in the vocabulary."""
        return self.probabilities[1].get((word,), 0.0)

    def draw_responses(self, n: int, seed: int) -> list[str]:
        """Returns responses that are drawn by chance, each once where there are enough of them."""
        random = np.random.default_rng(seed)
        n_responses = len(self.responses)
        drawn = random.choice(n_responses, n, replace=n > n_responses)
        return [self.responses[number] for number in drawn.tolist()]

    def describe(self) -> str:
        """Returns what the texts are, in one line."""
        return (
            f"{self.source}@{self.sha256[:8]}, {len(self.responses):,} turns of "
            f"{self.n_words:,} words, a vocabulary of {len(self.vocabulary):,}"
        )


def make_reference(
    examples: Sequence[Example],
    source: str,
    *,
    most_words: int = MOST_WORDS,
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> Reference:
    """Returns what the scores of answers need of the examples that models were trained on."""
    turns: list[list[str]] = []
    digest = sha256()
    for done, one in enumerate(examples, 1):
        turns.append(split_words(one.context[-1]))
        digest.update(f"{one.context[-1]}\0{one.response}\0".encode())
        progress(done, len(examples))
    counts = Counter(word for turn in turns for word in turn)
    if not counts:
        raise InputError(f"{source}: found no words, expected training texts")
    frequent = sorted(counts, key=lambda word: (-counts[word], word))
    vocabulary = frozenset(frequent[:most_words])
    known = [[word if word in vocabulary else UNKNOWN for word in turn] for turn in turns]
    return Reference(
        source,
        vocabulary,
        {n: share_counts(count_n_grams(known, n)) for n in (1, 2)},
        tuple(one.response for one in examples),
        books_of(examples),
        counts.total(),
        digest.hexdigest(),
    )


@dataclass(frozen=True, slots=True)
class AnswerWords:
    """The words of an answer."""

    context: Words  # those of the last turn of the context, which the response answers
    response: Words  # those of the true response
    predicted: Words  # those of the model's response


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric as tables show it."""

    name: str  # its head
    about: str  # what it is, for the legend
    digits: int  # behind the decimal point
    less_is_better: bool = False  # whether GD takes the smallest value for the best one
    needs_vectors: bool = False  # whether it is computed of word vectors


# In the order of GD's tables.
METRICS = (
    Metric("|U|", "words of an answer", 1),
    Metric("Hwu", "entropy of its words, mean over words, in bits", 2),
    Metric("Hwb", "the same of bigrams", 2),
    Metric("Huu", "entropy of its words, summed over the answer, in bits", 1),
    Metric("Hub", "the same of bigrams", 1),
    Metric("KLu", "divergence of words from those of the true responses, in bits", 2, True),
    Metric("KLb", "the same of bigrams", 2, True),
    Metric("AVG", "cosine of the mean vectors of answer and true response", 3, False, True),
    Metric("EXT", "cosine of their extreme vectors", 3, False, True),
    Metric("GRE", "mean cosine of each word and the most similar one", 3, False, True),
    Metric("COH", "cosine of the mean vectors of answer and context", 3, False, True),
    Metric("d1", "different words by all words of all answers", 4),
    Metric("d2", "different bigrams by all bigrams", 3),
    Metric("b1", "BLEU of words", 3),
    Metric("b2", "BLEU of up to 2 words", 3),
    Metric("b3", "BLEU of up to 3 words", 3),
    Metric("b4", "BLEU of up to 4 words", 3),
)


def split_answers(
    answers: Sequence[Answer], progress: Callable[[int, int], object] = lambda done, total: None
) -> list[AnswerWords]:
    """Returns the words of answers."""
    found: list[AnswerWords] = []
    for answer in answers:
        texts = (answer.context[-1], answer.response, answer.predicted)
        found.append(AnswerWords(*(tuple(split_words(text)) for text in texts)))
        progress(len(found), len(answers))
    return found


def lengths(rows: Sequence[AnswerWords]) -> MetricValues:
    """Returns |U|, the number of words of each answer; 0 of one without a word (GD, 5.1)."""
    return {"|U|": np.array([len(row.predicted) for row in rows], np.float64)}


def entropies(rows: Sequence[AnswerWords], reference: Reference) -> MetricValues:
    """Returns the entropies of each answer by its words (u) and its bigrams (b).

    Hw = -1/|U| sum of log2 p(w) over the words w, or the bigrams w, of the answer U, and
    Hu = -sum of log2 p(w) (Serban et al. 2017; GD, 5.1). p is the probability in the training
    texts. As in dialog-eval, a word outside the vocabulary is `UNKNOWN`
    and a word of probability 0 is skipped, which |U| does not count either; an answer without any
    other word is skipped.
    """
    found: dict[str, Values] = {}
    for n, letter in ((1, "u"), (2, "b")):
        probabilities = reference.probabilities[n]
        sums, means = np.full(len(rows), nan), np.full(len(rows), nan)
        for number, row in enumerate(rows):
            bits = [
                -log2(probabilities[one])
                for one in n_grams(reference.known(row.predicted), n)
                if one in probabilities
            ]
            if bits:
                sums[number] = sum(bits)
                means[number] = sum(bits) / len(bits)
        found |= {f"Hw{letter}": means, f"Hu{letter}": sums}
    return found


def divergences(rows: Sequence[AnswerWords], reference: Reference) -> MetricValues:
    """Returns the divergence of each true response by its words (u) and its bigrams (b).

    KL = 1/|R| sum of log2(p(w) / q(w)) over the words w of the true response R (Csáky et al. 2019;
    GD, 5.1). p is the probability of a word in all true responses, q that in all answers, both
    among the words that both have, `UNKNOWN` with them. Other words are skipped, and so is a
    response without any other. So answers that share one word with the true responses have a
    divergence of 0, however far they are from them.

    As in dialog-eval, a word outside the vocabulary counts for the probabilities, but is skipped
    itself, and so is a pair that begins with it.
    """
    found: dict[str, Values] = {}
    true = [reference.known(row.response) for row in rows]
    predicted = [reference.known(row.predicted) for row in rows]
    for n, name in ((1, "KLu"), (2, "KLb")):
        of_true, of_predicted = count_n_grams(true, n), count_n_grams(predicted, n)
        both = of_true.keys() & of_predicted.keys()
        p = share_counts({one: of_true[one] for one in both})
        q = share_counts({one: of_predicted[one] for one in both})
        values = np.full(len(rows), nan)
        for number, words in enumerate(true):
            bits = [
                log2(p[one] / q[one])
                for one in n_grams(words, n)
                if one in both and one[0] != UNKNOWN
            ]
            if bits:
                values[number] = sum(bits) / len(bits)
        found[name] = values
    return found


def likenesses(
    rows: Sequence[AnswerWords], reference: Reference, vectors: WordVectors
) -> MetricValues:
    """Returns AVG, EXT, GRE and COH of each answer, cosines of -1..1.

    - AVG is the cosine of the mean vectors of the answer and of the true response: the mean of
      v(w) 0.001 / (0.001 + p(w)) over the words w, p(w) being their probability in the training
      texts, 0 outside the vocabulary (Liu et al. 2016, with the weights of Arora et al. 2017; GD,
      5.1).
    - COH is the same cosine of the answer and the last turn of the context (Xu et al. 2018; GD,
      5.1).
    - EXT is the cosine of the extreme vectors: in each dimension the number of the largest absolute
      value among the words (Liu et al. 2016; GD, 5.1).
    - GRE is the mean, over the words of the answer, of the largest cosine with a word of the true
      response, and the same from the true response to the answer; the mean of both (Liu et al.
      2016; GD, 5.1). As in dialog-eval a largest cosine below 0 counts as 0, and an answer is
      skipped if one of both means is 0.

    A word without a vector is skipped, and an answer if it, or what it is compared with, has no
    other word.
    """
    found = {name: np.full(len(rows), nan) for name in ("AVG", "EXT", "GRE", "COH")}
    for number, row in enumerate(rows):
        predicted = _Vectors(row.predicted, reference, vectors)
        true = _Vectors(row.response, reference, vectors)
        context = _Vectors(row.context, reference, vectors)
        if predicted.is_empty:
            continue
        if not context.is_empty:
            found["COH"][number] = _cosine(predicted.mean(), context.mean())
        if not true.is_empty:
            found["AVG"][number] = _cosine(predicted.mean(), true.mean())
            found["EXT"][number] = _cosine(predicted.extreme(), true.extreme())
            found["GRE"][number] = _greedy(predicted.vectors, true.vectors)
    return found


class _Vectors:
    """The vectors of the words of a text that have one, [words, d], and their weights, [words]."""

    def __init__(self, words: Sequence[str], reference: Reference, vectors: WordVectors) -> None:
        of_word = vectors.of_word
        found = [word for word in words if word in of_word]
        self.is_empty = not found
        self.vectors: _Matrix = np.array([of_word[word] for word in found], np.float64)
        self._weights = np.array(
            [_SMALL / (_SMALL + reference.probability(word)) for word in found], np.float64
        )

    def mean(self) -> _Matrix:
        return self._weights @ self.vectors / len(self.vectors)

    def extreme(self) -> _Matrix:
        largest = np.abs(self.vectors).argmax(axis=0)
        return self.vectors[largest, np.arange(self.vectors.shape[1])]


def _cosine(one: _Matrix, other: _Matrix) -> float:
    """The cosine of two vectors; NaN if one of them is 0."""
    lengths = np.linalg.norm(one) * np.linalg.norm(other)
    return float(one @ other / lengths) if lengths else nan


def _greedy(one: _Matrix, other: _Matrix) -> float:
    cosines = _unit(one) @ _unit(other).T
    sides = [cosines.max(axis=axis).clip(min=0).mean() for axis in (1, 0)]
    return float(np.mean(sides)) if all(sides) else nan


def _unit(vectors: _Matrix) -> _Matrix:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def distinct(
    rows: Sequence[AnswerWords], reference: Reference, n: int, groups: NDArray[np.int64]
) -> tuple[float, Values]:
    """Returns dn of all answers, and dn without those of each group.

    dn = different n-grams / all n-grams of all answers, 0..1 (Li et al. 2016; GD, 5.1). As in
    dialog-eval, all words outside the vocabulary are one word. It is NaN if there is no n-gram.
    """
    of_group: list[Counter[NGram]] = [Counter() for _ in range(groups.max(initial=-1) + 1)]
    for row, group in zip(rows, groups.tolist(), strict=True):
        of_group[group].update(count_n_grams([reference.known(row.predicted)], n))
    counts = Counter[NGram]()
    for one in of_group:
        counts.update(one)
    n_all = counts.total()
    left_out = np.full(len(of_group), nan)
    for number, one in enumerate(of_group):
        n_only_here = sum(counts[n_gram] == times for n_gram, times in one.items())
        if n_left := n_all - one.total():
            left_out[number] = (len(counts) - n_only_here) / n_left
    return (len(counts) / n_all if n_all else nan), left_out


def bleus(rows: Sequence[AnswerWords]) -> MetricValues:
    """Returns b1 to b4 of each answer, the sentence BLEU of NLTK, 0..1.

    bn = BP exp(sum of w log p over 1..n), where p is the share of the i-grams of the answer that
    the true response has, too, w the weight of each i, and BP = exp(1 - |R| / |U|) for an answer
    shorter than the true response, else 1 (Papineni et al. 2002; GD, 5.1). Method 4 of Chen and
    Cherry puts a small number for a share of 0, if the answer has two words or more. So b3 and b4
    of an answer of two words are below 1 even if it is the true response, and b4 of one of three.
    Without a shared word all are 0.
    """
    library = import_extra("nltk.translate.bleu_score", EXTRA)
    smoothing = library.SmoothingFunction().method4
    values = [
        library.sentence_bleu([row.response], row.predicted, _WEIGHTS, smoothing) for row in rows
    ]
    columns = np.array(values, np.float64).reshape(len(rows), len(_WEIGHTS)).T
    return {f"b{n}": column for n, column in enumerate(columns, 1)}
