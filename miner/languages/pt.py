"""Portuguese."""

from miner.languages.language import (
    BookTitles,
    Conventions,
    Headings,
    Language,
    PageWords,
    SpeechWords,
)

LANGUAGE = Language(
    code="pt",
    name="portuguese",
    conventions=Conventions(
        marks=("guillemets", "double-curly", "double-straight"),
        has_dash=True,
        quotes_beside_dash=False,
        dash_closes=True,
        attribution_verbs="disse|disse-lhe|disse-me|respondeu|respondi|perguntou|perguntei|exclamou|acudiu|"
        "replicou|murmurou|gritou|bradou|tornou|continuou|interrompeu|observou|repetiu|atalhou|"
        "accrescentou|acrescentou|concluiu|insistiu|balbuciou|assentiram|assentiu",
        attribution_tails=r"\w+ndo\b|com (?:os?|as?|uma?)\b|n['’]uma?\b|que se\b",
        function_words="o a que de os não uma com do da para se",
    ),
    headings=Headings(
        divisions="cap[íi]tulo|livro|parte|prólogo|volume",
        parts="livro|parte",
        chapter="cap[íi]tulo",
        contents="[ií]ndice",
        no_chapter="índice|fim",
    ),
    page=PageWords(
        transcriber_note=r"Notas? (?:de|do) (?:trans\w+|editor)",
        captions=("Ilustra",),
    ),
    speech=SpeechWords(
        think_inverted="pensou",
        write="escreveu",
    ),
    titles=BookTitles(
        articles="os?|as?|uma?",
        volumes="volume|vol|tomo|parte|livro",
        numbers="primeir[oa]|segund[oa]|terceir[oa]|quart[oa]|quint[oa]|um|dois|tres|quatro|cinco",
        endings="(?:nova |segunda )?edicao(?: illustrada| ilustrada| completa)?|"
        r"ill?ustrad[oa]|complet[oa]|em \w+ (?:volumes|tomos|partes)|romance|"
        "conto|novella|(?:episodios?|scenas) (?:d[aeo] )?.*",
        alternatives="ou",
    ),
)
