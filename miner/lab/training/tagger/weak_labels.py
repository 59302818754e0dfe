"""Whole books with the tags that a tagger gives them, to train on before the annotations."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path

from miner.annotation.annotations import BOOKS, is_annotations, read_cards
from miner.books.book_file import read_book_file
from miner.books.download import download
from miner.books.sources import Source, id_of
from miner.errors import InputError
from miner.lab.training.tagger.examples import Example, examples_from_tagger
from miner.speech.read import parse_spans
from miner.speech.tags import Tagger


def find_held_out_books(gold: Path, without: Collection[str] = ()) -> dict[str, str]:
    """Returns the books that must not be trained on, by id, each with the reason."""
    cards = read_cards(gold / BOOKS).values() if is_annotations(gold) else ()
    reasons = dict.fromkeys(without, "as was asked")
    return reasons | {
        card.book: f"since it is of split {card.split}"
        for card in cards
        if card.split in ("dev", "test")
    }


def tag_weakly(
    sources: Iterable[Source],
    tagger: Tagger,
    held_out: Mapping[str, str],
    leave_out: Callable[[str], object],
) -> list[Example]:
    """Returns the chapters of books with the tags that a tagger gives them."""
    found: list[Example] = []
    for source in sources:
        reason = held_out.get(id_of(source.path) if source.path else source.id)
        try:
            if not reason:
                data = read_book_file(source.path or download(source.id))
                found += examples_from_tagger(parse_spans(data, source.id), tagger)
        except (InputError, OSError) as error:
            reason = str(error)
        if reason:
            leave_out(f"{source.id}: left out, {reason}")
    if not found:
        raise InputError("found no book for weak labels but those left out")
    return found
