"""Quoted text -> its kind: speech, a thought, a letter, verse or something else.

Quoted text may also be a title, a word under discussion, a letter or a thought. The text around the
marks shows which it is. Speech is announced ("he said,"), ends with punctuation, or fills its
paragraph. A title or a scare quote is part of the narrator's sentence. In doubt, quoted text is
speech. The words come from the files of the languages. If a language lists none, punctuation alone
decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from miner.books.book import Block, BlockKind
from miner.languages.language import Language
from miner.languages.registry import LANGUAGES, any_of
from miner.speech.kinds import SpanKind

_SAY = any_of(lambda language: language.speech.say)
_THINK = any_of(lambda language: language.speech.think)
_THINK_INVERTED = any_of(lambda language: language.speech.think_inverted)
_NOUN_OPENERS = any_of(lambda language: language.speech.noun_openers)
_ADVERB = any_of(lambda language: language.speech.adverb)

_SAY_WORDS = re.compile(_SAY, re.IGNORECASE)
_SAY_FOLLOWS = re.compile(
    rf"\W*(?:(?:{any_of(lambda language: language.speech.speakers)}|{_NOUN_OPENERS} [\w’'-]+|"
    rf"[A-Z][\w.’'-]*(?: [A-Z][\w.’'-]*){{0,3}}) (?:{_ADVERB} )?{_SAY}\b|{_SAY}\b)"
)
# Words that tell who speaks inside speech whose mark is missing: "Come in, said he"; without a stop
# before them, the verb stands first and a stop after the subject: "Come in said Bo, and sit".
_PRONOUN = any_of(lambda language: language.speech.speakers)
_NOUN = rf"(?:{_NOUN_OPENERS} [\w’'-]+|[A-Z][\w’'-]*(?:\.? [A-Z][\w’'-]*){{0,3}})"
_TAG_INSIDE = re.compile(
    rf"(?:(?<=[,.!?;:…\u2014-]) ?(?={_SAY} (?:{_NOUN}|{_PRONOUN}[,.;:]))|"
    rf"(?P<pronoun>(?<=[,!?…\u2014-]) ?(?={_PRONOUN} (?:{_ADVERB} )?{_SAY}(?: \w+)?[,.;:]))|"
    rf"(?<=[\w’']) (?={_SAY} (?:[A-Z][\w’'-]*|{_PRONOUN})[,.;:]))"
)
_TAG_AT_END = re.compile(
    rf"[!?] (?:{_PRONOUN} (?:{_ADVERB} )?{_SAY}|{_SAY} (?:{_PRONOUN}|{_NOUN}))\b[^.!?]{{0,40}}\.$"
)
_ABBREVIATION = rf"\b(?:{any_of(lambda language: language.speech.abbreviations)}|[A-Z])\."
_ONE_SENTENCE = re.compile(rf"(?:{_ABBREVIATION}|[^.!?\u2026])*+[.!?\u2026]*[^\w\s]*\s*")
_ADJUNCT = any_of(lambda language: language.speech.adjunct)
_NARRATOR = re.compile(
    rf"\b{any_of(lambda language: '|'.join(sorted(language.attribution.narrator)))}\b",
    re.IGNORECASE,
)
_NARRATOR_AFTER = 3  # characters after a verb of saying in which its subject may be the narrator
_END_OF_CLAUSE = re.compile(
    rf"(?:{_ABBREVIATION}|[^.!?;:,\u2014\u2013-]|-(?!-))*+(?:,\s+(?!{_ADJUNCT}\b)|[;:]\s+|[\u2014\u2013]|--)(?=[\W_]*\w)"
)
_END_OF_SENTENCE = re.compile(rf"(?:{_ABBREVIATION}|[^.!?])*+[.!?]\s+(?=[^a-z]*[A-Z])")
_ENDS_UNSAID = re.compile(rf"{any_of(lambda language: language.speech.unsaid)}\W*$", re.IGNORECASE)
_UNSAID_HINTS = tuple(
    hint for language in LANGUAGES.values() for hint in language.speech.unsaid_hints
)
_THINK_WORDS = re.compile(
    rf"{_THINK}{any_of(lambda language: language.speech.think_suffix)}?", re.IGNORECASE
)
_ENDS_WITH_THINK = re.compile(
    rf"\b{any_of(lambda language: language.speech.think_before)}\s?:[ \u2014\u2013-]*$",
    re.IGNORECASE,
)
_ALOUD = re.compile(rf"\b{any_of(lambda language: language.speech.aloud)}\b")
_THINK_FOLLOWS = re.compile(
    rf"\W*(?:(?:{any_of(lambda language: language.speech.thinkers)}|{_NOUN_OPENERS} \w+|"
    rf"[A-Z][\w.]*(?: [A-Z]\w+)?) (?:{_ADVERB} )?{_THINK}\b"
    rf"(?! {any_of(lambda language: language.speech.thought_goes_on)}\b)|"
    rf"(?:{_THINK}|{_THINK_INVERTED})\b)"
)
_INTERRUPTED = re.compile(r"\s*(?:[\u2014\u2013]|--).*(?:[\u2014\u2013]|--)\s*", re.DOTALL)
_ONE_CLAUSE = re.compile(
    rf"(?:{any_of(lambda language: language.speech.abbreviations)}\.|[^.!?])*, ", re.DOTALL
)


def _ends_with_word(words: Callable[[Language], str]) -> re.Pattern[str]:
    return re.compile(rf"\b{any_of(words)}\b[^.!?;“”\"]{{0,25}}$", re.IGNORECASE)


_ENDS_WITH_WRITE = _ends_with_word(lambda language: language.speech.write)
# What narration ends with before words that nobody says, and what these are.
_UNSAID_ENDS = (
    (SpanKind.LETTER, _ENDS_WITH_WRITE),
    (SpanKind.INSCRIPTION, _ends_with_word(lambda language: language.speech.inscribe)),
    (SpanKind.OTHER, _ends_with_word(lambda language: language.speech.denote)),
)
_INSCRIBE_FOLLOWS = re.compile(
    rf"[, ]*{any_of(lambda language: language.speech.inscribe_after)}\b", re.IGNORECASE
)
_MESSAGE_TOLD = re.compile(
    rf"{any_of(lambda language: language.speech.message_told)}[.,:\u2014-]*$", re.IGNORECASE
)
_CITE_FOLLOWS = re.compile(
    rf"[, ]*{any_of(lambda language: language.speech.cite)}\b", re.IGNORECASE
)
_CITED = re.compile(
    rf"\b{any_of(lambda language: language.speech.cited)}[,:\u2014-]*$", re.IGNORECASE
)
_WRITE_FOLLOWS = re.compile(
    rf"\W*(?:[\w.]+ ){{1,3}}{any_of(lambda language: language.speech.write_after_subject)}\b|"
    rf", {any_of(lambda language: language.speech.write_after_comma)}\b"
)
# Where the comma stands outside the marks, as in German: »Ja«, sagte er.
_COMMA_FOLLOWS = re.compile(r", [^\W\d_A-Z]")
_CALLS = tuple(word for language in LANGUAGES.values() for word in language.speech.call_before_cry)
_BEFORE_QUOTATION = re.compile(
    any_of(lambda language: language.speech.before_quotation), re.IGNORECASE
)
_SALUTATION = re.compile(
    rf"\W*{any_of(lambda language: language.speech.salutation)}"
    r"(?:[,:.]?\s*(?:[\u2014\u2013]|--|$)|[”\"]$)",
    re.IGNORECASE,
)
# "Sir," alone in its block, or set off from the letter by a comma and a dash: "Sir,--I beg to".
_TITLE_ALONE = re.compile(
    rf"\W*{any_of(lambda language: language.speech.title_alone)}"
    r"(?:[,:]$|[,:.]\s*(?:[\u2014\u2013]|--)\s*\w)",
    re.IGNORECASE,
)
_LETTER_ANNOUNCED = re.compile(
    rf"\b{any_of(lambda language: language.speech.letter_words)}\b"
    r"[^.!?]{0,60}[:.\u2014\u2013-]+\s*$",
    re.IGNORECASE,
)
_READS_ALOUD = re.compile(
    rf"\b{any_of(lambda language: language.speech.read_aloud)}\b", re.IGNORECASE
)
_OPENING = re.compile(rf"\W*{any_of(lambda language: language.page.letter_opening)}", re.IGNORECASE)
_CLOSING = re.compile(any_of(lambda language: language.page.letter_closing), re.IGNORECASE)
_NESTED = re.compile("[“\"]\\s?[‘']|[‘']\\s?[“\"]")
_LONGEST_HEAD = 3  # paragraphs of a letter down to its salutation
_PERFORM = any_of(lambda language: language.speech.perform)
_PERFORMS = re.compile(rf"\b{_PERFORM}\b", re.IGNORECASE)
_PERFORMS_OR_SAYS = re.compile(rf"\b(?:{_PERFORM}|{_SAY})\b", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?]\W*\s")
_ANNOUNCES = (":", ",", "\u2014", "-", "...", "…")  # ends of narration before what stands below it
_REACH = 50  # characters before a mark in which its announcement is looked for
_NEAR = 200  # characters beside a mark in which writing is announced
_LONGEST_SALUTATION = 60  # characters
_MARKS = "\"'“”‘’«»„‚「」『』_* \n"
_NEW_SENTENCE = re.compile(r"\W*[A-Z\u00c0-\u00dd]")
_DASHES = ("—", "–", "--")
_STOPS = ",.!?;:…—–-。！？，、；："

_ASIDE = re.compile(
    rf"\s*\({any_of(lambda language: language.speech.aside)}[^()]{{0,90}}\)"
    r"(?:[,.;:]|[\u2014\u2013]|--)?\s*"
)


def tells_of_performance(above: str, below: str) -> bool:
    """Whether the narration above or below a poem tells that somebody says or sings it.

    >>> tells_of_performance("The mate stood up and sang:", "He sat down.")
    True
    >>> tells_of_performance("The stone had these lines:", "He read them.")
    False
    """
    announced = above.rstrip()
    clause = _SENTENCE_END.split(announced[-_NEAR:])[-1]
    return tells_who_spoke(below) or bool(
        _PERFORMS.search(below[:_REACH])
        or (announced.endswith(_ANNOUNCES) and _PERFORMS_OR_SAYS.search(clause))
    )


def tells_of_reading_aloud(above: str) -> bool:
    """Whether the narration above a letter tells that somebody reads it aloud."""
    return _READS_ALOUD.search(above[-_NEAR:]) is not None


def announced_message(above: str) -> SpanKind | None:
    """Returns the kind of a quoted block if the narration above it announces a message, else None.

    >>> announced_message("The telegram was short:"), announced_message("She read aloud:")
    (<SpanKind.INSCRIPTION: 'inscription'>, None)
    """
    told = above[-_NEAR:].rstrip(" \u2014\u2013-")
    if not told.endswith(":") or tells_of_reading_aloud(told):
        return None
    if _MESSAGE_TOLD.search(told):
        return SpanKind.INSCRIPTION
    return SpanKind.LETTER if _ENDS_WITH_WRITE.search(told) else None


def is_cited(before: str, after: str) -> bool:
    """Whether the narration beside a quotation tells that it is a proverb or an author's words."""
    return bool(_CITE_FOLLOWS.match(after, 0, _NEAR) or _CITED.search(before[-_NEAR:].rstrip()))


def is_whole_letter(paragraphs: Sequence[str]) -> bool:
    """Whether quoted paragraphs are a letter by its salutation and its length or its closing.

    A mark inside its first mark is no such letter, but one that somebody quotes.
    """
    opens = any(
        _SALUTATION.match(text) or _TITLE_ALONE.match(text) or _OPENING.match(text)
        for text in paragraphs[:_LONGEST_HEAD]
    )
    is_long = len(paragraphs) > 1 or _CLOSING.search(paragraphs[-1][-_NEAR:]) is not None
    return opens and is_long and not _NESTED.match(paragraphs[0])


def find_asides(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The start and end of each passage in parentheses in which the narrator interrupts a speech.

    >>> find_asides("“Well! (with a sigh) so be it.”", 0, 30)
    [(6, 21)]
    """
    if "(" not in text[start:end]:
        return []
    return [match.span() for match in _ASIDE.finditer(text, start + 1, end - 1)]


def tells_who_spoke(after: str, start: int = 0) -> bool:
    """Whether what follows a speech, from a place on, begins with a verb of saying and its subject.

    Verbs with other senses count, too ("He began to pace the room.").

    >>> tells_who_spoke(" Holmes muttered."), tells_who_spoke(" He shook out his hat.")
    (True, False)
    """
    return _SAY_FOLLOWS.match(after, start) is not None


def find_tags(text: str, start: int, end: int) -> list[int]:
    """Returns where in a text without marks words that tell who speaks follow speech.

    >>> find_tags("“Where to? he asked, “and when?”", 1, 21)
    [10]
    """
    return [
        match.start()
        for match in _TAG_INSIDE.finditer(text, start, end)
        # "He turned, and seeing me, he said," may itself be told.
        if match["pronoun"] is None or is_one_sentence(text, start, match.start())
    ]


def ends_in_tag(text: str) -> bool:
    """Whether a text without a closing mark ends in words that tell who asked or cried out.

    >>> ends_in_tag("“Where to? he asked."), ends_in_tag("“Where to? I asked him. He fled.")
    (True, False)
    """
    return _TAG_AT_END.search(text) is not None


def is_one_sentence(text: str, start: int, end: int) -> bool:
    """Whether no sentence ends in a part of a text before its end.

    >>> is_one_sentence("Come in, Mr. Bo!”", 0, 16), is_one_sentence("He rose. Come in!”", 0, 17)
    (True, False)
    """
    return _ONE_SENTENCE.fullmatch(text, start, end) is not None


def find_end_of_tag(text: str, start: int, end: int) -> int:
    """Returns where speech may go on after words that tell who speaks, or 0.

    >>> find_end_of_tag("“Go,” said he, and be quick.”", 5, 28)
    15
    """
    tag = _SAY_FOLLOWS.match(text, start, end)
    if not tag:
        return 0
    found = _END_OF_CLAUSE.match(text, tag.end(), end) or _END_OF_SENTENCE.match(
        text, tag.end(), end
    )
    return found.end() if found else 0


def tells_that_narrator_spoke(text: str, start: int) -> bool:
    """Whether words that tell who spoke follow from a place on, and name the narrator.

    >>> [tells_that_narrator_spoke(text, 6) for text in ("“Why?” I asked.", "“Why?” said he.")]
    [True, False]
    """
    tag = _SAY_FOLLOWS.match(text, start)
    return (
        tag is not None and _NARRATOR.search(text, start, tag.end() + _NARRATOR_AFTER) is not None
    )


def classify_ranges(
    block: Block,
    ranges: Sequence[tuple[int, ...]],
    runs_on: SpanKind | None,
    thoughts: bool = False,
) -> list[SpanKind]:
    """Returns the kind of each quoted range of a block.

    `runs_on` is the kind of what the first of them continues, or None. With `thoughts`, thoughts
    are speech.
    """
    if block.kind is BlockKind.VERSE and runs_on is not SpanKind.UTTERANCE:
        # The last lines of a letter stand one below the other, as verse does.
        return [runs_on if runs_on is SpanKind.LETTER else SpanKind.VERSE] * len(ranges)
    kinds: list[SpanKind] = []
    position = 0
    text = block.text
    for number, (start, end, *_) in enumerate(ranges):
        following = ranges[number + 1][0] if number + 1 < len(ranges) else len(text)
        before, after = text[position:start], text[end:following]
        last = text[max(0, position - _NEAR) : position]
        if block.kind is BlockKind.LETTER and fills_block(text, start, end):
            kind = SpanKind.LETTER  # marks around less of a letter are for the speech that it tells
        elif not number and runs_on is not None:
            kind = runs_on
        elif (
            kinds
            and _goes_on(before)
            and not (kinds[-1] is SpanKind.THOUGHT and _ALOUD.search(before))
            and (
                kinds[-1] is SpanKind.UTTERANCE
                or not (tells_who_spoke(after) or _ends_apart(last, before))
            )
        ):
            kind = kinds[-1]  # “Remember,” she wrote, “that ...”
        elif kinds[-1:] == [SpanKind.UTTERANCE] and _is_beat(last, before, text[start:end]):
            kind = SpanKind.UTTERANCE  # “I thought”—he put down the hammer—“that it held.”
        else:
            kind = _kind_of(before, text[start:end].strip(_MARKS), after, thoughts)
        kinds.append(kind)
        position = end
    return kinds


def _goes_on(before: str) -> bool:
    """Whether the narration between two ranges only names the speaker, so they are one speech."""
    return (len(before) < 80 or _ONE_CLAUSE.fullmatch(before) is not None) and bool(
        tells_who_spoke(before)
        or _WRITE_FOLLOWS.match(before, 0, _NEAR)
        or _THINK_FOLLOWS.match(before)
        or _CITE_FOLLOWS.match(before, 0, _NEAR)
    )


def _ends_apart(quoted: str, after: str) -> bool:
    """Whether what follows a quotation is a sentence of its own: “Take this.” The clerk wrote."""
    ends = quoted.rstrip(_MARKS)
    return ends.endswith(".") and not ends.endswith("..") and bool(_NEW_SENTENCE.match(after))


def _is_beat(spoken: str, before: str, quoted: str) -> bool:
    """Whether the narration between two ranges breaks one sentence, by dashes in or beside marks.

    >>> _is_beat("“You saw it—”", " she let go ", "“—as I did.”")
    True
    """
    goes_on = quoted.lstrip(_MARKS)
    if _INTERRUPTED.fullmatch(before):
        return goes_on[:1].islower()
    return spoken.rstrip(_MARKS).endswith(_DASHES) and goes_on.startswith(_DASHES)


def begins_letter(text: str, start: int, end: int, previous: str) -> bool:
    """Whether a quoted range fills its block and is a letter or the first paragraph of one.

    It is one if it opens with a salutation set off from the rest, or if the block before it ends in
    a salutation without marks, or announces a letter and ends in a colon.
    """
    if not fills_block(text, start, end):
        return False
    if _SALUTATION.match(text, start, end) or _TITLE_ALONE.match(text, start, end):
        return True
    above = previous.rpartition("\n")[2][-_LONGEST_SALUTATION:]
    if above[:1].isalpha() and above.endswith((",", ":")) and _SALUTATION.fullmatch(above):
        return True
    return previous.endswith((":", ":—", ":--")) and bool(
        _LETTER_ANNOUNCED.search(previous, max(0, len(previous) - _NEAR))
    )


def fills_block(text: str, start: int, end: int) -> bool:
    """Whether a range fills its block, except for an editor's words in brackets."""
    rest = text[end:].strip(" .,;:—–-")
    return not text[:start].strip() and (not rest or rest.startswith("["))


def _kind_of(before: str, quoted: str, after: str, thoughts: bool) -> SpanKind:
    """Returns the kind of quoted text that continues nothing."""
    is_last = not after.strip()
    if _ends_apart(quoted, after):
        after = ""
    told = before[-_NEAR:].rstrip()
    before = told[-_REACH:]
    if not quoted or is_cited(told, after):
        return SpanKind.OTHER
    if _WRITE_FOLLOWS.match(after, 0, _NEAR):
        return SpanKind.LETTER
    if _INSCRIBE_FOLLOWS.match(after, 0, _NEAR):
        return SpanKind.INSCRIPTION
    if (
        _THINK_FOLLOWS.match(after)
        or _ends_with(before, _THINK_WORDS)
        or _ENDS_WITH_THINK.search(before)
    ):
        return SpanKind.UTTERANCE if thoughts else SpanKind.THOUGHT
    if not before:
        return SpanKind.UTTERANCE
    if any(hint in before for hint in _UNSAID_HINTS) and _ENDS_UNSAID.search(before):
        return SpanKind.OTHER
    if _ends_with(before, _SAY_WORDS):
        return SpanKind.UTTERANCE
    for kind, ends in _UNSAID_ENDS:
        if ends.search(before):
            return kind
    if is_last and _MESSAGE_TOLD.search(told):
        return SpanKind.INSCRIPTION
    return SpanKind.UTTERANCE if _is_speech(before, quoted, after) else SpanKind.OTHER


def _is_speech(before: str, quoted: str, after: str) -> bool:
    """Whether quoted text after narration is speech, which no word beside it tells."""
    ends_as_speech = quoted[-1] in _STOPS
    n_words = len(quoted.split())
    if before[-1].isalnum():
        return _is_announced_without_stop(before, quoted, after, ends_as_speech, n_words)
    if not ends_as_speech and n_words <= 4:
        return bool(
            tells_who_spoke(after)
            or _INTERRUPTED.fullmatch(after)
            or (_ends_sentence(before) and _COMMA_FOLLOWS.match(after))
        )
    return True


def _ends_sentence(before: str) -> bool:
    """Whether nothing or the end of a sentence stands before a mark and the dash before it."""
    lead = before.rstrip(" \u2014\u2013-")
    return not lead or lead[-1] in ".!?:;…"


def _ends_with(before: str, words: re.Pattern[str]) -> bool:
    """Whether the last one, two or three words match the pattern; stops at the end are ignored."""
    last = before.rstrip(" ,;:.!?—–-(\n").rsplit(None, 3)
    tail = ""
    for word in reversed(last[-3:]):
        tail = f"{word} {tail}" if tail else word
        if words.fullmatch(tail):
            return True
    return False


def _is_announced_without_stop(
    before: str, quoted: str, after: str, ends_as_speech: bool, n_words: int
) -> bool:
    """Whether quoted text with no punctuation before it is speech; most often it is not."""
    if not ends_as_speech:
        return False
    if tells_who_spoke(after):
        return True
    if before.endswith(_CALLS) and quoted[-1] in "!?":
        return True
    if _ends_with(before, _BEFORE_QUOTATION):
        return n_words > 6 and quoted[0].isupper()
    if not quoted[0].isupper():
        return n_words > 8
    return n_words >= 4 or quoted[-1] in "!?"
