"""French."""

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
    code="fr",
    name="french",
    conventions=Conventions(
        marks=("guillemets", "double-curly", "double-straight"),
        has_dash=True,
        quotes_beside_dash=True,
        attributions_inside_marks=True,
        function_words="le la les des et dans que qui une pas est pour",
    ),
    headings=Headings(
        divisions="chapitre|livre|tome|partie|préface|prologue|épilogue",
        parts="tome|partie",
        chapter="chapitre",
        contents="table(?: des (?:mati[èe]res|chapitres|gravures))?|sommaire",
        no_chapter=r"table(?=\W*$| d)|fin(?=\W*$| d[eu]\b)|(?:liste|table) des (?:gravures|"
        r"illustrations)|du même auteur|catalogue(?=\W*$)",
        last_chapter="conclusion|épilogue",
        numbers=(
            "une?|premi[èe]re?|premier",
            "deux(?:i[èe]me)?|seconde?",
            "trois(?:i[èe]me)?",
            "quatre|quatri[èe]me",
            "cinq(?:ui[èe]me)?",
            "six(?:i[èe]me)?",
            "sept(?:i[èe]me)?",
            "huit(?:i[èe]me)?",
            "neuf|neuvi[èe]me",
            "dix(?:i[èe]me)?",
            "onze|onzi[èe]me",
            "douze|douzi[èe]me",
            "treize|treizi[èe]me",
            "quatorze|quatorzi[èe]me",
            "quinze|quinzi[èe]me",
            "seize|seizi[èe]me",
        ),
        last="derni[èe]re?",
        article="la|le",
    ),
    abbreviations="M|Mme",
    page=PageWords(
        end_line="Fin (?:du|de ce) Projet",
        transcriber_note=r"Not[ae]s? (?:de|du|sur) (?:la )?(?:trans\w+|editor)",
        credits="Produit par|Ce (?:livre|texte|document) (?:a été|est)|Ouvrage réalisé",
        footnote="Note",
        footnotes_title="Notes?",
        letter_opening="(?:(?:mon|ma|mes) )?(?:très |bien )?(?:chers?|ch[èe]res?|"
        r"bien-aimée?)\b.{0,60}[,:;—]\W*$|(?:monsieur|madame|mademoiselle|"
        r"messieurs)\b.{0,30}[,:]\W*$",
        letter_closing=r"\b(?:votre|ton|ta) (?:\w+[ ,]+){0,4}(?:dévouée?|serviteur|servante|"
        r"affectionnée?|fidèle|obéissante?)\b|\brecevez,|\bagréez,|"
        r"\bveuillez (?:agréer|recevoir)\b|\bsalut et fraternité\b",
        captions=("Illustr",),
        picture="illustr|image|couverture|frontispice|page de titre|portrait|carte de",
        ornament="ornement|vignette|cul-de-lampe|bandeau|décoration|filet|séparateur|astérisques",
    ),
    parts=PartWords(
        preface="(?:pr[ée]face|avant-propos|introduction|avertissement|avis|note) (?:de|du|des|"
        r"à|au|pour|sur)\b.{0,60}|pr[ée]face|avant-propos|avertissement|"
        r"introduction(?=\W*$)|postface|au lecteur|aux lecteurs|avis au lecteur|"
        r"notice(?=\W*$)",
        writers="auteur|éditeur|traducteur|édition",
        front=r"d[ée]dicace|personnages(?=\W*$)",
        notes=r"notes(?=\W*$| de\b| sur\b| et\b)|appendice|glossaire|errata|lexique(?=\W*$)|"
        "pièces justificatives",
        index=r"index(?=\W*$| des\b)",
        advertisements="(?:ouvrages|œuvres|oeuvres|livres|romans) (?:du|de la|des|de) mêmes?|"
        r"du même auteur|catalogue(?=\W*$| de)|extrait du catalogue|en vente",
        illustrations="(?:liste|table) des (?:gravures|illustrations|planches|dessins)|(?:gravures|"
        r"illustrations|planches)(?=\W*$)",
        frontispiece="frontispice",
        end="fin(?: (?:de|du|des) .{0,50})?",
        imprint=r"imprimerie|imprimé|imp\.|éditeurs?|tous droits|achevé d[’']imprimer|"
        "typographie|libraires?",
    ),
    speech=SpeechWords(
        think_inverted="pens(?:a|ai|ait|ais)|songe(?:a|ai|ait)|réfléchi(?:t|ssait)|"
        "se (?:dit|disait|demanda|demandait)|me (?:dis-je|disais-je|demandai-je)|"
        r"(?:dit|disait)(?:-\w+)?(?: \w+)? (?:en|à) (?:lui|elle|soi)-même|avait(?:-\w+)? pensé",
        think_before="pens(?:a|ai|ait|ais)|songe(?:a|ait)|se (?:dit|disait)|me (?:dis|disais)",
        aloud="(?:tout|à voix) haute?",
        salutation="(?:(?:mon|ma|mes) )(?:très |bien )?(?:chers?|ch[èe]res?|"
        r"bien-aimée?)\b[^.!?»”\"]{0,40}?|(?:chers?|ch[èe]res?) (?:monsieur|"
        r"madame|mademoiselle|amie?s?)\b[^.!?»”\"]{0,30}?",
        letter_words="lettre|mots|lignes|dépêche|télégramme|écrivit|écrit|lut|lisait|"
        "ainsi conçue?s?|comme suit|affiche|pancarte",
        first_person={
            **with_endings(
                "affirm ajout annonç approuv assur avou balbuti chuchot confess continu cri "
                "demand déclar expliqu grommel hasard hurl implor insist interrog lanç murmur "
                "object observ ordonn propos protest prononc questionn rectifi répliqu répét "
                "risqu soupir souffl suppli m’écri m'écri m’exclam m'exclam m’inform m'inform",
                ("ai-je", "a-t-il"),
                ("ais-je", "ait-il"),
            ),
            **with_endings("conclu d f gém répond repr poursuiv interromp", ("is-je", "it-il")),
            **with_endings("dis répond fais", ("ais-je", "ait-il")),
        },
    ),
    attribution=AttributionWords(
        continue_verbs=frozenset(
            "ajouta continua poursuivit reprit répéta continuait ajoutait acheva".split()
        ),
        answer_verbs=frozenset("répondit répliqua riposta repartit répondait".split()),
        subjects=with_genders(
            men="il celui", women="elle celle", narrator="je j nous", group="ils elles on tous"
        ),
        personal={"il": "m", "elle": "f"},
        narrator=frozenset("je j me m moi mon ma mes".split()),
        titles=with_genders(
            "monsieur m père oncle frère comte marquis roi abbé docteur homme fils garçon "
            "vieillard duc baron",
            "madame mme mademoiselle mlle mère tante soeur sœur comtesse marquise reine femme "
            "fille vieille duchesse baronne",
        ),
        no_nouns=frozenset(
            "à au aux avec en de du des d et pour que qu qui sans sur dans comme quand entre par "
            "ou mais dont vers".split()
        ),
        determiners="[Ll]e|[Ll]a|[Ll]|[Uu]ne?|[Mm]on|[Mm]a|[Ss]on|[Ss]a|[Ll]es|[Cc]et?|[Cc]ette|"
        "[Nn]otre",
        noun_genders=with_genders(men="le un mon ce", women="la une ma cette"),
        adjectives=frozenset(
            "jeune vieux vieil vieille petit petite bon bonne pauvre grand grande brave autre "
            "même".split()
        ),
        abbreviations=("M", "Mme", "Mlle", "MM"),
        sentence_abbreviations=("M", "Mme", "Mlle", "MM"),
        elides=True,
    ),
    people=PeopleWords(
        says="dit|dis-je|disait|demanda|demandai-je|répondit|répondis-je|reprit|"
        "s['’]écria|s['’]exclama|ajouta|continua|poursuivit|murmura|répliqua|"
        "cria|interrompit|balbutia|répéta|objecta|fit",
    ),
    titles=BookTitles(
        articles="les?|la|l|une?",
        volumes="tomes?|t|parties?|volumes?|vol|livre",
        numbers="premiere?|seconde?|deuxieme|troisieme|quatrieme|cinquieme|sixieme|un|"
        "deux|trois|quatre|cinq|six",
        endings="(?:nouvelle |seconde |deuxieme )?edition(?: illustree| complete)?|"
        r"illustree?|complete?|illustrations? de .*|en \w+ (?:tomes|parties|"
        "volumes)|(?:un )?roman(?: de .*)?|conte|recit|nouvelle",
        alternatives="ou",
        after_surname="pere|fils|aine",
    ),
)
