"""Italian."""

from miner.languages.language import (
    BookTitles,
    Conventions,
    Headings,
    Language,
    SpeechWords,
)

LANGUAGE = Language(
    code="it",
    name="italian",
    conventions=Conventions(
        marks=("guillemets", "double-curly", "double-straight", "low-right"),
        has_dash=True,
        quotes_beside_dash=True,
        dash_closes=True,
        attribution_verbs="disse|rispose|domandò|gridò|chiese|esclamò|replicò",
        function_words="il la che di non per un della con gli era si",
    ),
    headings=Headings(
        divisions="capitolo|libro|parte|prefazione|introduzione|tomo",
        parts="libro|parte|tomo",
        chapter="capitolo",
        contents="indice",
        no_chapter="indice",
    ),
    speech=SpeechWords(
        think_inverted="pensò|pensa",
        write="scriveva|scrisse",
        write_after_comma="scriveva|scrisse",
    ),
    titles=BookTitles(
        articles="il|lo|la|i|gli|le|l|un[ao]?",
        volumes="volume|vol|tomo|parte|libro",
        numbers="prim[oa]|second[oa]|terz[oa]|quart[oa]|quint[oa]|uno|due|tre|quattro|cinque",
        endings="(?:nuova |seconda )?edizione(?: illustrata| completa)?|illustrat[oa]|"
        r"complet[oa]|in \w+ (?:volumi|parti)|(?:un )?romanzo(?: \w+)?|racconto|"
        "storia di .*|opere di .*",
        alternatives="ovvero|ossia|o",
    ),
)
