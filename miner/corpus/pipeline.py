"""A source -> a mined book. A single book and many books take the same way."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from errno import EFBIG, ENOSPC
from pathlib import Path
from typing import Any, Protocol

from miner.books.book_file import read_book_file
from miner.books.sources import SAMPLE, Source
from miner.corpus.mined_book import MinedBook, MiningOptions, SetAside, describe
from miner.corpus.reading import find_source, names_of_marks
from miner.corpus.schema import KINDS, add_parts, rows_of_book
from miner.errors import InputError
from miner.files import json_lines, printable
from miner.people.cast import Kind
from miner.people.character_files import NO_CHARACTERS, CharacterFile, SpokenBook, open_characters
from miner.speech.dialogues import decode_dialogues, split_into_spans
from miner.speech.filters import MIN_TURNS, FilteredDialogues
from miner.speech.read import parse_spans
from miner.speech.spans import BookSpans, Span
from miner.speech.tags import TaggedBook, TaggedSpan, Tagger
from miner.tagger.load import (
    AUTO,
    FLOAT32,
    AutoTagger,
    CheckpointTagger,
    choose_tagger,
    load_tagger,
    tagger_signature,
)

# Why a work that may not be shared is set aside.
IN_COPYRIGHT = "in copyright"
_NAMED = 5  # people whom a warning names
# An exit, or a panic in Rust, which would end this process or a worker's without a word.
_ENDS = ("SystemExit", "PanicException")


class BookFilter(Protocol):
    """A filter on books. With several workers it runs in all of them, so it must be picklable."""

    def __call__(self, book_spans: BookSpans) -> bool | str:
        """True for a book that the corpus takes, else False or the reason in a few words."""
        ...


def mine(
    source: str | int | Path,
    *,
    tagger: str | Path | Tagger = AUTO,
    books: str | Path | None = None,
    mirror: str | None = None,
    quotes: Iterable[str] = (),
    max_utterance_words: int | None = None,
    min_turns: int = MIN_TURNS,
    min_confidence: float = 0.0,
    dtype: str = FLOAT32,
    characters: str | Path | None = None,
    history_turns: int | None = 0,
    front_matter: bool = False,
) -> MinedBook:
    """Mines the conversations of one book.

    Example:
        >>> import miner
        >>> book = miner.mine("sample", tagger="gap")
        >>> pair = book.pairs[0]
        >>> print(pair.context.text, "->", pair.response.text)
        Letter for you, Mr. Tarrant, and a brown one. -> I see it’s brown.

    Args:
        source: a Gutenberg number (1342), the path of a book's file, a title, or "sample" for the
            short book that comes with the package.
        tagger: "auto", a registered tagger ("gap", "gap:300"), the path of a tags file or of a
            checkpoint, or any object with a method `tag` (see `miner.Tagger`).
        books: folder in which a number is looked up first.
        mirror: URL template from which a number is downloaded, if it is in no folder.
        quotes: names of the marks that open speech, as `miner profile` prints them; without any
            they are inferred.
        max_utterance_words: leave out longer turns and divide the dialogue there.
        min_turns: leave out dialogues of fewer turns.
        min_confidence: leave out pairs of lower confidence, 0 to 1, and divide the dialogue there.
        dtype: in which the encoder of a checkpoint computes, "float32" or "bfloat16".
        characters: a `characters.jsonl`, perhaps corrected by hand, whose characters the book has;
            without it they are found.
        history_turns: how many turns before its context a row of `pairs` has; None for all.
        front_matter: mine the whole book, not only its story: title page, prefaces, notes and
            advertisements, too.

    Raises:
        InputError: if there is no such book or tagger, the book has no dialogues, or `characters`
            lacks the book; in one line. It is a `ValueError`.
        TypeError: if an argument is of another type; says what was expected.
        OSError: if `characters` cannot be read.
    """
    given = None if characters is None else open_characters(characters)
    loaded, name = open_tagger(tagger, dtype, min_confidence, given)
    options = MiningOptions(
        name,
        names_of_marks(quotes),
        max_utterance_words=max_utterance_words,
        min_turns=min_turns,
        min_confidence=min_confidence,
        dtype=dtype,
        characters=given,
        history_turns=history_turns,
        front_matter=front_matter,
    )
    found = find_source(source, books, mirror)
    if given is not None:
        given.refuse_others([found.id])
    result = mine_book(found, loaded, options)
    if isinstance(result, SetAside):
        raise InputError(f"{result.name}: {result.why}")
    return result


def open_tagger(
    tagger: str | Path | Tagger,
    dtype: str,
    min_confidence: float = 0.0,
    characters: CharacterFile | None = None,
) -> tuple[Tagger, str]:
    """A tagger, and the name that `MiningOptions` has for it."""
    name = str(tagger) if isinstance(tagger, str | Path) else describe(tagger)
    if isinstance(tagger, str | Path):
        loaded = load_tagger(tagger, dtype, NO_CHARACTERS if characters is None else characters)
    elif isinstance(tagger, type) or not callable(getattr(tagger, "tag", None)):
        raise TypeError(
            f"found {tagger!r} as a tagger, "
            "expected a name, a path or an object with a method `tag`"
        )
    elif characters is not None and isinstance(tagger, AutoTagger | CheckpointTagger):
        loaded = replace(tagger, characters=characters)
    else:
        loaded = tagger
    if min_confidence and not getattr(loaded, "gives_confidence", True):
        raise InputError(
            f"found a least confidence of {min_confidence} for the tagger {name}, whose tags have "
            "no confidence: expected a checkpoint, or no least confidence"
        )
    return loaded, name


def mine_book(
    source: Source,
    tagger: Tagger,
    options: MiningOptions,
    filters: tuple[BookFilter, ...] = (),
) -> MinedBook | SetAside:
    """Mines one book on disk: all that becomes of a source, from its file to its rows.

    `mine` calls it, each worker of a run does, and an engine maps it over sources. A work whose
    file says that it is in copyright is set aside. The Gutenberg Dialogue Dataset leaves such works
    out, too (Csaky and Recski 2021, section 3).
    """
    if source.path is None:
        return SetAside(source.word, "not on disk")
    name = name_of(source)
    with _collector_paused(), _naming(name, options.tagger):
        try:
            try:
                data = read_book_file(source.path)
                book_spans = parse_spans(
                    data, source.id, options.quotes, front_matter=options.front_matter
                )
            except OSError as error:
                why = f"cannot be read: {error.strerror or error}"
                return SetAside(name, why, is_lasting=False)
            if rights := book_spans.book.rights:
                return SetAside(name, f"{IN_COPYRIGHT}: the file says {rights!r}")
            if why := find_reason(book_spans, filters):
                return SetAside(name, why)
            tags = tagger.tag(book_spans)
            return _finish(source, book_spans, tags, options)
        except MemoryError:
            return lost_book(source)
        except InputError as error:
            return SetAside(name, str(error))


def find_reason(book_spans: BookSpans, filters: tuple[BookFilter, ...]) -> str:
    """Why the first filter that refuses a book does so, or "" if all take it."""
    for book_filter in filters:
        answer = book_filter(book_spans)
        if isinstance(answer, str) and answer:
            return answer
        if not answer:
            return f"refused by {describe(book_filter)}"
    return ""


def lost_book(source: Source, why: str = "needs more memory than there is") -> SetAside:
    """The result of a source whose book could not be mined here and now."""
    return SetAside(name_of(source), why, is_lasting=False)


@contextmanager
def _naming(book: str, tagger: str) -> Iterator[None]:
    """Names the book and the tagger on an error that ends the run.

    A fault of the program or of somebody's tagger says nothing of the book, so the book is not set
    aside: it is mined again when the fault is mended.
    """
    try:
        yield
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:
        if isinstance(error, OSError) and error.errno in (EFBIG, ENOSPC):
            raise  # a full disk says nothing of the book either
        note = f"while mining {book} with the tagger {tagger}"
        if type(error).__name__ in _ENDS:
            told = RuntimeError(f"{type(error).__qualname__} ({error})")
            told.add_note(note)
            raise told from error
        error.add_note(note)
        raise


def _finish(
    source: Source, book_spans: BookSpans, tags: Iterable[TaggedSpan], options: MiningOptions
) -> MinedBook:
    """The mined book of its tags: speakers, dialogues, rows."""
    from miner.people.attributor import attribute_speakers

    checked = _checked(tags, book_spans.spans)
    book_spans = replace(book_spans, spans=tuple(item.span for item in checked))
    lists = NO_CHARACTERS if options.characters is None else options.characters
    # A checkpoint has attributed its tags itself, because it revises them.
    given = tags if isinstance(tags, SpokenBook) else checked
    spoken = attribute_speakers(book_spans, given, lists, revise=False)
    language = book_spans.language
    tagged = TaggedBook(book_spans.book.id, spoken.spans, options.tagger, language)
    filtered = options.filter(decode_dialogues(tagged))
    rows = rows_of_book(
        book_spans.book,
        tagged,
        filtered.kept,
        spoken,
        options.pairs_by_span,
        options.history_turns,
    )
    rows["spans"] = add_parts(rows["spans"], book_spans.book)
    confidences = tuple(item.confidence for item in tagged.spans)
    kinds, features = KINDS, None
    if options.with_features:
        from miner.corpus.book_features import find_features
        from miner.corpus.works import sketch_texts

        sketch = sketch_texts(block.text for block in book_spans.book.story)
        kinds, features = ("spans", "characters"), find_features(book_spans, sketch)
    return MinedBook(
        _entry(source, book_spans, filtered, spoken, options),
        {kind: json_lines(rows[kind]) for kind in kinds},
        () if all(confidence is None for confidence in confidences) else confidences,
        options,
        features,
    )


def _checked(tags: Iterable[TaggedSpan], spans: tuple[Span, ...]) -> tuple[TaggedSpan, ...]:
    """The tagged spans as a user's tagger gave them: those of the book, or as long in all.

    Most taggers take the spans that they are given, and some find speech by themselves.
    """
    if not isinstance(tags, Iterable):
        raise TypeError(f"found {tags!r} from the tagger, expected a list of TaggedSpan")
    given = tuple(tags)
    for item in given:
        if not isinstance(item, TaggedSpan):
            raise TypeError(f"found {item!r} from the tagger, expected a TaggedSpan for each span")
    found = tuple(item.span for item in given)
    if found != spans and _texts(found) != _texts(spans):
        raise ValueError(
            f"found {len(given)} tagged spans from the tagger, expected {len(spans)}, "
            "one per span, or others that make up the same paragraphs"
        )
    return given


def _texts(spans: Iterable[Span]) -> dict[tuple[int, int], str]:
    """The text of each paragraph, by chapter and number."""
    texts: dict[tuple[int, int], str] = {}
    for span in spans:
        place = span.chapter, span.paragraph
        texts[place] = texts.get(place, "") + span.text
    return texts


def name_of(source: Source) -> str:
    """The word that named the source, unless it names other files, too; in one line."""
    is_one = source.word == SAMPLE or source.word.isdecimal()
    return source.word if is_one or source.path is None else printable(source.path)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """No garbage collection while one book is mined.

    A parsed page is tens of thousands of objects, and the collector would visit them again and
    again. The parser cuts their cycles when it is done, so nothing is left to collect.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _entry(
    source: Source,
    book_spans: BookSpans,
    filtered: FilteredDialogues,
    spoken: SpokenBook,
    options: MiningOptions,
) -> dict[str, Any]:
    """What the run record says of a book."""
    assert source.path is not None
    typography = book_spans.typography
    assert typography is not None  # `parse_spans` gives it
    book, spans = book_spans.book, book_spans.spans
    paired = filtered.kept
    if options.pairs_by_span:
        paired = [split_into_spans(dialogue) for dialogue in paired]
    return {
        "id": source.id,
        "file": printable(source.path.name),
        "sha256": book.sha256,
        "title": book.title,
        "author": book.author,
        "language": book.language,
        "words": book.n_words,
        "chapters": [
            {"number": chapter.number, "title": chapter.title, "paragraph": chapter.first}
            for chapter in book.chapters
        ],
        "words_by_part": {part.value: count for part, count in book.words_by_part.items()},
        "blocks": dict(sorted(Counter(block.kind.value for block in book.blocks).items())),
        "dropped_words": dict(book.drops),
        "typography": {
            "language": typography.language,
            "marks": list(typography.names),
            "confidence": round(typography.confidence, 4),
            "repairs": dict(sorted(Counter(repair.kind for repair in book_spans.repairs).items())),
        },
        "tagger": tagger_signature(choose_tagger(options.tagger, book_spans.language)),
        "counts": {
            "utterances": sum(span.is_utterance for span in spans),
            "quoted_not_speech": sum(span.quoted for span in spans),
            "dialogues": len(filtered.kept),
            "turns": sum(len(dialogue.turns) for dialogue in filtered.kept),
            "pairs": sum(len(dialogue.turns) - 1 for dialogue in paired),
            "characters": len(spoken.characters),
            "speakers": sum(
                one.kind is not Kind.UNNAMED and one.id in spoken.n_utterances
                for one in spoken.characters
            ),
            "utterances_without_speaker": sum(
                item.speaker is None for item in spoken if item.span.is_utterance
            ),
        },
        "filtered": dict(filtered.drops),
        "warnings": [*book.warnings, *_warnings_of_characters(source.id, spoken, options)],
    }


def _warnings_of_characters(book: str, spoken: SpokenBook, options: MiningOptions) -> Iterator[str]:
    """A warning if a file of characters is given and lacks the book, or some who often speak."""
    given = options.characters
    if given is None:
        return
    file = printable(given.path.name)
    if book not in given:
        found = ": they were found" if spoken.characters else ""
        yield f"no characters of this book in {file}{found}"
    if names := spoken.unlisted:
        more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
        yield f"{file} lacks some who often speak: {', '.join(names[:_NAMED])}{more}"
