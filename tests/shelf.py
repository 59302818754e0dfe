"""Novels that a seed writes, in Gutenberg's layout: as many different ones as a test needs."""

import random

_PEOPLE = "Mara Bell Tobias Wren Agnes Holt Edwin Marsh Clara Finch Jonas Pike Hester Crane".split()
_THINGS = (
    "lantern kettle ledger bridge orchard ferry saddle parcel window chimney barrow anchor "
    "letterbox cellar mill candle ladder spindle almanac harness thimble gatepost trellis "
    "pantry bellows"
).split()
_DEEDS = "mended painted carried counted hidden borrowed polished measured sold weighed".split()
_KINDS = (
    "narrow broken copper borrowed crooked faded painted heavy little rusty wooden yellow hollow "
    "polished crowded silent careful northern ragged"
).split()
_WAYS = "slowly gladly twice again yesterday alone badly quietly early late".split()


def sentence(draw):
    """A sentence that hardly any other novel has."""
    one, other, third = (f"{draw.choice(_KINDS)} {draw.choice(_THINGS)}" for _ in range(3))
    return (
        f"the {one} was {draw.choice(_DEEDS)} {draw.choice(_WAYS)} beside the {other} "
        f"before {draw.choice(_PEOPLE)} came with the {third}"
    )


def novel(seed, title=None, author=None, number=None, language="English", chapters=3):
    """The page of a novel: conversations of two people, and narration between them."""
    draw = random.Random(seed)
    title = title or f"The {draw.choice(_THINGS).title()} of {draw.choice(_PEOPLE)} {seed}"
    author = author or f"{draw.choice(_PEOPLE)} {draw.choice(_PEOPLE)}son"
    body = []
    for chapter in range(1, chapters + 1):
        body.append(f"<h2>CHAPTER {chapter}</h2>")
        for _ in range(4):
            body.append(f"<p>{'. '.join(sentence(draw).capitalize() for _ in range(6))}.</p>")
            first, second = draw.sample(_PEOPLE, 2)
            for turn in range(draw.randint(2, 6)):
                who = (first, second)[turn % 2]
                said = sentence(draw).capitalize()
                body.append(f"<p>“{said},” said {who}. “{sentence(draw).capitalize()}.”</p>")
    number = 9000 + seed if number is None else number
    return (
        "<html><head><title>The Project Gutenberg eBook of "
        f"{title}, by {author}</title></head><body>\n"
        f"<p>The Project Gutenberg eBook of {title}, by {author}</p>\n"
        f"<p>Title: {title}</p>\n<p>Author: {author}</p>\n<p>Language: {language}</p>\n"
        f"<p>[eBook #{number}]</p>\n"
        f"<p>*** START OF THE PROJECT GUTENBERG EBOOK {title.upper()} ***</p>\n"
        + "\n".join(body)
        + f"\n<p>*** END OF THE PROJECT GUTENBERG EBOOK {title.upper()} ***</p>\n</body></html>\n"
    )


def write_shelf(folder, n=12, **options):
    """Writes novels into a new folder, under their numbers, and returns it."""
    folder.mkdir(parents=True)
    for seed in range(n):
        page = novel(seed, **options)
        (folder / f"{9000 + seed}-h.htm").write_text(page, encoding="utf-8")
    return folder
