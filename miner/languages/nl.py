"""Dutch."""

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
    code="nl",
    name="dutch",
    conventions=Conventions(
        marks=("double-curly", "low-right", "double-straight", "single-curly", "single-straight"),
        has_dash=True,
        quotes_beside_dash=False,
        function_words="de het een van en niet dat zijn met was haar hij",
    ),
    headings=Headings(
        divisions="hoofdstuk|deel|boek|voorwoord",
        parts="deel|boek",
        chapter="hoofdstuk",
        contents="inhoud(?:sopgave)?|(?:lijst|opgave) der (?:platen|hoofdstukken)|bladwijzer",
        no_chapter=r"inhoud|einde(?=\W*$| van\b)|platen(?=\W*$)|van denzelfden schrijver|"
        "werken van|uitgaven van|bij (?:denzelfden|den) uitgever|colofon|"
        r"verbeteringen(?=\W*$)|advertenti[eë]n(?=\W*$)",
        last_chapter="besluit|slot|epiloog",
        numbers=(
            "eerste",
            "tweede",
            "derde",
            "vierde",
            "vijfde",
            "zesde",
            "zevende",
            "achtste",
            "negende",
            "tiende",
            "elfde",
            "twaalfde",
            "dertiende",
            "veertiende",
            "vijftiende",
            "zestiende",
            "zeventiende",
            "achttiende",
            "negentiende",
            "twintigste",
        ),
        last="laatste",
    ),
    page=PageWords(
        picture="illustratie|afbeelding|omslag|titelpagina|frontispice|portret|kaart van",
        ornament="ornament|versiering|vignet|sierlijst|decoratie|sterretjes",
        end_line="Einde van (?:dit )?Project",
        transcriber_note=r"Opmerkingen? van de (?:be|trans)\w+|Colofon|Lijst van verbeteringen|"
        "Verbeteringen$",
        credits="Dit (?:boek|bestand) (?:is|werd)|Geproduceerd door",
        footnote="Noot|Voetnoot",
        footnotes_title="Noten|Voetnoten",
        letter_opening="(?:mijne? )?(?:zeer |hoog)?(?:lieve|liefste|beste|waarde|waardste|"
        r"geachte|dierbare|geliefde|wel-?edele?)\b.{0,60}[,:!—]\W*$|(?:mijnheer|"
        r"mevrouw|mejuffrouw)[,:!]\W*$",
        letter_closing=r"\b(?:uw|je) (?:\w+[ ,]+){0,4}(?:dienaar|dienstwillige|liefhebbende|"
        r"toegenegen|toegenegene|getrouwe|oprechte vriend\w*)\b|\bhoogachtend\b",
    ),
    parts=PartWords(
        preface="voorwoord|voorrede|voorbericht|inleiding|ten geleide|nawoord|aan (?:den|de|"
        "mijn) lezers?|bericht (?:van|aan) (?:den|de) (?:lezer|uitgever)|"
        "een woord vooraf",
        writers=r"schrijver|uitgever|vertaler|uitgave|druk\b",
        front=r"opdracht(?=\W*$)|personen(?=\W*$)",
        notes=r"noten(?=\W*$)|aant?ee?keningen|voetnoten|bijlagen?(?=\W*$)|woordenlijst|"
        "errata|verbeteringen",
        index=r"register(?=\W*$)|naamregister",
        advertisements="van den?zelfden? schrijver|werken van|uitgaven (?:van|der)|"
        r"bij (?:denzelfden|den|dezelfde) uitgever|advertenti[eë]n?(?=\W*$)|andere werken|"
        "mede verscheen",
        illustrations=r"(?:lijst der |lijst van )?(?:platen|afbeeldingen|illustraties)(?=\W*$)",
        frontispiece="titelplaat",
        end="einde(?: van .{0,50})?|slot",
        imprint="gedrukt (?:bij|door|te)|drukkerij|boekdrukkerij|uitgevers?|uitgegeven|"
        "alle rechten|prijs per|ingenaaid|gebonden",
    ),
    speech=SpeechWords(
        think_inverted="dacht(?:en)?|peinsde|overwoog|mijmerde|"
        r"zei(?:de)? (?:\w+ )?(?:tot|bij|in|tegen) zich(?:zel(?:f|ven))?|"
        r"vroeg (?:\w+ )?zich(?: \w+)? af",
        think_before=r"dacht(?:en)?(?: \w+)?(?: bij zich)?",
        aloud="hardop|overluid|luid",
        write="schreef|geschreven",
        write_after_comma="schreef",
        salutation="(?:mijne? )?(?:zeer |hoog)?(?:lieve|liefste|beste|waarde|waardste|"
        r"geachte|dierbare|geliefde)\b[^.!?“”\"]{0,40}?",
        letter_words="(?:de|den|een|dien|dezen?|zijn|haar|volgenden?) brief|briefje|regels|"
        "telegram|schreef|geschreven|las|luidde|opschrift|advertentie",
    ),
    attribution=AttributionWords(
        continue_verbs=frozenset("vervolgde hernam voort voegde herhaalde besloot".split()),
        answer_verbs=frozenset("antwoordde hervatte".split()),
        subjects=with_genders(men="hij deze gene", women="zij ze", narrator="ik wij we"),
        personal=with_genders("hij hem zijn", "zij ze haar"),
        narrator=frozenset("ik mij me mijn".split()),
        titles=with_genders(
            "heer mijnheer meneer vader oom broeder broer graaf baron koning dokter man zoon "
            "jongen knaap dominee grootvader",
            "mevrouw juffrouw moeder tante zuster gravin barones koningin vrouw dochter meisje "
            "meid grootmoeder",
        ),
        no_nouns=frozenset(
            "te met in aan op en als uit van bij naar voor tegen over onder terwijl tot toen "
            "dat of maar".split()
        ),
        determiners="[Dd]e|[Hh]et|[Ee]en|[Mm]ijn|[Zz]ijn|[Hh]aar|[Oo]ns|[Oo]nze|[Dd]eze|[Dd]ie",
        adjectives=frozenset(
            "oude jonge kleine goede arme groote grote oud jong klein goed andere".split()
        ),
    ),
    people=PeopleWords(
        says="zei|zeide|vroeg|riep|antwoordde|hernam|sprak|meende|fluisterde|vervolgde|"
        "herhaalde|lachte|glimlachte|murmelde|smeekte|snikte|stamelde",
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
