"""Dutch."""

from miner.languages.language import (
    BookTitles,
    Conventions,
    Headings,
    Language,
    PageWords,
    SpeechWords,
)

LANGUAGE = Language(
    code="nl",
    name="dutch",
    conventions=Conventions(
        marks=("double-curly", "low-right", "double-straight", "single-curly", "single-straight"),
        has_dash=True,
        quotes_beside_dash=False,
        dash_closes=True,
        attribution_verbs="zei|zeide|vroeg|riep|antwoordde|hernam|sprak|meende|fluisterde|vervolgde|"
        "herhaalde|lachte|glimlachte|murmelde|smeekte|snikte|stamelde",
        attribution_tails=r"terwijl\b|met (?:een|zijn|haar)\b|\w+end\b",
        function_words="de het een van en niet dat zijn met was haar hij",
    ),
    headings=Headings(
        divisions="hoofdstuk|deel|boek|voorwoord",
        parts="deel|boek",
        chapter="hoofdstuk",
        contents="inhoud(?:sopgave)?",
        no_chapter="inhoud",
    ),
    page=PageWords(
        end_line="Einde van het Project",
        transcriber_note="Opmerkingen van de bewerker",
    ),
    speech=SpeechWords(
        think_inverted="dacht",
        write="schreef",
        write_after_comma="schreef",
    ),
    titles=BookTitles(
        articles="de|het|een",
        volumes="deel|delen|boek|dl",
        numbers="eerste|tweede|derde|vierde|vijfde|een|twee|drie|vier|vijf",
        endings="(?:nieuwe |tweede |derde )?(?:uitgave|druk)|geillustreerd|volledig|"
        r"in \w+ delen|(?:een (?:\w+ )?)?(?:roman|verhaal|novelle|vertelling)",
        alternatives="of",
    ),
)
