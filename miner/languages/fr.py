"""French."""

from miner.languages.language import (
    BookTitles,
    Conventions,
    Headings,
    Language,
    PageWords,
    SpeechWords,
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
        numerals="premi[èe]re?|deuxi[èe]me|seconde?|troisi[èe]me|quatri[èe]me|"
        "cinqui[èe]me|sixi[èe]me|septi[èe]me|huiti[èe]me|neuvi[èe]me|dixi[èe]me|"
        "derni[èe]re?",
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
    ),
    speech=SpeechWords(
        salutation="(?:(?:mon|ma|mes) )(?:très |bien )?(?:chers?|ch[èe]res?|"
        r"bien-aimée?)\b[^.!?»”\"]{0,40}?|(?:chers?|ch[èe]res?) (?:monsieur|"
        r"madame|mademoiselle|amie?s?)\b[^.!?»”\"]{0,30}?",
        letter_words="lettre|billet|mots|lignes|dépêche|télégramme|écrivit|écrit|lut|lisait|"
        "ainsi conçue?s?|suit|inscription|affiche|pancarte",
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
