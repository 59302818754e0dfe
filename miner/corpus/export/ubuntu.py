"""Response selection as in the Ubuntu Dialogue Corpus: contexts with true and false responses.

The columns and the signs are those of version 2 of that corpus: `__eou__` ends an utterance and
`__eot__` a turn. An utterance is one span of speech. What is drawn is drawn from the ids of book
and dialogue, so that the same books give the same files.

- triples: a context, a response and a label, 1 for the true response and 0 for a false one. In
  "train" each turn from the third on is a response (section 4), with the last 20 turns before it as
  its context, and one false response. Otherwise there is one context for each dialogue, of a size
  that is drawn (section 3.4).
- rankings: one context for each dialogue, of a size that is drawn, its true response and nine
  false ones, the distractors.

So `train/triples.csv`, `validation/rankings.csv` and `test/rankings.csv` are what that corpus calls
train.csv, valid.csv and test.csv. A false response is a response of another book of the split; of
another dialogue of the book, where other books have too few. It is never the text of the true
response or of another false one of its row. A context whose size is drawn begins with the first
turn of its dialogue. The files are large, because a turn is in the contexts of all that follow it.
"""

from __future__ import annotations

import csv
import struct
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import NamedTuple, Self

import orjson

from miner.corpus.export import BookRows, refuse_other_than_count
from miner.corpus.schema import Columns, rows_from_lines, span_from_row
from miner.speech.dialogues import Dialogue, Turn, split_into_spans

FILES = {
    "triples.csv": "contexts, each with a response and whether it is the true one",
    "rankings.csv": "contexts, each with its true response and false ones",
}
IS_DIVISIBLE = False  # false responses come from all books of the split
_MIN_CONTEXT = 2  # turns; UD, section 3.4
_C = 20  # turns of the longest context that is wanted; UD, section 3.4
_MOST_DRAWS = 1_000  # of false responses for a row, among other books and among its own
_N_DRAWS = 1 << 64
_END = struct.Struct("<Q")
_MOST_RESPONSES = 1_000  # each is a column, and the draws for it would not end


@dataclass(frozen=True, slots=True)
class Options:
    """What is drawn."""

    false_responses: int = 9  # how many a ranking has, at most 1,000

    def __post_init__(self) -> None:
        """Refuses what is no number."""
        refuse_other_than_count("false_responses", self.false_responses, 1, _MOST_RESPONSES)


def schemas(options: Options = Options()) -> Mapping[str, Columns]:
    """Returns the columns of the files."""
    return {
        "triples.csv": {"Context": "string", "Utterance": "string", "Label": "int32"},
        "rankings.csv": dict.fromkeys(_ranking(options), "string"),
    }


def _ranking(options: Options) -> list[str]:
    """The columns of rankings."""
    distractors = [f"Distractor_{number}" for number in range(options.false_responses)]
    return ["Context", "Ground Truth Utterance", *distractors]


def write_books(
    folder: Path,
    books: Iterable[BookRows],
    split: str = "train",
    options: Options = Options(),
) -> Mapping[str, int]:
    """Writes the triples and the rankings of all books of a split.

    All dialogues are first written to a temporary file in the folder. The memory is that of one
    book, and 8 bytes for each.
    """
    left_out = Counter[str]()
    with Spool(folder) as kept, Spool(folder) as responses:
        starts = array("Q")  # the number of the first response of each book
        for number, book in enumerate(books):
            starts.append(len(responses))
            for id, turns in _read_dialogues(book):
                if len(turns) <= _MIN_CONTEXT:
                    left_out["dialogues of one or two turns"] += 1
                    continue
                kept.append(orjson.dumps([number, id, turns]).decode())
                for turn in turns[_MIN_CONTEXT:]:
                    responses.append(turn)
        starts.append(len(responses))
        dialogues = _place_dialogues(kept, starts)
        with (
            (folder / "triples.csv").open("w", encoding="utf-8", newline="") as triples,
            (folder / "rankings.csv").open("w", encoding="utf-8", newline="") as rankings,
        ):
            add_triples, add_rankings = (csv.writer(file).writerows for file in (triples, rankings))
            add_triples([schemas(options)["triples.csv"]])
            add_rankings([_ranking(options)])
            for dialogue in dialogues:
                add_triples(_triples(dialogue, responses, split == "train", left_out))
                add_rankings(_rankings(dialogue, responses, options, left_out))
    return left_out


class Spool:
    """A sequence of texts in a temporary file, as a context manager.

    The memory that it takes does not grow with the texts. They are gone when the block ends, or
    when the process is killed.
    """

    def __init__(self, folder: Path) -> None:
        """Makes an empty sequence."""
        self._texts = TemporaryFile(dir=folder)
        self._ends = TemporaryFile(dir=folder)  # of the texts: 8 bytes for each
        self._n = self._n_bytes = 0

    def append(self, text: str) -> None:
        """Adds a text at the end. Nothing has been read yet."""
        content = text.encode()
        self._texts.write(content)
        self._n_bytes += len(content)
        self._ends.write(_END.pack(self._n_bytes))
        self._n += 1

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, number: int) -> str:
        if not 0 <= number < self._n:
            raise IndexError(f"found text {number}, expected one of {self._n}")
        self._ends.seek(_END.size * max(0, number - 1))
        start = _END.unpack(self._ends.read(_END.size))[0] if number else 0
        (end,) = _END.unpack(self._ends.read(_END.size))
        self._texts.seek(start)
        return self._texts.read(end - start).decode()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._texts.close()
        self._ends.close()


class _Dialogue(NamedTuple):
    """A dialogue, and which responses are of its book and of itself: first and last plus one."""

    id: str
    turns: list[str]
    of_book: range
    of_dialogue: range
    n_responses: int  # of all books


def _read_dialogues(book: BookRows) -> Iterator[tuple[str, list[str]]]:
    """The id of each dialogue, and its turns as text with the signs of their utterances."""
    spans = {
        (row["paragraph"], row["span"]): span_from_row(row)
        for row in rows_from_lines(book["spans"])
        if row["kind"] == "utterance"
    }
    for row in rows_from_lines(book["dialogues"]):
        turns = [
            Turn(tuple(spans[place["paragraph"], place["span"]] for place in turn["spans"]))
            for turn in row["turns"]
        ]
        id = f"{row['book']}:{row['dialogue']}.{row['part']}"
        yield id, [_join_utterances(turn) for turn in turns]


def _join_utterances(turn: Turn) -> str:
    utterances = split_into_spans(Dialogue("", 0, (turn,))).turns
    texts = (" ".join(utterance.text.split()) for utterance in utterances)
    return " ".join(f"{text} __eou__" for text in texts if text)


def _join_turns(turns: Iterable[str]) -> str:
    return "".join(f"{turn} __eot__ " for turn in turns)


def _place_dialogues(kept: Spool, starts: Sequence[int]) -> Iterator[_Dialogue]:
    first = 0
    for line in kept:
        book, id, turns = orjson.loads(line)
        of_dialogue = range(first, first + len(turns) - _MIN_CONTEXT)
        yield _Dialogue(id, turns, range(starts[book], starts[book + 1]), of_dialogue, starts[-1])
        first = of_dialogue.stop


def _triples(
    dialogue: _Dialogue, responses: Spool, is_train: bool, left_out: Counter[str]
) -> Iterator[tuple[str, str, int]]:
    turns = dialogue.turns
    for size in range(_MIN_CONTEXT, len(turns)) if is_train else [_draw_size(dialogue)]:
        false = next(_draw_false(dialogue, size, responses), None)
        if false is None:
            left_out["contexts without a false response"] += 1
            continue
        context = _join_turns(turns[max(0, size - _C) if is_train else 0 : size])
        yield context, turns[size], 1
        yield context, false, 0


def _rankings(
    dialogue: _Dialogue, responses: Spool, options: Options, left_out: Counter[str]
) -> Iterator[tuple[str, ...]]:
    size = _draw_size(dialogue)
    false = list(islice(_draw_false(dialogue, size, responses), options.false_responses))
    if len(false) < options.false_responses:
        left_out["rankings without enough false responses"] += 1
    else:
        yield _join_turns(dialogue.turns[:size]), dialogue.turns[size], *false


def _draw_size(dialogue: _Dialogue) -> int:
    """Turns of a context (UD, section 3.4): c = min(t - 1, n - 1), where n = 10 C / eta + 2."""
    eta = _C / 2 + (10 * _C - _C / 2) * _draw(dialogue.id) / _N_DRAWS
    return min(len(dialogue.turns) - 1, int(10 * _C / eta + 1))


def _draw_false(dialogue: _Dialogue, size: int, responses: Spool) -> Iterator[str]:
    """Draws responses that differ from one another and from the turn after a context.

    Those of other books come first, then those of other dialogues of the book.
    """
    found = {dialogue.turns[size]}
    pools = (
        (range(dialogue.n_responses), dialogue.of_book),
        (dialogue.of_book, dialogue.of_dialogue),
    )
    for pool, (numbers, left_out) in enumerate(pools):
        n = len(numbers) - len(left_out)
        for draw in range(_MOST_DRAWS if n else 0):
            number = numbers.start + _draw(f"{dialogue.id}:{size}:{pool}:{draw}") % n
            text = responses[number if number < left_out.start else number + len(left_out)]
            if text not in found:
                found.add(text)
                yield text


def _draw(key: str) -> int:
    """Returns a number below `_N_DRAWS`, the same for the same key, in every process."""
    return int.from_bytes(blake2b(key.encode(), digest_size=8).digest(), "big")
