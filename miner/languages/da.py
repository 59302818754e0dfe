"""Danish."""

from miner.languages.language import Conventions, Headings, Language, PartWords, SpeechWords

LANGUAGE = Language(
    code="da",
    name="danish",
    conventions=Conventions(
        marks=(
            "guillemets-inward",
            "low-high",
            "low-right",
            "double-straight",
            "double-curly",
            "guillemets",
        ),
        has_dash=True,
        quotes_beside_dash=True,
        function_words="og at det der som han hun ikke med til af havde",
    ),
    headings=Headings(
        divisions="kapitel|kapitlet|(?:første|andet|anden|tredje|tredie|fjerde) (?:bog|del|afsnit)",
        parts="(?:første|andet|anden|tredje|tredie|fjerde) (?:bog|del|afsnit)",
        chapter="kapitel",
        chapter_after_number="kapitel",
        contents="indhold(?:sfortegnelse)?",
        no_chapter="indhold|slut(?=\\W*$)",
        numbers=(
            "første",
            "andet",
            "tred[ji]e",
            "fjerde",
            "femte",
            "sjette",
            "syvende",
            "ottende",
            "niende",
            "tiende",
        ),
    ),
    parts=PartWords(
        preface="forord|fortale|indledning|til læseren|efterskrift",
        notes=r"anmærkninger|noter(?=\W*$)|tillæg",
        index=r"register(?=\W*$)",
        advertisements="af samme forfatter",
        illustrations=r"illustrationer(?=\W*$)",
        end="slut|ende",
        imprint="trykt|trykkeri|forlag",
    ),
    speech=SpeechWords(
        think_before="tænkte",
        think_inverted="tænkte",
        write="skrev",
        write_after_comma="skrev",
    ),
)
