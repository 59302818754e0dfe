"""Many books -> which of them are copies: editions, volumes of a set, parts of a collection.

- Words are numbers: case, accents, ligatures, punctuation, marks of emphasis, and apostrophes and
  hyphens inside a word do not count. The numbers are the same on every machine.
- The sketch of a book is a FracMinHash (Irber et al. 2022, "Lightweight compositional analysis of
  metagenomes with FracMinHash"): of its runs of six words, those whose hash is below a limit that
  is the same for all books. So the share of a small sketch that is in a large one estimates the
  share of the small book that is in the large one.
- A book is a copy if enough of its text is in another book. Which share is enough was measured: two
  unrelated novels share under 1% of their runs, two printings of a novel over 90%.
- A translation shares nothing with another one, so both stay. The key of their work, the author's
  surname and the title without volumes, editions and articles, puts both in one split. It is made
  from one book alone, so it stays the same when a corpus grows.
"""

from __future__ import annotations

import errno
import heapq
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from miner.books.words import drop_accents
from miner.errors import InputError
from miner.extras import import_extra
from miner.files import reason_of
from miner.languages.registry import LANGUAGES

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Hashes = np.ndarray[tuple[int], np.dtype[np.uint64]]

# Not "_", the mark of emphasis. A hyphen (soft, hard or plain) or an apostrophe may join letters.
_WORD = re.compile("[^\\W_]+(?:[-\xad\u2010\u2011'’‘ʼ][^\\W_]+)*")
_JOIN = re.compile("[-\xad\u2010\u2011'’‘ʼ]")
_LIGATURES = str.maketrans({"æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "ı": "i", "ſ": "s"})
# The finalizer of MurmurHash3 for 64 bits (Austin Appleby, public domain): every bit of the number
# depends on every bit of what goes in.
_MIX = ((33, 0xFF51AFD7ED558CCD), (33, 0xC4CEB9FE1A85EC53))


def fold(text: str) -> str:
    """A text in small letters, without accents and ligatures.

    >>> fold("Œuvres de Brontë")
    'oeuvres de bronte'
    """
    return drop_accents(text.casefold().translate(_LIGATURES))


def fold_words(text: str) -> list[str]:
    """The words of a text, folded.

    >>> fold_words("“To-day,” said he, “we _don’t_!”")
    ['today', 'said', 'he', 'we', 'dont']
    """
    return [fold(_JOIN.sub("", word)) for word in _WORD.findall(text)]


def hash_words(texts: Iterable[str]) -> list[Hashes]:
    """The words of each text as numbers of 64 bits, in their order."""
    known = _WordHashes()
    # A book has some ten thousand different words: all else is looked up.
    return [
        np.fromiter(map(known.__getitem__, _WORD.findall(text)), dtype=np.uint64) for text in texts
    ]


def hash_shingles(words: Hashes, length: int) -> Hashes:
    """A number for each run of `length` words, in their order; none if there are fewer words."""
    n = len(words) - length + 1
    if n <= 0:
        return np.empty(0, dtype=np.uint64)
    mixed = words[:n].copy()
    for place in range(1, length):
        mixed *= np.uint64(0x9E3779B97F4A7C15)  # odd, so that no word is lost
        mixed += words[place : place + n]
    return mix(mixed)


def mix(numbers: Hashes) -> Hashes:
    """Numbers of 64 bits, scattered evenly over all numbers of 64 bits. No two become one."""
    for shift, factor in _MIX:
        numbers = (numbers ^ (numbers >> np.uint64(shift))) * np.uint64(factor)
    return numbers ^ (numbers >> np.uint64(33))


class _WordHashes(dict[str, int]):
    """The numbers of words as they are printed."""

    def __missing__(self, word: str) -> int:
        folded = fold(_JOIN.sub("", word)).encode("utf-8", "surrogatepass")
        number = int.from_bytes(blake2b(folded, digest_size=8).digest(), "little")
        self[word] = number
        return number


RUN = (
    6  # words in a run: a changed word changes six runs, and few phrases of two authors are longer
)
RATE = 128  # one run in so many is in the sketch
LIMIT = np.uint64(2**64 // RATE - 1)
# A book of half a million words has so many, of 8 bytes each. A larger one keeps its smallest ones;
# `limit_of` tells up to where.
LARGEST = 4096


def sketch_texts(texts: Iterable[str]) -> Hashes:
    """The sketch of a book: hashes in ascending order, about one for 128 words, 4,096 at most."""
    words = hash_words([" ".join(texts)])[0]
    runs = hash_shingles(words, RUN)
    return np.unique(runs[runs <= LIMIT])[:LARGEST]


def limit_of(sketch: Hashes) -> np.uint64:
    """The number up to which a sketch has all hashes of its book."""
    return sketch[-1] if len(sketch) == LARGEST else LIMIT


def contain(inner: Hashes, outer: Hashes) -> tuple[int, int]:
    """How many hashes of a sketch are in another one, and how many could be.

    Their quotient estimates the share of the inner book that is in the outer one.
    """
    end = np.searchsorted(inner, limit_of(outer), side="right")
    comparable = inner[:end]
    return int(np.isin(comparable, outer, assume_unique=True).sum()), len(comparable)


_BRACKETS = re.compile(r"\([^()]*\)|\[[^][]*\]")
_STOP = re.compile(r"[:;\n\r]|--|[–—]|\s-\s")
_NAME_END = re.compile(r"[,;\n\r(\[]|--|[–—]|\s(?:and|und|et|&)\s")
_ROLE = re.compile(r"\[[^][]*\]\s*$")  # "[Illustrator]": anybody but an author
_NOBODY = frozenset(("various", "anonymous", "anonymus", "unknown"))


def _any_title(field: str) -> str:
    patterns = (getattr(language.titles, field) for language in LANGUAGES.values())
    return f"(?:{'|'.join(filter(None, patterns)) or '(?!)'})"


_NUMBER = rf"(?:\d+|[ivxlc]+|{_any_title('numbers')})"
_VOLUME = _any_title("volumes")
# "volume 2 of 3", "2. Band", "première partie", "book the second"
_VOLUME_AND_NUMBER = re.compile(
    rf"\b(?:{_VOLUME} (?:the )?{_NUMBER}|{_NUMBER} {_VOLUME})\b(?: of {_NUMBER})?"
)
_ENDING = re.compile(rf" {_any_title('endings')}$")
_ARTICLE = re.compile(rf"^{_any_title('articles')} (?!$)")
_ALTERNATIVE = re.compile(rf",\s*{_any_title('alternatives')}\b|\sor,?\sthe\b")
_AFTER_SURNAME = re.compile(_any_title("after_surname"))


def work_key(title: str, author: str, id: str) -> str:
    """A text that is the same for the editions and the volumes of one work.

    >>> work_key("The Portrait of a Lady — Volume 1 (of 2)", "James, Henry, 1843-1916", "2833")
    'james: portraitofalady'
    >>> work_key("The Portrait of a Lady", "", "8")
    'book 8'
    """
    surname, name = _surname(author), _main_title(title)
    return f"{surname}: {name}" if surname and name else f"book {id}"


def author_key(title: str, author: str, id: str) -> str:
    """A text that is the same for the books of one author: the surname.

    Given names do not count, because they are left out, cut short or translated too often: those of
    one surname are in one split. A book of unknown or various authors has the key of its work.

    >>> author_key("Hard Times", "Dickens, Charles, 1812-1870", "786")
    'dickens'
    >>> author_key("Bleak House", "Charles Dickens", "1023")
    'dickens'
    """
    surname = _surname(author)
    return surname if surname and surname not in _NOBODY else work_key(title, author, id)


def _surname(author: str) -> str:
    """The last word of the first author's surname, or ""."""
    people = [person.strip() for person in re.split("[;\n]", author) if person.strip()]
    authors = [person for person in people if not _ROLE.search(person)] or people
    if not authors:
        return ""
    name = _BRACKETS.sub(" ", authors[0]).strip()
    words = fold_words(_NAME_END.split(name, maxsplit=1)[0].replace("-", " "))
    # "Alexandre Dumas père": unless nothing else is left.
    while len(words) > 1 and _AFTER_SURNAME.fullmatch(words[-1]):
        words.pop()
    return words[-1] if words else ""


def _main_title(title: str) -> str:
    """The title without volumes, editions, a second title and articles, folded."""
    bare = _BRACKETS.sub(" ", fold(title))
    part = next((part for part in _STOP.split(bare) if fold_words(part)), fold(title))
    first = _ALTERNATIVE.split(part, maxsplit=1)[0]
    name = " ".join(fold_words(first) or fold_words(part))
    shorter = ""
    while shorter != name:
        shorter, name = name, _without_volume(_ENDING.sub("", name))
    return _ARTICLE.sub("", name).replace(" ", "")  # "Moby Dick" is "Moby-Dick"


def _without_volume(name: str) -> str:
    """What stands before the number of a volume, or what follows it where nothing does.

    What follows the number is the title of the volume alone, as a rule.
    """
    volume = _VOLUME_AND_NUMBER.search(name)
    if not volume:
        return name
    before = name[: volume.start()].strip()
    is_empty = not before or _ARTICLE.match(f"{before} .") and " " not in before
    return (name[volume.end() :].strip() if is_empty else before) or name


# The share of a book's runs of six words that another book must have. Where every tenth word is
# spelt otherwise, 0.53 of the runs are left; where every sixth is, 0.33.
COPY = 0.5
COPY_OF_WORK = 0.3  # for two books with one key
LEAST_SHARED = 3  # hashes of the sketch: a text under some 400 words has too few to be found
# A run that more books have is a phrase. It is looked for only in the largest books that have it.
_PHRASE, _LARGEST_WITH_PHRASE = 16, 4
_BOOKS_AT_ONCE = 256  # whose sketches go to the database
_MEMORY = "256MB"  # of the database
_SHARED = """
    with known as (
        select hash, rank,
            count(*) over (partition by hash) as n,
            row_number() over (partition by hash order by rank) as place
        from sketches
    )
    select a.rank as one, b.rank as other, count(*) as n_shared
    from known a join known b on a.hash = b.hash and a.place < b.place
    where a.n <= $1 or a.place <= $2
    group by all order by all
"""


@dataclass(frozen=True, slots=True, eq=False)
class BookRecord:
    """What is known of a book when the books of a corpus are chosen."""

    id: str  # the Gutenberg number as text, or the name of the file. No two books have the same.
    title: str  # the title, or ""
    author: str  # the author or authors as the book or the catalogue has them, or ""
    language: str  # the code of the language, or ""
    n_words: int  # words of the book
    sketch: Hashes  # what `sketch_texts` made of its blocks

    @property
    def work(self) -> str:
        """The key of its work."""
        return work_key(self.title, self.author, self.id)


@dataclass(frozen=True, slots=True)
class Copy:
    """Why a book goes."""

    kept: str  # the id of the book that stays in its place
    share: float  # the share of its text that the other book has, as estimated


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two books that share text, by their places in a sequence of books."""

    first: int  # the place of the first one
    second: int  # the place of the second one
    first_in_second: float  # the share of the first one's text that is in the second, as estimated
    second_in_first: float  # the reverse

    @property
    def share(self) -> float:
        """The larger of both shares."""
        return max(self.first_in_second, self.second_in_first)


def find_copies(books: Sequence[BookRecord], work: Path | None = None) -> dict[str, Copy]:
    """The books that go because another book has their text, by id.

    A book that goes has at least the share `COPY` of its text in one that stays, or `COPY_OF_WORK`
    if both have the key of one work. No book that stays has so much of its text in another one that
    stays. Of two books that hold each other, the one stays that holds more books; then the one with
    more words; then the one with the lower number. The order of the books does not count.

    Memory is that of the sketches and of a database; time grows with the number of books and of
    copies.
    """
    _refuse_twins(books)
    order = sorted(range(len(books)), key=lambda place: _rank(books[place]))
    ranked = [books[place] for place in order]
    representatives, twins = _collapse_equal(ranked)
    chosen = _choose([ranked[place] for place in representatives], work)
    copies = {}
    for place, (kept, share) in chosen.items():
        copies[representatives[place]] = (representatives[kept], share)
    for place, twin in twins.items():
        copies[place] = copies.get(twin, (twin, 1.0))
    return {
        ranked[place].id: Copy(ranked[kept].id, share)
        for place, (kept, share) in sorted(
            copies.items(), key=lambda item: _number(ranked[item[0]])
        )
    }


def find_overlaps(
    books: Sequence[BookRecord], least: float, work: Path | None = None
) -> Iterator[Overlap]:
    """Finds the pairs of books of which one has at least the share `least` of the other's text.

    Phrases that more than 16 books have are looked for in the four largest of them only. So of a
    text that is in more than 16 different books, the pairs with the largest ones are found.
    """
    sketches = [book.sketch for book in books]
    sizes = np.array([len(sketch) for sketch in sketches], dtype=np.int64)
    limits = np.array([limit_of(sketch) for sketch in sketches], dtype=np.float64) / float(LIMIT)
    first, second, n_shared = _count_shared(books, work)
    # How many hashes the smaller one can have in common with the other, whose sketch may end
    # before its own. Far fewer than `least` asks for are counted only where phrases are.
    range_ = np.minimum(limits[first], limits[second])
    smaller = np.minimum(sizes[first] / limits[first], sizes[second] / limits[second]) * range_
    is_candidate = (n_shared >= LEAST_SHARED) & (n_shared >= smaller * min(0.1, least / 2))
    for one, other in zip(first[is_candidate], second[is_candidate], strict=True):
        shares = []
        for inner, outer in ((one, other), (other, one)):
            shared, comparable = contain(sketches[inner], sketches[outer])
            shares.append(shared / comparable if shared >= LEAST_SHARED else 0.0)
        if max(shares) >= least:
            yield Overlap(int(one), int(other), *shares)


def _refuse_twins(books: Sequence[BookRecord]) -> None:
    seen: set[str] = set()
    for book in books:
        if book.id in seen:
            raise InputError(f"found two books with the id {book.id}, expected one")
        seen.add(book.id)


def _rank(book: BookRecord) -> tuple[object, ...]:
    """Books with more words come first, then those with a lower number."""
    return -book.n_words, *_number(book)


def _number(book: BookRecord) -> tuple[bool, int, str]:
    is_number = book.id.isascii() and book.id.isdecimal()
    return not is_number, int(book.id) if is_number else 0, book.id


def _collapse_equal(ranked: Sequence[BookRecord]) -> tuple[list[int], dict[int, int]]:
    """The first book of each work with each sketch, and for every other book which that is."""
    first_with: dict[tuple[str, bytes], int] = {}
    firsts, twins = [], {}
    for place, book in enumerate(ranked):
        if len(book.sketch) < LEAST_SHARED:
            continue  # too short to be compared
        first = first_with.setdefault((book.work, book.sketch.tobytes()), place)
        if first == place:
            firsts.append(place)
        else:
            twins[place] = first
    return firsts, twins


def _choose(ranked: Sequence[BookRecord], work: Path | None) -> dict[int, tuple[int, float]]:
    """For each book that goes: the book that stays, and the share. Books are places in `ranked`."""
    held = _find_held(ranked, work)
    # A book is decided after all the books that have its text while it has not theirs.
    n_waited_for = dict.fromkeys(held, 0)
    for outer, inner in held.items():
        for place in inner:
            n_waited_for[place] += outer not in held[place]
    in_order = sorted(n_waited_for, key=lambda book: (-len(held[book]), book))
    position = {book: index for index, book in enumerate(in_order)}
    ready = [position[book] for book in in_order if not n_waited_for[book]]
    gone: dict[int, tuple[int, float]] = {}
    decided: set[int] = set()
    rest = iter(in_order)
    while len(decided) < len(in_order):
        # Estimated shares may contradict one another; then no book is ready.
        book = in_order[heapq.heappop(ready)] if ready else next(rest)
        if book in decided:
            continue
        going = {
            place: (book, share) for place, share in held[book].items() if place not in decided
        }
        gone.update(going)
        decided.update((book, *going))
        for outer in (book, *going):
            for place in held[outer]:
                n_waited_for[place] -= outer not in held[place]
                if not n_waited_for[place] and place not in decided:
                    heapq.heappush(ready, position[place])
    return gone


def _find_held(ranked: Sequence[BookRecord], work: Path | None) -> dict[int, dict[int, float]]:
    """For each book: the books that are copies of it if it stays, with the shares that it has."""
    keys = [book.work for book in ranked]
    held: dict[int, dict[int, float]] = defaultdict(dict)
    for overlap in find_overlaps(ranked, COPY_OF_WORK, work):
        one, other = overlap.first, overlap.second
        least = COPY_OF_WORK if keys[one] == keys[other] else COPY
        for inner, outer, share in (
            (one, other, overlap.first_in_second),
            (other, one, overlap.second_in_first),
        ):
            if share >= least:
                held[outer][inner] = share
    for place in [place for inner in held.values() for place in inner]:
        held.setdefault(place, {})
    return held


def _count_shared(
    books: Sequence[BookRecord], work: Path | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pairs of books, the lower place first, with the number of hashes that both sketches have."""
    # 0 is the largest book: of the books with a phrase, those of the lowest ranks are taken.
    by_size = sorted(
        range(len(books)), key=lambda place: (-len(books[place].sketch), _rank(books[place]))
    )
    with open_database(work) as database:
        database.execute("create table sketches (hash ubigint, rank int)")
        for start in range(0, len(books), _BOOKS_AT_ONCE):
            part = [books[place].sketch for place in by_size[start : start + _BOOKS_AT_ONCE]]
            ranks = np.repeat(np.arange(start, start + len(part)), [len(sketch) for sketch in part])
            insert_columns(database, "sketches", np.concatenate(part), ranks)
        found = database.execute(_SHARED, (_PHRASE, _LARGEST_WITH_PHRASE)).fetchnumpy()
    one, other, n_shared = (np.asarray(found[name]) for name in ("one", "other", "n_shared"))
    place_of = np.array(by_size, np.int64)
    one, other = place_of[one], place_of[other]
    return np.minimum(one, other), np.maximum(one, other), n_shared


@contextmanager
def open_database(work: Path | None) -> Iterator[DuckDBPyConnection]:
    """An empty database with bounded memory: what is more goes to files, for a while, in `work`."""
    duckdb = import_extra("duckdb", "build")
    with (
        TemporaryDirectory(dir=work, prefix=".database.") as folder,
        duckdb.connect(
            config={"threads": 1, "memory_limit": _MEMORY, "temp_directory": folder}
        ) as database,
    ):
        try:
            yield database
        except (duckdb.IOException, duckdb.OutOfMemoryException) as error:
            raise OSError(errno.ENOSPC, reason_of(error)) from error


def insert_columns(database: DuckDBPyConnection, table: str, *columns: np.ndarray) -> None:
    """Adds rows to a table of the database."""
    names = {f"column_{number}": column for number, column in enumerate(columns)}
    database.register("added", names)
    database.execute(f"insert into {table} select * from added")
    database.unregister("added")


@dataclass(frozen=True, slots=True)
class Leak:
    """Text of one split in another one."""

    book: str  # a book
    split: str  # its split
    other: str  # the id of a book in another split that shares text with it
    other_split: str  # that split
    share: float  # the share of the text of one of them that is in the other, as estimated


def find_leaks(
    books: Sequence[BookRecord],
    splits: Mapping[str, str],
    least: float = COPY_OF_WORK,
    work: Path | None = None,
) -> list[Leak]:
    """The pairs of books in two splits of which one has text of the other."""
    placed = [book for book in books if book.id in splits]
    leaks = [
        Leak(one.id, splits[one.id], other.id, splits[other.id], overlap.share)
        for overlap in find_overlaps(placed, least, work)
        for one, other in [(placed[overlap.first], placed[overlap.second])]
        if splits[one.id] != splits[other.id]
    ]
    return sorted(leaks, key=lambda leak: (-leak.share, leak.book, leak.other))
