"""The quotation marks that printers use, by name."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Marks:
    """A pair of quotation marks.

    Args:
        name: the name that users and output give the pair.
        opener: the opening mark, one character.
        closer: the closing mark, one character.
        continues: the marks that may begin a paragraph to show that the speech of the paragraph
            before it runs on.
        is_apostrophe: whether the closing mark also serves as an apostrophe.
    """

    name: str
    opener: str
    closer: str
    continues: str
    is_apostrophe: bool = False

    @property
    def has_direction(self) -> bool:
        """Whether the opening mark differs from the closing mark."""
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
        Marks("right-right", "\u201d", "\u201d", "\u201d"),
        Marks("guillemets-right", "\u00bb", "\u00bb", "\u00bb"),
        Marks("corner", "\u300c", "\u300d", "\u300c"),
        Marks("double-corner", "\u300e", "\u300f", "\u300e"),
    )
}
# Stands beside the names of `MARKS` for a dash at the start of a paragraph.
DASH = "dash"
