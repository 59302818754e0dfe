"""The parts of a speech that narration interrupts -> one text, with the right stops between them.

The comma before "said Ann" is the narrator's. It stands for a full stop or a comma of the speaker,
or for nothing. Three things tell which: how the narration ends, whether the speech goes on with a
capital, and which words stand on both sides (`pauses`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from miner.languages.registry import LANGUAGES

_DASHES = "—–―-"
_OPENING_DASH = re.compile(r"(?:[—–―]|--)+\s*")
_CLOSING_DASH = ("—", "–", "―", "--")
# A stop at the end, with the nested marks after it: "He says ‘go,’"
_LAST_STOP = re.compile(r"([,;:])([’'”\"»]*)$")
# What may stand between the end of a sentence of narration and the speech after it.
_AFTER_STOP = _DASHES + " \n\t)]_*"
_ENDS_SENTENCE = (".", "!", "?", ":", "…")
# Spanish and Hungarian: "—Ven —dijo Ana—, que es tarde."
_STOP_AFTER_DASH = re.compile(rf"[{_DASHES}]\s?([,;:])\s*$")
_CLAUSE_END = re.compile(r"[,;:.!?—]")
# The probability of a pause from which on a comma stands. Where none is printed, as around a
# narrator's dashes, the odds are those of speech without a narrator.
_SURE, _SURE_UNPRINTED = 0.5, 0.85
_FEW = 3  # words of a clause; "Yes", "Mr. Flask" have fewer, and a comma stands after them


def join_speech(parts: Sequence[str], between: Sequence[str] = (), language: str = "") -> str:
    """Returns the parts of a speech that narration interrupts, as one text.

    If the narration ends a sentence, so did the speech before it, unless the speech goes on with a
    small letter. If a semicolon or a colon ends the narration, it stands between clauses of the
    speech. Otherwise a comma stands where speakers pause, in languages in which that is known; in
    others the printed comma stays. In languages that print the comma or the stop after the mark or
    the dash, it is in the narration and is put back. One space stands between two parts, none
    beside a dash inside a sentence.

    Args:
        parts: the parts, without their marks.
        between: the narration before each part but the first; empty where it is not known.
        language: the code of the language, or "".

    >>> join_speech(["It rains,", "Come in."], [" said Ann. "])
    'It rains. Come in.'
    >>> join_speech(["I think,", "that it rains."], [" said Ann, "], "en")
    'I think that it rains.'
    >>> join_speech(["Well,", "it rains."], [" said Ann, "], "en")
    'Well, it rains.'
    >>> join_speech(["I am not sorry,", "but go."], [" said Ann; "])
    'I am not sorry; but go.'
    >>> join_speech(["Ven", "que es tarde."], ["—dijo Ana—, "])
    'Ven, que es tarde.'
    """
    if not between:
        return " ".join(parts).strip()
    joined = [parts[0]]
    for narration, part in zip(between, parts[1:], strict=True):
        if narration.strip():
            joined[-1:] = _join(joined[-1], narration, part, language)
        else:
            joined.append(f" {part}")
    return "".join(joined).strip()


def _join(before: str, narration: str, after: str, language: str) -> tuple[str, str]:
    """Returns what is said before and after some narration, with what belongs between the two."""
    dash = _OPENING_DASH.match(after)
    if before.endswith(_CLOSING_DASH):
        if dash:
            return before, after[dash.end() :]
        return before, f" {after}" if _ends_sentence(narration, after, language) else after
    if dash:
        return before.removesuffix(","), after
    found = _LAST_STOP.search(before)
    words, stop, marks = (before[: found.start()], *found.groups()) if found else (before, "", "")
    if stop or words[-1:].isalnum():
        stop = _stop_between(words, stop, narration, after, language)
    if stop == "." or (before.endswith(".") and not before.endswith("..")):
        after = after[:1].upper() + after[1:]
    return f"{words}{stop}{marks}", after if stop == _DASHES[0] else f" {after}"


def _stop_between(words: str, stop: str, narration: str, after: str, language: str) -> str:
    """Returns the stop between two parts, or "".

    Args:
        words: the part before, without its stop.
        stop: the stop that is printed after it, or "".
        narration: what is told between the two.
        after: the part after.
        language: the code of the language, or "".
    """
    if stop in (",", ";", "") and _ends_sentence(narration, after, language):
        return "."
    told = narration.rstrip(_AFTER_STOP)
    is_outside = narration.startswith(",")
    if told.endswith((";", ":")) and (is_outside or stop == ","):
        is_clause = len(_CLAUSE_END.split(words)[-1].split()) >= _FEW
        return told[-1] if is_clause else ","
    if stop not in (",", ""):
        return stop
    closing = _STOP_AFTER_DASH.search(narration)
    if closing and not stop:
        return closing[1]
    is_printed = stop or is_outside
    if _repeats(words, after):
        return "," if is_printed else _DASHES[0]
    # Only a stop in doubt needs the model, and NumPy with it.
    from miner.speech.pauses import pause_model_of

    model = pause_model_of(language)
    if model is None:
        # German: "Ja«, sagte er, »dass"; Spanish: "—Ven —dijo Ana,— que es tarde."
        is_told = is_outside or narration.lstrip().startswith(_CLOSING_DASH)
        return stop or ("," if is_told and told.endswith(",") else "")
    sure = _SURE if is_printed else _SURE_UNPRINTED
    return "," if model.probability(words, after) >= sure else ""


def _repeats(before: str, after: str) -> bool:
    """Whether speech goes on with some of the last words again: "such a”—he rose—“such a house"."""
    last, first = before.casefold().split()[-_FEW:], after.casefold().split()[:_FEW]
    return any(last[-n:] == first[:n] for n in range(1, min(len(last), len(first)) + 1))


def _ends_sentence(narration: str, after: str, language: str) -> bool:
    """Whether narration shows that the speech before it is a whole sentence.

    It does if it ends a sentence itself, at its end or inside it, and a capital follows.
    """
    if not next(filter(str.isalnum, after), "").isupper():
        return False
    if narration.rstrip(_AFTER_STOP).endswith(_ENDS_SENTENCE):
        return True
    found = _sentence_end(language).finditer(narration)
    return any((one[1] or "").isupper() for one in found)


@cache
def _sentence_end(language: str) -> re.Pattern[str]:
    """A stop and the first letter of the next sentence, or an abbreviation without a group."""
    found = LANGUAGES.get(language)
    abbreviations = found.speech.abbreviations if found else ""
    return re.compile(
        rf"\b(?:{abbreviations or '(?!)'})\.|[^\W\d_]{{2}}[.!?][’”\"'»)]?\s+[“‘\"'«(]?(\w)"
    )
