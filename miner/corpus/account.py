"""What a run says of a corpus: the values from which its card and its tables are made."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from miner.corpus.export import Format
from miner.corpus.features import Feature
from miner.corpus.filter_table import FilterRow
from miner.corpus.statistics import CorpusStatistics

if TYPE_CHECKING:
    from miner.tagger.published_scores import PublishedScores


@dataclass(frozen=True, slots=True)
class DataFiles:
    """All files of one table of rows, or of one other thing, in one format.

    Args:
        format: the name of the format.
        name: the name of the files without their ending, such as "pairs".
        about: what is in them.
        paths: by split, a path or a pattern, relative to the folder of the corpus.
        features: its columns, as `features.features_from_schema` gives them; none if unknown.
    """

    format: str
    name: str
    about: str
    paths: Mapping[str, str]
    features: Sequence[Feature] = ()

    @property
    def place(self) -> str:
        """The paths as one text: "parquet/pairs/SPLIT-*.parquet", where they differ in the split.

        >>> DataFiles("", "", "", {"train": "train/a.txt", "test": "test/a.txt"}).place
        'SPLIT/a.txt'
        """
        places = {path.replace(split, "SPLIT") for split, path in self.paths.items()}
        return places.pop() if len(places) == 1 else ", ".join(self.paths.values())

    @property
    def suffix(self) -> str:
        """The ending of the files, such as ".jsonl"."""
        return PurePosixPath(next(iter(self.paths.values()), "")).suffix


@dataclass(frozen=True, slots=True)
class Duplicates:
    """Books or dialogues that were left out because the corpus has them already.

    Args:
        kind: what they are, in as many as they are: "editions of one work".
        n: how many were left out.
        examples: some of them, each with the one that stayed.
        file: the file that names all of them.
    """

    kind: str
    n: int
    examples: Sequence[tuple[str, str]]
    file: str


@dataclass(frozen=True, slots=True)
class Illustration:
    """A figure that is a file of the corpus.

    Args:
        path: relative to the folder of the corpus, such as "figures/turns.png".
        caption: what it shows.
        content: the bytes of the file.
    """

    path: str
    caption: str
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class CorpusAccount:
    """What is said of a corpus.

    Args:
        name: what it is called.
        version: that of the miner.
        statistics: by split and language.
        files: its data files, the preferred format first.
        other_files: the names of the files beside them, each with what is in it.
        taggers: how many books each tagger tagged in each language, by (language, tagger). A
            checkpoint is named with the start of its digest.
        trusts: what was measured of taggers, see `tagger.published_scores.find_published_scores`.
        min_confidence: the least confidence of its pairs; 0 if none was asked for.
        is_public_domain: whether no book has a notice of copyright, as far as that was looked for.
        splits_by: what always stays in one split ("book", "work" or "author"); "list" if a fixed
            list says which book is in which; "" if there is only one split.
        empty_splits: which splits were asked for and have no book, and what helps; "" if none.
        filters: what each filter took, in their order; none if the run had no filters.
        duplicates: what was left out as a duplicate.
        n_set_aside: how many sources gave no dialogues.
        illustrations: its figures.
    """

    name: str
    version: str
    statistics: CorpusStatistics
    files: Sequence[DataFiles]
    other_files: Mapping[str, str] = field(default_factory=dict)
    taggers: Mapping[tuple[str, str], int] = field(default_factory=dict)
    trusts: Sequence[PublishedScores] = ()
    min_confidence: float = 0.0
    is_public_domain: bool = False
    splits_by: str = ""
    empty_splits: str = ""
    filters: Sequence[FilterRow] = ()
    duplicates: Sequence[Duplicates] = ()
    n_set_aside: int = 0
    illustrations: Sequence[Illustration] = ()

    def trust_in(self, tagger: str, language: str) -> PublishedScores | None:
        """What was measured of a tagger for books of a language, if anything was."""
        fitting = (
            trust for trust in self.trusts if trust.tagger == tagger and language in trust.languages
        )
        return next(fitting, None)


def data_files_of(
    form: Format,
    options: Any,  # noqa: ANN401 - each format has its own
    splits: Iterable[str],
    path_of: Callable[[str, str], str],
    with_rows: Container[str] | None = None,
) -> list[DataFiles]:
    """Returns the data files of a format."""
    splits = list(splits)
    features = form.features(options)
    found = [
        DataFiles(
            form.name,
            PurePosixPath(name).stem,
            about,
            {
                split: path
                for split in splits
                if (path := path_of(name, split)) and (with_rows is None or path in with_rows)
            },
            features.get(name, ()),
        )
        for name, about in form.files_with(options).items()
    ]
    return [files for files in found if files.paths]
