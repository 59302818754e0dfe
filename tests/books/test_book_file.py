"""The bytes of book files, and pages that are not the book asked for."""

import pytest

from miner.books import book_file
from miner.books.book_file import find_file_fault, find_page_fault, read_book_file
from miner.errors import InputError

NOT_GUTENBERG = "a page without Gutenberg's header and footer"


def test_a_file_is_read_up_to_the_limit(tmp_path, monkeypatch):
    path = tmp_path / "em\nma.txt"
    path.write_bytes(b"x" * 100)
    monkeypatch.setattr(book_file, "LARGEST_FILE", 100)
    assert read_book_file(path) == b"x" * 100
    monkeypatch.setattr(book_file, "LARGEST_FILE", 99)
    with pytest.raises(InputError) as failure:
        read_book_file(path)
    assert str(failure.value) == (r"em\nma.txt has 100 bytes, expected a book of at most 99 bytes")


@pytest.mark.parametrize(
    ("page", "fault"),
    [
        (b"*** START OF THE PROJECT GUTENBERG EBOOK EMMA ***", ""),
        (b"***START OF THIS PROJECT\nGUTENBERG EBOOK***", ""),
        (b"*END*THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*", ""),
        (b"<p>End of Project Gutenberg's Emma", ""),
        (b"<p>End of the Project Gutenberg EBook of Emma", ""),
        (b"[eBook #0] *** START OF THE PROJECT GUTENBERG EBOOK", ""),
        (b"[EBook #158] *** END OF THE PROJECT GUTENBERG EBOOK", ""),
        (b"[Etext # 0158] *** END OF THE PROJECT GUTENBERG EBOOK", ""),
        (b"[eBook #1342] of [eBook #158] *** END OF THE PROJECT GUTENBERG EBOOK", ""),
        (b"[eBook #1580] *** END OF THE PROJECT GUTENBERG EBOOK", "book 1580 and not 158"),
        (b"e-text #9, eBook #21 *** END OF THE PROJECT GUTENBERG", "book 9 and not 158"),
        (b"<title>Project Gutenberg</title> Are you human?", NOT_GUTENBERG),
        (b"<p>[eBook #158]", NOT_GUTENBERG),
        (b"", NOT_GUTENBERG),
    ],
)
def test_a_page_is_known_by_its_header_or_footer(page, fault):
    assert find_page_fault(page, "158") == fault


@pytest.mark.parametrize("n", [0, 60_000, 70_000, 1_000_000])
def test_the_ends_of_a_file_tell_what_it_is(tmp_path, n):
    path = tmp_path / "158.html"
    for page in (b"[eBook #158] *** START OF THE PROJECT GUTENBERG", b"End of Project Gutenberg"):
        for content in (page + b"x" * n, b"x" * n + b" " + page):
            path.write_bytes(content)
            assert find_file_fault(path, "158") == ""
    path.write_bytes(b"x" * n)
    assert find_file_fault(path, "158") == NOT_GUTENBERG
