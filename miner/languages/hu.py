"""Hungarian."""

from miner.languages.language import (
    BookTitles,
    Conventions,
    Headings,
    Language,
    PageWords,
    PeopleWords,
    SpeechWords,
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
        numerals="első|második|harmadik|negyedik|ötödik|hatodik|hetedik|nyolczadik|"
        "nyolcadik|kilenczedik|kilencedik|tizedik|utolsó",
        article="az?",
    ),
    page=PageWords(
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
    speech=SpeechWords(
        think_inverted="gondolta",
        salutation="(?:igen |mélyen )?(?:kedves|drága|tisztelt|"
        r"szeretett)\b[^.!?«»”\"]{0,40}?",
        write="írta|irta|írá|irá",
        write_after_comma="írta|irta|írá|irá",
        letter_words="levél|levelet|levelében|sorok|sorokat|czédula|irta|írta|irá|olvasá|"
        "olvasta|felirat|hirdetés",
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
