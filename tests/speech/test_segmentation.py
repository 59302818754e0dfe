"""Where speech begins and ends in paragraphs with dashes: original pages in seven languages."""

import re
from itertools import pairwise

import numpy as np
import pytest
from helpers import cpu_seconds
from hypothesis import given
from hypothesis import strategies as st

from miner.books.book import Block, BlockKind, Book
from miner.errors import InputError
from miner.lab.learning.run_folder import write_weights
from miner.languages.registry import LANGUAGES
from miner.speech import segmentation as cuts
from miner.speech.clauses import edge_of, find_clauses, read_glue
from miner.speech.quotation_marks import Quoted, is_dashed
from miner.speech.segmentation import (
    BEGINS,
    CHANGES,
    ENDS,
    N_ARCS,
    SAID,
    TO_SPEECH,
    TOLD,
    decode,
    load_segmentation,
    read_page,
    segmentation_model,
)
from miner.speech.spans import split_book
from miner.speech.typography import typography_from_names

# Names of the marks, and paragraphs. ⟦ ⟧ stand around what is said and are not on the page.
PAGES = {
    "es": (
        ["dash"],
        """El barquero miró el río largo rato, porque la niebla no dejaba ver la otra orilla.
        ⟦—¿Está aquí la barca?⟧—preguntó la mujer de los gansos.
        ⟦—No la que usted espera⟧—respondió el hombre sin volver la cabeza—. ⟦Ni la que \
espero yo.⟧
        ⟦—Pues si no viene⟧—dijo ella—, ⟦comeremos aquí.⟧
        La mujer abrió la cesta y dijo: ⟦—Hay pan y medio queso.⟧
        ⟦—¿De quién es la otra mitad?⟧
        ⟦—Mía⟧—contestó la mujer—. ⟦Coma usted y calle.⟧""",
    ),
    "fr": (
        ["guillemets", "dash"],
        """Le passeur regardait la rivière, car le brouillard cachait l'autre rive depuis l'aube.
        ⟦—Le bac est-il ici?⟧ demanda la femme aux oies.
        ⟦—Pas celui que vous attendez,⟧ répondit l'homme à la corde, ⟦ni celui que j'attends.⟧
        ⟦—Alors nous mangeons,⟧ dit-elle en ouvrant son panier. ⟦Il y a du pain et la moitié d'un \
fromage.⟧
        ⟦—La moitié de qui?⟧ fit-il.
        ⟦«Taisez-vous,⟧ dit la femme, ⟦et mangez.»⟧
        Elle se leva, secoua sa jupe et rangea le pain dans le panier avec le reste du fromage.
        ⟦—Voilà le bac!⟧ s'écria l'homme.""",
    ),
    "hu": (
        ["dash"],
        """A révész sokáig nézte a folyót, mert a köd eltakarta a túlsó partot.
        ⟦– Itt van-e a komp?⟧ kérdé az asszony, a ki a ludakat hozta.
        ⟦– Nem az, a melyikre kend vár,⟧ felelt a férfi a kötél mellett.
        ⟦– Akkor eszünk,⟧ mondá az asszony. ⟦Van itt kenyér.⟧
        ⟦– Kié a másik fele?⟧ – kérdezte a révész.
        ⟦– Jól van, jól,⟧ szólt az asszony. ⟦Egyék kend.⟧
        ⟦– Jön a komp!⟧ kiáltá a férfi.""",
    ),
    "it": (
        ["dash"],
        """Il barcaiolo guardò a lungo il fiume, perchè la nebbia nascondeva l'altra riva.
        ⟦— È qui la barca?⟧ — domandò la donna delle oche.
        ⟦— Non quella che aspettate voi,⟧ — rispose l'uomo della corda — ⟦nè quella che aspetto io.⟧
        La donna aprì il paniere e disse: ⟦— C'è del pane e mezzo formaggio. —⟧
        ⟦— Di chi è l'altra metà?⟧
        ⟦— Mia,⟧ — gridò la donna — ⟦e mangiate.⟧""",
    ),
    "nl": (
        ["dash"],
        """De veerman keek lang naar de rivier, want de mist verborg de andere oever.
        ⟦—Is de pont hier?⟧ vroeg de vrouw met de ganzen.
        ⟦—Niet die waar u op wacht,⟧ antwoordde de man bij het touw, ⟦en ook niet die van mij.⟧
        ⟦—Dan eten we,⟧ zei zij. ⟦Er is brood en een halve kaas.⟧
        ⟦—Van wie is de andere helft?⟧
        ⟦—Van mij!⟧ riep de vrouw.""",
    ),
    "pt": (
        ["dash"],
        """O barqueiro olhou muito tempo o rio, porque a nevoa escondia a outra margem.
        ⟦—Está cá a barca?⟧ perguntou a mulher dos gansos.
        ⟦—Não a que a senhora espera,⟧ disse o homem da corda. ⟦Nem a que eu espero.⟧
        ⟦—Então comemos!⟧ exclamou ella, abrindo o cesto.
        E a mulher disse: ⟦—Ha pão e meio queijo.⟧
        ⟦—De quem é a outra metade?⟧
        ⟦—Minha,⟧ murmurou a mulher.""",
    ),
}
# What a narrator says and tells of it.
FIRST_PERSON = {
    "es": """La nieve caía desde la mañana y el camino del valle estaba vacío.
        ⟦—¿Adónde lleva usted ese baúl?⟧ —pregunté.
        ⟦—Entonces le ayudo⟧ —dije—, ⟦si usted quiere.⟧
        ⟦—No hay de qué⟧ —contesté yo, y cogí el asa.""",
    "fr": """La neige tombait depuis le matin et la route de la vallée était vide.
        ⟦— Attendez-moi !⟧ criais-je en courant.
        ⟦— Vous êtes en retard,⟧ dit le cocher.
        ⟦— C'est la neige,⟧ répondis-je. ⟦Le pont est fermé.⟧
        ⟦— Chez ma tante,⟧ fis-je en m'essuyant le front, ⟦si elle vit encore.⟧""",
    "hu": """Egész délelőtt esett a hó, és az út a völgyben üres volt.
        ⟦– Hová viszi azt a ládát?⟧ – kérdeztem.
        ⟦– Ma már nem jár vonat⟧ – mondtam neki.""",
    "it": """La neve cadeva dalla mattina e la strada della valle era vuota.
        ⟦— Dove porta quel baule?⟧ — gli chiesi.
        ⟦— Allora l'aiuto,⟧ — dissi, — ⟦se permette.⟧
        ⟦— Di nulla,⟧ — rispos'io, e presi il manico.""",
    "nl": """De sneeuw viel al sinds de morgen en de weg in het dal was leeg.
        ⟦— Waar brengt u die koffer heen?⟧ vroeg ik.
        ⟦— Dan help ik u,⟧ zei ik, ⟦als u wilt.⟧""",
    "pt": """A neve caía desde manhã e a estrada do vale estava vazia.
        ⟦— Para onde leva esse baú?⟧ — perguntei.
        ⟦— Então ajudo⟧ — disse-lhe eu —, ⟦se quiser.⟧
        ⟦— De nada⟧ — respondi, e peguei na asa.""",
}
BARE = re.compile("[⟦⟧]")
SAID_MARK = re.compile("⟦(.*?)⟧")


def blocks_of(*paragraphs):
    return tuple(Block(n, 1, BlockKind.PARAGRAPH, text) for n, text in enumerate(paragraphs))


def said_in(paragraphs, names, language):
    """What is said in each paragraph, without the space around it."""
    book = Book("7", "", "", language, blocks_of(*paragraphs), (), "")
    spans = split_book(book, typography_from_names(names, language)).spans
    assert "".join(span.text for span in spans) == "".join(paragraphs)
    said = [(span.paragraph, span.text.strip()) for span in spans if span.is_utterance]
    return [[text for at, text in said if at == n] for n in range(len(paragraphs))]


@pytest.mark.parametrize(
    ("language", "names", "page"),
    [
        *((language, *page) for language, page in PAGES.items()),
        *((language, ["dash"], page) for language, page in FIRST_PERSON.items()),
    ],
)
def test_what_is_said_on_a_page(language, names, page):
    paragraphs = [line.strip() for line in page.splitlines()]
    bare = [BARE.sub("", text) for text in paragraphs]
    expected = [[part.strip() for part in SAID_MARK.findall(text)] for text in paragraphs]
    assert said_in(bare, names, language) == expected


def test_who_says_i_where_another_tells_is_heard():
    told = "El viejo dijo que no. Ella dijo que sí. El cura no dijo nada y contestó con un gesto."
    said = "—Cuando enviudé, dije: ahora o nunca. Llamé a la puerta, pregunté por él y no estaba."
    assert said_in([told, said], ["dash"], "es") == [[], [said]]


def test_dashes_open_a_paragraph():
    assert [is_dashed(text) for text in ("—Ven.", "-- Ven.", "- Ven.", "― Ven.")] == [True] * 4
    assert [is_dashed(text) for text in ("Ven—ven.", "—", "-- ", "", "«Ven»")] == [False] * 5


def test_properly_closed_marks_stay_whole_where_attributions_stand_outside():
    paragraphs = ["«Vieni, disse Bo, è tardi», gridò la donna.", "— Vengo.", "Egli rise."]
    found = said_in(paragraphs, ["guillemets", "dash"], "it")
    assert found[0] == ["«Vieni, disse Bo, è tardi»"]


def test_a_book_without_dashes_is_not_read(monkeypatch):
    monkeypatch.setattr("miner.speech.segmentation.segmentation_model", lambda: pytest.fail("read"))
    assert said_in(["“Come—now,” said Bo.", "—Go."], ["double-curly"], "en") == [
        ["“Come—now,”"],
        [],
    ]


def test_without_weights_the_whole_paragraph_is_speech(monkeypatch):
    monkeypatch.setattr("miner.speech.segmentation.segmentation_model", lambda: None)
    found = said_in(["—Ven—dijo Bo.", "Bo dijo: —Ven."], ["dash"], "es")
    assert found == [["—Ven—dijo Bo."], []]


def scores(*best):
    """Scores by which the given arcs are the best."""
    arcs = np.zeros((len(best), N_ARCS), np.float32)
    arcs[np.arange(len(best)), best] = 1
    return arcs


def test_the_best_arcs_are_decoded_in_each_paragraph():
    path = [BEGINS, ENDS, TOLD, BEGINS, SAID, CHANGES, TOLD, BEGINS, BEGINS]
    begins = np.array([1, 0, 0, 0, 0, 0, 1, 0, 1], bool)
    found = decode(np.zeros(9, np.float32), scores(*path), begins, np.zeros(9, bool))
    assert found.tolist() == path


def test_what_must_be_speech_is():
    begins = np.array([1, 0, 0], bool)
    wanted = scores(TOLD, TOLD, TOLD)
    found = decode(np.zeros(3, np.float32), wanted, begins, np.array([0, 1, 0], bool))
    assert found.tolist()[:2] == [TOLD, BEGINS]


@given(st.integers(0, 2**32 - 1))
def test_the_decoded_path_has_the_highest_score(seed):
    chance = np.random.default_rng(seed)
    arcs = chance.normal(size=(5, N_ARCS)).astype(np.float32)
    said = chance.normal(size=5).astype(np.float32)
    begins = np.array([True, False, False, False, False])
    of_state = ((TOLD, BEGINS), (ENDS, SAID, CHANGES))

    def paths(length, spoken=0):
        if not length:
            yield ()
        for arc in of_state[spoken] if length else ():
            for rest in paths(length - 1, int(TO_SPEECH[arc])):
                yield (arc, *rest)

    def score(path):
        return sum(arcs[n, arc] + said[n] * TO_SPEECH[arc] for n, arc in enumerate(path))

    found = decode(said, arcs, begins, np.zeros(5, bool)).tolist()
    assert score(found) == pytest.approx(max(map(score, paths(5))), abs=1e-4)


def test_speech_may_begin_only_after_a_dash_or_a_mark():
    page = read_page(["Ven. Bo dijo: —Voy, dijo. Ya.", "«Ven.»"], [])
    assert page is not None
    assert page.rows.tolist() == [2, 3, 4, 5]
    assert page.begins.tolist() == [True, False, False, True]


def test_what_marks_show_is_kept():
    text = "Il dit: «Oui, dit-il, non» et rit —ah, oui."
    start, end = text.index("«"), text.index("»") + 1
    for is_whole in (False, True):
        page = read_page([text], [], {0: [Quoted(start, end, is_whole)]})
        assert page is not None
        assert page.rows.tolist() == [1, 2, 3, 5, 6]
        assert page.begins.tolist() == [True, False, False, True, False]
        assert page.is_said.tolist() == [True, is_whole, is_whole, False, False]


pieces = st.sampled_from(
    [*'«»„“”"—–- .,;:!?¿()[]_\n-aAZé1…', "--", "dit-il", "—dijo Bo—", " szólt", "\x02"]
)


@given(
    st.lists(st.lists(pieces, min_size=1, max_size=25).map("".join), min_size=1, max_size=4),
    st.sampled_from([*LANGUAGES, ""]),
)
def test_any_text_can_be_cut(texts, language):
    model = segmentation_model()
    page = read_page(texts, ["Bo rió."])
    if model is None or page is None:
        return
    for text, found in zip(texts, model.find_speech(page, language), strict=True):
        edges = [edge for place in found for edge in place]
        assert edges == sorted(edges)
        assert all(0 <= edge <= len(text) for edge in edges)
        assert all(any(map(str.isalnum, text[start:end])) for start, end in found)


@pytest.mark.parametrize("piece", ["—Ven ", "«Oui ", "—", "¿", "—ah, dijo él, "])
def test_time_grows_with_the_length(piece):
    def cut():
        names = ["guillemets", "dash"]
        said_in([f"—Ven{piece * 5_000}ya.", f"Ven{piece * 5_000}ya."], names, "fr")

    assert cpu_seconds(cut, 5) < 5


def test_a_file_without_weights_is_refused(tmp_path):
    path = tmp_path / "cuts.safetensors"
    write_weights(path, {"weights": np.zeros(3, np.float16)}, {}, force=False)
    with pytest.raises(InputError, match="found no weights of cuts") as refused:
        load_segmentation(path)
    assert str(path) in str(refused.value)


def test_the_weights_of_the_package_are_small():
    assert cuts.WEIGHTS.stat().st_size < 1_100_000
    model = segmentation_model()
    assert model is not None
    assert model.languages >= {"de", "en", "es", "fr", "hu", "it", "nl", "pt"}


def test_marks_open_nothing_in_a_book_where_they_are_for_thoughts():
    texts = ["Pensó: «Ya voy», y salió.", "—Ya voy—dijo."]
    page = read_page(texts, [], marks_open=False)
    assert page is not None
    assert {texts[block] for block in page.blocks[page.rows]} == {texts[1]}


SEGMENTED = [
    ("—Ven —dijo Bo—, que es tarde.", ["Ven", "dijo Bo", "que es tarde"]),
    ("—Ven—dijo Bo.", ["Ven", "dijo Bo"]),
    ("--Ja, zei zij; 't is laat.", ["Ja", "zei zij", "t is laat"]),
    ("– Jössz? Kérdé a kertész.", ["Jössz", "Kérdé a kertész"]),
    ("— Oui, dit-il, s'écria-t-elle.", ["Oui", "dit-il", "s'écria-t-elle"]),
    ("Il dit: «Non!» et rit.", ["Il dit", "Non", "et rit"]),
    ("— Non, dit M. Aubin. Jamais.", ["Non", "dit M. Aubin", "Jamais"]),
    ("Vem (disse ella) cedo.", ["Vem", "disse ella", "cedo"]),
    ("¿Vienes?—¡Voy!", ["Vienes", "Voy"]),
    ("_Oui_ - dit-il", ["Oui", "dit-il"]),
    ("* * *", []),
    ("", []),
]


def segments_of(*texts):
    found = find_clauses(texts)
    edges = [*found.first.tolist(), len(found.words)]
    for first, end in pairwise(edges):
        block = int(found.blocks[first])
        yield block, texts[block][found.starts[first] : found.ends[end - 1]]


@pytest.mark.parametrize(("text", "expected"), SEGMENTED)
def test_a_text_is_divided_at_its_punctuation(text, expected):
    assert [part for _, part in segments_of(text)] == expected


def test_the_segments_of_several_blocks_are_found_at_once():
    texts = [text for text, _ in SEGMENTED]
    expected = [(n, part) for n, (_, parts) in enumerate(SEGMENTED) for part in parts]
    assert list(segments_of(*texts)) == expected


@given(st.lists(st.text("aé1 .,—-'’«»\"\n\x02", max_size=20), max_size=5))
def test_words_have_their_places(texts):
    found = find_clauses(texts)
    places = zip(found.words, found.blocks, found.starts, found.ends, strict=True)
    for word, block, start, end in places:
        assert texts[block][start:end] == found.vocabulary[word]
    n_characters = sum(character.isalnum() for text in texts for character in text)
    lengths = (found.vocabulary[word] for word in found.words)
    assert sum(sum(map(str.isalnum, word)) for word in lengths) == n_characters


@pytest.mark.parametrize(
    ("raw", "text", "marks", "opens", "brackets"),
    [
        (" -- ", " — ", 0, False, 0),
        (" - ", " — ", 0, False, 0),
        (". . . ", "… ", 0, False, 0),
        (": «", ": «", 1, True, 0),
        ("» — ", "» — ", -1, False, 0),
        ("! » ", "! » ", -1, False, 0),
        (": »", ": »", 1, True, 0),
        (" (", " (", 0, False, 1),
        (".)\n", ".) ", 0, False, -1),
    ],
)
def test_what_stands_between_two_words(raw, text, marks, opens, brackets):
    glue = read_glue(raw)
    assert (glue.text, glue.marks, glue.opens, glue.brackets) == (text, marks, opens, brackets)
    assert glue.has_dash == ("—" in text)


def test_the_edge_of_a_block_is_seen_from_both_sides():
    found = find_clauses(["Ven.", "—Voy."])
    edge = found.glues[found.before[1]]
    assert (edge_of(edge, at_start=False), edge_of(edge, at_start=True)) == (".$", "^—")


@pytest.mark.parametrize("piece", ["—", "« ", "(", ". ", "-", "' ", "\n"])
def test_time_grows_with_the_length_clauses(piece):
    assert cpu_seconds(lambda: find_clauses([f"a{piece * 40_000}b"]), 2) < 2
