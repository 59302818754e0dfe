"""The account of a corpus -> its dataset card, a README.md with the metadata of Hugging Face.

The metadata is a block of YAML that `huggingface_hub.DatasetCard` reads. Its `configs` tell
`datasets.load_dataset` where the rows are. All configs of a card have to be of one kind of file, so
these are the tables of the best format, and the text says how to open the others.
"""

from __future__ import annotations

import json
import re
import textwrap
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from miner.corpus.statistics import (
    CorpusAccount,
    DataFiles,
    Duplicates,
    LengthStatistics,
    languages_of,
    splits_of,
    statistics_of_language,
    statistics_of_split,
    sum_statistics,
)
from miner.files import one_line

if TYPE_CHECKING:
    from miner.corpus.filters import FilterRow
    from miner.tagger.published_scores import PublishedScores

_DEFAULT = "pairs"  # the config that `load_dataset` loads without a name
# The kinds of files that `datasets` reads, best first.
_BUILDERS = {
    ".parquet": "parquet",
    ".jsonl": "json",
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "text",
}
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (10**6, "100K<n<1M"))
_SIZES += ((10**7, "1M<n<10M"), (10**8, "10M<n<100M"), (10**9, "100M<n<1B"))
_LARGEST = "n>1B"
_LICENSE = "public-domain-in-the-usa"
_LICENSE_LINK = "https://www.gutenberg.org/policy/permission.html"
_PLAIN = re.compile(r"[A-Za-z][\w./*<>-]*")  # a text that YAML reads as it is
_WORDS_OF_YAML = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}
UNITS = ("books", "dialogues", "turns", "pairs")  # of what a filter takes
_SHOWN = 5  # examples of duplicates
_UNSEEN = ("dev", "test")  # splits of the annotations that have no author of train
_WORDS = tomllib.loads((files("miner.corpus") / "card.toml").read_text(encoding="utf-8"))
LANGUAGES: dict[str, str] = _WORDS["languages"]
COLUMNS: dict[str, str] = _WORDS["columns"]


def write_card(account: CorpusAccount) -> str:
    """Returns the text of the README.md of a corpus."""
    sections = [
        _introduction(account),
        _opening(account),
        _statistics(account),
        _making(account),
        _filters(account),
        _duplicates(account),
        _trust(account),
        _columns(account),
        ["## Rights", "", *_say("rights")],
        _citing(account),
    ]
    body = "\n\n".join("\n".join(lines) for lines in sections if lines)
    return f"---\n{_yaml(_metadata(account))}---\n\n{body}\n"


def _metadata(account: CorpusAccount) -> dict[str, Any]:
    """What the Hugging Face Hub reads."""
    languages = [one for one in languages_of(account.statistics) if one]
    configs = _configs(account.files)
    metadata: dict[str, Any] = {"pretty_name": one_line(account.name), "license": "unknown"}
    if account.is_public_domain:
        metadata["license"] = "other"  # the Hub knows no name for it
        metadata |= {"license_name": _LICENSE, "license_link": _LICENSE_LINK}
    if languages:
        metadata["language"] = languages
        metadata["multilinguality"] = ["multilingual" if len(languages) > 1 else "monolingual"]
    metadata |= {
        "annotations_creators": ["machine-generated"],
        "language_creators": ["found"],
        "size_categories": [_size(sum_statistics(account.statistics.values()).n_pairs)],
        "task_categories": ["text-generation"],
        "task_ids": ["dialogue-modeling"],
        "tags": ["dialogue", "conversations", "novels", "project-gutenberg", "conversation-miner"],
    }
    if configs:
        metadata["configs"] = [
            {
                "config_name": name,
                "data_files": _paths(files.paths),
                **({"default": True} if name == _default(configs) else {}),
            }
            for name, files in configs.items()
        ]
    known = {name: files.features for name, files in configs.items() if files.features}
    if known:
        metadata["dataset_info"] = [
            {"config_name": name, "features": list(features)} for name, features in known.items()
        ]
    return metadata


def _configs(files: Sequence[DataFiles]) -> dict[str, DataFiles]:
    """The tables that `load_dataset` finds by name, all of one kind of file."""
    loaded = [item for item in files if item.paths and item.suffix in _BUILDERS]
    if not loaded:
        return {}
    order = list(_BUILDERS)
    best = min(
        enumerate(loaded), key=lambda at: (at[1].name != _DEFAULT, order.index(at[1].suffix), at[0])
    )[1]
    found: dict[str, DataFiles] = {}
    for item in loaded:
        if item.suffix == best.suffix:
            is_taken = item.name in found
            found[f"{item.format}-{item.name}" if is_taken else item.name] = item
    return found


def _default(configs: Mapping[str, DataFiles]) -> str:
    return _DEFAULT if _DEFAULT in configs else next(iter(configs))


def _paths(paths: Mapping[str, str]) -> Any:  # noqa: ANN401 - a text or a list of mappings
    """The data files of a config. A path alone is the split "train"."""
    if list(paths) == ["train"]:
        return paths["train"]
    return [{"split": split, "path": path} for split, path in paths.items()]


def _size(n_rows: int) -> str:
    """The size category of the Hub."""
    return next((name for limit, name in _SIZES if n_rows < limit), _LARGEST)


def _yaml(value: Mapping[str, Any], indent: str = "") -> str:
    """Returns a mapping as YAML. Its values are texts, truth values, mappings and lists of them."""
    lines = []
    for key, item in value.items():
        if isinstance(item, Mapping):
            lines.append(f"{indent}{key}:\n{_yaml(item, indent + '  ')}")
        elif isinstance(item, list):
            lines.append(f"{indent}{key}:\n")
            for element in item:
                if isinstance(element, Mapping):
                    block = _yaml(element, indent + "    ")
                    lines.append(f"{indent}  - {block[len(indent) + 4 :]}")
                else:
                    lines.append(f"{indent}  - {_scalar(element)}\n")
        else:
            lines.append(f"{indent}{key}: {_scalar(item)}\n")
    return "".join(lines)


def _scalar(value: str | bool) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS_OF_YAML:
        return value
    return json.dumps(value, ensure_ascii=False)


def _introduction(account: CorpusAccount) -> list[str]:
    total = sum_statistics(account.statistics.values())
    names = _join([name_of_language(one) for one in languages_of(account.statistics)])
    return [
        f"# {_plain(account.name)}",
        "",
        *_say(
            "introduction",
            dialogues=_n(total.n_dialogues, "dialogue"),
            turns=_n(total.n_turns, "turn"),
            books=_n(total.n_books, "book"),
            of=names and f" in {names}",
        ),
    ]


def _opening(account: CorpusAccount) -> list[str]:
    """How to open the files, and what they are."""
    configs = _configs(account.files)
    lines = ["## Open it", ""]
    if configs:
        splits = list(configs[_default(configs)].paths)
        lines += [
            "```python",
            "from datasets import load_dataset",
            "",
            f'rows = load_dataset("FOLDER", "{_default(configs)}", split="{splits[-1]}")',
            "```",
            "",
        ]
    lines += ["| files | what is in them |", "|---|---|"]
    lines += [
        f"| `{item.place}` | {_plain(item.about)}{_hint(item, configs)} |" for item in account.files
    ]
    lines += [f"| `{name}` | {about} |" for name, about in account.other_files.items()]
    lines += [f"| `{figure.path}` | {_plain(figure.caption)} |" for figure in account.illustrations]
    return lines


def _hint(item: DataFiles, configs: Mapping[str, DataFiles]) -> str:
    """How to open files with `load_dataset`, if it is not by the name of their table."""
    name = next((name for name, other in configs.items() if other is item), None)
    if name is not None:
        return f"; config `{name}`"
    builder = _BUILDERS.get(item.suffix)
    if not builder or not item.paths:
        return ""
    path = next(iter(item.paths.values()))
    tabs = ', sep="\\t"' if item.suffix == ".tsv" else ""
    return f'; `load_dataset("{builder}", data_files="FOLDER/{path}"{tabs})`'


def _statistics(account: CorpusAccount) -> list[str]:
    statistics = account.statistics
    if not statistics:
        return []
    lines = [
        "## Statistics",
        "",
        "| split | language | books | turns (#U) | words a turn | dialogues (#D) "
        "| turns a dialogue | standard deviation | of 20 turns or more | pairs |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    lines += [
        f"| {split} | {name_of_language(language)} | {' | '.join(cells)} |"
        for split, language, cells in rows_of_statistics(account)
    ]
    lines += ["", *_say("statistics")]
    for figure in account.illustrations:
        lines += ["", f"![{_plain(figure.caption)}]({figure.path})"]
    return lines


def rows_of_statistics(account: CorpusAccount) -> Iterator[tuple[str, str, list[str]]]:
    """Yields the split, the code of the language and the cells of each row of the statistics.

    Rows of sums follow where there is something to sum: the splits of each language, the languages
    of each split, and everything.
    """
    statistics = account.statistics
    splits, languages = splits_of(statistics), languages_of(statistics)
    for split in splits:
        for language in languages:
            if (split, language) in statistics:
                cells = _cells(statistics[split, language])
                yield split, language, cells
    if len(splits) > 1 and len(languages) > 1:
        for language in languages:
            cells = _cells(statistics_of_language(statistics, language))
            yield "all", language, cells
        for split in splits:
            yield split, "all", _cells(statistics_of_split(statistics, split))
    if len(statistics) > 1:
        language = "all" if len(languages) > 1 else languages[0]
        yield "all", language, _cells(sum_statistics(statistics.values()))


def _cells(part: LengthStatistics) -> list[str]:
    return [
        f"{part.n_books:,}",
        f"{part.n_turns:,}",
        f"{part.mean_words:.2f}",
        f"{part.n_dialogues:,}",
        f"{part.mean_turns:.2f}",
        f"{part.deviation:.2f}",
        f"{part.n_long:,}",
        f"{part.n_pairs:,}",
    ]


def _making(account: CorpusAccount) -> list[str]:
    lines = ["## How it was made", "", *_say("making", version=account.version)]
    if account.taggers:
        lines += ["", "| language | tagger | books |", "|---|---|--:|"]
        lines += [
            f"| {name_of_language(language)} | `{tagger}` | {n:,} |"
            for (language, tagger), n in account.taggers.items()
        ]
    if account.splits_by == "list":
        lines += ["", *_say("splits_by_list")]
    elif account.splits_by:
        unit = {"work": "work (books of one author and title)", "author": "author"}.get(
            account.splits_by, account.splits_by
        )
        lines += ["", *_say("splits_by_hash", unit=unit)]
    if account.empty_splits:
        lines += ["", *_wrap(f"{_plain(account.empty_splits.capitalize())}.")]
    if account.n_set_aside:
        was = "was" if account.n_set_aside == 1 else "were"
        lines += ["", f"{_n(account.n_set_aside, 'source')} {was} set aside; `run.json` says why."]
    return lines


def _filters(account: CorpusAccount) -> list[str]:
    if not account.filters:
        return []
    lines = [
        "## What the filters took",
        "",
        f"| filter | parameter | {' | '.join(UNITS)} | share |",
        f"|---|---|{'--:|' * (len(UNITS) + 1)}",
    ]
    for row in account.filters:
        lines.append(f"| {' | '.join(map(_plain, cells_of_filter(row)))} |")
    return [*lines, "", *_say("filters")]


def cells_of_filter(row: FilterRow) -> list[str]:
    """Returns a row of the table of filters: title, parameter, what it took, and the share."""
    taken = [getattr(row.taken, unit) for unit in UNITS]
    share = f"{format_percent(row.share)} of {row.line.unit}" if row.came else ""
    return [row.line.title, row.line.parameter, *(f"{n:,}" if n else "" for n in taken), share]


def format_percent(share: float) -> str:
    """Formats a share, 0 to 1, as a percentage that is 0 for nothing only.

    >>> format_percent(0.0442), format_percent(0.00004), format_percent(0.0)
    ('4.4%', '<0.1%', '0.0%')
    """
    return "<0.1%" if 0 < share < 0.0005 else f"{share:.1%}"


def _duplicates(account: CorpusAccount) -> list[str]:
    if not account.duplicates:
        return []
    lines = ["## Duplicates", ""]
    for item in account.duplicates:
        lines.append(f"- {describe_duplicates(item)}")
        lines += [
            f"  - {_plain(left_out)}: stays as {_plain(kept)}"
            for left_out, kept in item.examples[:_SHOWN]
        ]
    return lines


def describe_duplicates(item: Duplicates) -> str:
    """One line about what was left out as duplicates, and where it is named."""
    return f"left out as duplicates: {item.n:,} {item.kind}, named in {item.file}"


def _trust(account: CorpusAccount) -> list[str]:
    lines = ["## How far to trust it", ""]
    measured: dict[str, PublishedScores] = {}
    unmeasured: list[str] = []
    for language, tagger in account.taggers:
        trust = account.trust_in(tagger, language)
        if trust is None:
            unmeasured.append(f"{name_of_language(language)} by `{tagger}`")
        else:
            measured[tagger] = trust
    for trust in measured.values():
        lines += [*_describe_trust(trust, account.min_confidence), ""]
    if unmeasured or not measured:
        of = f" of dialogues in {_join(unmeasured)}" if unmeasured else ""
        lines += [*_say("unmeasured", of=of), ""]
    return lines + _say("limits")


def _describe_trust(trust: PublishedScores, min_confidence: float) -> list[str]:
    """The measured figures of one tagger."""
    from miner.score import format_score  # which takes a while to import

    at, languages = trust.at(min_confidence), map(name_of_language, trust.languages)
    begun = trust.beginnings
    precision, recall = format_score(begun.precision), format_score(begun.recall)
    least = f" with a confidence of at least {at.min_confidence:g}" if at.min_confidence else ""
    lines = _say(
        "measured",
        languages=_join(list(languages)),
        tagger=trust.tagger,
        least=least,
        precision=format_score(at.precision),
        recall=format_score(at.recall),
    )
    if at.min_confidence != min_confidence:
        lines += _say("nearest", confidence=min_confidence, nearest=at.min_confidence)
    lines += ["", "| pairs | kept | right (precision) | found (recall) |", "|---|--:|---|---|"]
    for kept in trust.pairs:
        name = f"confidence ≥ {kept.min_confidence:g}" if kept.min_confidence else "all"
        scores = f"{format_score(kept.precision)} | {format_score(kept.recall)}"
        lines.append(f"| {name} | {100 * kept.share:.1f}% | {scores} |")
    beginnings = _text("beginnings", precision=precision, recall=recall)
    if trust.speakers is not None:
        beginnings += " " + _text("speakers", share=format_score(trust.speakers))
    where = _say(
        "where",
        chapters=_n(trust.n_chapters, "chapter"),
        novels=_n(trust.n_books, "novel"),
        split=trust.split,
        authors=" Their authors are not in the train split." if trust.split in _UNSEEN else "",
    )
    return [*lines, "", *_wrap(beginnings), "", *where, "", f"`{trust.signature}`"]


def _columns(account: CorpusAccount) -> list[str]:
    known = [item for item in _configs(account.files).values() if item.features]
    if not known:
        return []
    lines = ["## Columns"]
    described: set[str] = set()
    for item in known:
        lines += ["", f"**{item.name}**: {item.about}", ""]
        names = [feature["name"] for feature in item.features]
        fresh = [name for name in names if name not in described]
        described.update(fresh)
        lines += [f"- `{name}`: {_about_column(name)}".removesuffix(": ") for name in fresh]
        if again := [f"`{name}`" for name in names if name not in fresh]:
            lines.append(f"- as above: {', '.join(again)}")
    return lines


def _about_column(name: str) -> str:
    """What a column holds; "" if only its format knows. A side of a pair has those of a turn."""
    if about := COLUMNS.get(name) or COLUMNS.get(name.rstrip("0123456789") + "N"):
        return about
    for side in ("context", "response"):
        about = COLUMNS.get(name.removeprefix(f"{side}_"))
        if about and name.startswith(f"{side}_"):
            return f"of the {side}: {about}"
    return ""


def _citing(account: CorpusAccount) -> list[str]:
    taggers = list(dict.fromkeys(f"`{tagger}`" for _, tagger in account.taggers))
    by = f" with {_join(taggers)}" if taggers else ""
    said = _say("citing", version=account.version, by=by)
    return ["## How to cite", "", *said, "", "```bibtex", _WORDS["bibtex"]["text"], "```"]


def name_of_language(code: str) -> str:
    """Returns the name of a language by its code, or the code if the miner does not know it."""
    return LANGUAGES.get(code, code)


def _join(names: Sequence[str]) -> str:
    """The names with commas and "and".

    >>> _join(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def _say(name: str, **values: object) -> list[str]:
    """The lines of a paragraph of `card.toml`."""
    return _wrap(_text(name, **values))


def _text(name: str, **values: object) -> str:
    return " ".join(_WORDS["prose"][name].split()).format(**values)


def _wrap(text: str) -> list[str]:
    """The lines of a paragraph."""
    return textwrap.wrap(text, 100, break_long_words=False, break_on_hyphens=False)


def _n(n: int, unit: str) -> str:
    return f"{n:,} {unit}{'' if n == 1 else 's'}"


def _plain(text: str) -> str:
    """A text on one line that does not end a cell of a table."""
    return one_line(text).replace("|", "\\|")
