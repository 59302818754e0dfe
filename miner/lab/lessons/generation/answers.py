"""Answers of dialogue models to contexts whose true responses are known, and their files.

| what | form | contexts |
|---|---|---|
| a table | jsonl, csv, tsv, parquet | `context`, and the turns before in `history` |
| a folder of three texts | `contexts.txt`, `responses.txt`, `predicted.txt` | a line each |

A table has the columns `context`, `response` (the true one) and `predicted`; perhaps `history`,
`book` and `chapter`, as the tables of pairs have them. Lines of the same number
belong together in the three texts, which is how other people's systems write answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from miner.errors import InputError
from miner.files import json_lines, printable, whole_file
from miner.lab.learning.fields import Option
from miner.lab.lessons.examples import Context, Example, keep_turns, refuse_trained_on
from miner.lab.lessons.rows import (
    Row,
    book_of,
    chapter_of,
    history_of,
    read_columns,
    read_lines,
    read_rows,
    text_of,
)

if TYPE_CHECKING:
    from miner.lab.lessons.generation.models import TrainedModel
    from miner.lab.lessons.generation.tokens import TurnTokens

_CONTEXT, _RESPONSE, _PREDICTED = COLUMNS = ("context", "response", "predicted")
BATCH = 32  # contexts that are answered at a time
TEXTS = ("contexts.txt", "responses.txt", "predicted.txt")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model answered, and what was answered in truth."""

    book: str  # the id of its book, "" where the source names none
    context: Context  # the turns before the response, the oldest first; at least one
    response: str  # the true one
    predicted: str  # that of the model, "" where it said nothing
    chapter: int = 0  # the number of its chapter, 0 where the source has none

    def __post_init__(self) -> None:
        """Refuses an answer to nothing."""
        if not self.context:
            raise InputError(f"found answer {self.predicted!r:.60} without a context")


def read_answers(path: Path | str) -> list[Answer]:
    """Returns the answers of a file or a folder, in its order."""
    path = Path(path)
    found = list(_read_folder(path) if path.is_dir() else _read_table(path))
    if not found:
        raise InputError(f"{printable(path)}: found no rows, expected answers")
    return found


def write_answers(path: Path, answers: Sequence[Answer], force: bool = False) -> None:
    """Writes answers as JSON Lines, which `read_answers` reads."""
    with whole_file(path, force) as file:
        file.write(json_lines(map(_row_of, answers)))


def _row_of(answer: Answer) -> Row:
    return {
        "book": answer.book,
        "chapter": answer.chapter,
        "history": list(answer.context[:-1]),
        "context": answer.context[-1],
        "response": answer.response,
        "predicted": answer.predicted,
    }


def _read_table(path: Path) -> Iterator[Answer]:
    columns = read_columns(path)
    if not columns:
        return
    _refuse_missing(columns, printable(path))
    for where, row in read_rows(path):
        _refuse_missing(tuple(row), where)  # JSON Lines may have other columns in each row
        context, response, predicted = (text_of(row, name, where) for name in COLUMNS)
        _refuse_empty(context, _CONTEXT, where)
        _refuse_empty(response, _RESPONSE, where)
        turns = (*history_of(row, where), context)
        yield Answer(book_of(row, where), turns, response, predicted, chapter_of(row, where))


def _refuse_missing(columns: Sequence[str], where: str) -> None:
    if absent := [name for name in COLUMNS if name not in columns]:
        raise InputError(
            f"{where}: found no column {' and no column '.join(absent)} ({', '.join(columns)}), "
            f"expected {', '.join(COLUMNS)}, and perhaps history, book and chapter"
        )


def _refuse_empty(text: str, name: str, where: str) -> None:
    if not text.strip():
        raise InputError(f"{where}: found an empty {name}, expected text")


def _read_folder(folder: Path) -> Iterator[Answer]:
    paths = [folder / name for name in TEXTS]
    if absent := [path.name for path in paths if not path.is_file()]:
        raise InputError(
            f"{printable(folder)}: found no {' and no '.join(absent)}, expected a file of answers "
            f"or a folder of {', '.join(TEXTS)}"
        )
    contexts, *others = ([line.strip() for line in read_lines(path)] for path in paths)
    for path, lines in zip(paths[1:], others, strict=True):
        if len(lines) != len(contexts):
            raise InputError(
                f"{printable(path)}: found {len(lines):,} lines, expected {len(contexts):,} as in "
                f"{TEXTS[0]}"
            )
    for number, texts in enumerate(zip(contexts, *others, strict=True), 1):
        context, response, predicted = texts
        _refuse_empty(context, _CONTEXT, f"{printable(paths[0])}:{number}")
        _refuse_empty(response, _RESPONSE, f"{printable(paths[1])}:{number}")
        yield Answer("", (context,), response, predicted)


Way = Literal["nucleus", "greedy", "beam"]


@dataclass(frozen=True, slots=True)
class Decoding:
    """How an answer is drawn.

    `nucleus` draws each token among the likeliest ones that together have the chance `top_p`
    (Holtzman et al. 2020), with the chance and the temperature of the code that GD trains GPT-2
    with; `greedy` takes the likeliest token, as GD does with its Transformer; `beam` takes the one
    of several answers whose tokens are the likeliest in the mean.
    """

    decoding: Annotated[
        Way, Option("Draw by chance (nucleus), take the likeliest token, or search by beams.")
    ] = "nucleus"
    top_p: Annotated[
        float, Option("Of nucleus: the chance that the tokens drawn from have together.")
    ] = 0.9
    temperature: Annotated[float, Option("Of nucleus: below 1, likely tokens become likelier.")] = (
        0.7
    )
    beams: Annotated[int, Option("Of beam: answers that are followed.", minimum=2)] = 5
    longest: Annotated[int, Option("Most tokens of an answer.", minimum=1)] = 40

    def __post_init__(self) -> None:
        """Refuses chances and temperatures that draw nothing."""
        if not 0 < self.top_p <= 1:
            raise InputError(f"found `top_p={self.top_p}`, expected more than 0 and at most 1")
        if not self.temperature > 0:
            raise InputError(f"found `temperature={self.temperature}`, expected more than 0")

    def describe(self) -> str:
        """What draws an answer, in a few words ("nucleus 0.9 at temperature 0.7")."""
        match self.decoding:
            case "nucleus":
                return f"nucleus {self.top_p:g} at temperature {self.temperature:g}"
            case "beam":
                return f"{self.beams} beams"
            case "greedy":
                return "greedy"

    def options_of(self, tokens: TurnTokens) -> dict[str, Any]:
        """Returns what `generate` of the library takes, but for the most tokens of an answer.

        An answer has at least one token.
        """
        shared = {"min_new_tokens": 1, "suppress_tokens": tokens.never_written}
        match self.decoding:
            case "nucleus":
                drawn = {"top_p": self.top_p, "temperature": self.temperature, "top_k": 0}
                return shared | {"do_sample": True, "num_beams": 1} | drawn
            case "beam":
                return shared | {"do_sample": False, "num_beams": self.beams}
            case "greedy":
                return shared | {"do_sample": False, "num_beams": 1}


@dataclass(frozen=True, slots=True)
class Texts:
    """What a model answers to contexts."""

    texts: list[str]  # one for each context, in their order
    n_cut: int  # contexts that were too long for the model and lost their oldest tokens
    n_ended: int  # answers that ended because the model had no room for more


@dataclass(frozen=True, slots=True)
class Answered:
    """The answers of a model to contexts whose true responses are known."""

    answers: list[Answer]  # one for each example, in their order, with all turns of the context
    n_cut: int  # contexts that were too long for the model and lost their oldest tokens
    n_ended: int  # answers that ended because the model had no room for more
    loss: float  # of the true responses, in nats for a token of the model
    n_responses_cut: int  # true responses that were too long for the loss


def answer_examples(
    trained: TrainedModel,
    examples: Sequence[Example],
    decoding: Decoding,
    seed: int = 0,
    batch: int = BATCH,
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> Answered:
    """Returns the answers of a model to the contexts of examples.

    Equal choices give equal answers on one kind of device.
    """
    from miner.lab.lessons.generation.models import mean_loss, sum_losses

    where = printable(trained.folder.name)
    if not examples:
        raise InputError(f"{where}: found no pairs, expected some to answer")
    refuse_trained_on(trained.record, examples, where)
    kept = keep_turns(examples, trained.history_turns)
    n = len(kept)

    def show_losses(done: int, total: int) -> None:
        progress(n + done, n + total)

    found = answer_contexts(
        trained,
        [one.context for one in kept],
        decoding,
        seed,
        batch,
        lambda done, total: progress(done, n + total),
    )
    answers = [
        Answer(one.book, one.context, one.response, text, one.chapter)
        for one, text in zip(examples, found.texts, strict=True)
    ]
    pairs, cuts = trained.tokens.encode(kept)
    losses = sum_losses(trained.model, trained.tokens, pairs, batch, show_losses)
    return Answered(answers, found.n_cut, found.n_ended, mean_loss(losses), cuts.responses)


def answer_contexts(
    trained: TrainedModel,
    contexts: Sequence[Context],
    decoding: Decoding,
    seed: int = 0,
    batch: int = BATCH,
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> Texts:
    """Returns the answers to contexts."""
    import torch

    from miner.lab.lessons.embeddings import quiet
    from miner.lab.lessons.generation.models import answer_room
    from miner.lab.lessons.generation.tokens import mask_of, pad_left, pad_right

    model, tokens = trained.model, trained.tokens
    has_encoder = model.config.is_encoder_decoder
    rows, n_cut = tokens.encode_contexts(contexts)
    if not has_encoder:
        rows = [[*row, tokens.answering] for row in rows]
    options = decoding.options_of(tokens)
    longest = min(decoding.longest, answer_room(model.config, tokens.longest_context + 1))
    order = sorted(range(len(rows)), key=lambda number: len(rows[number]))
    found = [""] * len(rows)
    n_ended = 0
    torch.manual_seed(seed)
    with quiet(), torch.inference_mode():
        for start in range(0, len(order), batch):
            numbers = order[start : start + batch]
            some = [rows[number] for number in numbers]
            mask = mask_of(some)
            if has_encoder:
                asked = pad_right(some, tokens.padding)
            else:
                asked, mask = pad_left(some, tokens.padding), mask.flip(1)
            given: Any = {"input_ids": asked.to(model.device), "max_new_tokens": longest}
            given["attention_mask"] = mask.to(model.device)
            written: Any = model.generate(**given, **options)  # pyright: ignore
            begins = 1 if has_encoder else asked.shape[1]
            for number, row in zip(numbers, written[:, begins:].tolist(), strict=True):
                found[number] = tokens.decode(row)
                n_ended += longest < decoding.longest and tokens.end not in row
            progress(start + len(numbers), len(order))
    return Texts(found, n_cut, n_ended)


class Conversation:
    """A talk with a model, turn by turn."""

    def __init__(self, trained: TrainedModel, decoding: Decoding, seed: int = 0) -> None:
        self._trained, self._decoding, self._seed = trained, decoding, seed
        self.turns: list[str] = []
        self.was_cut = False  # whether the last context was too long, and lost its oldest tokens

    def answer(self, turn: str) -> str:
        """Returns what the model answers to a turn, with those before it in mind."""
        self.turns.append(turn)
        most = self._trained.history_turns
        context = tuple(self.turns if most is None else self.turns[-1 - most :])
        seed = self._seed + len(self.turns)  # a turn that is said again has another answer
        found = answer_contexts(self._trained, [context], self._decoding, seed)
        self.was_cut = found.n_cut > 0
        (text,) = found.texts
        self.turns.append(text)
        return text

    def forget(self) -> None:
        """Begins anew."""
        self.turns.clear()
