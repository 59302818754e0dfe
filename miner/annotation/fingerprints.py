"""Fingerprints: enough of a span to find it in a book, and too little to read it."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from reprlib import repr as shown

from miner.annotation.alignment import fold_words
from miner.errors import InputError

QUOTES = "\"'“”‘’„‚«»"  # marks of speech, which differ between editions
_PATTERN = re.compile(r"(?P<initials>\w*)\.(?P<letters>[0-9]{1,9})\.(?P<digest>[0-9a-f]{8})")


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What an annotation keeps of the text of its span, written "initials.n_letters.digest".

    Attributes:
        initials: the first letter of each word, folded by `alignment.fold_words`.
        n_letters: the number of letters.
        digest: the first 8 hexadecimal digits of the SHA-256 of the letters. For a span without
            letters ("——!") it is of all characters but quotation marks.
    """

    initials: str
    n_letters: int
    digest: str

    def __str__(self) -> str:
        return f"{self.initials}.{self.n_letters}.{self.digest}"


def fingerprint(text: str) -> Fingerprint:
    """Returns the fingerprint of a span's text. Texts with the same letters have the same one.

    >>> str(fingerprint("“Don't _you_?”"))
    'dty.7.1ec0df8c'
    """
    folded = fold_words(text)
    letters = "".join(folded)
    digested = letters or "".join(c for c in text if c not in QUOTES).strip()
    digest = hashlib.sha256(digested.encode()).hexdigest()[:8]
    return Fingerprint("".join([word[0] for word in folded]), len(letters), digest)


def parse_fingerprint(written: str) -> Fingerprint:
    """Returns the fingerprint that `str` wrote."""
    match = _PATTERN.fullmatch(written)
    if match is None:
        raise InputError(
            f"found fingerprint {shown(written)}, "
            "expected initials, number of letters and 8 hexadecimal digits, with points between"
        )
    return Fingerprint(match["initials"], int(match["letters"]), match["digest"])
