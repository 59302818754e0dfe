"""Esperanto."""

from miner.languages.language import Conventions, Headings, Language, PartWords, SpeechWords

LANGUAGE = Language(
    code="eo",
    name="esperanto",
    conventions=Conventions(
        marks=(
            "low-high",
            "double-curly",
            "guillemets",
            "double-straight",
            "low-right",
            "guillemets-inward",
        ),
        has_dash=True,
        quotes_beside_dash=True,
        function_words="la kaj de en ne li estas al ke mi ŝi sed",
    ),
    headings=Headings(
        divisions="ĉapitro|antaŭparolo|(?:unua|dua|tria|kvara) (?:parto|libro)",
        parts="(?:unua|dua|tria|kvara) (?:parto|libro)",
        chapter="ĉapitro",
        chapter_after_number="ĉapitro",
        contents="enhavo",
        no_chapter="enhavo|fino(?=\\W*$)",
        numbers=(
            "unua",
            "dua",
            "tria",
            "kvara",
            "kvina",
            "sesa",
            "sepa",
            "oka",
            "naŭa",
            "deka",
        ),
    ),
    parts=PartWords(
        preface="antaŭparolo|antaŭvorto|enkonduko|al la leganto",
        notes="notoj|aldono|vortaro",
        index="indekso",
        end="fino",
        imprint="presita|presejo|eldonejo",
    ),
    speech=SpeechWords(
        think_inverted="pensis",
        write="skribis",
        write_after_comma="skribis",
    ),
)
