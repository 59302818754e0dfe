"""Polish."""

from miner.languages.language import Conventions, Headings, Language, PartWords, SpeechWords

LANGUAGE = Language(
    code="pl",
    name="polish",
    conventions=Conventions(
        marks=(
            "low-right",
            "low-high",
            "guillemets",
            "guillemets-inward",
            "double-straight",
        ),
        has_dash=True,
        quotes_beside_dash=False,
        function_words="i w na z się nie do to że jak był po",
    ),
    headings=Headings(
        divisions="rozdział|księga|część|wstęp|przedmowa|epilog",
        parts="księga|część",
        chapter="rozdział",
        contents="spis (?:rzeczy|treści|rozdziałów)",
        no_chapter="spis|koniec(?=\\W*$)",
        numbers=(
            "pierwsz[ya]",
            "drug[ia]",
            "trzeci[a]?",
            "czwart[ya]",
            "piąt[ya]",
            "szóst[ya]",
            "siódm[ya]",
            "ósm[ya]",
            "dziewiąt[ya]",
            "dziesiąt[ya]",
        ),
    ),
    parts=PartWords(
        preface="przedmowa|wstęp|słowo wstępne|od (?:autora|wydawcy|tłumacza)|do czytelnika|"
        "posłowie",
        notes="przypisy|objaśnienia|dodatek",
        index="skorowidz|indeks",
        end="koniec",
        advertisements="tegoż autora",
        imprint=r"drukarnia|druk\b|nakładem",
    ),
    speech=SpeechWords(
        think_inverted="pomyślał[a]?|myślał[a]?",
        write="napisał[a]?|pisał[a]?",
        write_after_comma="napisał[a]?|pisał[a]?",
    ),
)
