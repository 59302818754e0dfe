"""German."""

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
    with_genders,
)

LANGUAGE = Language(
    code="de",
    name="german",
    conventions=Conventions(
        marks=("guillemets-inward", "low-high", "double-straight", "double-curly", "guillemets"),
        has_dash=False,
        quotes_beside_dash=True,
        function_words="der die und das nicht mit sich ein ist zu auf sie",
    ),
    headings=Headings(
        divisions="kapitel|capitel|teil|theil|buch|vorwort|abschnitt",
        parts="teil|theil|buch",
        chapter="kapitel",
        chapter_after_number="kapitel",
        contents="inhalt(?:s(?:verzeichnis|verzeichniß|übersicht))?|"
        "verzeichnis der (?:abbildungen|kapitel)",
        no_chapter=r"inhalt|ende(?=\W*$| des\b)|abbildungen(?=\W*$)|werke von|(?:weitere|"
        "andere) werke|verlag von|vom (?:selben|gleichen) verfasser|"
        r"anzeigen(?=\W*$)",
        last_chapter="schluss|schluß|epilog|nachwort",
        numbers=(
            "ein(?:s|e[rs]?)?|erste[rs]?",
            "zwei(?:te[rs]?)?",
            "drei|dritte[rs]?",
            "vier(?:te[rs]?)?",
            "fünf(?:te[rs]?)?",
            "sechs(?:te[rs]?)?",
            "sieben(?:te[rs]?)?|siebte[rs]?",
            "achte?[rs]?",
            "neun(?:te[rs]?)?",
            "zehn(?:te[rs]?)?",
            "elf(?:te[rs]?)?",
            "zwölf(?:te[rs]?)?",
            "dreizehn(?:te[rs]?)?",
            "vierzehn(?:te[rs]?)?",
            "fünfzehn(?:te[rs]?)?",
            "sechzehn(?:te[rs]?)?",
            "siebzehn(?:te[rs]?)?",
            "achtzehn(?:te[rs]?)?",
            "neunzehn(?:te[rs]?)?",
            "zwanzig(?:ste[rs]?)?",
        ),
        last="letzte[rs]?",
    ),
    page=PageWords(
        picture=r"illustration|abbildung|bild(?:nis)?\b|titelbild|umschlag|einband|titelseite|porträt|"
        "karte von|signet|initiale",
        ornament="ornament|verzierung|vignette|zierleiste|zierstück|dekoration|trennlinie|sternchen",
        end_line="Ende dieses Projekte?|Ende (?:des|dieses) (?:Project|Projekt)",
        credits="Dieses Buch wurde uns|Produziert von|Erstellt von",
        transcriber_note=r"Anmerkungen? (?:zur|des|der) Transkri\w+",
        footnote="Fußnote|Anmerkung",
        footnotes_title="Fußnoten|Anmerkungen",
        letter_opening="(?:(?:mein|unser)(?:e|er)? )?(?:sehr |hoch)?(?:lieb(?:e|er|ste|ster)|"
        "teu(?:re|rer|erste)|theu(?:re|rer)|verehrte[rs]?|geehrte[rs]?|"
        r"geliebte[rs]?)\b.{0,60}[,:!—]\W*$",
        letter_closing=r"\b(?:Dein|Ihr|Euer)e? (?:\w+ ){0,3}(?:treuer?|ergebener?|"
        r"ergebenste[rn]?|liebender?|gehorsamste[rn]?|dich liebende[rn]?)\b|"
        r"\bhochachtungsvoll\b|\bmit (?:herzlichen|besten|vielen|"
        r"freundlichen) Grüßen\b",
    ),
    parts=PartWords(
        preface="vorwort|vorrede|vorbemerkung|einleitung|geleitwort|zum geleit|einführung|"
        "nachwort|an (?:den|die) leser|bemerkung des (?:verfassers|herausgebers|"
        "übersetzers)",
        writers="verfasser|herausgeber|übersetzer|verleger|auflage|ausgabe",
        front=r"widmung|zueignung|personen(?=\W*$)",
        notes="anmerkungen|fußnoten|anhang|glossar|druckfehler|berichtigungen|worterklärungen",
        index="(?:personen-?|namen-?|sach)?register|namenverzeichnis",
        advertisements="(?:werke|bücher|schriften) (?:von|desselben|aus)|(?:weitere|andere) werke|"
        "verlag von|vom (?:selben|gleichen) verfasser|von demselben verfasser|"
        r"anzeigen(?=\W*$)|im (?:gleichen|selben) verlag",
        illustrations=r"(?:verzeichnis der )?(?:abbildungen|bilder|illustrationen|tafeln)(?=\W*$)",
        frontispiece="titelbild",
        end="ende(?: des .{0,40})?|schluß|finis",
        imprint="(?:eine )?veröffentlichung der|druck (?:von|der)|gedruckt|verlag|"
        "alle rechte vorbehalten|buchdruckerei|druckerei|geheftet|gebunden",
    ),
    speech=SpeechWords(
        think_inverted="dachten?|überlegte|grübelte|"
        r"(?:sagte|sprach|fragte) (?:(?!vor |und )\w+ ){0,2}(?:zu |bei )?sich|"
        r"hatte (?:\w+ ){1,2}gedacht|(?:fuhr|ging|schoß) es \w+ durch den (?:Kopf|Sinn)",
        think_before=r"dachten?(?: \w+)?(?: bei sich)?|überlegte|"
        "(?:sagte|fragte) (?:er |sie )?(?:zu )?sich|in (?:seinem|ihrem) Herzen",
        aloud="laut",
        salutation="(?:(?:mein|unser)(?:e|er)? )?(?:sehr |hoch)?(?:lieb(?:e|er|ste|ster)|"
        "teu(?:re|rer|erste)|theu(?:re|rer)|verehrte[rs]?|"
        r"geehrte[rs]?)\b[^.!?“”\"»«]{0,40}?",
        letter_words="(?-i:Brief)|Zettel|Zeilen|Telegramm|schrieb|geschrieben|lautete|las|"
        "gelesen|Inschrift|Anzeige",
    ),
    attribution=AttributionWords(
        continue_verbs=frozenset("fort hinzu fügte setzte wiederholte schloß".split()),
        answer_verbs=frozenset("antwortete erwiderte entgegnete versetzte".split()),
        subjects={"er": "m", "sie": "f", "ich": "i", "wir": "i", "dieser": "m", "jener": "m"},
        personal=with_genders(
            "er ihm ihn sein seine seinem seinen seiner seines",
            "sie ihr ihre ihrem ihren ihrer ihres",
        ),
        narrator=frozenset("ich mich mir mein meine meinem meinen meiner".split()),
        titles=with_genders(
            "herr herrn vater bruder onkel graf baron könig prinz ritter mann junge knabe "
            "sohn großvater doktor pfarrer",
            "frau fräulein mutter schwester tante gräfin baronin königin prinzessin mädchen "
            "tochter großmutter magd",
        ),
        no_nouns=frozenset(
            "zu zum zur mit in im an am auf und als aus von vom bei nach für gegen über unter vor "
            "während indem wie wieder daß ob".split()
        ),
        determiners="[Dd](?:er|ie|as|en|em|es)|[Ee]in(?:e[mnrs]?)?|[MmDdSsKk]ein(?:e[mnrs]?)?|"
        "[Ii]hr(?:e[mnrs]?)?|[Uu]nser(?:e[mnrs]?)?|[Dd]iese[mnrs]?|[Jj]ene[mnrs]?|[Zz]u[mr]|"
        "[Ii]m|[Aa]m|[Vv]om|[Bb]eim|[Ii]ns",
        noun_genders={"der": "m", "die": "f", "ein": "m", "eine": "f"},
        nouns_have_capitals=True,
    ),
    people=PeopleWords(
        says="sagte|fragte|rief|antwortete|sprach|erwiderte",
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
