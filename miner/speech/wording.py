"""The spans of a turn -> its text, as somebody says it.

The words and their order stay. What goes is what nobody says: marks of emphasis, the glosses of
editors in square brackets, footnote stars, quotation marks without their other half, and wrong
spaces. In the 195 books that the package was developed with, all text in square brackets inside
speech is an editor's gloss, a footnote or a narrator's aside, so all of it goes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

# "[sic]", "[1]", "[*]", "[Greek: logos]", "[He sighed.]", with the space before it. Letters that an
# editor supplied to a word stay: "[ex]change".
_GLOSS = re.compile(r"\s*\[(?![^\W\d_]+\][^\W\d_])[^\[\]]*\]|\s*\{(?:sic|\d+)\}")
_BRACKET = re.compile(r"[\[\]]")
# One underscore or star, but not inside a word (d*d), nor one of several that stand for a name or
# a break (***, * * *, D__n).
_EMPHASIS = re.compile(
    r"(?<![_*])_(?![_*])(?:(?<![^\W_]_)|(?![^\W_]))"
    r"|(?<!\*)(?<!\*\s)\*(?!\s?\*)(?:(?<![^\W_]\*)|(?![^\W_]))"
    r"|(?<![\w=])=(?=[^\s=][^=]*=(?![\w=]))|(?<=[^\s=])=(?![\w=])"
)
_TAKEN = "[]{_*="  # a text without any of these has neither
_SPACED_DOTS = re.compile(r"\.(?:\s\.)+")
_SPACE_BEFORE = re.compile(r"\s+([.,])(?=[\s”’\"'»)]|$)")
_COMMAS = re.compile(r",\s*,+(?!\w)")
_ODD_SPACES = (" .", " ,", ",,")  # a text without any of these has none of the above
_MARKS = {  # quotation marks by kind; a single mark may be an apostrophe, and stays
    **dict.fromkeys("“”„", "double"),
    **dict.fromkeys("«»", "angle"),
    **dict.fromkeys("‹›", "small angle"),
    '"': "straight",
}
_MARK = re.compile(r"[“”„«»‹›\"]")
_OPENS = "“„«‹"  # by shape, where the place does not tell
_BEFORE_WORDS = " “„«‹»›\"‘'([¿¡—–―-"  # what stands before a mark that opens, beside the start
# "He says ‘go,’": the tag's comma inside the marks of a nested quotation
_COMMA_IN_MARKS = re.compile(r"(?<=\w)[,;](?=[’'”\"»]+$)")
_BEFORE_CAPITAL = '“„«"(¿¡'
# Marks that open speech, and the marks that may close it. Any other mark at either end belongs to
# the words: the apostrophe of "’Tis", a nested mark, the dash of a speech that is cut short.
_CLOSERS = {"“": '”“"', '"': '"”', "„": '“”"', "«": "»", "»": "«", "‘": "’'", "'": "'’", "‚": "‘’'"}
_CLOSING = re.compile(r"""(?:[”»"]|(?<=[^\w\s])[’'])$""")
_DASHES = "—–―-"


def _has_any(text: str, signs: Iterable[str]) -> bool:
    """Whether the text has any of the signs, which a regular expression tells less quickly."""
    return any(map(text.__contains__, signs))


def drop_glosses(text: str) -> str:
    """Returns the text without glosses in square brackets, marks of emphasis and footnote stars.

    >>> drop_glosses("My greatness [grandeur] does _not_ reach so far.")
    'My greatness does not reach so far.'
    """
    if not _has_any(text, _TAKEN):
        return text
    return _EMPHASIS.sub("", _BRACKET.sub("", _GLOSS.sub("", text)))


def clean_speech(text: str) -> str:
    """Returns speech with single spaces and only whole pairs of quotation marks.

    A single quotation mark may be an apostrophe, and a space before ; : ! or ? may be the printer's
    custom, as in French. So they stay.

    >>> clean_speech("So  he said “Go .")
    'So he said Go.'
    """
    text = " ".join(text.split())
    if _has_any(text, _ODD_SPACES):
        text = _SPACED_DOTS.sub(lambda dots: "." * dots[0].count("."), text)
        text = _COMMAS.sub(",", _SPACE_BEFORE.sub(r"\1", text))
    if _has_any(text, _MARKS):
        text = _drop_halves(text)
    return text


def complete_speech(text: str) -> str:
    """Returns a whole speech with a capital and a full stop, which the tag beside it replaced.

    A speech that begins with an apostrophe or dots stays small. One that ends with another stop or
    a dash stays as it ends. So does one that ends with a nested quotation, but for its comma.

    >>> complete_speech("so it is,")
    'So it is.'
    """
    start = len(text) - len(text.lstrip(_BEFORE_CAPITAL))
    if text[start : start + 1].islower():
        text = text[:start] + text[start].upper() + text[start + 1 :]
    text = _COMMA_IN_MARKS.sub(".", text)
    bare = text.rstrip(" ,;")
    return bare + "." if bare[-1:].isalnum() else text if bare else ""


def _drop_halves(text: str) -> str:
    """Returns the text without quotation marks that open or close nothing.

    A mark that opens again, as at each paragraph of a long quotation, goes, too.
    """
    waiting: list[tuple[str, int]] = []
    halves: list[int] = []
    for found in _MARK.finditer(text):
        at = found.start()
        kind = _MARKS[found[0]]
        depths = [depth for depth, (other, _) in enumerate(waiting) if other == kind]
        if _is_opening(text, at):
            if depths:
                halves.append(at)
            else:
                waiting.append((kind, at))
        elif depths:
            halves += [other for _, other in waiting[depths[-1] + 1 :]]
            del waiting[depths[-1] :]
        else:
            halves.append(at)
    halves += [at for _, at in waiting]
    if not halves:
        return text
    dropped = set(halves)
    kept = "".join(sign for at, sign in enumerate(text) if at not in dropped)
    return " ".join(kept.split())


def _is_opening(text: str, at: int) -> bool:
    """Whether the quotation mark at this place opens, by the signs around it."""
    before = text[at - 1] if at else " "
    after = text[at + 1] if at + 1 < len(text) else " "
    if (before == " ") == (after == " ") and before == " ":
        return text[at] in _OPENS
    return before in _BEFORE_WORDS and after != " "


def strip_marks(text: str) -> str:
    """Returns the text of an utterance without its opening mark or dash and its closing mark.

    >>> strip_marks("“Go,” he said, “or stay.”")  # the last mark closes a nested quotation
    'Go,” he said, “or stay.”'
    """
    text = text.strip()
    closers = _CLOSERS.get(text[:1])
    if closers is None:
        # The utterance opens with a dash, or goes on after an aside. It may still end in a mark.
        return _CLOSING.sub("", text.lstrip(_DASHES)).strip()
    is_nested = text[0] == "“" and text.rfind("“", 1) > text.rfind("”", 0, -1)
    return text[1:].removesuffix(text[-1] if text[-1] in closers and not is_nested else "").strip()


def is_unclosed(text: str) -> bool:
    """Whether the text opens with a quotation mark and does not close it."""
    text = text.strip()
    return text[:1] in _CLOSERS and text[-1] not in _CLOSERS[text[0]]
