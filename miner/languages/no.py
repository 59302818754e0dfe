"""Norwegian."""

from miner.languages.language import Conventions, Headings, Language, PartWords, SpeechWords

LANGUAGE = Language(
    code="no",
    name="norwegian",
    conventions=Conventions(
        marks=(
            "guillemets",
            "double-straight",
            "double-curly",
            "low-right",
            "low-high",
        ),
        has_dash=True,
        quotes_beside_dash=True,
        function_words="og at det som han hun ikke med til av var på",
    ),
    headings=Headings(
        divisions="kapitel|kapittel|(?:første|annen|andre|tredje|fjerde) (?:bok|del|avdeling)",
        parts="(?:første|annen|andre|tredje|fjerde) (?:bok|del|avdeling)",
        chapter="kapitel|kapittel",
        chapter_after_number="kapitel|kapittel",
        contents="innhold(?:sfortegnelse)?|indhold(?:sfortegnelse)?",
        no_chapter="innhold|indhold|slutt?(?=\\W*$)",
    ),
    parts=PartWords(
        preface="forord|fortale|innledning|indledning|til leseren|etterord",
        notes=r"anmerkninger|noter(?=\W*$)|tillegg",
        index=r"register(?=\W*$)",
        advertisements="av samme forfatter|af samme forfatter",
        illustrations=r"illustrasjoner(?=\W*$)",
        end="slutt?|ende",
        imprint="trykt|trykkeri|forlag",
    ),
    speech=SpeechWords(
        think_before="tænkte|tenkte",
        think_inverted="tenkte|tænkte",
        write="skrev",
        write_after_comma="skrev",
    ),
)
