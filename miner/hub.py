"""A name -> a model: a folder, or one of the Hugging Face Hub.

Of the Hub, what was downloaded earlier is taken, else the network is asked.

This is the one place that loads with the classes of transformers and sentence-transformers. What it
loads comes from others: no code beside a model is ever run, pickled weights are read as numbers
alone, and a folder is refused before anything of it is built if its config tells of more layers or
weights than there can be, or if the library of its tokenizer fails at it.

Any room may import this module.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from miner.errors import InputError
from miner.extras import import_extra
from miner.files import parse_json, printable, read_text, reason_of
from miner.tokenizer_trial import TOKENIZER, is_panic, refuse_failing_tokenizer

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

Loaded = TypeVar("Loaded")

_NAME = re.compile(r"[\w.-]+(?:/[\w.-]+)?")
_SECONDS = 10  # before the Hub counts as out of reach; the library alone tries for minutes
_CONFIG, _MODULES = "config.json", "modules.json"
_WEIGHTS = ("*.safetensors", "*.bin")
# Keys of a config that count parts of a model, and the most parts; we know of none with half of it.
_COUNTED = re.compile(r"(n|num)_.*(layer|expert|block|group)|\w*(layers|depth)|inner_group_num")
_MOST = 1000
_TRIED = ("Good day.", "Where is the key, sir?")  # texts that an encoder of sentences must read
_SPARE_WEIGHTS = 10_000_000  # that a model may have beside those in its files, such as new heads


def find_folder(name: str) -> Path | None:
    """Returns the folder of a name; None if there is none and the name may be one on the Hub."""
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder
    if folder.exists():
        raise InputError("it is a file")
    if _NAME.fullmatch(name) is None:
        raise InputError("there is no such folder")
    return None


def load_from_hub(name: str, load: Callable[[str, bool], Loaded]) -> Loaded:
    """Returns what a name on the Hub loads as."""
    from huggingface_hub import HfApi

    try:
        return load(name, True)
    except Exception:  # not here, or not all of it: libraries raise errors of many kinds
        try:
            HfApi().model_info(name, timeout=_SECONDS)
        except Exception as error:
            raise InputError(
                f"it is not on this computer, and the Hub says: {reason_of(error)}"
            ) from error
    return load(name, False)


def load_config(name: str, here: bool = False) -> Any:  # noqa: ANN401 - of any model
    """Returns the config of a model by transformers."""
    from transformers import AutoConfig, PretrainedConfig

    record, _ = PretrainedConfig.get_config_dict(name, local_files_only=here)
    _refuse_many_parts(record, str(name))
    return AutoConfig.from_pretrained(name, local_files_only=here, trust_remote_code=False)


def load_with(
    kind: Any,  # noqa: ANN401 - a class of transformers
    name: str | Path,
    here: bool = False,
    **options: Any,  # noqa: ANN401
) -> Any:  # noqa: ANN401
    """Returns what a class of transformers loads: a tokenizer or a model."""
    if Path(name).is_dir():
        _refuse_hostile(Path(name))
    with _panics_as_errors():
        return kind.from_pretrained(name, local_files_only=here, trust_remote_code=False, **options)


def load_sentence_encoder(name: str | Path, here: bool = True) -> SentenceTransformer:
    """Returns an encoder of sentence-transformers."""
    library = import_extra("sentence_transformers", "selection")
    if Path(name).is_dir():
        _refuse_hostile(Path(name))
    with _panics_as_errors():
        encoder = library.SentenceTransformer(
            str(name), local_files_only=here, trust_remote_code=False
        )
        vectors = encoder.encode(list(_TRIED), show_progress_bar=False)
    shape = (len(_TRIED), encoder.get_embedding_dimension())
    if vectors.shape != shape or not isfinite(vectors.sum()):
        raise InputError(f"found embeddings of shape {vectors.shape}, expected numbers, {shape}")
    return encoder


@contextmanager
def _panics_as_errors() -> Iterator[None]:
    """Makes a panic an error like others: other files than `TOKENIZER` make tokenizers, too."""
    try:
        yield
    except BaseException as error:
        if not is_panic(error):
            raise
        raise InputError(f"the library of tokenizers fails at it: {reason_of(error)}") from error


def _refuse_hostile(folder: Path) -> None:
    """Looks at a folder of a model before a library does; at all of one with several modules."""
    whole = (folder / _MODULES).is_file()
    for path in folder.rglob(TOKENIZER) if whole else [folder / TOKENIZER]:
        if path.is_file():
            refuse_failing_tokenizer(path)
    for path in folder.rglob(_CONFIG) if whole else [folder / _CONFIG]:
        record = parse_json(read_text(path), printable(path), "a config") if path.is_file() else {}
        _refuse_many_parts(record, printable(path))
        if isinstance(record, dict):
            _refuse_many_weights(path.parent, str(record.get("model_type")))


def _refuse_many_parts(record: Any, where: str) -> None:  # noqa: ANN401 - any JSON
    """Refuses numbers of layers that would take hours to make, or that no model has."""
    for key, value in _values_of(record):
        is_count = _COUNTED.match(key) and isinstance(value, int | float)
        if is_count and not 0 <= value <= _MOST:
            raise InputError(f"{where}: found {key} {value!r:.40}, expected 0 to {_MOST:,}")


def _values_of(record: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - any JSON
    """The values of a record and of the records in it, with their keys."""
    for key, value in record.items() if isinstance(record, dict) else ():
        yield key, value
        yield from _values_of(value)


def _refuse_many_weights(folder: Path, kind: str) -> None:
    """Refuses a config of more weights than are beside it, for which there may be no memory."""
    import torch
    from transformers import CONFIG_MAPPING, MODEL_MAPPING, AutoModel
    from transformers.initialization import no_init_weights

    if kind not in CONFIG_MAPPING:  # the library will say so
        return
    config = load_config(str(folder), True)
    if type(config) not in MODEL_MAPPING:
        return
    with torch.device("meta"), no_init_weights():  # takes no memory and no time
        model = AutoModel.from_config(config, trust_remote_code=False)
    needed = sum(weight.numel() for weight in model.state_dict().values())
    size = sum(path.stat().st_size for pattern in _WEIGHTS for path in folder.glob(pattern))
    if needed > (most := 2 * size + _SPARE_WEIGHTS):  # a weight of 4 bits is half a byte
        raise InputError(
            f"{printable(folder / _CONFIG)}: found a model of {needed:,} weights, expected at most "
            f"{most:,}, as the files beside it are of {size:,} bytes"
        )
