"""Italian."""

from miner.languages.language import (
    BookTitles,
    Conventions,
    Headings,
    Language,
    PageWords,
    SpeechWords,
)

LANGUAGE = Language(
    code="it",
    name="italian",
    conventions=Conventions(
        marks=("guillemets", "double-curly", "double-straight", "low-right"),
        has_dash=True,
        quotes_beside_dash=True,
        function_words="il la che di non per un della con gli era si",
    ),
    headings=Headings(
        divisions="capitolo|libro|parte|prefazione|introduzione|tomo",
        parts="libro|parte|tomo",
        chapter="capitolo",
        contents="indice(?: dei capitoli| delle (?:materie|illustrazioni))?|"
        "tavola delle materie|sommario",
        no_chapter=r"indice|fine(?=\W*$| del)|dello stesso autore|errata|catalogo(?=\W*$)|"
        "nota del trascrittore",
        last_chapter="conclusione|epilogo",
        numerals="prim[oa]|second[oa]|terz[oa]|quart[oa]|quint[oa]|sest[oa]|settim[oa]|"
        "ottav[oa]|non[oa]|decim[oa]|ultim[oa]",
        chapter_after_number="capitolo",
        article="la|il",
    ),
    page=PageWords(
        end_line="Fine del? (?:Progetto|Project)",
        credits="Prodotto da|Questo (?:libro|testo) (?:è stato)",
        transcriber_note=r"Not[ae] (?:del|di|dei) (?:tras\w+|editor\w+)",
        footnote="Nota",
        footnotes_title="Note|Annotazioni",
        captions=("Illustr",),
        letter_opening="(?:(?:mi[oa]|miei|mie) )?(?:car[oaie]|carissim[oaie]|amatissim[oa]|"
        "dilett[oa]|egregi[oa]|gentilissim[oa]|stimatissim[oa]|"
        r"illustrissim[oa])\b.{0,60}[,:;!—]\W*$",
        letter_closing=r"\b(?:il|la)? ?(?:vostr[oa]|tu[oa]|"
        r"su[oa]) (?:\w+[ ,]+){0,4}(?:aff(?:ezionat|ettuos)\w+|aff\.\w*|devot\w+|"
        r"obbligatissim\w+|servitore)\b|\bun (?:bacio|abbraccio) dal",
    ),
    speech=SpeechWords(
        salutation="(?:(?:mi[oa]|miei|mie) )?(?:car[oaie]|carissim[oaie]|amatissim[oa]|"
        "dilett[oa]|egregi[oa]|gentilissim[oa]|stimatissim[oa]|"
        r"illustrissim[oa])\b[^.!?»”\"]{0,40}?",
        letter_words="lettera|biglietto|righe|parole|telegramma|scrisse|scritto|lesse|"
        "leggeva|diceva così|iscrizione|cartello|avviso",
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
