"""German."""

from miner.languages.language import (
    BookTitles,
    Conventions,
    Headings,
    Language,
    PageWords,
    SpeechWords,
)

LANGUAGE = Language(
    code="de",
    name="german",
    conventions=Conventions(
        marks=("guillemets-inward", "low-high", "double-straight", "double-curly", "guillemets"),
        has_dash=False,
        quotes_beside_dash=True,
        dash_closes=False,
        attribution_verbs="sagte|fragte|rief|antwortete|sprach|erwiderte",
        function_words="der die und das nicht mit sich ein ist zu auf sie",
    ),
    headings=Headings(
        divisions="kapitel|capitel|teil|theil|buch|vorwort|abschnitt",
        parts="teil|theil|buch",
        chapter="kapitel",
        chapter_after_number="kapitel",
        contents="inhalt(?:sverzeichnis)?",
        no_chapter="inhalt|ende",
    ),
    page=PageWords(
        end_line="Ende dieses Projekte?",
        credits="Dieses Buch wurde uns",
        transcriber_note=r"Anmerkungen? (?:zur|des|der) Transkri\w+",
    ),
    speech=SpeechWords(
        think_inverted="dachte",
        write="schrieb",
        write_after_comma="schrieb",
    ),
    titles=BookTitles(
        articles="der|die|das|ein|eine",
        volumes="band|bd|baende|bande|teil|theil|buch",
        numbers="erste[rs]?|zweite[rs]?|dritte[rs]?|vierte[rs]?|funfte[rs]?|sechste[rs]?|"
        "eins|zwei|drei|vier|funf|sechs",
        endings="(?:neue |illustrierte |zweite |dritte )?(?:ausgabe|auflage)|illustriert|"
        r"vollstandig|mit .*\b(?:bildern|abbildungen|illustrationen)\b.*|"
        r"in \w+ (?:banden|teilen|theilen|buchern)|(?:eine? )?(?:roman|novelle|"
        "erzahlung)|eine (?:geschichte|erzahlung) .*",
        alternatives="oder",
    ),
)
