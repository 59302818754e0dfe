"""Zip files and EPUBs in memory, with what a test changes in them."""

import zipfile
from io import BytesIO

PROSE = "The lamp had been lit before six, and nobody could say who had lit it. " * 3
CONTAINER = (
    '<?xml version="1.0"?><container xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
    '<rootfiles><rootfile full-path="OEBPS/content.opf" '
    'media-type="application/oebps-package+xml"/></rootfiles></container>'
)
HEADER = (
    '<section class="pg-boilerplate pgheader" id="pg-header"><p>Title: The Lamp</p>'
    "<p>Author: Anna Weil</p><p>Language: English</p>"
    "<p>*** START OF THE PROJECT GUTENBERG EBOOK THE LAMP ***</p></section>"
)
PARTS = {
    "wrap0000.xhtml": '<svg><image href="cover.jpg"/></svg>',
    "1-h-0.htm.xhtml": f'{HEADER}<h1>THE LAMP</h1><p><a href="1-h-1.htm.xhtml#c2">The Gate</a></p>'
    f"<h2>CHAPTER I</h2><p>{PROSE}</p><p>“Who is there?” he said."
    '<a class="fnanchor" href="1-h-1.htm.xhtml#fn1">[1]</a></p>',
    "1-h-1.htm.xhtml": f'<h2 id="c2">CHAPTER II</h2><p>“I am,” she said.</p><p>{PROSE}</p>'
    '<section class="pg-boilerplate pgfooter" id="pg-footer"><p>*** END OF THE PROJECT '
    "GUTENBERG EBOOK THE LAMP ***</p></section>",
    "toc.xhtml": "<nav><ol><li>CHAPTER I</li><li>CHAPTER II</li></ol></nav>",
}


def page(body: str) -> str:
    return (
        '<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml">'
        f"<head><title>x</title></head><body>{body}</body></html>"
    )


def zipped(files: dict[str, str | bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w", method) as file:
        for name, content in files.items():
            file.writestr(name, content)
    return out.getvalue()


def package(names, metadata: str = "", folder: str = "") -> str:
    items = "".join(
        f'<item id="i{n}" href="{folder}{name}" media-type="application/xhtml+xml"'
        + (' properties="nav"' if name == "toc.xhtml" else "")
        + "/>"
        for n, name in enumerate(names)
    )
    spine = "".join(f'<itemref idref="i{n}"/>' for n, _ in enumerate(names))
    return (
        '<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/">{metadata}</metadata>'
        f"<manifest>{items}</manifest><spine>{spine}</spine></package>"
    )


def epub(parts=PARTS, changes: dict[str, str | bytes | None] | None = None, **options) -> bytes:
    files: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "OEBPS/content.opf": package(parts, **options),
        **{f"OEBPS/{name}": page(body) for name, body in parts.items()},
    }
    for name, content in (changes or {}).items():
        if content is None:
            del files[name]
        else:
            files[name] = content
    return zipped(files)
