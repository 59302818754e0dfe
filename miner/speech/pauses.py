"""The words on both sides of a narrator's interruption -> whether the speaker pauses there.

In “I think,” said Ann, “that it rains” the comma belongs to the narrator; in “Well,” said Ann, “it
rains” to the speaker, too. The page does not show which. But most speech is not interrupted, and
shows where speakers pause: there stands a comma or another stop, and between other words nothing.
So a logistic regression learns from uninterrupted speech which words have a pause between them. A
narrator rather breaks in where there is one, which moves its threshold.

A feature is a text such as the last word before and the first after, with its sign; its number is
a hash of it and of the language, so that no list of words is needed. Most features tell little and
have no weight.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from zlib import crc32

import numpy as np

from miner.errors import InputError
from miner.files import printable
from miner.languages.registry import LANGUAGES
from miner.speech.weight_file import find_weights, read_weights

WEIGHTS = Path(__file__).parent / "weights" / "pauses"
N_FEATURES = 2**24  # so many that seldom two share a number
REACH = 10  # tokens on either side
_LONGEST = 200  # characters on either side in which they are looked for
_END = 3  # letters of a word by which kindred forms are one
_MOST = 8  # words that are told from more words
_SHORT = 3  # words of a stretch that is known as a whole: "my dear", "of course"
_TITLE_STOP = "."
_SENTENCE_ENDS = ".!?"

Tokens = Sequence[str]


def read_tokens(text: str, language: str) -> list[str]:
    """Returns the words and stops of a text; an abbreviated title keeps its full stop."""
    return _tokens(language).findall(text)


@cache
def _tokens(language: str) -> re.Pattern[str]:
    found = LANGUAGES.get(language)
    titles = found.speech.abbreviations if found else ""
    return re.compile(rf"(?:{titles or '(?!)'})\.|[^\W_]+(?:[’'-][^\W_]+)*[’']?|[^\w\s]+")


def is_word(token: str) -> bool:
    """Whether a token is a word and no stop."""
    return token[:1].isalnum()


def read_pause_features(before: Tokens, after: Tokens, language: str) -> list[int]:
    """Returns the numbers of the features of a place between two words.

    Args:
        before: the tokens before it, the nearest first, at most `REACH`.
        after: the tokens after it, at most `REACH`.
        language: the code of the language.
    """
    seed = crc32(language.encode())
    return [crc32(one.encode(), seed) % N_FEATURES for one in _features(before, after)]


def _features(before: Tokens, after: Tokens) -> Iterator[str]:
    """Yields the features of a place as texts. A sign at the start tells them apart."""
    printed, following = _stretch(before), _stretch(after)
    left, right = [word.lower() for word in printed], [word.lower() for word in following]
    is_whole = len(left) < REACH
    last, second, third = (*left[:3], "^", "^", "^")[:3]
    first, next_, beyond = (*right[:3], "$", "$", "$")[:3]
    opener = left[-1] if is_whole else "..."
    openers = " ".join(left[:-3:-1]) if is_whole else "..."
    n_left, n_right = min(len(left), _MOST), min(len(right), _MOST)
    stop = before[len(left)][0] if len(left) < len(before) else "^"
    end = after[len(right)][0] if len(right) < len(after) else "$"
    close = next((token[0] for token in after if token[0] in _SENTENCE_ENDS), "$")
    capitals = _capital(before[0]), _capital(after[0])
    size = f"{capitals[0]}{n_left}"
    names = (*map(_name_or_word, printed[:3]), "^", "^")
    two, three = " ".join(names[1::-1]), " ".join(names[2::-1])
    is_repeated = first in (opener, last), openers == f"{first} {next_}"
    yield from (
        "",  # the language alone
        # The words alone, and the last before with the first after.
        f"a{last}",
        f"b{second} {last}",
        f"c{third} {second} {last}",
        f"d{first}",
        f"e{first} {next_}",
        f"f{first} {next_} {beyond}",
        f"g{last}|{first}",
        f"h{second} {last}|{first}",
        f"i{last}|{first} {next_}",
        f"j{second}|{first}",
        f"k{last}|{next_}",
        # The ends of words.
        f"l{last[-_END:]}",
        f"m{first[-_END:]}",
        f"n{last[-_END:]}|{first}",
        f"o{last}|{first[-_END:]}",
        f"p{last[-_END:]}|{first[-_END:]}",
        # The beginning of the stretch before.
        f"q{opener}",
        f"r{opener}|{n_left}",
        f"s{opener}|{first}",
        f"t{opener}|{first} {next_}",
        f"u{opener}|{first[-_END:]}|{n_right}",
        f"v{openers}",
        f"w{openers}|{first}",
        # How long the stretches are, and which stops stand around them.
        f"x{n_left} {n_right}",
        f"y{stop}{n_left}",
        f"z{end}{n_right}",
        f"A{stop}{end}{n_left}",
        f"B{last}|{n_left}",
        f"C{first}|{n_left}",
        f"D{stop}|{first}|{min(n_left, _SHORT)}",
        # Capitals and names.
        f"E{capitals}",
        f"F{capitals[0]}|{first}",
        f"G{last}|{capitals[1]}",
        f"H{size}{stop}{capitals[1]}",
        f"I{size}|{first}",
        f"J{size}|{first} {next_}",
        f"K{size}|{first[-_END:]}",
        f"L{capitals[1]}{first}",
        f"M{capitals[1]}{first}|{n_left}",
        f"N{two}",
        f"O{two}|{first}",
        f"P{two}|{capitals[1]}{first[-_END:]}",
        f"Q{three}",
        f"R{stop}{two}",
        f"S{is_repeated}",
        # Whether a question or another sentence goes on.
        f"W{close}{first}|{capitals[0]}{min(n_left, _SHORT)}",
        f"X{close}{first} {next_}|{stop}",
        f"Y{close}{last}|{first}",
        f"Z{close}{two}|{first[-_END:]}",
    )
    if len(left) <= _SHORT:
        whole = " ".join(reversed(left))
        yield f"T{whole}"
        yield f"U{whole}|{first}"
    if len(right) <= _SHORT:
        yield f"V{' '.join(right)}{end}"


def _stretch(tokens: Tokens) -> list[str]:
    """Returns the words up to the first stop."""
    n_words = next((n for n, token in enumerate(tokens) if not is_word(token)), len(tokens))
    return list(tokens[:n_words])


def _capital(word: str) -> str:
    """Returns "c" for a small word, "I" for I and its short forms, "C" for another capital."""
    if not word[:1].isupper():
        return "c"
    return "I" if word[0] == "I" and word[1:2] in ("", "’", "'") else "C"


def _name_or_word(word: str) -> str:
    """Returns "C" for a word with a capital, but titles and others in small letters."""
    return "C" if _capital(word) == "C" and not word.endswith(_TITLE_STOP) else word.lower()


@dataclass(frozen=True, slots=True)
class PauseModel:
    """Says whether speakers of a language pause between two words."""

    language: str
    weights: Mapping[int, float]  # the weights of features for "a pause", by their numbers
    bias: float

    def probability(self, before: str, after: str) -> float:
        """Returns the probability of a pause between two texts that narration divides.

        It is 1 where a stop stands at the place already, or no word.
        """
        left = read_tokens(before[-_LONGEST:], self.language)[: -REACH - 1 : -1]
        right = read_tokens(after[:_LONGEST], self.language)[:REACH]
        if not (left and right and is_word(left[0]) and is_word(right[0])):
            return 1.0
        numbers = read_pause_features(left, right, self.language)
        score = self.bias + math.fsum(self.weights.get(number, 0.0) for number in numbers)
        return 1 / (1 + math.exp(-score))


@cache
def pause_model_of(language: str) -> PauseModel | None:
    """Returns the model of a language that the package has; None where there is none."""
    path = find_weights(WEIGHTS, language)
    return load_pause_model(path, language) if path else None


def load_pause_model(path: Path, language: str) -> PauseModel:
    """Returns the model whose weights are in a file.

    It has the steps between the numbers of the features with a weight, and the weights in 8 bits.
    """
    found = read_weights(path)
    if {*found} != {"steps", "weights", "scale", "bias"}:
        names = ", ".join(sorted(found))
        raise InputError(f"{printable(path)}: found {names}, expected the weights of pauses")
    numbers = np.cumsum(found["steps"].astype(np.int64)).tolist()
    weights = (found["weights"] * found["scale"]).tolist()
    return PauseModel(language, dict(zip(numbers, weights, strict=True)), float(found["bias"][0]))
