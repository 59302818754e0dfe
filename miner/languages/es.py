"""Spanish."""

from miner.languages.language import (
    BookTitles,
    Conventions,
    Headings,
    Language,
    PageWords,
    SpeechWords,
)

LANGUAGE = Language(
    code="es",
    name="spanish",
    conventions=Conventions(
        marks=("guillemets", "double-curly", "double-straight"),
        has_dash=True,
        quotes_beside_dash=False,
        dash_closes=True,
        attribution_verbs="dijo|respondió|preguntó|replicó|exclamó|contestó",
        function_words="el la los que de en con por una del las su",
    ),
    headings=Headings(
        divisions="cap[íi]tulo|libro|parte|prólogo|epílogo|tomo",
        parts="libro|parte|tomo",
        chapter="cap[íi]tulo",
        contents="tabla de materias|[ií]ndice",
        no_chapter="índice|fin",
    ),
    abbreviations="D|Sr",
    page=PageWords(
        end_line="Fin del Proyecto",
        transcriber_note=r"Not[ae]s? del? (?:la )?(?:trans\w+|editor)",
        captions=("Ilustra",),
    ),
    speech=SpeechWords(
        think_inverted="pensó",
        write="escribió",
        write_after_comma="escribió",
    ),
    titles=BookTitles(
        articles="el|la|los|las|una?",
        volumes="tomos?|parte|volumen|vol|libro",
        numbers="primer[oa]?|segund[oa]|tercer[oa]?|cuart[oa]|quint[oa]|uno|dos|tres|cuatro|cinco",
        endings="(?:nueva |segunda |tercera )?edicion(?: ilustrada| completa)?|"
        r"ilustrad[oa]|complet[oa]|en \w+ (?:tomos|partes)|novela|"
        "(?:una )?(?:novela|historia) de .*|dos historias de .*",
        alternatives="o",
    ),
)
