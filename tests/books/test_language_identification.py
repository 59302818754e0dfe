"""The language of a text: most of its paragraphs decide, and the same ones each time."""

import subprocess
import sys

import pytest

from miner.books.language_identification import can_identify, identify_language

# A sentence or two of each, as a novel has them.
TEXTS = {
    "de": "Der alte Müller stand am Fenster und sah hinaus auf den Hof, wo die Kinder seit dem "
    "frühen Morgen mit dem Hund spielten. „Es wird heute noch regnen“, sagte er leise.",
    "en": "The old miller stood at the window and looked out over the yard, where the children "
    "had been playing with the dog since early morning. “It will rain,” he said softly.",
    "es": "El viejo molinero estaba junto a la ventana y miraba el patio, donde los niños jugaban "
    "con el perro desde la mañana. —Hoy va a llover —dijo en voz baja.",
    "fr": "Le vieux meunier se tenait à la fenêtre et regardait la cour, où les enfants jouaient "
    "avec le chien depuis le matin. « Il va pleuvoir », dit-il tout bas.",
    "hu": "Az öreg molnár az ablaknál állt, és az udvart nézte, ahol a gyerekek kora reggel óta "
    "a kutyával játszottak. – Ma még esni fog – mondta halkan.",
    "it": "Il vecchio mugnaio stava alla finestra e guardava il cortile, dove i bambini giocavano "
    "con il cane fin dal mattino. — Oggi pioverà, — disse a bassa voce.",
    "nl": "De oude molenaar stond aan het venster en keek naar het erf, waar de kinderen sinds de "
    "vroege ochtend met den hond speelden. „Het gaat regenen,” zeide hij zacht.",
    "pt": "O velho moleiro estava à janela e olhava para o pátio, onde as crianças brincavam com o "
    "cão desde a manhã. — Hoje ainda vai chover — disse ele em voz baixa.",
}


@pytest.mark.parametrize("code", TEXTS)
def test_a_text_in_each_language_is_identified(code):
    assert identify_language([TEXTS[code]]) == (code, 1.0)
    assert can_identify(code)


def test_most_paragraphs_decide_and_their_share_is_the_confidence():
    assert identify_language([TEXTS["es"]] * 3 + [TEXTS["en"]]) == ("es", 0.75)
    assert identify_language([TEXTS["en"], TEXTS["es"]] * 2) == ("en", 0.5)
    assert identify_language([TEXTS["es"], TEXTS["en"]] * 2) == ("en", 0.5)  # ties: by code


def test_short_paragraphs_count_only_where_there_are_no_others():
    short = TEXTS["en"][:60]
    assert identify_language([short] * 9 + [TEXTS["es"]]) == ("es", 1.0)
    assert identify_language([short] * 9 + ["…"]) == ("en", 1.0)


def test_the_sample_is_spread_over_the_whole_book():
    # A Spanish book with English notes at both ends, which are most of its paragraphs at no place
    # of the sample but the ends.
    notes, story = [TEXTS["en"]] * 100, [TEXTS["es"]] * 300
    assert identify_language([*notes, *story, *notes]) == ("es", 0.6)


@pytest.mark.parametrize("paragraphs", [[], ["", "12", "* * *"]])
def test_a_text_without_letters_has_no_language(paragraphs):
    assert identify_language(paragraphs) == ("", 0.0)


def test_codes_that_cannot_be_identified_are_known():
    assert not can_identify("volapük") and not can_identify("") and not can_identify("enm")


def test_the_model_is_loaded_only_where_a_language_is_asked_for():
    code = (
        "import sys, miner.corpus.book_features, miner.corpus.filters, miner.app.cli.main; "
        "sys.exit('py3langid' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
