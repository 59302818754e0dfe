"""Texts -> embeddings of a pre-trained sentence encoder.

An encoder is found by its name: a folder, an installed package that holds one folder of an encoder,
or a name on the Hugging Face Hub; in this order, and those that are here need no network. A folder
of plain Hugging Face weights is an encoder, too: the mean of its last layer, if the library knows
no other way for its kind.

A context is one text, its turns a line each. Where an encoder reads no more than so many tokens, a
context is cut at its oldest end, since the newest turns are what a response answers, and a response
at its last end.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import file_digest, sha256
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from miner import hub
from miner.errors import InputError
from miner.extras import import_extra
from miner.files import (
    file_signature,
    json_line,
    parse_json,
    printable,
    read_text,
    telling,
)
from miner.lab.learning.run_folder import typed
from miner.lab.lessons.examples import Context, join_turns

if TYPE_CHECKING:
    import torch
    from sentence_transformers import SentenceTransformer
    from transformers import PreTrainedTokenizerBase

Vectors = NDArray[np.float32]
Dtype = Literal["float32", "bfloat16"]

DEFAULT_ENCODER = "sentence-transformers/all-MiniLM-L6-v2"
ENCODER_HELP = (
    "Sentence encoder: a folder, an installed package that holds one, or a name on the Hugging "
    "Face Hub."
)
DTYPE_HELP = (
    "What the encoder computes in; bfloat16 is up to three times as fast where the processor "
    "knows it, and changes the third digit of a score."
)
_RECORD = "encoder.json"
_MODULES = "modules.json"  # of a folder of sentence-transformers
_HUB_OWNER = "sentence-transformers"  # of a name on the Hub without an owner, as in that library
# Tokens, with padding, in one batch. On a processor 1,024 to 2,048 are the fastest (a third faster
# than 32 texts with MiniLM); a GPU is full with some ten thousand.
_BATCH_TOKENS, _BATCH_TOKENS_OF_GPU = 2048, 32768
_REMEMBERED = 2**17  # embeddings that are kept: 200 MB with 384 numbers each


def load_encoder(name: str) -> SentenceTransformer:
    """Returns a sentence encoder, on the GPU if there is one."""
    import_extra("sentence_transformers", "selection")
    expected = "a folder, an installed package that holds one, or a name on the Hugging Face Hub"
    with telling(f"{printable(name)}: found no sentence encoder", expected), quiet():
        if folder := find_folder(name):
            return hub.load_sentence_encoder(folder)
        full = name if "/" in name else f"{_HUB_OWNER}/{name}"
        return hub.load_from_hub(full, hub.load_sentence_encoder)


def find_folder(name: str) -> Path | None:
    """Returns the folder of an encoder that is on this computer; None if the name has none."""
    if folder := hub.find_folder(name):
        return folder
    package = name.replace("-", "_")
    spec = find_spec(package) if package.isidentifier() else None
    if spec is None or not spec.submodule_search_locations:
        return None
    places = [Path(place) for place in spec.submodule_search_locations]
    folders = sorted(item.parent for place in places for item in place.rglob(_MODULES))
    if len(folders) > 1:
        raise InputError(f"the package holds {len(folders)}")
    return folders[0] if folders else None


@contextmanager
def quiet() -> Iterator[None]:
    """Keeps the libraries' bars and warnings from the terminal."""
    from transformers.utils import logging as library

    sentences = logging.getLogger("sentence_transformers")  # it warns about pooling
    levels, shown = (library.get_verbosity(), sentences.level), library.is_progress_bar_enabled()
    library.set_verbosity(logging.ERROR)
    sentences.setLevel(logging.ERROR)
    library.disable_progress_bar()
    try:
        yield
    finally:
        library.set_verbosity(levels[0])
        sentences.setLevel(levels[1])
        if shown:
            library.enable_progress_bar()


def digest_weights(model: SentenceTransformer) -> str:
    """Returns the SHA-256 of the weights of an encoder, with their names, types and shapes."""
    import torch

    digest = sha256()
    for name, weight in sorted(model.state_dict().items()):
        digest.update(f"{name} {weight.dtype} {tuple(weight.shape)}\n".encode())
        flat = weight.detach().cpu().contiguous().reshape(-1)
        digest.update(flat.view(torch.uint8).numpy().data)
    return digest.hexdigest()


def context_texts(model: SentenceTransformer, contexts: Sequence[Context]) -> list[str]:
    """Returns contexts as texts that the encoder reads to their end: without their oldest words."""
    texts = [join_turns(context) for context in contexts]
    tokenizer, most = _tokenizer_of(model), model.max_seq_length
    if tokenizer is None or most is None:  # an encoder without a limit
        return texts
    most -= tokenizer.num_special_tokens_to_add()
    # A token is a byte at least, so that short texts are not tokenized to no purpose.
    long = [number for number, text in enumerate(texts) if len(text.encode()) >= most]
    for number, text in zip(
        long, cut_oldest([texts[i] for i in long], tokenizer, most), strict=True
    ):
        texts[number] = text
    return texts


def cut_oldest(
    texts: Sequence[str], tokenizer: PreTrainedTokenizerBase, most: int
) -> Iterator[str]:
    """Yields the ends of texts of so many tokens at most, from the beginning of a word on."""
    if not texts:
        return
    places = tokenizer(
        list(texts),
        add_special_tokens=False,
        truncation=False,
        return_offsets_mapping=True,
        verbose=False,
    )["offset_mapping"]
    for text, of_tokens in zip(texts, places, strict=True):
        if len(of_tokens) <= most:
            yield text
            continue
        start = of_tokens[-most][0]
        if start and not text[start - 1].isspace() and (space := re.search(r"\s", text[start:])):
            start += space.end()
        yield text[start:].lstrip()


def _tokenizer_of(model: SentenceTransformer) -> PreTrainedTokenizerBase | None:
    """The tokenizer, if it is one that knows the places of tokens."""
    tokenizer: Any = getattr(model[0], "tokenizer", None)
    return tokenizer if getattr(tokenizer, "is_fast", False) else None


class Embedder:
    """An encoder as a method: embeddings of length 1, each text encoded once.

    The embeddings of the last texts are kept, since most responses are also the context of the next
    pair.
    """

    def __init__(self, name: str, model: SentenceTransformer, dtype: Dtype = "float32") -> None:
        self.name = name
        self.model = model
        self.dtype: Dtype = dtype
        self._known: dict[str, Vectors] = {}

    def encode_contexts(self, contexts: Sequence[Context]) -> Vectors:
        """Returns the embeddings of contexts, [n, d]."""
        return self.encode_texts(context_texts(self.model, contexts))

    def encode_texts(
        self, texts: Sequence[str], progress: Callable[[int, int], object] = lambda done, all: None
    ) -> Vectors:
        """Returns the embeddings of texts, [n, d]."""
        known = self._known
        new = [text for text in dict.fromkeys(texts) if text not in known]
        found = dict(zip(new, embed(self.model, new, self.dtype, progress), strict=True))
        rows = [known[text] if text in known else found[text] for text in texts]
        if len(known) + len(found) > _REMEMBERED:
            known.clear()
        if len(found) <= _REMEMBERED:
            known.update(found)
        return np.stack(rows) if rows else np.zeros((0, self.dimension), np.float32)

    def encode_responses(self, responses: Sequence[str]) -> Vectors:
        """Returns the embeddings of responses, [n, d]."""
        return self.encode_texts(responses)

    @property
    def dimension(self) -> int:
        """How many numbers an embedding has."""
        return dimension_of(self.model)

    def forget(self) -> None:
        """Forgets all embeddings, as one must when the weights of the encoder change."""
        self._known = {}


def embed(
    model: SentenceTransformer,
    texts: Sequence[str],
    dtype: Dtype = "float32",
    progress: Callable[[int, int], object] = lambda done, all: None,
) -> Vectors:
    """Returns embeddings of length 1, [n, d].

    A batch has texts of about the same number of tokens, and as many as `_BATCH_TOKENS` allow, so
    that little is computed for padding: 2 % with some thousand texts, where batches of 32 texts
    sorted by their letters have 30 %.
    """
    import torch

    vectors = np.zeros((len(texts), dimension_of(model)), np.float32)
    device, done = model.device, 0
    model.eval()
    most = _most_tokens(device)
    prompt = model.prompts.get(model.default_prompt_name or "")
    with torch.inference_mode():
        for batch in _batches(_count_tokens(model, texts), most):
            features: Any = model.preprocess([texts[number] for number in batch], prompt=prompt)
            features = {
                name: value.to(device) if isinstance(value, torch.Tensor) else value
                for name, value in features.items()
            }
            with torch.autocast(device.type, torch.bfloat16, enabled=dtype == "bfloat16"):
                rows = model(features)["sentence_embedding"]
            vectors[batch] = torch.nn.functional.normalize(rows.float()).cpu().numpy()
            progress(done := done + len(batch), len(texts))
    return vectors


def trim_batches(features: dict[str, Any]) -> Iterator[tuple[torch.Tensor, dict[str, Any]]]:
    """Yields the texts of a batch by length, each part without the columns that only pad."""
    import torch

    mask = features["attention_mask"]
    for batch in _batches(mask.sum(dim=1).cpu().numpy(), _most_tokens(mask.device)):
        rows = torch.from_numpy(batch).to(mask.device)
        columns = mask[rows].any(dim=0)
        yield (
            rows,
            {
                name: value[rows][:, columns]
                if isinstance(value, torch.Tensor) and value.shape == mask.shape
                else value
                for name, value in features.items()
            },
        )


def _most_tokens(device: torch.device) -> int:
    """The tokens of a batch that are fast on a device."""
    return _BATCH_TOKENS if device.type == "cpu" else _BATCH_TOKENS_OF_GPU


def dimension_of(model: SentenceTransformer) -> int:
    """Returns how many numbers an embedding of an encoder has."""
    dimension = model.get_embedding_dimension()
    if dimension is None:
        raise InputError("found an encoder without a dimension, expected one of sentences")
    return dimension


def _count_tokens(model: SentenceTransformer, texts: Sequence[str]) -> NDArray[np.int64]:
    """How many tokens of each text the encoder reads; its letters, if it has no tokenizer."""
    tokenizer, most = _tokenizer_of(model), model.max_seq_length
    if tokenizer is None or not texts:
        return np.array([len(text) for text in texts], np.int64)
    counted = tokenizer(
        list(texts),
        truncation=most is not None,
        max_length=most,
        return_attention_mask=False,
        return_token_type_ids=False,
        verbose=False,
    )["input_ids"]
    return np.array([len(ids) for ids in counted], np.int64)  # pyright: ignore[reportArgumentType]


def _batches(lengths: NDArray[np.int64], most: int) -> Iterator[NDArray[np.int64]]:
    """Yields the numbers of the texts of each batch, the longest first: too much shows at once."""
    order = np.argsort(-lengths, kind="stable")
    start = 0
    while start < len(order):
        size = max(1, most // max(1, int(lengths[order[start]])))
        yield order[start : start + size]
        start += size


@dataclass(frozen=True, slots=True)
class _Encoder:
    """What a folder says of the encoder that its method needs."""

    encoder: str
    sha256: str
    dtype: Dtype


def write_encoder(folder: Path, embedder: Embedder) -> None:
    """Writes which encoder a method needs: its name and a digest of its weights.

    The folder of an encoder is written with its whole path.
    """
    path = Path(embedder.name).expanduser()
    name = str(path.resolve()) if path.is_dir() else embedder.name
    row = {"encoder": name, "sha256": digest_weights(embedder.model), "dtype": embedder.dtype}
    (folder / _RECORD).write_bytes(json_line(row))


def read_encoder(folder: Path) -> Embedder:
    """Returns the encoder that `write_encoder` wrote down."""
    path = folder / _RECORD
    if not path.is_file():
        raise InputError(f"{printable(folder)}: found no {_RECORD}, expected the encoder's name")
    row = parse_json(read_text(path), printable(path), "the name of an encoder")
    refusal = f"{printable(path)}: found another record, expected the name of an encoder"
    wanted = typed(row, _Encoder, refusal)
    model = load_encoder(wanted.encoder)
    if (found := digest_weights(model)) != wanted.sha256:
        raise InputError(
            f"{printable(path)}: found {printable(wanted.encoder)} with other weights (SHA-256 "
            f"{found[:8]}…), expected those that the method was trained with "
            f"({wanted.sha256[:8]}…)"
        )
    return Embedder(wanted.encoder, model, wanted.dtype)


def read_word_vectors(path: Path, words: Collection[str]) -> dict[str, NDArray[np.float32]]:
    """Returns the vectors of those words that a file has."""
    wanted = set(words)
    found: dict[str, NDArray[np.float32]] = {}
    size = 0
    with path.open(encoding="utf-8", errors="replace") as file:
        for n, line in enumerate(file, 1):
            word, *numbers = line.rstrip("\n").rstrip(" ").split(" ")
            if n == 1 and len(numbers) == 1:
                continue
            size = size or len(numbers)
            if len(numbers) != size:
                raise InputError(
                    f"{printable(path)}:{n}: found {len(numbers)} numbers after the word, "
                    f"expected {size} as in the lines before"
                )
            if word in wanted:
                try:
                    found[word] = np.array(numbers, np.float32)
                except ValueError as error:
                    raise InputError(
                        f"{printable(path)}:{n}: found a word without numbers, expected its vector"
                    ) from error
    if not found:
        raise InputError(
            f"{printable(path)}: found none of the {len(wanted):,} words of the pairs, expected "
            "word vectors as text"
        )
    return found


_ENDINGS = (".vec", ".txt")  # of files of vectors


@dataclass(frozen=True, slots=True)
class WordVectors:
    """The vectors of words."""

    source: str  # what they are from, with a digest ("wiki.vec@1ec0df8c")
    of_word: Mapping[str, NDArray[np.float32]]
    n_words: int  # how many different words were looked for

    def describe(self) -> str:
        """Returns what they are, and of how many words there is none, in one line."""
        size = len(next(iter(self.of_word.values()), ()))
        n_without = self.n_words - len(self.of_word)
        return (
            f"{self.source} ({size} numbers, none for {n_without:,} of {self.n_words:,} "
            "different words)"
        )


def find_word_vectors(
    name: str | Path,
    words: Collection[str],
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> WordVectors:
    """Returns the vectors of words, from a file or of an encoder."""
    wanted = sorted(set(words))
    path = Path(name).expanduser()
    if path.is_file() or path.suffix in _ENDINGS:  # one that is gone is not sought on the Hub
        return _read_file(path, wanted)
    return _encode(str(name), wanted, progress)


def _read_file(path: Path, words: list[str]) -> WordVectors:
    found = read_word_vectors(path, words)
    for word, vector in found.items():
        if not np.isfinite(vector).all():
            raise InputError(
                f"{printable(path)}: found a vector of {word!r} that is not of numbers, expected "
                "numbers only"
            )
    with path.open("rb") as file:
        digest = file_digest(file, "sha256").hexdigest()
    # A vector of zeros says nothing of its word, as in dialog-eval.
    kept = {word: vector for word, vector in found.items() if vector.any()}
    if not kept:
        raise InputError(f"{printable(path)}: found vectors of zeros only, expected others")
    return WordVectors(file_signature(path, digest), kept, len(words))


def _encode(name: str, words: list[str], progress: Callable[[int, int], object]) -> WordVectors:
    import_extra("sentence_transformers", "generation")  # so that its absence names this extra

    model = load_encoder(name)
    vectors = embed(model, words, progress=progress)
    source = f"{printable(name)}@{digest_weights(model)[:8]}"
    return WordVectors(source, dict(zip(words, vectors, strict=True)), len(words))
