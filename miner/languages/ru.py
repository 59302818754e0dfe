"""Russian."""

from miner.languages.language import Conventions, Headings, Language, PartWords, SpeechWords

LANGUAGE = Language(
    code="ru",
    name="russian",
    conventions=Conventions(
        marks=(
            "guillemets",
            "low-high",
            "double-straight",
            "double-curly",
        ),
        has_dash=True,
        quotes_beside_dash=True,
        function_words="и в не на что он с я как то его но",
    ),
    headings=Headings(
        divisions="глава|часть|книга|том|предисловие|эпилог|пролог",
        parts="часть|книга|том",
        chapter="глава",
        contents="оглавление|содержание",
        no_chapter="оглавление|содержание|конец(?=\\W*$)",
        numbers=(
            "перв(?:ая|ый)",
            "втор(?:ая|ой)",
            "трет(?:ья|ий)",
            "четверт(?:ая|ый)",
            "пят(?:ая|ый)",
            "шест(?:ая|ой)",
            "седьм(?:ая|ой)",
            "восьм(?:ая|ой)",
            "девят(?:ая|ый)",
            "десят(?:ая|ый)",
        ),
    ),
    parts=PartWords(
        preface="предисловие|введение|вступление|от (?:автора|издателя|переводчика|редакции)|"
        "к читателю|послесловие",
        notes="примечания|приложение|словарь",
        index="указатель",
        end="конец(?: .{0,40})?",
        imprint="типография|издательство|издание",
    ),
    speech=SpeechWords(
        think_inverted="подумал[а]?|думал[а]?",
        write="(?:на)?писал[а]?",
        write_after_comma="(?:на)?писал[а]?",
    ),
)
