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

SWEDISH = r"""
from miner.languages.language import Conventions, Headings, Language

LANGUAGE = Language(
    code="sv",
    name="swedish",
    conventions=Conventions(
        marks=("guillemets",),
        has_dash=True,
        quotes_beside_dash=True,
        dash_closes=False,
        attribution_verbs="sade|frågade",
        attributions_inside_marks=True,
        function_words="och att det som en på är av för",
    ),
    headings=Headings(
        divisions="avdelning",
        parts="del",
        chapter="kapitlet",
        contents="innehåll",
        no_chapter="slut",
    ),
)
"""
PAGE = """
<html lang="sv"><body>
<h2>Innehåll</h2><p>Avdelning I ... 3</p><p>Avdelning II ... 9</p>
<h2>Avdelning I</h2><p>Det var en höst som var kall, och färjan på floden var sen.</p>
<p>«Är färjan här, frågade kvinnan, och är det en båt för gäss?»</p>
<p>«Nej», svarade mannen på stranden, «det är en båt för getter och för män som är trötta, och av \
dem är det för många på en flod som är så bred att ingen kan se över den.»</p>
<h2>Avdelning II</h2><p>— Då äter vi, sade hon. Bröd av råg och en ost som var för gammal för att \
säljas på torget är god nog för dem som väntar på en båt i en kall höst.</p>
<h2>Slut</h2><p>Och det var en vinter som var kall för dem som bor på en strand och väntar på en \
båt som är sen, och av dem är det många som har gäss att mata och en eld att hålla vid liv.</p>
</body></html>
"""
SHOW = """
import sys
import miner.languages
miner.languages.__path__.append(sys.argv[1])
from miner.dialogue.read import parse_spans
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
    (tmp_path / "sv.py").write_text(SWEDISH, encoding="utf-8")
    with_swedish = show(tmp_path)
    assert with_swedish[0] == "sv|guillemets|dash|2"  # language, marks and number of chapters
    assert with_swedish[1:5] == ["heading|0", "contents|0", "contents|0", "heading|1"]
    tags = ["S|«Är färjan här,", "O| frågade kvinnan, ", "S|och är det en båt för gäss?»"]
    tags += ["S|— Då äter vi,", "O| sade hon. "]
    assert [line for line in with_swedish if line in tags] == tags
    with pytest.raises(subprocess.CalledProcessError) as without:
        show(tmp_path / "empty")
    assert b"found Swedish, expected one of de, en, es," in without.value.stderr


def test_the_file_is_named_by_the_code(tmp_path):
    (tmp_path / "xx.py").write_text(SWEDISH, encoding="utf-8")
    with pytest.raises(subprocess.CalledProcessError) as failure:
        show(tmp_path)
    assert (
        b"xx.py: found the code 'sv', expected 'xx' as in the file's name" in failure.value.stderr
    )


def test_a_language_is_found_by_its_code_and_its_name():
    for code, language in LANGUAGES.items():
        assert code_from_name(language.name.title()) == code
        assert conventions_of(code) is language.conventions
    assert conventions_of("sv") is conventions_of("")
    assert code_from_name("Finnish") == "fi"
    assert code_from_name("Volapük") == "volapük"
    assert [name_from_code(code) for code in ("fi", "hu", "volapük")] == [
        *("Finnish", "Hungarian", "Volapük"),
    ]


def test_the_patterns_of_all_languages_are_joined():
    assert any_of(lambda language: language.code[:1] * (language.code < "en")) == "(?:d)"
    assert any_of(lambda _: "") == "(?:(?!))"


def test_conventions_refuse_unknown_marks():
    with pytest.raises(ValueError, match="found 'curly', expected some of: double-curly, "):
        Conventions(
            marks=("curly",),
            has_dash=False,
            quotes_beside_dash=False,
            dash_closes=False,
            attribution_verbs="",
            function_words="",
        )
