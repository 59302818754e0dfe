"""Hungarian."""

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
    code="hu",
    name="hungarian",
    conventions=Conventions(
        marks=("low-right", "guillemets-inward", "double-curly", "double-straight"),
        has_dash=True,
        quotes_beside_dash=False,
        function_words="a az és nem hogy egy is volt meg csak ez s",
    ),
    headings=Headings(
        divisions="fejezet|rész|könyv|kötet",
        parts="rész|könyv|kötet",
        chapter_after_number="fejezet",
        contents="tartalom(?:jegyzék)?|a képek jegyzéke",
        no_chapter=r"tartalom(?:jegyzék)?|vége(?=\W*$)|javítások(?=\W*$)|jegyzetek(?=\W*$)|"
        r"ugyane? szerző|a szerző (?:művei|munkái)|megjegyzések(?=\W*$)",
        last_chapter="végszó|befejezés|utóhang|utószó",
        numbers=(
            "első",
            "második",
            "harmadik",
            "negyedik",
            "ötödik",
            "hatodik",
            "hetedik",
            "nyolcz?adik",
            "kilencz?edik",
            "tizedik",
            "tizenegyedik",
            "tizenkettedik",
        ),
        last="utolsó",
        article="az?",
    ),
    page=PageWords(
        picture=r"illusztráció|kép\b|borító|címlap|arckép|térkép",
        ornament="díszítés|dísz|záródísz|fejléc|elválasztó|csillagok",
        transcriber_note=r"Megjegyzés(?:ek)?\b|Javítások\b|A javítások (?:jegyzéke|listája)",
        end_line="A Project",
        credits="Készítette|Ezt a könyvet",
        footnote="Jegyzet|Lábjegyzet",
        footnotes_title="Jegyzetek|Lábjegyzetek",
        letter_opening="(?:igen |mélyen |legkedvesebb )?(?:kedves|drága|tisztelt|szeretett|"
        r"édes|nagyságos|tekintetes|méltóságos)\b.{0,50}[,:!—]\W*$",
        letter_closing=r"\b(?:maradok|vagyok)\b.{0,60}\b(?:híve|hive|barátod|barátja|szolgája|"
        r"tisztelője)\b|\b(?:szerető|hű|igaz|őszinte) (?:barátod|fiad|leányod|"
        r"anyád|atyád|apád|nőd|férjed|hived|híved)\b|\balázatos szolgája\b",
    ),
    parts=PartWords(
        preface=r"előszó|bevezetés(?=\W*$)|bevezető|utószó|végszó|az olvasóhoz|"
        "a szerző (?:előszava|megjegyzése)|előljáró",
        writers="szerző|kiadó|fordító|kiadás",
        front=r"ajánlás(?=\W*$)|személyek(?=\W*$)",
        notes="jegyzetek|lábjegyzetek|függelék|szómagyarázat|szójegyzék|sajtóhib|javítások",
        index="név-? ?(?:és tárgy)?mutató|tárgymutató",
        advertisements=r"ugyane? szerző|a szerző (?:művei|munkái|könyvei)|"
        r"\w+ \w+ (?:könyvei|munkái|művei)(?=\W*$)",
        illustrations="(?:a )?kép(?:ek )?jegyzéke?",
        frontispiece="czímkép|címkép",
        end="vége|(?:az? )?.{0,40} vége",
        imprint="nyomdája|nyomda|nyomtatott|könyvnyomda|kiadása|kiadja|kiadótulajdonos|minden jog",
    ),
    speech=SpeechWords(
        think_inverted="gondol(?:ta|tam|t|á|ám|ja)|tűnődött|"
        "(?:mond(?:ta|á|ja)|szól(?:t|a)|kérd(?:é|ezte)) magában",
        think_before="gondol(?:ta|tam|t|á|ám)(?: magában)?|(?:mondta|mondá|szólt) magában",
        aloud="hangosan|fenn?hangon",
        salutation="(?:igen |mélyen )?(?:kedves|drága|tisztelt|"
        r"szeretett)\b[^.!?«»”\"]{0,40}?",
        write="írta|irta|írá|irá",
        write_after_comma="írta|irta|írá|irá",
        letter_words="levél|levelet|levelében|sorok|sorokat|czédula|irta|írta|irá|olvasá|"
        "olvasta|felirat|hirdetés",
        first_person={
            **with_endings("mond válaszol suttog folytat dadog gondol szól", ("tam", "ta")),
            "kérdeztem": "kérdezte",
            "feleltem": "felelt",
            **with_endings("kiált", ("ottam", "otta")),
            **with_endings("mond gondol válaszol kiált", ("ám", "á"), ("ék", "a")),
            **with_endings("kérd felel hebeg rebeg", ("ém", "é"), ("ék", "e")),
            "ismételtem": "ismételte",
            "sóhajtottam": "sóhajtotta",
            "szólék": "szóla",
        },
    ),
    attribution=AttributionWords(
        continue_verbs=frozenset(
            "folytatá folytatta hozzá tette tevé ismétlé ismételte végzé".split()
        ),
        answer_verbs=frozenset(
            "felelt felelte felelé válaszolt válaszolta válaszolá viszonzá viszonozta".split()
        ),
        subjects={"ő": "", "én": "i", "ez": "", "amaz": ""},
        personal={},
        narrator=frozenset("én engem nekem".split()),
        titles=with_genders(
            "úr gróf báró király herczeg herceg apa bácsi ifjú öreg",
            "asszony grófné báróné királyné leány lány anya néni kisasszony",
        ),
        no_nouns=frozenset("és s hogy mint ki mig míg midőn mikor de".split()),
        determiners="[Aa]z?|[Ee]gy|[Aa]ma?z",
        adjectives=frozenset("öreg fiatal kis jó szegény vén ifju ifjú nagy derék másik".split()),
        drops_subjects=True,
    ),
    people=PeopleWords(
        says="mondta|mondá|monda|kérdezte|kérdé|felelte|felelt|kiáltotta|kiálta|szólt|szóla|"
        "szólalt|válaszolt|suttogá|sóhajta|viszonzá|folytatá",
    ),
    titles=BookTitles(
        articles="az?|egy",
        volumes="kotet|resz|konyv",
        numbers="elso|masodik|harmadik|negyedik|otodik|egy|ket|ketto|harom|negy|ot",
        endings=r"(?:uj |masodik )?kiadas|(?:teljes|kepes) kiadas|\w+ kotetben|"
        r"(?:tortenelmi |tortenet )?(?:regeny|elbeszelesek|elbeszeles|novellak)",
        alternatives="vagy",
    ),
)
