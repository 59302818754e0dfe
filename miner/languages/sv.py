"""Swedish."""

from miner.languages.language import (
    Conventions,
    Headings,
    Language,
    PageWords,
    PartWords,
    SpeechWords,
)

LANGUAGE = Language(
    code="sv",
    name="swedish",
    conventions=Conventions(
        marks=(
            "right-right",
            "guillemets-right",
            "double-curly",
            "double-straight",
            "guillemets",
        ),
        has_dash=True,
        quotes_beside_dash=True,
        function_words="och att det som en på är av för icke han hon",
    ),
    headings=Headings(
        divisions="kapitel|kapitlet|avdelning(?:en)?|(?:första|andra|tredje|fjärde|femte) delen|"
        r"del(?= (?:[ivx]+|\d+)\b)",
        parts="avdelning(?:en)?|(?:första|andra|tredje|fjärde|femte) delen",
        chapter="kapitel|kapitlet",
        chapter_after_number="kapitlet",
        contents="innehåll(?:sförteckning)?",
        no_chapter="innehåll|slut(?=\\W*$)",
        numbers=(
            "första",
            "andra",
            "tredje",
            "fjärde",
            "femte",
            "sjätte",
            "sjunde",
            "åttonde",
            "nionde",
            "tionde",
            "elfte",
            "tolfte",
        ),
    ),
    page=PageWords(
        transcriber_note="Anmärkningar? av utgivaren",
    ),
    parts=PartWords(
        preface="förord|företal|inledning|till läsaren|efterskrift",
        notes=r"anmärkningar|noter(?=\W*$)|tillägg",
        index=r"register(?=\W*$)",
        advertisements="av samma författare|af samma författare",
        illustrations=r"illustrationer(?=\W*$)",
        end="slut(?:et)?",
        imprint="tryckt|tryckeri|förlag",
    ),
    speech=SpeechWords(
        think_before="tänkte",
        think_inverted="tänkte",
        write="skrev",
        write_after_comma="skrev",
    ),
)
