"""Every file of a language is found, and one file is all that a language needs."""

import subprocess
import sys

import pytest

from miner.languages.language import Conventions
from miner.languages.registry import (
    LANGUAGES,
    any_of,
    code_from_name,
    conventions_of,
    name_from_code,
)

ROMANIAN = r"""
from miner.languages.language import Conventions, Headings, Language

LANGUAGE = Language(
    code="ro",
    name="romanian",
    conventions=Conventions(
        marks=("guillemets",),
        has_dash=True,
        quotes_beside_dash=True,
        attributions_inside_marks=True,
        function_words="și de la în nu cu pe un că mai se din",
    ),
    headings=Headings(
        divisions="capitolul",
        parts="partea",
        chapter="capitolul",
        contents="cuprins",
        no_chapter="sfârșit",
    ),
)
"""
PAGE = """
<html lang="ro"><body>
<h2>Cuprins</h2><p>Capitolul I ... 3</p><p>Capitolul II ... 9</p>
<h2>Capitolul I</h2><p>Era o toamnă rece, și bacul de la malul de sus nu se mai vedea în ceață.</p>
<p>«Este bacul aici, întrebă femeia, și mai este un loc pe el cu gâște?»</p>
<p>«Nu», răspunse omul de pe mal, «este un bac cu capre și cu oameni care se duc la \
târg, și sunt prea mulți pe un râu din care nu se mai vede malul.»</p>
<h2>Capitolul II</h2><p>— Atunci mâncăm, zise ea. Pâinea de secară și un caș care nu \
se mai vinde la târg sunt bune de mâncat pe un mal, \
cu cei care se tem că nu mai vine bacul.</p>
<h2>Sfârșit</h2><p>Și a fost o iarnă rece pe malul de la vale, în care nu se mai vedea \
un om din cei cu gâște, și se spunea că bacul nu mai vine \
de la munte cu un foc pe el în noapte.</p>
</body></html>
"""
SHOW = """
import sys
import miner.languages
miner.languages.__path__.append(sys.argv[1])
from miner.speech.read import parse_spans
found = parse_spans(sys.stdin.buffer.read(), "0")
print(found.typography.language, *found.typography.names, found.book.n_chapters, sep="|")
for block in found.book.blocks:
    print(block.kind.value, block.chapter, sep="|")
for span in found.spans:
    print("S" if span.is_utterance else "O", span.text, sep="|")
"""


def show(*folders):
    done = subprocess.run(
        [sys.executable, "-c", SHOW, *map(str, folders)],
        input=PAGE.encode(),
        capture_output=True,
        check=True,
    )
    return done.stdout.decode().splitlines()


def test_a_language_is_added_by_one_file(tmp_path):
    (tmp_path / "ro.py").write_text(ROMANIAN, encoding="utf-8")
    shown = show(tmp_path)
    assert shown[0] == "ro|guillemets|dash|2"  # language, marks and number of chapters
    assert shown[1:5] == ["heading|0", "entry|0", "entry|0", "heading|1"]
    tags = ["S|«Nu»", "O|, răspunse omul de pe mal, "]
    assert [line for line in shown if line in tags] == tags
    assert sum(line.startswith("S|") for line in shown) == 4
    with pytest.raises(subprocess.CalledProcessError) as without:
        show(tmp_path / "empty")
    assert b"found Romanian, expected one of ca, da, de," in without.value.stderr


def test_the_file_is_named_by_the_code(tmp_path):
    (tmp_path / "xx.py").write_text(ROMANIAN, encoding="utf-8")
    with pytest.raises(subprocess.CalledProcessError) as failure:
        show(tmp_path)
    assert (
        b"xx.py: found the code 'ro', expected 'xx' as in the file's name" in failure.value.stderr
    )


def test_a_language_is_found_by_its_code_and_its_name():
    for code, language in LANGUAGES.items():
        assert code_from_name(language.name.title()) == code
        assert conventions_of(code) is language.conventions
    assert conventions_of("ro") is conventions_of("")
    assert code_from_name("Romanian") == "ro"
    assert code_from_name("Volapük") == "volapük"
    assert [name_from_code(code) for code in ("ro", "hu", "volapük")] == [
        *("Romanian", "Hungarian", "Volapük"),
    ]


def test_the_patterns_of_all_languages_are_joined():
    assert any_of(lambda language: language.code[:1] * (language.code < "de")) == "(?:c|d)"
    assert any_of(lambda _: "") == "(?:(?!))"


def test_conventions_refuse_unknown_marks():
    with pytest.raises(ValueError, match="found 'curly', expected some of: double-curly, "):
        Conventions(
            marks=("curly",),
            has_dash=False,
            quotes_beside_dash=False,
            function_words="",
        )
