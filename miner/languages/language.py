"""What the package knows about one language.

A field that holds a pattern is the inside of a regular expression: alternatives with "|" between
them, without a group around them. Most patterns ignore case. An empty field adds nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Marks:
    """A pair of quotation marks.

    Args:
        name: the name that users and output give the pair.
        opener: the opening mark, one character.
        closer: the closing mark, one character.
        continues: the marks that may begin a paragraph to show that the speech of the paragraph
            before it runs on.
        is_apostrophe: whether the closing mark also serves as an apostrophe.
    """

    name: str
    opener: str
    closer: str
    continues: str
    is_apostrophe: bool = False

    @property
    def has_direction(self) -> bool:
        """Whether the opening mark differs from the closing mark."""
        return self.opener != self.closer


MARKS = {
    marks.name: marks
    for marks in (
        Marks("double-curly", "\u201c", "\u201d", "\u201c"),
        Marks("double-straight", '"', '"', '"'),
        Marks("single-curly", "\u2018", "\u2019", "\u2018", is_apostrophe=True),
        Marks("single-straight", "'", "'", "'", is_apostrophe=True),
        Marks("guillemets", "\u00ab", "\u00bb", "\u00ab\u00bb"),
        Marks("guillemets-inward", "\u00bb", "\u00ab", "\u00bb"),
        Marks("low-high", "\u201e", "\u201c", "\u201e"),
        Marks("low-right", "\u201e", "\u201d", "\u201e"),
        Marks("right-right", "\u201d", "\u201d", "\u201d"),
        Marks("guillemets-right", "\u00bb", "\u00bb", "\u00bb"),
        Marks("corner", "\u300c", "\u300d", "\u300c"),
        Marks("double-corner", "\u300e", "\u300f", "\u300e"),
    )
}
# Stands beside the names of `MARKS` for a dash at the start of a paragraph.
DASH = "dash"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conventions:
    """How printers of a language mark speech.

    Args:
        marks: names of the quotation marks for speech, the usual ones first.
        has_dash: whether a dash at the start of a paragraph may open speech.
        quotes_beside_dash: whether quotation marks are also speech in a book that uses dashes.
            Otherwise they mark thoughts and titles there, unless the book has many of them.
        attributions_inside_marks: whether attributions stand inside the quotation marks, as in
            French.
        function_words: frequent words that show a text to be in this language, with spaces between;
            empty where a language sets no spaces between words.
    """

    marks: tuple[str, ...]
    has_dash: bool
    quotes_beside_dash: bool
    function_words: str
    attributions_inside_marks: bool = False

    def __post_init__(self) -> None:
        for name in self.marks:
            if name not in MARKS:
                known = ", ".join(MARKS)
                raise ValueError(f"marks: found {name!r}, expected some of: {known}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Headings:
    """The words that tell one kind of heading from another.

    Args:
        divisions: pattern of the words for a chapter and other divisions of a book.
        parts: pattern of the words for a division that holds chapters.
        chapter: pattern of the words for a chapter that come before its number.
        chapter_after_number: pattern of the words for a chapter that follow its number.
        contents: pattern of the titles of tables of contents and lists of pictures.
        no_chapter: pattern of the first words of headings that begin no chapter.
        last_chapter: pattern of the titles of last chapters.
        numbers: patterns of the numbers from 1 on that are written as words, one for each.
        tens: those of 20, 30 and so on, if a number of one digit may follow: "twenty-one".
        last: pattern of the word for the last of several.
        article: pattern of the articles that may stand before "Second Part".
    """

    divisions: str
    parts: str
    contents: str
    no_chapter: str
    chapter: str = ""
    chapter_after_number: str = ""
    last_chapter: str = ""
    numbers: tuple[str, ...] = ()
    tens: tuple[str, ...] = ()
    last: str = ""
    article: str = ""

    @property
    def numerals(self) -> str:
        """The pattern of all numbers that are written as words."""
        tens = f"(?:{'|'.join(self.tens)})(?:[- ]\\w{{3,8}})?" if self.tens else ""
        return "|".join(filter(None, (*self.numbers, tens, self.last)))


@dataclass(frozen=True, slots=True, kw_only=True)
class PageWords:
    """What producers and transcribers write around a book, and how letters begin.

    Args:
        end_line: pattern of the line that ends the book, up to the word "Gutenberg".
        credits: pattern of the first words of the producers' credits.
        transcriber_note: pattern of the titles of transcribers' notes.
        captions: first letters of a caption in brackets, as they are written.
        picture: pattern of the first letters of what describes a picture that shows no words.
        ornament: pattern of the first words of what describes an ornament between scenes.
        footnote: pattern of the word that begins a footnote in brackets.
        footnotes_title: pattern of the headings above footnotes.
        letter_opening: pattern of the start of a quoted letter's first line.
        letter_closing: pattern of the words by which a letter ends, up to its signature.
    """

    end_line: str = ""
    credits: str = ""
    transcriber_note: str = ""
    captions: tuple[str, ...] = ()
    picture: str = ""
    ornament: str = ""
    footnote: str = ""
    footnotes_title: str = ""
    letter_opening: str = ""
    letter_closing: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartWords:
    """The titles and lines by which the parts of a book are told from its story.

    Those of titles are patterns of the words with which a heading begins.

    Args:
        preface: titles of what an author, an editor or a critic says of the book.
        writers: words in such a title that say who writes, or for which edition.
        front: titles of dedications and of what publishers say before the book.
        notes: titles of notes, appendices, glossaries and errata.
        index: titles of an index of names or things.
        advertisements: titles of lists of other books.
        illustrations: titles of lists of pictures.
        frontispiece: the words for the picture beside the title page.
        end: pattern of the whole line that ends the story.
        imprint: pattern of the words in a line of a printer or a publisher.
    """

    preface: str = ""
    writers: str = ""
    front: str = ""
    notes: str = ""
    index: str = ""
    advertisements: str = ""
    illustrations: str = ""
    frontispiece: str = ""
    end: str = ""
    imprint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Apostrophes:
    """Words with an apostrophe at their start or end, which looks like a quotation mark.

    Args:
        elided: pattern of words that begin with an apostrophe, written without it.
        elided_small: the same for words that also exist without the apostrophe. Only small letters
            match.
        clipped: pattern of words that end in an apostrophe, written without it.
    """

    elided: str = ""
    elided_small: str = ""
    clipped: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechWords:
    """The words around quotation marks that tell speech from writing, thought and titles.

    Args:
        say: pattern of verbs of saying.
        speakers: pattern of the pronouns that may stand before a verb of saying.
        noun_openers: pattern of the words before a noun that names the speaker.
        adverb: pattern of the adverbs that may stand before the verb.
        unsaid: pattern of the end of narration before words that nobody says on this occasion,
            because they are imagined, wished or habitual ("he would have said").
        unsaid_hints: a text without any of these strings cannot match `unsaid`.
        think: pattern of verbs of thinking that may have their subject before them.
        think_inverted: pattern of verbs of thinking that come right after the mark, with what may
            follow them ("sagte er sich").
        think_before: pattern of the words that announce a thought before a colon
            ("dachte bei sich").
        aloud: pattern of the words after which a thought is no longer one ("pensó, y luego *en voz
            alta*").
        think_suffix: pattern of what may follow `think`.
        thinkers: pattern of the pronouns that may stand before a verb of thinking.
        thought_goes_on: pattern of the words after "he thought" which show that it begins a
            sentence of its own ("he thought that").
        write: pattern of the words after which a quotation is of a letter or a note.
        write_after_subject: pattern of verbs of writing that follow their subject.
        write_after_comma: pattern of verbs of writing that come right after a mark and a comma.
        inscribe: pattern of the words after which a quotation is read on a sign or in print.
        inscribe_after: pattern of what follows such a quotation ("painted over the door").
        message_told: pattern of the sentence before a message that stands alone ("The telegram was
            short.").
        denote: pattern of the words after which a quotation is a title, or what something means.
        cite: pattern of what follows a proverb or the words of an author that the narrator cites.
        cited: pattern of what stands before them.
        perform: pattern of the words that tell of singing and reciting.
        read_aloud: pattern of the words that tell of a letter that it is read aloud.
        call_before_cry: words that announce a cry without a stop ("he called “Stop!”").
        adjunct: pattern of the first words of what narration adds, after a comma, about the manner
            of speaking ("said Bo, *looking* up").
        before_quotation: pattern of the words after which a quotation without a stop is a title or
            a word under discussion.
        abbreviations: pattern of abbreviations whose full stop ends no sentence.
        salutation: pattern of a salutation set off from the letter that follows it.
        title_alone: pattern of a title that is a salutation without "Dear", but also stands at the
            start of speech ("Sir").
        letter_words: pattern of the words by which narration announces a letter.
        aside: pattern of what narrators put in parentheses inside a speech, without the
            parentheses and the mark after them.
        first_person: verbs by which narrators say that they spoke or thought, in small letters,
            with the form for somebody else: "dije" -> "dijo".
    """

    say: str = ""
    speakers: str = ""
    noun_openers: str = ""
    adverb: str = ""
    unsaid: str = ""
    unsaid_hints: tuple[str, ...] = ()
    think: str = ""
    think_inverted: str = ""
    think_before: str = ""
    aloud: str = ""
    think_suffix: str = ""
    thinkers: str = ""
    thought_goes_on: str = ""
    write: str = ""
    write_after_subject: str = ""
    write_after_comma: str = ""
    inscribe: str = ""
    inscribe_after: str = ""
    message_told: str = ""
    denote: str = ""
    cite: str = ""
    cited: str = ""
    perform: str = ""
    read_aloud: str = ""
    call_before_cry: tuple[str, ...] = ()
    adjunct: str = ""
    before_quotation: str = ""
    abbreviations: str = ""
    salutation: str = ""
    title_alone: str = ""
    letter_words: str = ""
    aside: str = ""
    first_person: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributionWords:
    """The words by which narration names the speaker of the speech beside it.

    All words are in small letters. A gender is "m", "f", "i" for the narrator, "t" for "they".

    Args:
        say: verbs of saying. Without them, narration that goes on in small letters after speech is
            taken to have one, and so is a sentence that ends in a colon before it.
        continue_verbs: verbs and adverbs that say that the same speaker continues.
        answer_verbs: verbs that say that another speaker answers.
        say_with_particle: verbs that are verbs of saying only before a particle: "went" -> "on".
        subjects: subject pronouns with the gender of each.
        personal: personal pronouns of the third person with the gender of each.
        reflexive: reflexive pronouns with the gender of each.
        narrator: pronouns of a narrator who is part of the story.
        titles: titles and nouns for people, with the gender of each.
        no_nouns: words that end a noun phrase ("the old man *to* ...").
        adverb_endings: endings of adverbs, which end a noun phrase, too.
        possessive_endings: endings of names that are not part of the name.
        determiners: pattern of the words that begin a noun phrase. Case counts.
        abbreviations: abbreviations whose full stop does not end a clause. Case counts.
        sentence_abbreviations: abbreviations whose full stop does not end a sentence. Case counts.
        noun_genders: determiners that tell the gender of their noun, with it.
        adjectives: words that often stand between a determiner and a noun.
        nouns_have_capitals: whether each noun has a capital, so that one does not make a name.
        drops_subjects: whether a verb may stand without a subject.
        elides: whether an apostrophe joins two words.
    """

    say: frozenset[str] = frozenset()
    continue_verbs: frozenset[str] = frozenset()
    answer_verbs: frozenset[str] = frozenset()
    say_with_particle: Mapping[str, str] = field(default_factory=dict)
    subjects: Mapping[str, str] = field(default_factory=dict)
    personal: Mapping[str, str] = field(default_factory=dict)
    reflexive: Mapping[str, str] = field(default_factory=dict)
    narrator: frozenset[str] = frozenset()
    titles: Mapping[str, str] = field(default_factory=dict)
    no_nouns: frozenset[str] = frozenset()
    adverb_endings: tuple[str, ...] = ()
    possessive_endings: tuple[str, ...] = ()
    determiners: str = ""
    abbreviations: tuple[str, ...] = ()
    sentence_abbreviations: tuple[str, ...] = ()
    noun_genders: Mapping[str, str] = field(default_factory=dict)
    adjectives: frozenset[str] = frozenset()
    nouns_have_capitals: bool = False
    drops_subjects: bool = False
    elides: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleWords:
    """The words by which a book names its people.

    All words are in small letters, titles without a full stop. A gender is "m", "f", or "" for
    both. A pattern is matched to text as it is printed; case counts.

    Args:
        titles: words that stand before a name or for it ("Captain"), with the gender of each.
        title_spellings: short spellings of a title: "capt" -> "captain".
        qualities: those of `titles` that say no rank and may be left out ("Old Mr. Otway").
        generations: those of `qualities` that may tell a son from his father ("Young Mr. Otway").
        address: those of `titles` by which speech calls people whom narration names otherwise
            ("Sir", "Your Lordship"). Alone, they are no name of a person.
        noble: those of `titles` that the nobility has.
        wives: those of `titles` that a woman has by the name of her husband.
        daughters: those of `titles` that a woman has by the name of her father.
        surname_titles: those of `titles` that stand before a surname as a rule.
        female_names: given names of women.
        male_names: given names of men.
        nicknames: short names with the given names that each stands for.
        surname_endings: endings of names that tell a gender ("ovna"), with the gender of each.
        no_names: words that have a capital and name no person, as a rule.
        never_names: words that name nobody in the story, however often they have a capital.
        place_nouns: last words of a name that make it a place's, unless it has a title ("Arden
            *Lodge*").
        saints: words that are one name with the word after them ("St. John"). Case counts.
        particles: pattern of the small words inside a name ("de la").
        of_place: pattern of the small words between a title and a place ("Duke *of* Wellington").
        abbreviations: pattern of the titles before a full stop.
        clitics: pattern of what an apostrophe joins to a name and is no part of it. The ending of
            the possessive is in `AttributionWords`.
        acts: pattern of the words that may follow a person as a subject.
        says: pattern of verbs of saying. Those of `AttributionWords` count, too.
        gestures: verbs of saying that also tell what somebody does in silence ("nodded").
        denials: words beside a verb of saying by which nobody speaks ("said *nothing*").
        joining: words that join a clause to one of the same rank ("and").
        subordinate: words that begin a clause which depends on another one ("when").
        relative: those of `subordinate` that stand for the person before them ("Mara, *who* said").
        openers: adverbs that may stand before the subject of a clause ("*then* Mara said").
        reports: words after a verb of saying by which narration tells what is said ("that").
        before_place: pattern of the words after which a name is that of a place, as a rule.
        before_vocative: pattern of the words before a name in speech by which a person is called.
        nouns: nouns for people, with the gender of each.
        kin_nouns: those of `nouns` that name a person as another one's ("his wife").
        kinship: nouns and titles with what their bearer is to another one, in the words of
            `miner.people.kinship.Relation`: "wife" -> "spouse". One that is a general noun, too,
            has this sense only as "his" or "her" one ("his lady").
        general_nouns: those of `nouns` that may mean anybody ("the man", "the other").
        titles_of_nouns: the titles that the bearer of a noun or of a title has: "baronet" -> "sir".
        calls_man: pattern of the words by which speech calls a man. Case does not count.
        calls_woman: pattern of the words by which speech calls a woman. Case does not count.
        before_object: pattern of the words after which a person is no subject ("*with* Emma").
        particle_verbs: verbs that such a word belongs to ("*went* on Emma", "*broke* in Emma").
        towards: pattern of the words before a person to whom somebody speaks.
        tells: pattern of the words in a title, with a capital, by which it says that somebody whom
            it names tells what follows ("Dr. Bell's *Diary*"). Case counts.
        names_itself: pattern of the words before the narrator's own name ("my name is"). Case
            counts.
        numbered: words that tell two people of one noun apart ("the second man").
        determiners: pattern of the words that begin a noun phrase for a person. Case counts.
        introducing: those of `determiners`, in small letters, that introduce somebody new ("a").
        owning: those of `determiners`, in small letters, that name a person by another ("his").
        others: those of `nouns` that mean whichever of two people is not the other one.
        parts: those of `nouns` that mean their owner if they have one ("her voice").
        members: pattern of the words that pick somebody from several ("*one* of the men").
        members_of: pattern of the words between them and the several ("one *of* the men").
        picked: words that pick one person from several ("the *youngest* of the three").
        indefinite: words that mean a person without a noun ("said *another*").
        several: pattern of the words before a noun for several people ("*both* boys").
        groups: pattern of the words that mean several people without a noun ("said *they all*").
        plurals: the endings of nouns for several, with that for one: "ies" -> "y". The longest
            one counts; a whole noun may be one: "men" -> "man".
        phrase_ends: words that end a noun phrase, with those of `AttributionWords`.
        phrase_endings: endings of words that end one unless they begin it ("the man *smiling*").
        place_of_noun: pattern of the words that may follow a noun ("the man *at* the door").
        naming: words between a noun and the name of its bearer ("a lawyer *named* Bell").
        being: pattern of the words between a name and a noun of its bearer ("Bell *was* a lawyer").
    """

    titles: Mapping[str, str] = field(default_factory=dict)
    title_spellings: Mapping[str, str] = field(default_factory=dict)
    qualities: frozenset[str] = frozenset()
    generations: frozenset[str] = frozenset()
    address: frozenset[str] = frozenset()
    noble: frozenset[str] = frozenset()
    wives: frozenset[str] = frozenset()
    daughters: frozenset[str] = frozenset()
    surname_titles: frozenset[str] = frozenset()
    female_names: frozenset[str] = frozenset()
    male_names: frozenset[str] = frozenset()
    nicknames: Mapping[str, frozenset[str]] = field(default_factory=dict)
    surname_endings: Mapping[str, str] = field(default_factory=dict)
    no_names: frozenset[str] = frozenset()
    never_names: frozenset[str] = frozenset()
    place_nouns: frozenset[str] = frozenset()
    saints: frozenset[str] = frozenset()
    particles: str = ""
    of_place: str = ""
    abbreviations: str = ""
    clitics: str = ""
    acts: str = ""
    says: str = ""
    gestures: frozenset[str] = frozenset()
    denials: frozenset[str] = frozenset()
    joining: frozenset[str] = frozenset()
    subordinate: frozenset[str] = frozenset()
    relative: frozenset[str] = frozenset()
    openers: frozenset[str] = frozenset()
    reports: frozenset[str] = frozenset()
    before_place: str = ""
    before_vocative: str = ""
    nouns: Mapping[str, str] = field(default_factory=dict)
    kin_nouns: frozenset[str] = frozenset()
    kinship: Mapping[str, str] = field(default_factory=dict)
    general_nouns: frozenset[str] = frozenset()
    titles_of_nouns: Mapping[str, frozenset[str]] = field(default_factory=dict)
    calls_man: str = ""
    calls_woman: str = ""
    before_object: str = ""
    particle_verbs: frozenset[str] = frozenset()
    towards: str = ""
    tells: str = ""
    names_itself: str = ""
    numbered: frozenset[str] = frozenset()
    determiners: str = ""
    introducing: frozenset[str] = frozenset()
    owning: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()
    parts: frozenset[str] = frozenset()
    members: str = ""
    members_of: str = ""
    picked: frozenset[str] = frozenset()
    indefinite: frozenset[str] = frozenset()
    several: str = ""
    groups: str = ""
    plurals: Mapping[str, str] = field(default_factory=dict)
    phrase_ends: frozenset[str] = frozenset()
    phrase_endings: tuple[str, ...] = ()
    place_of_noun: str = ""
    naming: frozenset[str] = frozenset()
    being: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BookTitles:
    """The words by which two titles are seen to be those of one work, and two names of one author.

    They are matched to titles in small letters without accents.

    Args:
        articles: pattern of the articles at the start of a title.
        volumes: pattern of the words for a volume or a part, beside which a number stands.
        numbers: pattern of the numbers that are written as words.
        endings: pattern of the words at the end of a title that name no work but an edition
            ("illustrated") or a kind ("a romance").
        alternatives: pattern of the words before a second title ("*Or*, the Whale").
        after_surname: pattern of the words that may follow a surname ("Junior").
    """

    articles: str = ""
    volumes: str = ""
    numbers: str = ""
    endings: str = ""
    alternatives: str = ""
    after_surname: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """Everything that the package knows about one language.

    Every part after `headings` is optional. The words of all languages are searched in every book,
    because a book's file may declare the wrong language; only `conventions` are those of the
    book's own language.

    Args:
        code: two letters of ISO 639-1, or three of ISO 639-2; also the name of the module.
        name: English name in small letters, as the header of a Gutenberg file gives it.
        abbreviations: pattern of titles whose full stop does not end "said Mr. Bell".
    """

    code: str
    name: str
    conventions: Conventions
    headings: Headings
    abbreviations: str = ""
    page: PageWords = PageWords()
    parts: PartWords = PartWords()
    apostrophes: Apostrophes = Apostrophes()
    speech: SpeechWords = SpeechWords()
    attribution: AttributionWords = AttributionWords()
    people: PeopleWords = PeopleWords()
    titles: BookTitles = BookTitles()


def with_genders(
    men: str, women: str, both: str = "", narrator: str = "", group: str = ""
) -> dict[str, str]:
    """Returns words with the gender of each: "m", "f", "" for both, "i" for I, "t" for they."""
    genders = {"m": men, "f": women, "": both, "i": narrator, "t": group}
    return {word: gender for gender, words in genders.items() for word in words.split()}


def with_endings(stems: str, *endings: tuple[str, str]) -> dict[str, str]:
    """Returns words with other words of the same stem.

    >>> with_endings("grit contest", ("é", "ó"))
    {'grité': 'gritó', 'contesté': 'contestó'}
    """
    return {stem + of: stem + to for stem in stems.split() for of, to in endings}
