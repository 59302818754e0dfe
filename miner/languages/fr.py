"""French."""

from miner.languages.language import (
    BookTitles,
    Conventions,
    Headings,
    Language,
    PageWords,
    SpeechWords,
)

LANGUAGE = Language(
    code="fr",
    name="french",
    conventions=Conventions(
        marks=("guillemets", "double-curly", "double-straight"),
        has_dash=True,
        quotes_beside_dash=True,
        dash_closes=False,
        attribution_verbs="dit|dis-je|disait|demanda|demandai-je|répondit|répondis-je|reprit|"
        "s['’]écria|s['’]exclama|ajouta|continua|poursuivit|murmura|répliqua|"
        "cria|interrompit|balbutia|répéta|objecta|fit",
        attribution_tails=r"en \w+ant\b|d['’]une? (?:ton|voix|air)\b|avec une?\b",
        attributions_inside_marks=True,
        function_words="le la les des et dans que qui une pas est pour",
    ),
    headings=Headings(
        divisions="chapitre|livre|tome|partie|préface|prologue|épilogue",
        parts="tome|partie",
        chapter="chapitre",
        contents="table des (?:mati[èe]res|chapitres)",
        no_chapter="table des mati[èe]res|fin",
    ),
    abbreviations="M|Mme",
    page=PageWords(
        end_line="Fin du Projet",
        transcriber_note=r"Not[ae]s? (?:de|du|sur) (?:la )?(?:trans\w+|editor)",
    ),
    speech=SpeechWords(
        think_inverted="pensait|pensa",
        write="écrivit",
        write_after_comma="écrivit",
    ),
    titles=BookTitles(
        articles="les?|la|l|une?",
        volumes="tomes?|t|parties?|volumes?|vol|livre",
        numbers="premiere?|seconde?|deuxieme|troisieme|quatrieme|cinquieme|sixieme|un|"
        "deux|trois|quatre|cinq|six",
        endings="(?:nouvelle |seconde |deuxieme )?edition(?: illustree| complete)?|"
        r"illustree?|complete?|illustrations? de .*|en \w+ (?:tomes|parties|"
        "volumes)|(?:un )?roman(?: de .*)?|conte|recit|nouvelle",
        alternatives="ou",
        after_surname="pere|fils|aine",
    ),
)
