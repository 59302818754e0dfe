"""Hungarian."""

from miner.languages.language import (
    BookTitles,
    Conventions,
    Headings,
    Language,
    PageWords,
    SpeechWords,
)

LANGUAGE = Language(
    code="hu",
    name="hungarian",
    conventions=Conventions(
        marks=("low-right", "guillemets-inward", "double-curly", "double-straight"),
        has_dash=True,
        quotes_beside_dash=False,
        dash_closes=True,
        attribution_verbs="mondta|mondá|monda|kérdezte|kérdé|felelte|felelt|kiáltotta|kiálta|szólt|szóla|"
        "szólalt|válaszolt|suttogá|sóhajta|viszonzá|folytatá",
        attribution_tails=r"\w+v[ae]\b",
        function_words="a az és nem hogy egy is volt meg csak ez s",
    ),
    headings=Headings(
        divisions="fejezet|rész|könyv|kötet",
        parts="rész|könyv|kötet",
        chapter_after_number="fejezet",
        contents="tartalom(?:jegyzék)?",
        no_chapter="tartalom(?:jegyzék)?",
    ),
    page=PageWords(
        transcriber_note=r"Megjegyzés(?:ek)?\b",
    ),
    speech=SpeechWords(
        think_inverted="gondolta",
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
