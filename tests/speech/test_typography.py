"""How a book marks speech: one vote a paragraph, and only speech votes."""

import pytest
from helpers import DATA, needs_books, read_file
from real import FILES, real_book

from miner.books.book import Block, BlockKind, Book
from miner.errors import InputError
from miner.languages.language import MARKS
from miner.speech.typography import find_foreign_language, infer_typography, typography_from_names


def page(*texts, language="en"):
    blocks = (Block(i, 1, BlockKind.PARAGRAPH, text) for i, text in enumerate(texts))
    return Book("0", "", "", language, tuple(blocks), (), "")


SCENE = (
    '"Is the ferry in?" asked the woman with the geese.',
    "The man at the rope looked down the river for a long time, and then up it.",
    '"Not the one that you want," he said, "and not the one that I want, either."',
    '"Then we may as well eat."',
    'She opened the basket. "There is bread, and the half of a cheese."',
    '"Whose half?"',
)
STYLES = {
    "double-straight": '""',
    "double-curly": "“”",
    "single-curly": "‘’",
    "single-straight": "''",
}


def typeset(text, marks):
    opener, closer = marks
    parts = text.split('"')
    return "".join(p + (opener, closer)[i % 2] for i, p in enumerate(parts[:-1])) + parts[-1]


@pytest.mark.parametrize("name", STYLES)
def test_each_english_style_with_the_votes_for_it(name):
    found = infer_typography(page(*(typeset(text, STYLES[name]) for text in SCENE)))
    assert found.names == (name,)
    assert found.evidence == ((name, 5),)
    assert (found.language, found.dash) == ("en", False)
    assert found.confidence == 5 / 10  # all of five votes, shrunk since they are few


@pytest.mark.parametrize("dash", ["—", "--", "– ", "― "])
def test_english_speech_opened_by_dashes(dash):
    lines = [text.replace('"', "") for text in SCENE]
    found = infer_typography(page(*(dash + lines[n] for n in (0, 2, 3, 5)), lines[1]))
    assert found.names == ("dash",)
    assert (found.marks, found.evidence) == ((), (("dash", 4),))


@pytest.mark.parametrize(
    ("file", "language", "names"),
    [
        ("bare_br.htm", "en", ("dash",)),
        ("classic_pre.htm", "en", ("double-straight",)),
        ("dash.htm", "en", ("dash",)),
        ("german_low.html", "de", ("low-high",)),
        ("guillemets_fr.html", "fr", ("guillemets", "dash")),
        ("multi_paragraph.html", "en", ("double-straight",)),
        ("no_dialogue.html", "en", ()),
        ("play.html", "en", ()),
        ("single_curly.html", "en", ("single-curly",)),
        ("single_straight.html", "en", ("single-straight",)),
        ("small_print.htm", "en", ("double-curly",)),
        ("spanish_dash.html", "es", ("dash",)),
        ("swedish_dash.html", "sv", ("dash",)),
        ("../../miner/books/sample.html", "en", ("double-curly",)),
    ],
)
def test_the_files_of_the_tests(file, language, names):
    found = infer_typography(read_file(DATA / file, "0"))
    assert (found.language, found.names) == (language, names)


def test_apostrophes_do_not_vote():
    found = infer_typography(
        page(
            "'Tis the boys' own fault, and don't they know it? The dogs' dinner was gone.",
            "’Twas Ma'am Tarrant's, and the Tarrants' before her; rock-'n'-roll it wasn't.",
            "It was five o'clock in '98, and goin' on six. 'Em as had hats took 'em off.",
            '"Hats!" cried Mrs. Bell.',
        )
    )
    assert found.evidence == (("double-straight", 1),)


def test_nested_quotations_do_not_vote():
    found = infer_typography(
        page(
            "‘He told me, “Mind the step,” and then he fell over it,’ said Ann.",
            "Said Ann, ‘The sign reads “No ladders,” and here is a ladder.’",
            "‘“Never,” he said. “Never!” Those were his words, and he kept to them.",
        )
    )
    assert found.evidence == (("single-curly", 3),)
    double = infer_typography(page("Ann said, “The sign reads ‘No ladders!’ on both sides.”"))
    assert double.evidence == (("double-curly", 1),)


def test_scare_quotes_and_titles_do_not_vote():
    found = infer_typography(
        page(
            'He sang in the "Magpie" and drank in the "Crown and Anchor" by turns.',
            "They called it 'the office', though it was a boat.",
            "“Come down!” called the mate.",
        )
    )
    assert found.evidence == (("double-curly", 1),)


def test_speech_that_no_paragraph_closes_votes():
    told = [f"“The {n}th winter was the colder, and we burned the chairs." for n in range(4, 40)]
    found = infer_typography(page(*told, "“And that is all of it.”"))
    assert found.names == ("double-curly",)
    assert found.evidence == (("double-curly", 37),)


def test_the_straight_twin_is_taken_beside_the_curly():
    curly = [typeset(text, "“”") for text in SCENE] * 4
    found = infer_typography(page(*curly, SCENE[0]))
    assert found.names == ("double-curly", "double-straight")
    assert found.evidence == (("double-curly", 20), ("double-straight", 1))
    assert found.confidence == 21 / 26


def test_another_family_is_taken_where_it_begins_paragraphs_of_its_own():
    single = [typeset(text, "‘’") for text in SCENE] * 20
    preface = [typeset(text, "“”") for text in SCENE]
    assert infer_typography(page(*preface, *single)).names == ("single-curly", "double-curly")
    slips = page(*preface[:3], *single)
    assert infer_typography(slips).names == ("single-curly",)
    frame = [f"He looked up. {text}" for text in preface]  # begins no paragraph, but has its votes
    assert infer_typography(page(*frame, *single)).names == ("single-curly",)
    assert infer_typography(page(*frame * 3, *single)).names == ("single-curly", "double-curly")


def test_a_pair_that_is_no_misprint_needs_one_vote():
    curly = [typeset(text, "“”") for text in SCENE]
    foreign = "«Their half, madame,» said the man with the red cap, who was French."
    sign = "Over the door stood «Au Bon Coin» in blue letters."
    assert infer_typography(page(*curly, foreign)).names == ("double-curly", "guillemets")
    assert infer_typography(page(*curly, sign)).names == ("double-curly",)
    assert infer_typography(page(*curly, "» The ferry is on page 7.")).names == ("double-curly",)
    assert infer_typography(page(foreign)).names == ("guillemets",)
    german = "„Their half, madam,“ said the man with the red cap."
    assert infer_typography(page(*curly, german)).names == ("double-curly", "low-high")


def test_few_marks_beside_dashes_are_speech_in_french_and_not_in_spanish():
    french = (
        "« Où est la barque?",
        "— Elle est partie, dit le passeur, et les oies avec elle.",
        "— Sans nous? »",
        "Le fleuve était haut; les saules de la rive trempaient dans une eau jaune.",
    )
    spanish = (
        *["—¿Dónde está la barca? —preguntó la mujer de los gansos."] * 5,
        *["—Se ha ido —dijo el barquero—, y los gansos con ella."] * 5,
        "El río venía alto, y los sauces de la orilla se mojaban en un agua amarilla.",
        "«¡Sin nosotros!» pensó la mujer, que no quería creer en lo que veía.",
    )
    assert infer_typography(page(*french, language="fr")).names == ("guillemets", "dash")
    found = infer_typography(page(*spanish, language="es"))
    assert found.names == ("dash",)
    assert dict(found.evidence) == {"dash": 10, "guillemets": 1}


def test_many_marks_beside_dashes_are_speech_in_spanish_too():
    talk = (
        "—¿Dónde está la barca? —preguntó la mujer de los gansos.",
        "—Se ha ido —dijo el barquero—, y los gansos con ella.",
        "El río venía alto, y los sauces de la orilla se mojaban en un agua amarilla.",
    )
    cry = "«¡Sin nosotros!» gritó la mujer, que no quería creer en lo que veía."
    for times, names in ((1, ("guillemets", "dash")), (2, ("dash",))):  # a third, a fifth
        assert infer_typography(page(*talk * times, cry, language="es")).names == names


PROSE = {
    "en": "The river was high and the willows of the bank hung with all their hair to the water.",
    "de": "Der Fluß war hoch, und die Weiden hingen mit den Haaren in das Wasser, das nicht sang.",
    "fr": "Le fleuve était haut et les saules des rives trempaient dans une eau qui est lente.",
    "es": "El río venía alto y los sauces de la orilla se mojaban en el agua que no cantaba.",
    "it": "Il fiume era alto e non si udiva che la barca; con gli anni un uomo si stanca.",
    "pt": "O rio vinha alto, e os salgueiros da margem não cantavam; uma barca com o homem.",
    "nl": "De rivier was hoog en het water zong niet van een man die zijn boot met haar deelde.",
    "hu": "A folyó magas volt, és a fák nem énekeltek; csak egy ember, meg a csónak, az is ült.",
    "fi": "Joki oli korkea, ja pajut eivät laulaneet; vain mies istui veneessä kuin se olisi oma.",
    "pl": "Rzeka była wysoka i wierzby nie śpiewały; na łodzi był człowiek, który się nie śmiał.",
    "ru": "Река была высокой, и ивы не пели; в лодке сидел человек, но он не знал, что его ждут.",
    "el": "Το ποτάμι ήταν ψηλό και οι ιτιές δεν τραγουδούσαν· ο άνθρωπος με την βάρκα ήταν κοντά.",
    "zh": "河水很高,柳樹不再唱歌。只有一個人坐在船上,等著那個帶著鵝的女人走過來。",
    "ja": "川の水は高く、柳はもう歌わなかった。船にはひとりの男が座って、女を待っていた。",
}


@pytest.mark.parametrize("language", PROSE)
@pytest.mark.parametrize("declared", ["", "declared", "en", "de", "la"])
def test_the_language_is_known_by_its_function_words(language, declared):
    book = page(*[PROSE[language]] * 12, language=language if declared == "declared" else declared)
    assert infer_typography(book).language == language


def test_the_declared_language_is_kept_unless_the_words_clearly_show_another():
    assert infer_typography(page("Il fiume era alto.", language="pt")).language == "pt"
    assert infer_typography(page("Hm! Ha! Brr!", language="nl")).language == "nl"
    assert infer_typography(page("Hm! Ha! Brr!", language="la")).language == ""


def test_a_language_without_a_file_still_has_marks():
    czech = ["„Kde je loď?“ zeptala se žena.", "»Pryč,« řekl muž.", "«Bez nás!»"]
    found = infer_typography(page(*czech, "Řeka byla vysoká.", language="cs"))
    assert found.language == ""
    assert found.marks
    assert found.conventions.has_dash


def test_marks_of_another_printer_are_found_where_a_language_has_none_of_its_own():
    told, line = PROSE["nl"], f"«{PROSE['nl']}» zei de man."
    assert infer_typography(page(told, *[line] * 10, language="nl")).names == ("guillemets",)
    few = page(line, *[told] * 30, language="nl")  # a foreign word, and no speech
    assert infer_typography(few).names == ()


CZECH = (
    "Řeka byla vysoká a vrby visely do vody, ale žena seděla na břehu a čekala na loď s husami. "
)
TURKISH = (
    "Nehir yüksekti ve kadın kıyıda oturmuş, kazlarıyla birlikte karşıya geçecek tekneyi bekler. "
)
UKRAINIAN = "Річка була висока, і жінка сиділа на березі й чекала на човен із гусьми. "
FOREIGN = {
    "declared": (CZECH, "cs", "Czech"),
    "declared by a name that is not known": ("Kde je loď?", "volapük", "Volapük"),
    "not declared": (CZECH * 40, "", "Czech"),
    "declared wrongly": (TURKISH * 40, "en", "Turkish"),
    "too short to tell": ("Kde je loď?", "en", ""),
    "declared, in other letters": (UKRAINIAN, "uk", "Ukrainian"),
    "in other letters, not declared": (UKRAINIAN * 10, "", "Ukrainian"),
    "in other letters, declared wrongly": (UKRAINIAN * 10, "en", "Ukrainian"),
    "a foreign name in English": (PROSE["en"] + "‘Волга!’ he said.", "en", ""),
    "English that declares Czech": (PROSE["en"], "cs", ""),
    "without letters": ("* * *", "", ""),
}


@pytest.mark.parametrize("case", FOREIGN)
def test_a_language_without_a_file_is_named(case):
    text, declared, expected = FOREIGN[case]
    assert find_foreign_language(page(text, text, language=declared)) == expected


@pytest.mark.parametrize("language", PROSE)
def test_a_language_with_a_file_is_not_foreign(language):
    for declared in ("", language, "en"):
        texts = [PROSE[language]] * 30
        assert find_foreign_language(page(*texts, language=declared)) == ""


def test_names_override():
    found = typography_from_names(("single-straight", "dash"), "nl")
    assert (found.marks, found.dash) == ((MARKS["single-straight"],), True)
    assert (found.language, found.confidence, found.evidence) == ("nl", 1.0, ())
    assert found.names == ("single-straight", "dash")
    assert typography_from_names([]).names == ()


def test_an_unknown_name_is_refused_with_the_known():
    with pytest.raises(InputError, match="'curly'") as error:
        typography_from_names(("double-curly", "curly"))
    assert all(name in str(error.value) for name in (*MARKS, "dash"))


def test_confidence_grows_with_the_votes_and_shrinks_with_dissent():
    few = infer_typography(page(*SCENE)).confidence
    many = infer_typography(page(*SCENE * 20)).confidence
    torn = infer_typography(page(*SCENE * 20, *[f"—{SCENE[1]}"] * 9)).confidence
    assert 0 < few < many < 1
    assert torn < many


def test_a_book_without_speech():
    found = infer_typography(page(PROSE["en"], "Don't look for any; 'tis not there."))
    assert (found.names, found.confidence, found.evidence) == ((), 0.0, ())
    assert infer_typography(page()).names == ()


BOOKS = {
    "pg11-images.html": ("double-curly",),
    "pg1342-images.html": ("double-curly",),
    "76-h.htm": ("double-curly",),
    "161-h.htm": ("double-straight",),
    "208-h.htm": ("double-curly",),
    "219-h.htm": ("double-curly",),
    "242-h.htm": ("single-curly", "double-curly"),
    "289-h.htm": ("single-curly",),
    "730-h.htm": ("single-straight",),
    "768-h.htm": ("single-curly",),
    "928-h.htm": ("single-straight",),
    "2097-h.htm": ("double-straight",),
    "2226-h.htm": ("single-straight",),
    "4217-h.htm": ("dash",),
    "5658-h.htm": ("single-curly", "double-curly"),
    "7500-h.htm": ("double-straight",),
    "22367-h.htm": ("guillemets-inward",),
    "34811-h.htm": ("guillemets-inward",),
    "17489-h.htm": ("guillemets", "dash"),
    "17989-h.htm": ("guillemets", "dash"),
    "2000-h.htm": ("dash",),
    "15725-h.htm": ("dash",),
    "17073-h.htm": ("dash",),
    "45334-h.htm": ("guillemets",),
    "52484-h.htm": ("dash",),
    "54829-h.htm": ("dash",),
    "55752-h.htm": ("dash",),
    "18381-h.htm": ("double-curly",),
    "19563-h.htm": ("dash",),
    "42264-h.htm": ("dash",),
    "56377-h.htm": ("dash",),
}
NOT_ENGLISH = {
    "de": ("7500", "22367", "34811"),
    "fr": ("17489", "17989"),
    "es": ("2000", "15725", "17073"),
    "it": ("45334", "52484"),
    "pt": ("54829", "55752"),
    "nl": ("18381", "19563"),
    "hu": ("42264", "56377"),
}
LANGUAGES = {f"{number}-h.htm": code for code, ns in NOT_ENGLISH.items() for number in ns}


HANDFUL = ("pg11-images.html", "208-h.htm", "22367-h.htm", "4217-h.htm", "18381-h.htm")


@needs_books
@pytest.mark.parametrize(
    "file",
    [pytest.param(f, marks=[] if f in HANDFUL else pytest.mark.slow) for f in BOOKS if f in FILES],
)
def test_real_books(file):
    found = infer_typography(real_book(file))
    assert found.names == BOOKS[file]
    assert found.language == LANGUAGES.get(file, "en")
    assert found.confidence > 0.8
