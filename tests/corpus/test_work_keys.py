"""Keys of works and of authors."""

import pytest

from miner.corpus.works import author_key, work_key

SAME_WORK = [
    [
        ("The Portrait of a Lady — Volume 1", "James, Henry, 1843-1916"),
        ("The Portrait of a Lady Volume 2 (of 2)", "Henry James"),
        ("The Portrait of a Lady", "James, Henry, 1843-1916; Roe, Ann [Illustrator]"),
        ("Portrait of a Lady, Complete", "Mr. Henry James"),
    ],
    [
        ("Moby Dick; Or, The Whale", "Melville, Herman, 1819-1891"),
        ("Moby-Dick", "Herman Melville"),
        ("MOBY DICK or The Whale", "Herman Melville"),
        ("Moby Dick (Illustrated Edition)", "Melville, Herman"),
    ],
    [
        ("Ivanhoe A Romance", "Walter Scott"),
        ("Ivanhoe: A Romance", "Scott, Walter, Sir, 1771-1832"),
    ],
    [
        ("The History of Don Quixote, Volume 2, Part 37", "Cervantes Saavedra, Miguel de"),
        ("The History of Don Quixote", "Miguel de Cervantes Saavedra"),
    ],
    [("A Book of Fairy Tales", "Ann Reed"), ("Book of Fairy Tales, Second Edition", "Reed, Ann")],
    [("The Mill, with 40 Illustrations", "Ann Reed"), ("The Mill in Three Volumes", "Reed, Ann")],
    [("Uarda : a Romance of Ancient Egypt — Volume 01", "Ebers, Georg"), ("Uarda", "G. Ebers")],
    # de, fr, es, it, pt, nl, hu
    [("Die Mühle. Zweiter Band", "Anna Ried"), ("Die Mühle - Roman", "Ried, Anna")],
    [("Mühle, 2. Teil", "Anna Ried"), ("Die Mühle (Vollständige Ausgabe)", "Ried, Anna")],
    [("Les misérables Tome I: Fantine", "Hugo, Victor"), ("Les Misérables", "Victor Hugo")],
    [("Le moulin, première partie", "Anne Ru"), ("Le Moulin: Édition illustrée", "Ru, Anne")],
    [("El molino (tomo segundo)", "Ana Ruiz"), ("El molino, novela", "Ruiz, Ana")],
    [("I mulini, vol. 1", "Anna Rossi"), ("I mulini. Romanzo", "Rossi, Anna")],
    [("Il mulino, parte prima", "Anna Rossi"), ("Il mulino; edizione illustrata", "Rossi, Anna")],
    [("O moinho, volume II", "Ana Reis"), ("O Moinho: romance", "Reis, Ana")],
    [("De molen. Eerste deel", "Anna Riet"), ("De Molen: Een Haagsche roman", "Riet, Anna")],
    [("A malom (1. kötet)", "Anna Rét"), ("A malom, második rész", "Rét, Anna")],
    [("Az arany ember (1. rész) Regény", "Mór Jókai"), ("Az arany ember", "Jókai, Mór")],
]


@pytest.mark.parametrize("editions", SAME_WORK, ids=lambda editions: editions[0][0])
def test_editions_and_volumes_of_a_work_have_one_key(editions):
    keys = {work_key(title, author, str(id)) for id, (title, author) in enumerate(editions)}
    assert len(keys) == 1
    assert not keys.pop().startswith("book ")


def test_different_works_have_different_keys():
    titles = [
        "Emma", "The Mill", "The Mills", "A Tale of Two Cities", "A Tale of Two Towns", "The Story",
        "The Jungle Book", "The Second Jungle Book", "King Henry IV", "King Henry V", "Something",
        "One", "Volume", "The First Men", "The Making of a Novel", "Roman", "Persuasion",
    ]  # fmt: skip
    keys = {title: work_key(title, "Ann Reed", "1") for title in titles}
    assert len(set(keys.values())) == len(titles), keys
    assert work_key("Emma", "Jane Austen", "1") != work_key("Emma", "Ann Reed", "1")


@pytest.mark.parametrize(
    ("title", "author"),
    [("", "Ann Reed"), ("The Mill", ""), (" ", " "), ("...", "Ann Reed"), ("The Mill", "(?)")],
)
def test_without_a_title_or_an_author_the_book_is_its_work(title, author):
    assert work_key(title, author, "77") == "book 77"


@pytest.mark.parametrize(
    "title", ["Volume 1", "Part Two", "Complete", "The", "A Novel", "(1)", "Or"]
)
def test_a_title_of_such_words_alone_is_a_title(title):
    key = work_key(title, "Ann Reed", "7")
    assert key == "book 7" or key.startswith("reed: ") and key != "reed: "


SAME_AUTHOR = [
    ["Dickens, Charles, 1812-1870", "Charles Dickens", "DICKENS, Charles", "Mr. Charles Dickens"],
    ["Brontë, Emily, 1818-1848", "Emily Bronte"],
    ["Twain, Mark, 1835-1910", "Mark Twain (Samuel Clemens)"],
    ["Dumas, Alexandre, 1802-1870", "Alexandre Dumas, Pere", "Alexandre Dumas père"],
    ["Orczy, Emmuska Orczy, Baroness, 1865-1947", "Baroness Orczy"],
    ["Lennep, J. van (Jacob)", "J. Van Lennep"],
    ["Pérez Galdós, Benito, 1843-1920", "Benito Pérez Galdós"],
    ["Bosboom-Toussaint, A. L. G.", "Anna Louisa Geertruida Bosboom-Toussaint"],
    ["Collodi, Carlo", "C. Collodi--Pseudonym of Carlo Lorenzini"],
    [
        "Roe, Ann [Illustrator]; Reed, Ann",
        "Reed, Ann; Roe, Ann [Translator]",
        "Ann Reed and Al Roe",
    ],
    ["Reed, Ann [Editor]", "Ann Reed, Jr.", "Ann Reed Jr"],
]


@pytest.mark.parametrize("names", SAME_AUTHOR, ids=lambda names: names[0])
def test_an_author_has_one_key_however_the_name_is_given(names):
    assert len({author_key("Some title", name, "1") for name in names}) == 1


@pytest.mark.parametrize("nobody", ["", "Various", "Anonymous", "Unknown"])
def test_books_of_nobody_are_not_of_one_author(nobody):
    assert author_key("The Mill", nobody, "1") != author_key("The Weir", nobody, "2")


def test_other_books_do_not_change_a_key():
    assert work_key("The Mill", "Ann Reed", "1") == work_key("The Mill", "Ann Reed", "2")
    assert author_key("The Mill", "Ann Reed", "1") == author_key("The Weir", "Ann Reed", "2")
