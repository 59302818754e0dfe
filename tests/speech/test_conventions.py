"""How printers of each language mark speech: original pages, with brackets around what is said."""

import re

import pytest

from miner.speech.read import parse_spans

# The language, the marks that are found, and paragraphs. ⟦ ⟧ stand around what is said and are not
# on the page.
PAGES = {
    "Swedish, ”…”": (
        "sv",
        ["right-right"],
        """⟦”Är färjan här?”⟧ frågade kvinnan med gässen.
        Mannen vid repet såg länge nedåt floden, och sedan uppåt den.
        ⟦”Inte den som ni vill ha”⟧, sade han, ⟦”och inte den som jag vill ha.”⟧
        Hon öppnade korgen. ⟦”Det är bröd i den, och en halv ost.”⟧
        ⟦”Vems halva?”⟧""",
    ),
    "Swedish, »…»": (
        "sv",
        ["guillemets-right"],
        """⟦»Är färjan här?»⟧ frågade kvinnan med gässen.
        ⟦»Inte den som ni vill ha»⟧, sade han, ⟦»och inte den som jag vill ha.»⟧
        Hon öppnade korgen, och det var bröd i den. ⟦»Ät!»⟧""",
    ),
    "Swedish, dashes": (
        "sv",
        ["dash"],
        """⟦― Är färjan här?⟧
        ⟦― Nej.⟧
        Mannen vid repet såg länge nedåt floden, och sedan uppåt den, som om det hjälpte.
        ⟦― Då äter vi.⟧""",
    ),
    "Finnish, ”…”": (
        "fi",
        ["right-right"],
        """⟦”Onko lautta täällä?”⟧ kysyi nainen, jolla oli hanhet.
        Mies katsoi kauan alas jokea pitkin ja sitten ylös, niin kuin se auttaisi.
        ⟦”Ei se, jota te odotatte”⟧, hän sanoi, ⟦”eikä se, jota minä odotan.”⟧
        ⟦”Sitten me syömme.”⟧""",
    ),
    "Finnish, dashes": (
        "fi",
        ["dash"],
        """⟦– Onko lautta täällä?⟧
        ⟦– Ei ole.⟧
        Mies katsoi kauan alas jokea pitkin, ja nainen avasi korin, jossa oli leipää.
        ⟦– Sitten me syömme.⟧""",
    ),
    "Danish, »…«": (
        "da",
        ["guillemets-inward"],
        """⟦»Er færgen her?«⟧ spurgte konen med gæssene.
        ⟦»Ikke den, De venter på,«⟧ sagde han, ⟦»og ikke den, jeg venter på.«⟧
        Hun åbnede kurven, og der var brød i den og det halve af en ost.
        ⟦»Så spiser vi.«⟧""",
    ),
    "Norwegian, «…»": (
        "no",
        ["guillemets"],
        """⟦«Er ferja her?»⟧ spurte kona med gjessene.
        ⟦«Ikke den som De venter på»⟧, sa han, ⟦«og ikke den som jeg venter på.»⟧
        Hun åpnet kurven, og det var brød i den og det halve av en ost.
        ⟦«Da spiser vi.»⟧""",
    ),
    "Catalan, dashes": (
        "ca",
        ["dash"],
        """⟦—Que hi ha la barca?⟧
        L'home de la corda va mirar riu avall una bona estona, i després riu amunt.
        ⟦—No la que vós espereu.⟧
        ⟦—Doncs mengem.⟧""",
    ),
    "Esperanto, „…“": (
        "eo",
        ["low-high"],
        """⟦„Ĉu la pramo estas ĉi tie?“⟧ demandis la virino kun la anseroj.
        ⟦„Ne tiu, kiun vi atendas,“⟧ li diris, ⟦„kaj ne tiu, kiun mi atendas.“⟧
        Ŝi malfermis la korbon, kaj en ĝi estis pano kaj la duono de fromaĝo.
        ⟦„Do ni manĝu.“⟧""",
    ),
    "Polish, dashes": (
        "pl",
        ["dash"],
        """⟦— Czy jest prom?⟧
        Człowiek przy linie patrzył długo w dół rzeki, a potem w górę, jak gdyby to coś dało.
        ⟦— Nie ten, na który pani czeka.⟧
        ⟦— To jedzmy.⟧""",
    ),
    "Polish, „…”": (
        "pl",
        ["low-right"],
        """⟦„Czy jest prom?”⟧ zapytała kobieta z gęsiami.
        ⟦„Nie ten, na który pani czeka”⟧, odparł, ⟦„i nie ten, na który ja czekam.”⟧
        Otworzyła kosz, w którym był chleb i pół sera, i podała mu to na drugi brzeg.
        ⟦„To jedzmy.”⟧""",
    ),
    "Russian, dashes": (
        "ru",
        ["dash"],
        """⟦— Паром здесь?⟧
        Человек у каната долго смотрел вниз по реке, а потом вверх, как будто это помогало.
        ⟦— Не тот, которого вы ждёте.⟧
        ⟦— Тогда поедим.⟧""",
    ),
    "Russian, «…»": (
        "ru",
        ["guillemets"],
        """⟦«Паром здесь?»⟧ — спросила женщина с гусями.
        Человек у каната долго смотрел вниз по реке, а потом вверх, как будто это помогало.
        ⟦«Не тот, которого вы ждёте»⟧, — сказал он.""",
    ),
    "Greek, dashes": (
        "el",
        ["dash"],
        """⟦― Είναι εδώ η βάρκα;⟧
        Ο άνθρωπος με το σχοινί κοίταξε πολλή ώρα κάτω το ποτάμι και ύστερα επάνω.
        ⟦― Όχι αυτή που περιμένεις.⟧
        ⟦― Τότε να φάμε.⟧""",
    ),
    "Chinese, 「…」": (
        "zh",
        ["corner"],
        """帶著鵝的女人問:⟦「渡船來了沒有?」⟧
        拉繩子的人向河的下游看了很久,又向上游看了很久,好像這樣有用。
        ⟦「不是你等的那一條,」⟧他說,⟦「也不是我等的那一條。」⟧
        ⟦「那麼,我們先吃飯罷。」⟧""",
    ),
    "Chinese, “…”": (
        "zh",
        ["double-curly"],
        """带着鹅的女人问:⟦“渡船来了没有?”⟧
        拉绳子的人向河的下游看了很久,又向上游看了很久,好像这样有用。
        ⟦“不是你等的那一条,”⟧他说,⟦“也不是我等的那一条。”⟧
        他说的“自由”,不过是一个人坐在河边的自由。""",
    ),
    "Japanese, 「…」": (
        "ja",
        ["corner"],
        """⟦「渡し船は来ましたか。」⟧と、鵞鳥を連れた女が尋ねた。
        綱を持った男は、長いあいだ川下を眺め、それから川上を眺めた。
        ⟦「あなたの待っている船ではない」⟧と男は言った。
        ⟦「では、食べましょう。」⟧""",
    ),
}


@pytest.mark.parametrize("name", PAGES)
def test_the_speech_of_each_convention_is_found(name):
    language, marks, scene = PAGES[name]
    lines = [line.strip() for line in scene.splitlines()]
    body = "".join(f"<p>{re.sub('[⟦⟧]', '', line)}</p>" for line in lines)
    found = parse_spans(f"<html lang='{language}'><body>{body}</body></html>".encode(), "1")
    assert found.typography.language == language
    assert [*found.typography.names] == marks
    said = [span.text.strip() for span in found.spans if span.is_utterance]
    assert said == re.findall("⟦(.*?)⟧", scene)
