"""Book -> Typography: how this book marks speech, inferred with evidence.

One majority vote over single characters misreads books: every apostrophe votes for single quotes,
every quotation inside a speech for the inner mark. So each block of prose votes once, with the mark
that opens its first stretch that ends as speech does (punctuation, then the closing mark), and a
block that begins with a dash votes for dashes. What a language uses is data: a row of
`CONVENTIONS`, not code.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from miner.books.book import SPOKEN_KINDS, Block, BlockKind, Book

_VOTING_PART = 250  # characters of a block in which its first speech is looked for
_AFTER = r"(?=$|[\s)\],.;:!?\u2014\u2013-])"  # what may stand after a closing mark
_STOP = r"[,.!?;:\u2026\u2014\u2013_*)\]-]"  # how speech ends before its closing mark
_DASH_START = re.compile(
    r"(--|[\u2014\u2013\u2015-])(?=\s?[\w\u00bf\u00a1\"'\u201c\u2018.\u2026_])"
)


@dataclass(frozen=True, slots=True)
class Marks:
    """A pair of quotation marks.

    `is_apostrophe` says that the closing mark is an apostrophe, too. `continues` lists the marks
    that may stand at the start of a paragraph to show that the speech of the last one runs on.
    """

    name: str
    opener: str
    closer: str
    continues: str
    is_apostrophe: bool = False

    @property
    def has_direction(self) -> bool:
        """Whether the opening mark differs from the closing one."""
        return self.opener != self.closer


MARKS = {
    marks.name: marks
    for marks in (
        Marks("double-curly", "\u201c", "\u201d", "\u201c"),
        Marks("double-straight", '"', '"', '"'),
        Marks("single-curly", "\u2018", "\u2019", "\u2018", is_apostrophe=True),
        Marks("single-straight", "'", "'", "'", is_apostrophe=True),
        Marks("guillemets", "\u00ab", "\u00bb", "\u00ab\u00bb"),
        Marks("guillemets-inward", "\u00bb", "\u00ab", "\u00bb"),
        Marks("low-high", "\u201e", "\u201c", "\u201e"),
        Marks("low-right", "\u201e", "\u201d", "\u201e"),
    )
}
DASH = "dash"
_CERTAIN = {
    marks.name: marks.opener
    for marks in MARKS.values()
    if not marks.is_apostrophe and marks.name not in ("low-high", "low-right")
}
# Before a double mark a single one opens speech that begins with a quotation, and is certain, too.
_DOUBLE = ('"', "\u201c")
_NESTED = _CERTAIN | {m.name: m.opener for m in MARKS.values() if m.is_apostrophe}

_FAMILIES = {"double-curly": "double", "double-straight": "double"} | {
    "single-curly": "single",
    "single-straight": "single",
    "low-high": "low",
    "low-right": "low",
}


@dataclass(frozen=True, slots=True)
class Conventions:
    """What printers of a language use.

    Args:
        marks: names of the quotation marks for speech, the usual ones first.
        has_dash: whether a dash at the start of a paragraph may open speech.
        quotes_beside_dash: whether quotation marks are speech, too, in a book that uses dashes;
            elsewhere they stand for thoughts and titles there.
        dash_closes: whether a dash inside a dash paragraph ends the speech and opens narration, as
            in Spanish (one dash before the tag and one after it).
        tag_verbs: verbs that begin a tag inside a dash paragraph in which no mark does.
        tag_tails: words that, after a comma, carry such a tag on ("said he, smiling").
        tags_inside_marks: whether "said he" stands inside the quotation marks, as in French.
        function_words: the words by which a text of this language is known.
    """

    marks: tuple[str, ...]
    has_dash: bool
    quotes_beside_dash: bool
    dash_closes: bool
    tag_verbs: str
    function_words: str
    tag_tails: str = ""
    tags_inside_marks: bool = False


_ENGLISH_MARKS = ("double-curly", "double-straight", "single-curly", "single-straight")
CONVENTIONS = {
    "en": Conventions(
        _ENGLISH_MARKS,
        has_dash=True,
        quotes_beside_dash=False,
        dash_closes=False,
        tag_verbs="said|says|asked|cried|answered|replied|repeated|exclaimed|murmured|whispered|"
        "shouted|called|began|continued|added|went on|put in|remarked|muttered|returned",
        function_words="the and of to that was with his her for had not",
        tag_tails=r"\w+ing\b|who\b|and\b|with\b|in a\b|as\b|his\b|her\b",
    ),
    "de": Conventions(
        ("guillemets-inward", "low-high", "double-straight", "double-curly", "guillemets"),
        has_dash=False,
        quotes_beside_dash=True,
        dash_closes=False,
        tag_verbs="sagte|fragte|rief|antwortete|sprach|erwiderte",
        function_words="der die und das nicht mit sich ein ist zu auf sie",
    ),
    "fr": Conventions(
        ("guillemets", "double-curly", "double-straight"),
        has_dash=True,
        quotes_beside_dash=True,
        dash_closes=False,
        tag_verbs="dit|dis-je|disait|demanda|demandai-je|r\u00e9pondit|r\u00e9pondis-je|reprit|"
        "s['\u2019]\u00e9cria|s['\u2019]exclama|ajouta|continua|poursuivit|murmura|r\u00e9pliqua|"
        "cria|interrompit|balbutia|r\u00e9p\u00e9ta|objecta|fit",
        function_words="le la les des et dans que qui une pas est pour",
        tag_tails=r"en \w+ant\b|d['\u2019]une? (?:ton|voix|air)\b|avec une?\b",
        tags_inside_marks=True,
    ),
    "es": Conventions(
        ("guillemets", "double-curly", "double-straight"),
        has_dash=True,
        quotes_beside_dash=False,
        dash_closes=True,
        tag_verbs="dijo|respondi\u00f3|pregunt\u00f3|replic\u00f3|exclam\u00f3|contest\u00f3",
        function_words="el la los que de en con por una del las su",
    ),
    "it": Conventions(
        ("guillemets", "double-curly", "double-straight", "low-right"),
        has_dash=True,
        quotes_beside_dash=True,
        dash_closes=True,
        tag_verbs="disse|rispose|domand\u00f2|grid\u00f2|chiese|esclam\u00f2|replic\u00f2",
        function_words="il la che di non per un della con gli era si",
    ),
    "pt": Conventions(
        ("guillemets", "double-curly", "double-straight"),
        has_dash=True,
        quotes_beside_dash=False,
        dash_closes=True,
        tag_verbs="disse|disse-lhe|disse-me|respondeu|respondi|perguntou|perguntei|exclamou|acudiu|"
        "replicou|murmurou|gritou|bradou|tornou|continuou|interrompeu|observou|repetiu|atalhou|"
        "accrescentou|acrescentou|concluiu|insistiu|balbuciou|assentiram|assentiu",
        function_words="o a que de os n\u00e3o uma com do da para se",
        tag_tails=r"\w+ndo\b|com (?:os?|as?|uma?)\b|n['\u2019]uma?\b|que se\b",
    ),
    "nl": Conventions(
        ("double-curly", "low-right", "double-straight", "single-curly", "single-straight"),
        has_dash=True,
        quotes_beside_dash=False,
        dash_closes=True,
        tag_verbs="zei|zeide|vroeg|riep|antwoordde|hernam|sprak|meende|fluisterde|vervolgde|"
        "herhaalde|lachte|glimlachte|murmelde|smeekte|snikte|stamelde",
        function_words="de het een van en niet dat zijn met was haar hij",
        tag_tails=r"terwijl\b|met (?:een|zijn|haar)\b|\w+end\b",
    ),
    "hu": Conventions(
        ("low-right", "guillemets-inward", "double-curly", "double-straight"),
        has_dash=True,
        quotes_beside_dash=False,
        dash_closes=True,
        tag_verbs="mondta|mond\u00e1|monda|k\u00e9rdezte|k\u00e9rd\u00e9|felelte|felelt|ki\u00e1ltotta|"
        "ki\u00e1lta|sz\u00f3lt|sz\u00f3la|sz\u00f3lalt|v\u00e1laszolt|suttog\u00e1|s\u00f3hajta|"
        "viszonz\u00e1|folytat\u00e1",
        function_words="a az \u00e9s nem hogy egy is volt meg csak ez s",
        tag_tails=r"\w+v[ae]\b",
    ),
}
ANY_LANGUAGE = Conventions(
    tuple(MARKS),
    has_dash=True,
    quotes_beside_dash=True,
    dash_closes=True,
    tag_verbs="said",
    function_words="",
)


@dataclass(frozen=True, slots=True)
class Typography:
    """How a book marks speech.

    Args:
        language: a key of `CONVENTIONS`, or "" where none fits.
        marks: the quotation marks that open speech; empty in a book of dashes alone.
        dash: whether a dash at the start of a paragraph opens speech.
        confidence: share of the blocks with a vote that voted for what was chosen, shrunk towards
            0 where few voted; 1.0 where the user said it.
        evidence: votes by name of marks, most first.
    """

    language: str
    marks: tuple[Marks, ...]
    dash: bool
    confidence: float
    evidence: tuple[tuple[str, int], ...]

    @property
    def conventions(self) -> Conventions:
        """The row of the book's language."""
        return CONVENTIONS.get(self.language, ANY_LANGUAGE)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of what opens speech, as `typography_from_names` takes them."""
        return (*(marks.name for marks in self.marks), *((DASH,) if self.dash else ()))


def prose(blocks: Iterable[Block]) -> list[Block]:
    """The blocks in which people may speak: paragraphs, verse and letters."""
    return [block for block in blocks if block.kind in SPOKEN_KINDS]


def _paragraphs(book: Book) -> list[Block]:
    return [block for block in book.blocks if block.kind is BlockKind.PARAGRAPH]


def infer_typography(book: Book) -> Typography:
    """How the book marks speech, with the votes that say so.

    The marks with the most votes are chosen, with their straight or curly twin if it has votes of
    its own, with others that have a tenth of the votes or begin a hundredth of the paragraphs (a
    preface set another way), and dashes beside them where they have a tenth of the votes and the
    language uses them.
    """
    blocks = _paragraphs(book)
    language = infer_language(book)
    row = CONVENTIONS.get(language, ANY_LANGUAGE)
    votes, begun = _votes(blocks, row)
    total = votes.total()
    if not total:
        return Typography(language, (), False, 0.0, ())
    best = max(votes, key=lambda name: (votes[name], name))
    dash = row.has_dash and votes[DASH] >= 0.1 * total
    names: list[str] = []
    if best != DASH or row.quotes_beside_dash:
        quotes = {name: count for name, count in votes.items() if name != DASH}
        if quotes:
            first = max(quotes, key=lambda name: (quotes[name], name))
            if first == best or quotes[first] >= 0.02 * total:
                names = [first, *_twins(first, votes)]
                names += _strangers(names, votes, begun)
    chosen = sum(votes[name] for name in names) + (votes[DASH] if dash else 0)
    return Typography(
        language=language,
        marks=tuple(MARKS[name] for name in names),
        dash=dash,
        confidence=chosen / total * total / (total + 5),
        evidence=tuple(votes.most_common()),
    )


def typography_from_names(names: Iterable[str], language: str = "en") -> Typography:
    """The typography that the user names, for example ("double-curly", "dash").

    Raises:
        ValueError: if a name is neither one of `MARKS` nor "dash"; lists the known names.
    """
    names = tuple(names)
    for name in names:
        if name != DASH and name not in MARKS:
            known = ", ".join((*MARKS, DASH))
            raise ValueError(f"unknown quotation marks {name!r}, expected some of: {known}")
    marks = tuple(MARKS[name] for name in names if name != DASH)
    return Typography(language, marks, DASH in names, 1.0, ())


def _twins(name: str, votes: Counter[str]) -> list[str]:
    """Marks of the same family that are in use beside these: straight among curly, say."""
    family = _FAMILIES.get(name)
    return [
        other
        for other, count in votes.most_common()
        if other != name and family and _FAMILIES.get(other) == family and count
    ]


def _strangers(names: list[str], votes: Counter[str], begun: Counter[str]) -> list[str]:
    """Marks of another family with too many votes for a slip of the printer: a preface, a frame."""
    total = votes.total()
    return [
        name
        for name, count in votes.items()
        if name not in (*names, DASH)
        and (begun[name] >= max(3, total / 100) or count >= max(3, total / 10))
    ]


def infer_language(book: Book) -> str:
    """The declared language, unless the text's function words plainly say another.

    A key of `CONVENTIONS`, or "" where none fits.
    """
    declared = book.language
    blocks = _paragraphs(book)
    words = Counter[str]()
    for block in blocks[:: max(1, len(blocks) // 50)]:
        words.update(block.text.lower().split())
    hits = {
        language: sum(words[word] for word in row.function_words.split())
        for language, row in CONVENTIONS.items()
    }
    best = max(hits, key=lambda language: hits[language])
    if hits[best] == 0:
        return declared if declared in CONVENTIONS else ""
    if declared in CONVENTIONS and hits[best] < 2 * hits[declared] + 10:
        return declared
    # A language without a row has none of these words in numbers.
    return best if hits[best] > 0.05 * words.total() else ""


def _votes(blocks: Iterable[Block], row: Conventions) -> tuple[Counter[str], Counter[str]]:
    """Votes by name of marks, and how many of them are of paragraphs that the mark begins."""
    patterns = [(name, MARKS[name].opener, _speech_pattern(MARKS[name])) for name in row.marks]
    votes: Counter[str] = Counter()
    begun: Counter[str] = Counter()
    for block in blocks:
        text = block.text
        if row.has_dash and text[0] in "-\u2014\u2013\u2015" and _DASH_START.match(text):
            votes[DASH] += 1
            continue
        # A paragraph that begins with a mark votes for it, closed or not: speech that runs over
        # many paragraphs closes only the last of them.
        starts = _NESTED if text[1:2] in _DOUBLE else _CERTAIN
        first = next((name for name in row.marks if text[0] in starts.get(name, "")), "")
        if first:
            begun[first] += 1
        first_start = len(text)
        for name, opener, pattern in () if first else patterns:
            if opener in text:
                match = pattern.search(text, 0, _VOTING_PART)
                if match and match.start() < first_start:
                    first, first_start = name, match.start()
        if first:
            votes[first] += 1
    return votes, begun


def _speech_pattern(marks: Marks) -> re.Pattern[str]:
    """A stretch in these marks that ends as speech does: punctuation, then the closing mark."""
    opener, closer = re.escape(marks.opener), re.escape(marks.closer)
    # What may stand before the mark is looked back at from behind it, so that the search can skip
    # from mark to mark.
    at_start = rf"{opener}(?:(?<=[\s(\[\u2014\u2013\u2015-]{opener})|(?<!.{opener}))"
    if marks.is_apostrophe:
        # Apostrophes are let through; a capital, or a mark inside, begins nearly all speech.
        inside = rf"[^{opener}]*?" if marks.has_direction else r"(?:[^']|(?<=\w)'(?=\w))*?"
        first = r"(?=[A-Z\u00c0-\u00dd\"\u201c])"
        return re.compile(rf"{at_start}{first}{inside}{_STOP}{closer}{_AFTER}", re.DOTALL)
    if not marks.has_direction:
        return re.compile(rf"{at_start}(?=\S)[^{opener}]*{_STOP}{closer}{_AFTER}", re.DOTALL)
    return re.compile(rf"{opener} ?(?=\S)[^{opener}{closer}]*{_STOP} ?{closer}")
