"""Italian."""

from miner.languages.language import (
    AttributionWords,
    BookTitles,
    Conventions,
    Headings,
    Language,
    PageWords,
    PartWords,
    PeopleWords,
    SpeechWords,
    with_endings,
    with_genders,
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
        numbers=(
            "prim[oa]",
            "second[oa]",
            "terz[oa]",
            "quart[oa]",
            "quint[oa]",
            "sest[oa]",
            "settim[oa]",
            "ottav[oa]",
            "non[oa]",
            "decim[oa]",
            "undicesim[oa]",
            "dodicesim[oa]",
        ),
        last="ultim[oa]",
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
        picture="illustr|immagine|copertina|frontespizio|ritratto|mappa di",
        ornament="ornamento|vignetta|decorazione|fregio|separatore|asterischi",
        letter_opening="(?:(?:mi[oa]|miei|mie) )?(?:car[oaie]|carissim[oaie]|amatissim[oa]|"
        "dilett[oa]|egregi[oa]|gentilissim[oa]|stimatissim[oa]|"
        r"illustrissim[oa])\b.{0,60}[,:;!—]\W*$",
        letter_closing=r"\b(?:il|la)? ?(?:vostr[oa]|tu[oa]|"
        r"su[oa]) (?:\w+[ ,]+){0,4}(?:aff(?:ezionat|ettuos)\w+|aff\.\w*|devot\w+|"
        r"obbligatissim\w+|servitore)\b|\bun (?:bacio|abbraccio) dal",
    ),
    parts=PartWords(
        preface="prefazione|introduzione|avvertenza|proemio|al lettore|ai lettori|a chi legge|"
        "nota (?:dell[’'] ?|del |degli )(?:autore|editore|editori|traduttore)|"
        "due parole|postfazione",
        writers="autore|editore|traduttore|edizione",
        front=r"dedica(?=\W*$)|personaggi(?=\W*$)",
        notes=r"appendice|glossario|errata|errori",
        index="indice (?:alfabetico|dei nomi|analitico)",
        advertisements=r"(?:opere|libri|romanzi) (?:dell[oa]|del|dei|di) (?:stess|medesim)\w+|"
        "del(?:lo)? (?:stesso|medesimo) autore|catalogo",
        illustrations="indice delle (?:illustrazioni|incisioni|tavole)|(?:illustrazioni|incisioni|"
        r"tavole)(?=\W*$)",
        frontispiece="frontespizio",
        end="fine?(?: (?:del|della|dell[’']|di) .{0,50})?",
        imprint=r"tipografia|tip\.|stampato|editor[ei]|edizioni|proprietà letteraria|"
        "diritti (?:riservati|di)|libreria|dirigere commissioni",
    ),
    speech=SpeechWords(
        think_inverted="pens(?:ò|ai|ava|avo)|riflett(?:é|è|eva)|"
        "si (?:disse|diceva|domandò|domandava|chiese|chiedeva)|mi (?:dissi|domandai|chiesi)|"
        r"(?:disse|dissi|diceva) (?:\w+ )?(?:fra|tra|dentro di) (?:s[eéè]|me)|aveva pensato",
        think_before="pens(?:ò|ai|ava|avo|ando)|mi dissi|(?:fra|tra) s[eéè]",
        aloud="(?:ad alta|a voce alta|a) voce|forte",
        salutation="(?:(?:mi[oa]|miei|mie) )?(?:car[oaie]|carissim[oaie]|amatissim[oa]|"
        "dilett[oa]|egregi[oa]|gentilissim[oa]|stimatissim[oa]|"
        r"illustrissim[oa])\b[^.!?»”\"]{0,40}?",
        letter_words="lettera|biglietto|righe|telegramma|scrisse|scritto|lesse|"
        "leggeva|diceva così|iscrizione|cartello|avviso",
        first_person={
            "dissi": "disse",
            "risposi": "rispose",
            "rispos'io": "rispos'egli",
            "rispos’io": "rispos’egli",
            "chiesi": "chiese",
            "soggiunsi": "soggiunse",
            "aggiunsi": "aggiunse",
            "ripresi": "riprese",
            "interruppi": "interruppe",
            **with_endings(
                "afferm balbett confess continu domand esclam grid insist mormor osserv pens "
                "preg replic sospir spieg sussurr",
                ("ai", "ò"),
            ),
        },
    ),
    attribution=AttributionWords(
        continue_verbs=frozenset(
            "aggiunse soggiunse continuò proseguì riprese ripetè ripeté concluse continuava "
            "seguitò".split()
        ),
        answer_verbs=frozenset("rispose replicò ribattè ribatté rispondeva".split()),
        subjects=with_genders(
            men="egli lui questi quegli esso ei",
            women="ella lei essa costei",
            narrator="io noi",
            group="loro essi esse tutti",
        ),
        personal=with_genders("egli lui gli ei", "ella lei essa"),
        narrator=frozenset("io mi me mio mia".split()),
        titles=with_genders(
            "signor signore don padre zio fratello cavaliere conte marchese re dottore uomo figlio "
            "giovane vecchio ragazzo babbo",
            "signora signorina donna madre zia sorella contessa marchesa regina figlia fanciulla "
            "ragazza vecchia mamma",
        ),
        no_nouns=frozenset(
            "a al alla allo agli con in nel nella di del della dei e ed per che senza su sul sulla "
            "come mentre quando tra fra da dal dalla o ma".split()
        ),
        determiners="[Ii]l|[Ll]o|[Ll]a|[Ll]|[Uu]n[ao]?|[Mm]io|[Mm]ia|[Ss]uo|[Ss]ua|[Ii]|[Gg]li|[Ll]e",
        noun_genders={"il": "m", "lo": "m", "la": "f", "un": "m", "uno": "m", "una": "f"},
        adjectives=frozenset(
            "buon buona povero povera vecchio vecchia giovane bel bella gran stesso stessa altro "
            "altra".split()
        ),
        drops_subjects=True,
        elides=True,
    ),
    people=PeopleWords(
        says="disse|rispose|domandò|gridò|chiese|esclamò|replicò",
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
