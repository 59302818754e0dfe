"""What Gutenberg's header and licence say -> whether a work is in copyright.

Most of Gutenberg's works are in the public domain of the United States. Some are in copyright and
are there with the permission of their authors or translators, which is not a permission to share
what was made of them. Gutenberg has said so in several forms:

- in its header since 1991: "**This is a COPYRIGHTED Project Gutenberg Etext, Details Below**";
- in the small print of the 1990s: "FOR COPYRIGHT PROTECTED ETEXTS";
- in section 1.C of its licence since 2003: "This particular work is one of the few copyrighted
  individual works", today "one of the few individual works protected by copyright law";
- in the metadata of its files since 2010: "Copyrighted. Read the copyright notice inside this book
  for details.";
- in the header, by the holder's own notice: "Copyright (C) 2004 by".

The copyright page of the printed book stands below the header. It is no reason.
"""

from __future__ import annotations

import re

# Words that say so wherever they stand in the header or the licence. Blanks may be line breaks.
_SAID = re.compile(
    "|".join(
        (
            "(?:This is a )?COPYRIGHTED Project Gutenberg(?:-tm|™)? e-?(?:text|book)",
            "FOR COPYRIGHT(?:ED| PROTECTED) E-?(?:TEXT|BOOK)S",
            "This (?:particular work|e-?(?:text|book)) is (?:one of the few )?"
            "(?:copyrighted|individual works protected by copyright)",
            "Copyright Status: Copyrighted",
        )
    ).replace(" ", r"[\s*]+"),
    re.IGNORECASE,
)
_DECLARED = re.compile(r"Copyrighted\b[^.]*", re.IGNORECASE)
_NOTICE = re.compile(
    r"^[^\w\n]*(Copyright\s*(?:\(C\)|©|(?=\d{4}\b))[^\n]{3,80})", re.IGNORECASE | re.MULTILINE
)
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
# A header that repeats the notice of an older printing says nothing: in the United States the
# copyright of what was published in 1930 and before has expired.
_LAST_EXPIRED = 1930


def find_copyright(declared: str, header: str, footer: str) -> str:
    """The words by which Gutenberg says that a work is in copyright, on one line, or "".

    >>> find_copyright("", "** This is a COPYRIGHTED Project Gutenberg eBook, Details Below **", "")
    'This is a COPYRIGHTED Project Gutenberg eBook'
    >>> find_copyright("Public domain in the USA.", "", "")
    ''
    """
    said = _SAID.search(header) or _SAID.search(footer) or _DECLARED.match(declared)
    notices = (match[1] for match in _NOTICE.finditer(header))
    found = said[0] if said else next(filter(_is_lasting, notices), "")
    return " ".join(found.split())


def _is_lasting(notice: str) -> bool:
    """Whether a notice has no year, or one whose copyright has not expired."""
    years = [int(year) for year in _YEAR.findall(notice)]
    return not years or max(years) > _LAST_EXPIRED
