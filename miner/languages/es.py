"""Spanish."""

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
    code="es",
    name="spanish",
    conventions=Conventions(
        marks=("guillemets", "double-curly", "double-straight"),
        has_dash=True,
        quotes_beside_dash=False,
        function_words="el la los que de en con por una del las su",
    ),
    headings=Headings(
        divisions="cap[íi]tulo|libro|parte|prólogo|epílogo|tomo",
        parts="libro|parte|tomo",
        chapter="cap[íi]tulo",
        contents="tabla(?: de (?:materias|capítulos))?|[ií]ndice(?: de (?:materias|"
        "capítulos|láminas))?|sumario",
        no_chapter=r"[íi]ndice|tabla(?=\W*$| de\b)|fin(?=\W*$| del?\b)|obras del mismo|"
        r"del mismo autor|erratas|catálogo(?=\W*$)",
        last_chapter="conclusi[óo]n|epílogo",
        numbers=(
            "primer[oa]?",
            "segund[oa]",
            "tercer[oa]?",
            "cuart[oa]",
            "quint[oa]",
            "sext[oa]",
            "s[ée]ptim[oa]",
            "octav[oa]",
            "noven[oa]",
            "d[ée]cim[oa]",
            "und[ée]cim[oa]",
            "duod[ée]cim[oa]",
        ),
        last="[úu]ltim[oa]",
        article="la|el",
    ),
    abbreviations="D|Sr",
    page=PageWords(
        end_line="Fin del? (?:Proyecto|Project)",
        transcriber_note=r"Not[ae]s? del? (?:la )?(?:trans\w+|editor)",
        captions=("Ilustra",),
        picture="ilustra|imagen|cubierta|portada|retrato|mapa de",
        ornament="ornamento|adorno|viñeta|decoración|separador|asteriscos",
        credits="Producido por|Este (?:libro|texto) (?:fue|ha sido)",
        footnote="Nota",
        footnotes_title="Notas?",
        letter_opening="(?:(?:mi|mis) )?(?:muy |más )?(?:querid[oa]s?|estimad[oa]s?|amad[oa]s?|"
        r"distinguid[oa]s?|respetad[oa]s?)\b.{0,60}[,:;—]\W*$|"
        r"(?:muy )?señor(?:es|a)? mí?[oa]s?\b.{0,30}[,:]\W*$",
        letter_closing=r"\b(?:tu|su|vuestr[oa]) (?:\w+[ ,]+){0,4}(?:servidora?|afectísim[oa]|"
        r"amig[oa] que|seguro servidor|que (?:te|le|os) (?:quiere|ama|estima))\b|"
        r"\bq\. ?[bs]\. ?[sm]\b|\bqueda de usted\b",
    ),
    parts=PartWords(
        preface="pr[óo]logo|prefacio|introducci[óo]n|advertencia|proemio|al (?:lector|"
        "que leyere)|a los lectores|ep[íi]logo del (?:autor|editor)|nota (?:del|"
        r"de la) (?:autor|editor|traductor|edici[óo]n)|prólogo (?:del|de|al)\b",
        writers=r"autor\b|editor\b|traductor|edición",
        front=r"nota(?=\W*$)|el rey(?=\W*$)|dedicatoria|tasa(?=\W*$)|testimonio de|"
        r"aprobaci[óo]n(?=\W*$)|privilegio(?=\W*$)|personajes(?=\W*$)",
        notes=r"notas(?=\W*$)|apéndice|glosario|fe de erratas|erratas|vocabulario",
        index="índice (?:alfab[ée]tico|de (?:nombres|materias))",
        advertisements="obras (?:del|de la|de los) (?:mismo|misma|autor)|del mismo autor|"
        "obras publicadas|catálogo",
        illustrations="(?:índice|lista) de (?:láminas|grabados|ilustraciones)|(?:láminas|grabados|"
        r"ilustraciones)(?=\W*$)",
        frontispiece="frontispicio|portada",
        end="fin(?: (?:de|del) .{0,50})?",
        imprint=r"imprenta|impreso|imp\. de|tipograf[íi]a|editorial|editores|librería|"
        "es propiedad|derechos reservados",
    ),
    speech=SpeechWords(
        think_inverted="pens(?:ó|é|aba|aban)|reflexion(?:ó|aba|é)|cavil(?:ó|aba)|"
        "se (?:dijo|decía|preguntó|preguntaba)|me (?:dije|pregunté)|"
        r"(?:dijo|dije|decía|exclamó) (?:\w+ ){0,2}(?:para|entre) "
        "(?:sí|mí|sus adentros|su (?:capote|coleto|sayo))|había pensado",
        think_before="pens(?:ó|é|aba|ando)(?: para sí)?|se (?:dijo|decía)|me dije|"
        "(?:dijo|dije|decía) (?:para|entre) (?:sí|mí)",
        aloud="en voz alta|en alta voz",
        salutation="(?:(?:mi|mis) )?(?:muy |más )?(?:querid[oa]s?|estimad[oa]s?|amad[oa]s?|"
        r"distinguid[oa]s?)\b[^.!?»”\"]{0,40}?|(?:muy )?señor(?:es|a)? mí?[oa]s?",
        letter_words="carta|esquela|billete|papel|líneas|telegrama|escribió|escrito|leyó|"
        "leía|decía así|letrero|rótulo|anuncio",
        first_person={
            "dije": "dijo",
            "díjele": "díjole",
            "dijele": "dijole",
            "repuse": "repuso",
            "proseguí": "prosiguió",
            **with_endings(
                "afirm agregu asegur balbuce confes contest continu declar exclam expliqu grit "
                "indiqu insist interrogu murmur objet observ pens pregunt rogu repliqu "
                "supliqu suspir",
                ("é", "ó"),
                ("éle", "óle"),
            ),
            **with_endings("respond añad interrump advert", ("í", "ió"), ("íle", "ióle")),
        },
    ),
    attribution=AttributionWords(
        continue_verbs=frozenset(
            "añadió continuó prosiguió agregó repitió siguió concluyó continuaba añadía".split()
        ),
        answer_verbs=frozenset("respondió contestó replicó repuso respondía contestaba".split()),
        subjects=with_genders(
            men="él éste aquél este aquel",
            women="ella ésta aquélla esta aquella",
            narrator="yo nosotros",
            group="ellos ellas todos",
        ),
        personal={"él": "m", "ella": "f"},
        narrator=frozenset("yo me mí mi mis".split()),
        titles=with_genders(
            "don señor señorito padre tío hermano caballero conde marqués rey cura doctor hombre "
            "hijo joven viejo muchacho niño",
            "doña señora señorita madre tía hermana condesa marquesa reina mujer hija muchacha "
            "niña vieja ama",
        ),
        no_nouns=frozenset(
            "a al con en de del y e para por que sin sobre como mientras cuando entre desde hacia "
            "o pero".split()
        ),
        determiners="[Ee]l|[Ll]a|[Uu]na?|[Mm]i|[Ss]u|[Ll]os|[Ll]as|[Aa]quella?|[Ee]ste|[Ee]sta",
        noun_genders={"el": "m", "la": "f", "un": "m", "una": "f", "este": "m", "esta": "f"},
        adjectives=frozenset(
            "buen buena pobre joven viejo vieja gran mismo misma otro otra".split()
        ),
        drops_subjects=True,
    ),
    people=PeopleWords(
        says="dijo|respondió|preguntó|replicó|exclamó|contestó",
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
