"""A small annotated novel and its printings, for tests of how annotations are located."""

import re
from collections import Counter
from dataclasses import dataclass, replace

from miner.annotation.alignment import fingerprint, fold_letters
from miner.annotation.annotations import AnnotatedBook, Annotation, BookCard
from miner.annotation.locate import locate
from miner.books.book import BlockKind, parse_book
from miner.speech.dialogues import decode_dialogues
from miner.speech.kinds import SpanKind
from miner.speech.spans import split_book
from miner.speech.typography import infer_typography

# A novel of three chapters: short speeches that come again, in narration too, speech without
# letters, a title and a thought in marks, and a story that runs on in the next paragraph.
NOVEL = (
    (
        "The Ferry",
        """“You are come after all,” said Orla, and put the grey kettle down.
“Yes.”
“And the ferry? Did it wait for you at the lower landing, as my brother promised?”
“Yes,” said Bram. “It waited, and I was sorry to see what colour they had painted it.”
She said yes to nearly everything on a Monday; it was the custom of the house.
“Yes.”
“Is that you or the parrot?” asked Bram. “I never can tell one from the other.”
“The parrot,” said Orla; “for I only say no.”
“——!”
“You need not swear at him. He shewed me every one of his feathers this morning.”
They had named the boat “The Patient Heron” in a year when nobody had any patience.
“Will the river rise again before the harvest is brought over, do you suppose?”
“No.”
“You say that as if you had asked it,” cried Bram, laughing.
“No. I asked the miller, whose cellar is always the first to know.”
“And what did the miller’s cellar answer?”
“Yes.”
“Then we must carry the sacks up the hill to-morrow, whether it pleases us or not.”
“Yes,” said Orla. “Yes, I suppose that we must, and the sooner the better.”
“Hush!”
“There he goes again!”
“I will tell you how it was in my mother’s day. The water stood at the third stair, and
“nobody on the island slept, for the towers rang to one another until the tide had turned.”
“And were you frightened of it?”
“No,” said Orla.""",
    ),
    (
        "The Sacks on the Hill",
        """Next morning the rain had not begun. Bram counted forty sacks; Orla counted them too.
“Forty,” said he.
“Thirty-nine,” said she. “You have counted the cushion that the dog sleeps upon.”
“Yes.”
“Then there are thirty-nine.”
“Yes.”
“I wish she would let me be right for once,” he thought, and took up the first of them.
“Who is to go in front to-day? The path is too narrow for both of us and the wheel.”
“You,” said Orla.
“I?”
“You. I have the lantern, and a lantern is of no use to people who walk before it.”
The dog said nothing, though its neighbour had a good deal to say through the hedge.
“Well?”
“Well, I am going. Do not hold the light behind my own shadow, if you please.”
“No.”
“Is this the stone where the old road leaves the orchard, or have we passed it?”
“We have passed it, my dear, a good quarter of an hour ago,” said Orla.
“Well?”
“Well, there is another stone. There is always another stone on this hill.”
“Do you remember the winter when we carried the piano up, with everybody singing?”
“_You_ sang,” said Orla. “The rest of us were carrying it.”
“No!”
“Yes.”
“I could have sworn that I had the heavier end of it, and sang all the same.”
“Here is the barn. Put it down gently, or the cushion will be flour as well.”""",
    ),
    (
        "The Third Stair",
        """The water came up in the night and stood about the house without a sound.
“Are you awake?” whispered Bram.
“Yes.”
“It has come as far as the second stair. I heard the umbrella stand go over.”
“Then it has one more to climb before I get out of this bed,” said Orla.
“No.”
“What do you mean by no? It is my bed.”
“I mean that somebody has tied the ferry to our chimney, and is knocking.”
“Well?”
“Well, I think that we ought to let your brother in.”""",
    ),
)

SPELLINGS = {
    "colour": "color",
    "grey": "gray",
    "shewed": "showed",
    "every one": "everyone",
    "neighbour": "neighbor",
    "to-day": "today",
    "to-morrow": "tomorrow",
    "towers rang": "tower rang",
}

MARKS = {
    "curly": {},
    "straight": {"“": '"', "”": '"', "’": "'"},
    "single": {"“": "‘", "”": "’"},
    "single straight": {"“": "'", "”": "'", "’": "'"},
}

PREFACE = (
    "The author has been asked whether the island is on any map, and has to say that it is.",
    "A reader wrote that he had laughed, and another that she had packed her boat at once.",
)


@dataclass(frozen=True)
class Printing:
    """How a printer sets the novel; `gone` has the texts of the paragraphs that he leaves out."""

    marks: str = "curly"
    spelling: bool = False
    cap: str = ""  # of the first paragraph of a chapter: "element", "lost"
    pages: str = ""  # of the numbers inside sentences: "marked", "bare"
    preface: tuple[str, ...] = ()
    numbers: str = "Chapter {}"
    underscores: bool = False
    gone: tuple[str, ...] = ()
    chapters: tuple = NOVEL

    def words(self, text: str) -> str:
        """The text with the spelling of this printing."""
        for old, new in SPELLINGS.items() if self.spelling else ():
            text = text.replace(old, new)
        return text

    def paragraph(self, text: str, n: int) -> str:
        text = self.words(text)
        if self.underscores:
            text = re.sub(r"\b(sorry|always|another|first)\b", r"_\1_", text)
        else:
            text = re.sub(r"_(\w+)_", r"<i>\1</i>", text)
        for old, new in MARKS[self.marks].items():
            text = text.replace(old, new)
        words = text.split(" ")
        if self.pages and len(words) > 12 and n % 2:
            number = '<span class="pagenum">[{}]</span>' if self.pages == "marked" else "{} "
            words[6] = number.format(n) + words[6]
        return " ".join(words)

    def first(self, text: str) -> str:
        """The first paragraph of a chapter, which begins with a mark or a word."""
        mark = len(text) - len(text.lstrip("“‘\"'"))
        word, _, others = text[mark + 1 :].partition(" ")
        initial, rest = text[: mark + 1], f"{word.upper()} {others}"
        if self.cap == "element":
            return f'<span class="dropcap">{initial}</span>{rest}'
        return rest if self.cap == "lost" else text

    def html(self) -> bytes:
        parts = [f"<p>{text}</p>" for text in self.preface]
        if self.preface:
            parts.insert(0, "<h2>Preface</h2>")
        for number, (title, body) in enumerate(self.chapters, 1):
            parts.append(f"<h2>{self.numbers.format(number)}. {title}</h2>")
            kept = [line for line in body.split("\n") if line not in self.gone]
            lines = [self.paragraph(line, n) for n, line in enumerate(kept)]
            parts += [f"<p>{line}</p>" for line in (self.first(lines[0]), *lines[1:])]
        return ("<html lang='en'><body>" + "\n".join(parts) + "</body></html>").encode()


def split(printing: Printing):
    book = parse_book(printing.html(), "7")
    return split_book(book, infer_typography(book))


def annotated(book_spans, chapters=(1, 2, 3), keep=lambda span: True) -> AnnotatedBook:
    """Every quoted span of some chapters annotated: two speak in turn, a few turns together."""
    facts: list[Annotation] = []
    for span in book_spans.spans:
        if span.chapter in chapters and (span.is_utterance or span.quoted) and keep(span):
            n = sum(fact.chapter == span.chapter for fact in facts)
            spoken = (("Orla", "Bram")[n % 2], n // 9 + 1) if span.is_utterance else ("", 0)
            place = span.chapter, span.paragraph, fingerprint(span.text)
            facts.append(Annotation(*place, *spoken))
    card = BookCard("7", "T", "A", "en", 1900, "Britain", "sample", 3, "dev", "7.html", "")
    return AnnotatedBook(card, tuple(facts), "7.jsonl@00000000")


FIRST = split(Printing())

GOLD = annotated(FIRST)


def wheres(located) -> dict[Annotation, tuple[int, str, str]]:
    """Where each annotation is: its paragraph from the end, the text before it there, its own."""
    book = located.book_spans.book
    last = [block.index for block in book.blocks if block.kind is BlockKind.PARAGRAPH][::-1]
    texts = {block.index: block.text for block in book.blocks}
    return {
        fact: (last.index(span.paragraph), texts[span.paragraph][: span.start], span.text)
        for fact, span in zip(located.facts, located.book_spans.spans, strict=True)
        if fact is not None
    }


WHERE = wheres(locate(GOLD, FIRST))

SIZES = [body.count("\n") + 1 for _, body in NOVEL]

OPENINGS = {sum(SIZES[n:]) - 1 for n in range(len(SIZES))}  # counted from the end


def without_kinds(spans):
    """The spans with one kind of all that nobody says, as annotations have it."""
    return tuple(replace(span, kind=SpanKind.OTHER) if span.quoted else span for span in spans)


def check_spans(located) -> None:
    """The spans of a block join back to it, each is of one kind, and the tags are legal."""
    blocks = {block.index: block for block in located.book_spans.book.blocks}
    parts: dict[int, list] = {}
    for span in located.book_spans.spans:
        parts.setdefault(span.paragraph, []).append(span)
    for paragraph, spans in parts.items():
        assert "".join(span.text for span in spans) == blocks[paragraph].text
        assert [span.index for span in spans] == list(range(len(spans)))
        assert all(blocks[paragraph].text[span.start : span.end] == span.text for span in spans)
    for fact, span in zip(located.facts, located.book_spans.spans, strict=True):
        assert span.is_utterance == bool(fact and fact.is_utterance)
        assert span.quoted == bool(fact and not fact.is_utterance)
    tagged = located.tagged()
    assert (tagged.book, tagged.source) == (located.annotated.card.book, located.annotated.source)
    decode_dialogues(tagged)  # raises where a tag may not follow


def check_places(located, printing: Printing, least=0.97) -> None:
    """Enough is found, and each label is where a reader of this printing would put it."""
    found = wheres(located)
    n_of = Counter(fact.chapter for fact in found)
    assert located.n_found == {chapter: n_of[chapter] for chapter in located.annotated.chapters}
    assert located.n_all == Counter(fact.chapter for fact in located.annotated.annotations)
    assert len(found) >= least * len(located.annotated.annotations)
    for fact, (paragraph, before, text) in found.items():
        at, first_before, first_text = WHERE[fact]
        should = [fold_letters(printing.words(part)).text for part in (first_before, first_text)]
        if printing.cap == "lost" and at in OPENINGS:
            should = [should[0][1:], should[1]] if should[0] else ["", should[1][1:]]
        # Page numbers are the only digits inside paragraphs.
        has = [re.sub(r"\d+", "", fold_letters(part).text) for part in (before, text)]
        assert (paragraph, *has) == (at, *should)


def place_of(words: str) -> Annotation:
    """The one annotation whose text in the annotated edition has these words."""
    (fact,) = [fact for fact, (_, _, text) in WHERE.items() if words in text]
    return fact


def gold_of(*facts: tuple[str, str, int]) -> AnnotatedBook:
    """Annotations of texts, a paragraph each unless the text begins with a plus."""
    made, at = [], 1
    for text, speaker, conversation in facts:
        at += not text.startswith("+")
        print_ = fingerprint(text.removeprefix("+"))
        made.append(Annotation(1, at, print_, speaker, conversation))
    return replace(GOLD, annotations=tuple(made))


def labelled(gold: AnnotatedBook, *lines: str) -> list[tuple[str, str]]:
    """The texts that have a label in a book of one chapter of these paragraphs, and whose it is."""
    located = locate(gold, split(Printing(chapters=(("Only", "\n".join(lines)),))))
    check_spans(located)
    pairs = zip(located.facts, located.book_spans.spans, strict=True)
    return [(span.text, fact.speaker) for fact, span in pairs if fact]
