"""Whether quoted text is speech: not a title, a word under discussion, a letter or a thought.

The evidence is what stands around the marks: speech is announced ("he said,"), ends with
punctuation, or fills its paragraph; a title or a scare quote is part of somebody else's sentence.
Where the evidence is even, quoted text is taken for speech. The word lists are English; other
languages fall back on punctuation alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from miner.books.book import Block, BlockKind

_SAY = (
    r"sa(?:y|ys|id|ying)|cr(?:y|ies|ied|ying)|ask(?:s|ed|ing)?|repl(?:y|ies|ied|ying)|"
    r"answer(?:s|ed|ing)?|exclaim(?:s|ed|ing)?|whisper(?:s|ed|ing)?|murmur(?:s|ed|ing)?|"
    r"mutter(?:s|ed|ing)?|repeat(?:s|ed|ing)?|shout(?:s|ed|ing)?|call(?:s|ed|ing)? out|"
    r"add(?:s|ed|ing)?|return(?:ed|ing)|remark(?:s|ed|ing)?|echo(?:ed|ing)?|beg(?:an|in|ins)|"
    r"sings?|sang|singing|roar(?:ed|ing)|scream(?:ed|ing)|retort(?:ed|ing)|observed|continued|"
    r"growl(?:ed|ing)|went on|put in|inquired|demanded|declared|announced|protested|responded|"
    r"gasp(?:ed|ing)|ejaculated|sigh(?:ed|ing)|yell(?:ed|ing)|stammer(?:ed|ing)|told|"
    r"explain(?:s|ed|ing)?|interrupted|interposed|faltered|screech(?:ed|ing)|quoted|"
    r"(?:cr(?:ied|ying)|call(?:ed|ing)|shout(?:ed|ing)|sang|read) (?:out|aloud|back)|"
    r"kept (?:repeating|saying|crying|asking|shouting)|"
    r"(?:cry|cries|shouts?|murmurs?|exclamations?) of"
)
_WRITE = (
    r"wrote|written|writing|writes|inscri\w+|label\w*|entitled|headed|signed|marked|printed|"
    r"telegram|telegraphed|postscript|crossed out|advertise\w+|placards?|sign-?board|"
    r"meant|(?<!no )(?<!all )(?<!any )means|implied|signified|expressed|schrieb|écrivit|"
    r"scriveva|scrisse|escribió|escreveu|schreef"
)
_SAY_WORDS = re.compile(_SAY, re.IGNORECASE)
_SAY_FOLLOWS = re.compile(
    rf"\W*(?:(?:he|she|they|I|we|it|you|(?:the|his|her|my|old|young|poor) [\w’'-]+|"
    rf"[A-Z][\w.’'-]*(?: [A-Z][\w.’'-]*){{0,3}}) (?:\w+ly )?(?:{_SAY})\b|(?:{_SAY})\b)"
)
# What is not said on this occasion: imagined, wished, habitual.
_ENDS_UNSAID = re.compile(
    rf"\b(?:would|might|should)(?: have| always| often| sometimes| then| never| perhaps)* "
    rf"(?:{_SAY})"
    rf"(?:\s+(?:to|of|him|her|them|himself|herself|\w+ly)\b)*\W*$|"
    rf"\b(?:not going|wished|wanted|longed|used|ought|about) to (?:{_SAY})(?: to \w+)?\W*$|"
    rf"\bwhy (?:did|does|do|had) \w+ not (?:{_SAY})\W*$",
    re.IGNORECASE,
)
_UNSAID_WORDS = ("would", "might", "should", " to ", "hy ")  # quicker to rule out than the pattern
_THINK = r"thought|thinks|thinking|reflected|wondered"
_THINK_ELSEWHERE = r"dachte|pensa|pensait|pensó|pensò|pensou|dacht|gondolta"
_THINK_WORDS = re.compile(rf"(?:{_THINK})(?: to \w+self)?", re.IGNORECASE)
_THINK_FOLLOWS = re.compile(
    rf"\W*(?:(?:he|she|they|I|we|(?:the|his|her|my|old|young|poor) \w+|[A-Z][\w.]*(?: [A-Z]\w+)?) "
    rf"(?:\w+ly )?(?:{_THINK})\b"
    # "Very well." I thought that she had gone.
    r"(?! (?:that|of|it|he|she|they|we|I|you|the|an?|his|her|this|how|what|so|no|there)\b)|"
    rf"(?:{_THINK}|{_THINK_ELSEWHERE})\b)"
)
_INTERRUPTED = re.compile(r"\s*(?:[\u2014\u2013]|--).*(?:[\u2014\u2013]|--)\s*", re.DOTALL)
_ONE_CLAUSE = re.compile(r"(?:(?:Mrs?|Dr|St)\.|[^.!?])*, ", re.DOTALL)
_ENDS_WITH_WRITE = re.compile(rf"\b(?:{_WRITE})\b[^.!?;“”\"]{{0,25}}$", re.IGNORECASE)
_WRITE_FOLLOWS = re.compile(
    r"\W*(?:[\w.]+ ){1,3}(?:wrote|writes|had written)\b|"
    r", (?:schrieb|écrivit|schreef|scriveva|scrisse|escribió)\b"
)
# Where the comma stands outside the marks, as in German: »Ja«, sagte er.
_COMMA_FOLLOWS = re.compile(r", [^\W\d_A-Z]")
_ARTICLE_WORDS = re.compile(
    r"an?|the|his|her|their|its|my|your|our|this|that|these|those|of|one|no|every|each|such|"
    r"another|called|as|word|phrase|term",
    re.IGNORECASE,
)
_SALUTATION = re.compile(
    r"\W*(?:(?:my|our) )?(?:own |very )*(?:dear|dearest|beloved|honou?red)\b"
    r"(?:(?:Mrs?|Dr|Messrs|St)\.|(?!,['’])[^.!?”\"]){0,40}?(?:[,:.]?\s*(?:[\u2014\u2013]|--|$)|[”\"]$)",
    re.IGNORECASE,
)
_LETTER_ANNOUNCED = re.compile(
    r"\b(?:letter|note|lines|epistle|telegram|wrote|written|writing|contents|as follows|"
    r"postscript|advertisement|read)\b[^.!?]{0,60}[:.\u2014\u2013-]+\s*$",
    re.IGNORECASE,
)
_REACH = 50  # characters before a mark in which a tag is looked for
_MARKS = "\"'“”‘’«»„‚_* \n"
_STOPS = ",.!?;:…—–-"

# The narrator's own words in the middle of a speech: "(with a sigh)", "(turning to her)".
_ASIDE = re.compile(
    r"\s*\((?:(?:very|rather|half|still|again|then|and|but|here) )?"
    r"(?:(?:address|bow|blush|dispers|draw|glanc|hesitat|hold|laugh|look|lower|nod|paus|point|press|"
    r"rais|recollect|return|ris|seiz|shak|sigh|smil|speak|start|stopp|tak|throw|turn|whisper|"
    r"wip)\w*ing\b|with (?:an?|his|her|great|some|the utmost|much)\b|in (?:an?|his|her) \w+|"
    r"to (?:Mrs?\.|Miss|[A-Z]\w+,?\))|aside|\w+ly,?\)|as soon as (?:he|she)|after an? )"
    r"(?![^()]*\b(?:me|my|you|I|we|us|our|your)\b)[^()]{0,90}\)(?:[,.;:]|[\u2014\u2013]|--)?\s*"
)


def asides(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Where a speech is broken by the narrator's words in parentheses; start and end of each.

    >>> asides("“Well! (with a sigh) so be it.”", 0, 30)
    [(6, 21)]
    """
    if "(" not in text[start:end]:
        return []
    return [match.span() for match in _ASIDE.finditer(text, start + 1, end - 1)]


def tells_who_spoke(after: str) -> bool:
    """Whether what follows speech begins with a verb of saying and its subject.

    Verbs that tell of saying and of else are counted, too ("He began to pace the room.").

    >>> tells_who_spoke(" Holmes muttered."), tells_who_spoke(" He shook out his hat.")
    (True, False)
    """
    return _SAY_FOLLOWS.match(after) is not None


def are_speech(
    block: Block,
    stretches: Sequence[tuple[int, ...]],
    runs_on: bool | None,
    thoughts: bool = False,
) -> list[bool]:
    """Whether each quoted stretch of the block is spoken.

    Args:
        block: the block.
        stretches: start and end of its quoted stretches, marks included, in order; what else the
            tuples hold is passed over.
        runs_on: whether the first stretch goes on with one of the block before, and what was
            decided of that: True for speech, False for a letter or a song, None where it does not.
        thoughts: whether what is thought in quotation marks counts as spoken.
    """
    if block.kind is BlockKind.LETTER or (block.kind is BlockKind.VERSE and not runs_on):
        return [False] * len(stretches)
    verdicts: list[bool] = []
    position = 0
    text = block.text
    for number, (start, end, *_) in enumerate(stretches):
        following = stretches[number + 1][0] if number + 1 < len(stretches) else len(text)
        before, after = text[position:start], text[end:following]
        if not number and runs_on is not None:
            verdict = runs_on
        elif verdicts and _goes_on(before) and (verdicts[-1] or not tells_who_spoke(after)):
            verdict = verdicts[-1]  # “Remember,” she wrote, “that ...”
        else:
            verdict = _is_speech(before, text[start:end].strip(_MARKS), after, thoughts)
        verdicts.append(verdict)
        position = end
    return verdicts


def _goes_on(before: str) -> bool:
    """Whether the narration between two stretches is no more than a tag: both are of one kind."""
    return (len(before) < 80 or _ONE_CLAUSE.fullmatch(before) is not None) and bool(
        tells_who_spoke(before) or _WRITE_FOLLOWS.match(before) or _THINK_FOLLOWS.match(before)
    )


def begins_letter(text: str, start: int, end: int, previous: str) -> bool:
    """Whether a quoted stretch that fills its block is a letter, or its first paragraph.

    It is when it opens with a salutation set off from what follows, or when the block before
    announces something written and ends in a colon.
    """
    if not fills(text, start, end):
        return False
    if _SALUTATION.match(text, start, end):
        return True
    return previous.endswith((":", ":—", ":--")) and bool(_LETTER_ANNOUNCED.search(previous))


def fills(text: str, start: int, end: int) -> bool:
    """Whether a stretch is all there is of a block, an editor's words in brackets aside."""
    rest = text[end:].strip(" .,;:—–-")
    return not text[:start].strip() and (not rest or rest.startswith("["))


def _is_speech(before: str, quoted: str, after: str, thoughts: bool) -> bool:
    before = before[-_REACH:].rstrip()
    if not quoted or _WRITE_FOLLOWS.match(after):
        return False
    if _THINK_FOLLOWS.match(after) or _ends_with(before, _THINK_WORDS):
        return thoughts
    if not before:
        return True
    if any(word in before for word in _UNSAID_WORDS) and _ENDS_UNSAID.search(before):
        return False
    if _ends_with(before, _SAY_WORDS):
        return True
    if _ENDS_WITH_WRITE.search(before):
        return False
    ends_as_speech = quoted[-1] in _STOPS
    n_words = len(quoted.split())
    if before[-1].isalnum():
        return _is_announced_without_stop(before, quoted, after, ends_as_speech, n_words)
    if not ends_as_speech and n_words <= 4:
        return bool(
            tells_who_spoke(after)
            or _INTERRUPTED.fullmatch(after)
            or (before[-1] in ".!?:;…" and _COMMA_FOLLOWS.match(after))
        )
    return True


def _ends_with(before: str, words: re.Pattern[str]) -> bool:
    """Whether the last one, two or three words are one of the pattern's, stops aside."""
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
    """The case of no punctuation between narration and mark: most often it is no speech."""
    if not ends_as_speech:
        return False
    if tells_who_spoke(after):
        return True
    if before.endswith("called") and quoted[-1] in "!?":
        return True
    if _ends_with(before, _ARTICLE_WORDS):
        return n_words > 6 and quoted[0].isupper()
    if not quoted[0].isupper():
        return n_words > 8
    return n_words >= 4 or quoted[-1] in "!?"
