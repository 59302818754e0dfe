"""Trains the tagger on the annotations: `python train.py --help`.

It goes: examples -> encodings -> epochs -> the best epoch on dev, calibrated -> a run folder with
the checkpoint, its scores, the metrics of every epoch and the exact command.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import random
import shlex
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import version
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import click
import numpy as np
import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from numpy.typing import NDArray
from safetensors.torch import save_file
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel, AutoTokenizer
from transformers.utils import logging

from miner import __version__
from miner.annotation.annotations import BOOKS, is_annotations, read_cards
from miner.app.plots import evaluation as plots
from miner.books.download import download, find_book
from miner.books.sources import find_sources, id_of
from miner.dialogue.read import read_spans
from miner.dialogue.spans import BookSpans
from miner.dialogue.tags import Tag, TaggedBook
from miner.evaluation.counts import CountTable, count_chapters, window_size
from miner.evaluation.scores import Measures, Scores, measure, score
from miner.files import (
    CARD,
    CHECKPOINT,
    CHECKPOINT_WEIGHTS,
    RUN_RECORD,
    json_line,
    reason_of,
    refuse_another,
    refuse_existing,
)
from miner.models.load import load_tagger, tagger_signature
from miner.models.tagger.augmentation import augment
from miner.models.tagger.calibration import calibration_error, fit_temperature, fit_weight
from miner.models.tagger.decoding import TAGS, viterbi
from miner.models.tagger.encoding import NOTHING, Encoding, Window, special_tokens
from miner.models.tagger.examples import (
    AnnotatedExamples,
    Example,
    digest,
    read_examples,
    weak_examples,
)
from miner.models.tagger.model import (
    ConversationTagger,
    Expert,
    SequenceScores,
    TaggerConfig,
    log_odds,
    sequence_loss,
    sequence_slices,
    speaker_loss,
)
from miner.models.tagger.model_card import model_card
from miner.models.tagger.quantization import dequantize, quantize
from miner.models.tagger.tagger import (
    ScoredChapters,
    autocast,
    computes_in_bfloat16,
    decoded,
    encode,
    read_checkpoint,
)

ChapterScores = Sequence[NDArray[np.floating]]  # of `decoding.TAGS`, (utterances, 4) a chapter
STRUCTURE = "structure"  # the stage that trains on structure features alone, before the text
STATE = "state.pt"  # in the run folder until the run is done: what it goes on from
METRICS = "metrics.jsonl"
RELIABILITY = "reliability.png"
_STANDARD_ERROR = 0.02  # about, of the mean of both F1 on dev, from resampled chapters


@dataclass(frozen=True)
class Options:
    """What decides the result of a run, beside the data."""

    encoder: str
    seed: int
    epochs: int
    weak_epochs: int
    structure_epochs: int
    patience: int
    batch: int
    encoder_rate: float
    head_rate: float
    frozen: bool
    frozen_layers: int
    encoder_layers: int
    start_weight: float
    speaker_weight: float
    recut: float


@dataclass(frozen=True)
class Encoded:
    """An example in tensors; `pooled` are its vectors where the encoder is frozen."""

    encoding: Encoding
    features: Tensor
    tags: Tensor
    speakers: Tensor
    cuts: list[slice]
    pooled: Tensor | None


@dataclass(frozen=True)
class Epoch:
    """What one epoch came to; `dev_losses`, by expert, and `scores` are of the dev split.

    The scores are those with the start offset that is best there.
    """

    stage: str
    number: int
    loss: float
    seconds: float
    tokens: int
    dev_losses: dict[str, float]
    scores: Scores

    def to_json(self) -> dict[str, Any]:
        """A row of the metrics."""
        row: dict[str, Any] = {"stage": self.stage, "epoch": self.number + 1, "loss": self.loss}
        row |= {"seconds": self.seconds, "tokens_per_second": self.tokens / self.seconds}
        row |= {f"dev loss of {name}": value for name, value in self.dev_losses.items()}
        for unit in ("B-START", "turn-pair", "span-pair"):
            for part in ("precision", "recall", "f1"):
                name = f"{unit}.{part}"
                row[f"dev {name}"] = self.scores.total.end_to_end[name].value
        return row


def new_model(options: Options, shape: dict[str, Any]) -> tuple[ConversationTagger, Any]:
    """A model with the pre-trained encoder and a fresh head, and the encoder's tokenizer."""
    set_seed(options.seed)
    logging.disable_progress_bar()
    tokenizer = AutoTokenizer.from_pretrained(options.encoder, use_fast=True)
    config = AutoConfig.from_pretrained(options.encoder)
    if not hasattr(config, "num_hidden_layers"):
        raise ValueError(
            f"{options.encoder}: found an encoder of type {config.model_type}, expected one of text"
        )
    if options.encoder_layers > config.num_hidden_layers:
        raise ValueError(
            f"found {options.encoder_layers} layers to keep, "
            f"expected at most {config.num_hidden_layers}, the encoder's"
        )
    if options.encoder_layers:
        config.num_hidden_layers = options.encoder_layers
        if getattr(config, "layer_types", None):
            config.layer_types = config.layer_types[: options.encoder_layers]
    if shape.get("masked") and tokenizer.mask_token_id is None:
        raise ValueError(f"{options.encoder}: found no mask token, expected one for --masked")
    hidden = {"mask": tokenizer.mask_token_id or 0, "separator": special_tokens(tokenizer)[1]}
    # It is trained in float32, whatever it is kept in.
    plain = {
        name: value
        for name, value in config.to_dict().items()
        if name not in ("_name_or_path", "dtype", "torch_dtype")
    }
    model = ConversationTagger(TaggerConfig(encoder=plain, **shape, **hidden))
    positions = getattr(config, "max_position_embeddings", None)
    limit = min(positions or model.config.window, tokenizer.model_max_length)
    if model.config.window > limit:
        raise ValueError(
            f"found a window of {model.config.window} tokens, "
            f"expected at most {limit}, the encoder's"
        )
    if options.frozen_layers > config.num_hidden_layers:
        raise ValueError(
            f"found {options.frozen_layers} layers to freeze, "
            f"expected at most {config.num_hidden_layers}, the encoder's"
        )
    layers_of(model)
    trained = AutoModel.from_pretrained(options.encoder, dtype=torch.float32).state_dict()
    model.encoder.load_state_dict(
        {name: trained[name] for name in model.encoder.state_dict()}, strict=True
    )
    _refuse_unreadable(model, options.encoder)
    if not torch.cuda.is_available():  # the fused kernel's backward pass takes half of a step
        model.encoder.set_attn_implementation("eager")
    return model, tokenizer


def layers_of(model: ConversationTagger) -> nn.ModuleList:
    """The layers of the encoder.

    Raises:
        ValueError: if it has none that can be told apart.
    """
    n_layers: int = model.encoder.config.num_hidden_layers
    for module in model.encoder.modules():
        if isinstance(module, nn.ModuleList) and len(module) == n_layers:
            return module
    kind = model.encoder.config.model_type
    raise ValueError(f"found an encoder of type {kind}, expected one with {n_layers} layers apart")


def _refuse_unreadable(model: ConversationTagger, encoder: str) -> None:
    """Stops where the encoder cannot read a full window, before anything is trained."""
    n = model.config.window
    window = Window((model.config.separator,) * n, (0, n - 2), 0)
    model.eval()
    try:
        with torch.no_grad():
            model.read([window], n)
    except Exception as error:  # whatever an encoder raises that is made for something else
        raise ValueError(
            f"{encoder}: found no encoder that reads windows of {n} tokens ({reason_of(error)}), "
            "expected one of text, or a smaller --window"
        ) from error


def begin_with(model: ConversationTagger, run: Path) -> None:
    """Gives the model the weights of another run, which must have its shape.

    Raises:
        ValueError: if the run cannot be loaded or has another shape.
    """
    weights = read_checkpoint(run)[0].state_dict()
    shapes = {name: value.shape for name, value in model.state_dict().items()}
    if shapes != {name: value.shape for name, value in weights.items()}:
        raise ValueError(f"{run}: found a model of another shape, expected that of the options")
    model.load_state_dict(weights)


def train_only(model: ConversationTagger, expert: Expert, options: Options) -> None:
    """Takes what the training of an expert does not change out of it.

    Of the encoder, that is the embeddings and the lowest layers, as many as the options have: the
    embeddings are half of a small encoder's weights, and a few hundred chapters have too few words
    to move them by.
    """
    model.requires_grad_(False)
    if expert is Expert.STRUCTURE and model.structure is not None:
        model.structure.requires_grad_(True)
        return
    model.text.requires_grad_(True)
    layers = layers_of(model)
    for layer in layers[len(layers) if options.frozen else options.frozen_layers :]:
        layer.requires_grad_(True)


def weakly_tagged(
    words: Sequence[str], tagger: str, books: Path | None, gold: Path, without: Sequence[str]
) -> list[Example]:
    """The chapters of whole books with the tags that a tagger gives them.

    Books that the annotations judge by (dev, test; known by their number) are left out, and so are
    those that cannot be had or used; all in a line.

    Args:
        words: numbers, files and folders, as `miner mine` takes them.
        tagger: as `miner.models.load.load_tagger` takes it.
        books: where numbers are looked up first.
        gold: the annotations.
        without: ids of further books to leave out.

    Raises:
        ValueError: if a word names no book, no book is left, or the tagger does not exist.
    """
    if not words:
        return []
    cards = read_cards(gold / BOOKS).values() if is_annotations(gold) else ()
    reasons = dict.fromkeys(without, "as --without says")
    reasons |= {
        card.book: f"since it is of split {card.split}"
        for card in cards
        if card.split in ("dev", "test")
    }
    sources, missing = find_sources(words, books)
    if missing:
        raise ValueError(str(missing[0]))
    chosen = load_tagger(tagger)
    found: list[Example] = []
    for source in progress(sources, "weak labels"):
        why = reasons.get(id_of(source.path) if source.path else source.id)
        try:
            if not why:
                data = (source.path or download(source.id)).read_bytes()
                found += weak_examples(read_spans(data, source.id, ()), chosen)
        except (ValueError, OSError) as error:
            why = str(error)
        if why:
            click.echo(f"{source.id}: left out, {why}", err=True)
    if not found:
        raise ValueError("found no book for weak labels but those left out")
    return found


def encoded(
    examples: Sequence[Example],
    model: ConversationTagger,
    tokenizer: Any,
    frozen: bool,
    kept: Path | None = None,
    text: bool = True,
) -> list[Encoded]:
    """The examples in tensors; a frozen encoder reads them once, here, or not at all.

    Args:
        examples: chapters with their tags.
        model: on the device on which to train.
        tokenizer: the encoder's.
        frozen: whether the encoder stays as it is.
        kept: a folder of vectors that earlier runs made with the same encoder, and new ones.
        text: whether it is to be read; else there are no windows of it.
    """
    device = model.device
    encoder = ""
    if frozen and kept:
        config = model.encoder.config.to_json_string()
        is_short = computes_in_bfloat16(device.type)
        encoder = f"{_digest(model.encoder)} {config} bfloat16 {is_short}"
    found = []
    for example in progress(examples, "encoding"):
        encoding = encode(example.chapter, tokenizer, model.config) if text else NOTHING
        pooled = _vectors(model, encoding, encoder, kept) if frozen and text else None
        found.append(
            Encoded(
                encoding,
                torch.from_numpy(example.chapter.features).to(device),
                torch.from_numpy(example.tags).to(device),
                torch.from_numpy(example.speakers).to(device),
                sequence_slices(example.chapter, model.config.paragraphs),
                pooled,
            )
        )
    return found


def _vectors(
    model: ConversationTagger, encoding: Encoding, encoder: str, kept: Path | None
) -> Tensor:
    """What the encoder makes of a chapter's utterances, from the folder where it is there."""
    device = model.device
    name = hashlib.sha256(f"{encoder} {encoding}".encode()).hexdigest()[:32]
    path = kept / f"{name}.pt" if kept else None
    if path and path.is_file():
        return torch.load(path, map_location=device, weights_only=True)
    model.eval()
    with torch.no_grad(), autocast(device.type):
        pooled = model.pooled(encoding)
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        begun = path.with_suffix(f".{os.getpid()}")
        torch.save(pooled, begun)
        begun.replace(path)
    return pooled


def _digest(module: nn.Module) -> str:
    """Changes with any weight."""
    digest = hashlib.sha256()
    for name, value in sorted(module.state_dict().items()):
        digest.update(name.encode())
        digest.update(value.detach().cpu().contiguous().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def scores_of(
    model: ConversationTagger,
    items: Sequence[Encoded],
    experts: Collection[Expert] = tuple(Expert),
) -> ChapterScores:
    """The scores of the experts' mixture for each chapter."""
    model.eval()
    found = []
    for item in items:
        with torch.no_grad(), autocast(model.device.type):
            parts = model(item.encoding, item.features, item.cuts, item.pooled, experts)
        found.append(torch.cat([part.scores for part in parts]).float().cpu().numpy())
    return found


def by_expert(
    model: ConversationTagger, items: Sequence[Encoded], stage: str = "gold"
) -> dict[Expert, ChapterScores]:
    """The scores of each expert alone that is trained in a stage or before it."""
    experts = [Expert.STRUCTURE] if model.structure is not None else []
    experts += [] if stage == STRUCTURE else [Expert.TEXT]
    return {expert: scores_of(model, items, [expert]) for expert in experts}


def mixture(model: ConversationTagger, alone: Mapping[Expert, ChapterScores]) -> ChapterScores:
    """What the scores of the experts come to; those of a single one stay as they are."""
    if len(alone) == 1:
        return next(iter(alone.values()))
    both = zip(alone[Expert.TEXT], alone[Expert.STRUCTURE], strict=True)
    return [model.mixture(*map(torch.from_numpy, pair)).numpy() for pair in both]


def fit_shares(
    model: ConversationTagger,
    alone: Mapping[Expert, ChapterScores],
    tags: Sequence[NDArray[np.int64]],
) -> None:
    """Fits what each expert is worth where it is asked whether a conversation, or a turn, opens."""
    if len(alone) == 1:
        return
    text, structure = (
        [part.numpy() for part in log_odds(torch.from_numpy(np.concatenate(alone[expert])))]
        for expert in (Expert.TEXT, Expert.STRUCTURE)
    )
    right = np.concatenate(tags)
    opens = right == TAGS.index(Tag.B_START)
    later = np.concatenate([np.arange(len(item)) > 0 for item in tags])  # the first always opens
    model.config.start_share = fit_weight(text[0][later], structure[0][later], opens[later])
    goes_on, rest = right != TAGS.index(Tag.B_OTHER), ~opens
    model.config.turn_share = fit_weight(text[1][rest], structure[1][rest], goes_on[rest])


def loss_of(parts: Sequence[SequenceScores], item: Encoded, options: Options) -> Tensor:
    """The loss of a chapter, summed over its utterances.

    Args:
        parts: the chapter's stretches.
        item: the chapter.
        options: `start_weight` is added to the scores of the other tags where the right one is
            B-START, so that missing a beginning costs more; `speaker_weight` is that of telling
            speakers apart beside the tags.
    """
    rows = torch.cat([part.scores for part in parts]).float()
    missed = (item.tags == 0)[:, None] & (torch.arange(rows.shape[1], device=rows.device) != 0)
    loss = sequence_loss(rows + options.start_weight * missed, item.tags) * len(item.tags)
    for part, cut in zip(parts, item.cuts, strict=True):
        if part.alike is not None:
            size = options.speaker_weight * len(part.scores)
            loss = loss + size * speaker_loss(part.alike, item.speakers[cut])
    return loss


def train(
    model: ConversationTagger,
    n_chapters: int,
    items_of: Callable[[int], Sequence[Encoded]],
    options: Options,
    accelerator: Accelerator,
    epochs: int,
    expert: Expert,
    after_epoch: Callable[[int, float, float, int], bool],
    state: dict[str, Any] | None,
    save: Callable[[dict[str, Any]], None],
) -> None:
    """Trains for so many epochs, or until `after_epoch` says that it is enough.

    Learning rates rise over the first tenth of the steps and fall to zero. An epoch's order and
    dropout depend on seed and epoch alone, so a run goes on from `state` to the same result.

    Args:
        model: to train.
        n_chapters: of an epoch.
        items_of: gives the chapters as an epoch has them.
        options: of the run.
        accelerator: moves gradients between processes.
        epochs: how many.
        expert: which to train; the other stays as it is.
        after_epoch: is told number, loss, seconds and tokens; returns whether it is enough.
        state: of an interrupted run, from `save`.
        save: is given what to go on from.
    """
    train_only(model, expert, options)
    trained = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
    head = [p for name, p in trained if not name.startswith("encoder.")]
    groups = [{"params": head, "lr": options.head_rate}]
    if body := [p for name, p in trained if name.startswith("encoder.")]:
        groups.append({"params": body, "lr": options.encoder_rate})
    optimizer = torch.optim.AdamW(groups, weight_decay=0.01)
    share = options.batch * accelerator.num_processes
    steps = epochs * math.ceil(n_chapters / share)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda n: min((n + 1) / max(0.1 * steps, 1), max(0.0, 1 - n / steps))
    )
    if state:
        optimizer.load_state_dict(state["optimizer"])
        schedule.load_state_dict(state["schedule"])
    wrapped, optimizer = accelerator.prepare(model, optimizer)
    for epoch in range(state["epoch"] if state else 0, epochs):
        set_seed(options.seed * 1000 + epoch)
        order = list(range(n_chapters))
        random.shuffle(order)
        n_more = -len(order) % accelerator.num_processes  # each has as many as the others
        order += islice(cycle(order[:]), n_more)
        started, total, n_tags, n_tokens = time.monotonic(), 0.0, 0, 0
        items = items_of(epoch)
        wrapped.train()
        model.encoder.eval()  # no dropout in there: on a CPU it doubles the time of a step
        for at in progress(range(0, len(order), share), f"epoch {epoch + 1} of {epochs}"):
            of_step = order[at : at + share]
            mine = of_step[accelerator.process_index :: accelerator.num_processes]
            # Gradients are averaged over processes, and utterances shall count alike in all.
            size = sum(len(items[n].tags) for n in of_step) / accelerator.num_processes
            for n in mine:  # a chapter at a time: gradients add up, memory does not
                item = items[n]
                with autocast(accelerator.device.type):
                    parts = wrapped(item.encoding, item.features, item.cuts, item.pooled, [expert])
                loss = loss_of(parts, item, options)
                accelerator.backward(loss / size)
                total += loss.item()
                n_tokens += sum(len(window.ids) for window in item.encoding.windows)
            n_tags += sum(len(items[n].tags) for n in mine)
            accelerator.clip_grad_norm_(wrapped.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
        seconds = time.monotonic() - started
        enough = after_epoch(epoch, total / n_tags, seconds, n_tokens)
        record = {"optimizer": optimizer.state_dict(), "schedule": schedule.state_dict()}
        save({"epoch": epochs if enough else epoch + 1, "model": model.state_dict(), **record})
        if enough:
            return


def judged(
    data: AnnotatedExamples,
    chapter_scores: ChapterScores,
    split: str,
    resamples: int = 0,
    start_offset: float = 0.0,
) -> Scores:
    """The scores of what the model's scores of the chapters are decoded to, against the gold."""
    predicted = [_predicted(*book, start_offset) for book in _by_book(data, chapter_scores)]
    return score(data.gold, predicted, split=split, resamples=resamples, seed=0)


def _by_book(
    data: AnnotatedExamples, chapter_scores: ChapterScores
) -> list[tuple[BookSpans, ScoredChapters]]:
    """The books, each with the scores of its chapters, in the order of their gold."""
    chapters: dict[str, ScoredChapters] = {}
    for example, rows in zip(data.examples, chapter_scores, strict=True):
        chapters.setdefault(example.chapter.book, []).append((example.chapter, rows))
    return [(spans, chapters.get(spans.book.id, [])) for spans in data.book_spans]


def _predicted(spans: BookSpans, scored: ScoredChapters, start_offset: float) -> TaggedBook:
    return TaggedBook(spans.book.id, tuple(decoded(spans, scored, start_offset)), "checkpoint")


def best_start_offset(data: AnnotatedExamples, chapter_scores: ChapterScores) -> float:
    """What to add to the scores of B-START, so that its F1 and that of turn pairs are greatest.

    Of several that are alike, the one nearest to 0.
    """
    books = list(zip(data.gold, _by_book(data, chapter_scores), strict=True))
    k = window_size(data.gold)
    # Counting takes longest, and from one offset to the next most books have the same tags.
    counts: dict[tuple[str, tuple[Tag, ...]], CountTable] = {}

    def at(offset: float) -> float:
        rows: list[CountTable] = []
        for gold, (spans, scored) in books:
            key = gold.book, tuple(tag for _, scores in scored for tag in viterbi(scores, offset))
            if key not in counts:
                counts[key], _ = count_chapters(gold, _predicted(spans, scored, offset), k)
            rows.append(counts[key])
        return _goal(measure(np.concatenate(rows)))

    return max(sorted((step / 10 for step in range(-5, 21)), key=abs), key=at)


def _goal(measured: Measures) -> float:
    """What an epoch, and how sure one must be of a beginning, are chosen by: both F1, in the mean.

    Turn pairs alone differ less between epochs than by chance, and say little of beginnings.
    """
    return sum(measured[f"{unit}.f1"].value or 0.0 for unit in ("B-START", "turn-pair")) / 2


def is_better(goal: float, loss: float, best: Mapping[str, float]) -> bool:
    """Whether an epoch is kept instead of the best before it.

    On the 23 chapters of dev, epochs that are alike differ in F1 by a standard error, and the one
    that looks best is often the luckiest. So it is kept if its F1 is higher by more than that, or
    if its loss is less and no F1 so far is higher by more than that.

    Args:
        goal: of the epoch, see `_goal`.
        loss: of the mixture, on dev.
        best: `goal` and `loss` of the epoch kept so far, and the `highest` goal of any.
    """
    is_as_good = goal >= best["highest"] - _STANDARD_ERROR
    return goal > best["goal"] + _STANDARD_ERROR or (loss < best["loss"] and is_as_good)


def loss_over(data: AnnotatedExamples, chapter_scores: Sequence[NDArray[np.floating]]) -> float:
    """The loss per utterance."""
    total = 0.0
    for example, scores in zip(data.examples, chapter_scores, strict=True):
        rows, tags = torch.from_numpy(scores), torch.from_numpy(example.tags)
        total += float(sequence_loss(rows, tags)) * len(tags)
    return total / sum(len(example.tags) for example in data.examples)


def progress(items: Sequence[Any], name: str) -> Any:
    """The items with a bar and an estimate, where somebody is looking."""
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    return track(items, name, console=console, transient=True) if console.is_terminal else items


@click.command(context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
@click.option("-o", "--out", type=click.Path(path_type=Path), required=True, help="Run folder.")
@click.option("--gold", type=click.Path(path_type=Path), default=Path("annotations"))
@click.option("--start", type=click.Path(path_type=Path), help="Run folder to begin with.")
@click.option("--encoder", default="sentence-transformers/all-MiniLM-L6-v2", help="Name or path.")
@click.option(
    "--books", type=click.Path(path_type=Path), envvar="MINER_BOOKS", help="Of Gutenberg."
)
@click.option("--train-split", default="train", help="Splits with + between.")
@click.option("--dev-split", default="dev")
@click.option("--test-split", help="Scored once, at the end; never looked at before.")
@click.option("--without", multiple=True, help="Book (number) to leave out of the training.")
@click.option(
    "--chapters",
    type=click.IntRange(min=1),
    help="Train on so many chapters only, chosen by the seed.",
)
@click.option("--weak", multiple=True, help="Book (number, file, folder) for weak labels.")
@click.option("--weak-tagger", default="tuned-gap", help="Who gives them; as `miner --tagger`.")
@click.option("--weak-epochs", type=click.IntRange(min=1), default=1)
@click.option(
    "--structure-epochs",
    type=click.IntRange(min=0),
    default=12,
    help="On structure features alone, before the encoder is trained beside them.",
)
@click.option("--epochs", type=click.IntRange(min=1), default=4)
@click.option(
    "--patience", type=click.IntRange(min=0), default=2, help="Epochs without a better one on dev."
)
@click.option(
    "--batch", type=click.IntRange(min=1), default=1, help="Chapters per step and process."
)
@click.option("--encoder-rate", type=float, default=1e-4, help="Learning rate.")
@click.option("--head-rate", type=float, default=2e-3, help="Learning rate.")
@click.option("--frozen", is_flag=True, help="Train the head only, on vectors made once.")
@click.option(
    "--frozen-layers",
    type=click.IntRange(min=0),
    default=0,
    help="Train all but the lowest layers.",
)
@click.option(
    "--encoder-layers",
    type=click.IntRange(min=0),
    default=0,
    help="Keep the lowest layers; 0: all.",
)
@click.option(
    "--vectors", type=click.Path(path_type=Path), help="Folder to keep a frozen encoder's vectors."
)
@click.option("--start-weight", type=float, default=0.0, help="Margin for missed beginnings.")
@click.option(
    "--speaker-weight", type=float, default=0.5, help="Of telling speakers apart, beside the tags."
)
@click.option("--context", type=click.Choice(["text", "span"]), default="text")
@click.option("--window", type=int, default=256, help="Tokens.")
@click.option("--margin", type=int, default=32, help="Tokens of a window that are context only.")
@click.option(
    "--recut",
    type=click.FloatRange(0, 1),
    help="Share of the places where a paragraph can be cut in training. 0.6, or 0 with --frozen.",
)
@click.option("--ends", type=int, default=24, help="Tokens kept of long speech; 0: all of it.")
@click.option("--paragraphs", type=int, default=0, help="Seen at once by the BiLSTM; 0: a chapter.")
@click.option("--features/--no-features", default=True, help="Structure beside the vectors.")
@click.option("--projection", type=int, default=256)
@click.option("--hidden", type=int, default=128)
@click.option("--layers", type=int, default=1)
@click.option("--dropout", type=float, default=0.2)
@click.option("--masked", type=float, default=0.15, help="Share of tokens hidden in training.")
@click.option("--seed", type=int, default=0)
@click.option("--resamples", type=int, default=1000)
@click.option("--compact", is_flag=True, help="Weights in 8 bits: a quarter of the file.")
@click.option("--resume", is_flag=True, help="Go on with an interrupted run in OUT.")
@click.option("--force", is_flag=True, help="Replace the run in OUT.")
@click.option("--smoke", is_flag=True, help="The whole path on the sample, in a minute.")
def main(**given: Any) -> None:
    """Train the conversation tagger and write a run folder that `miner --tagger OUT` takes."""
    try:
        run(given)
    except (ValueError, OSError) as error:
        raise SystemExit(f"train.py: {error}") from error


def run(given: dict[str, Any]) -> None:
    """The whole way; `given` are the options of the command line."""
    out: Path = given["out"]
    if given["smoke"]:
        given |= {"train_split": "sample", "dev_split": "sample", "epochs": 2, "weak": ("sample",)}
        given["structure_epochs"] = min(given["structure_epochs"], 1)
    if not given["resume"]:
        refuse_existing(out, given["force"])
    if given["recut"] is None:
        given["recut"] = 0.0 if given["frozen"] else 0.6
    if given["features"] and not (given["structure_epochs"] or given["start"]):
        raise ValueError("found --structure-epochs 0, expected 1 or more, or --no-features")
    if given["recut"] and given["frozen"]:
        raise ValueError("found --recut with --frozen, whose vectors are made once: expected 0")
    accelerator = Accelerator()
    options = Options(**{name: given[name] for name in Options.__dataclass_fields__})
    shape_names = ("context", "window", "margin", "ends", "paragraphs", "features")
    more = ("projection", "hidden", "layers", "dropout", "masked")
    shape = {name: given[name] for name in (*shape_names, *more)}
    model, tokenizer = new_model(options, shape)
    if given["start"]:
        begin_with(model, given["start"])
    model.to(accelerator.device)

    def read(book: str) -> bytes:
        return find_book(book, given["books"])[1].read_bytes()

    gold: Path = given["gold"]

    left_out: list[str] = []

    def leave_out(line: str) -> None:
        left_out.append(line)
        if accelerator.is_main_process:
            click.echo(f"left out, {line}", err=True)

    training = read_examples(gold, given["train_split"], read, given["without"], leave_out)
    dev = read_examples(gold, given["dev_split"], read)
    judges = [(given["dev_split"], dev)]
    if given["test_split"]:  # read now, so that what cannot be scored is known before hours of work
        judges.append((given["test_split"], read_examples(gold, given["test_split"], read)))
    chosen = list(training.examples)
    if given["chapters"]:
        random.Random(options.seed).shuffle(chosen)
        chosen = chosen[: given["chapters"]]
    weak = weakly_tagged(
        given["weak"], given["weak_tagger"], given["books"], gold, given["without"]
    )
    record = {
        "command": shlex.join(["python", *sys.argv]),
        "data": f"{gold} {given['train_split']}",
        "dev": given["dev_split"],
        "left out": " ".join(given["without"]),
        "chapters left out": " | ".join(left_out),
        "begun with": str(given["start"] or ""),
        "chapters": len(chosen),
        "utterances": sum(len(example.tags) for example in chosen),
        "digest of the data": digest(chosen),
        "digest of dev": digest(dev.examples),
        "weak books": " ".join(dict.fromkeys(item.chapter.book for item in weak)),
        "digest of weak labels": digest(weak) if weak else "",
        "weak tagger": tagger_signature(given["weak_tagger"]) if weak else "",
        "test": given["test_split"] or "none",
        "resamples": given["resamples"],
        **asdict(options),
        **shape,
        "compact": given["compact"],
        "processes": accelerator.num_processes,
        "miner": __version__,
        "versions": {name: version(name) for name in ("torch", "transformers", "accelerate")},
    }
    state = _state(out) if given["resume"] else None
    if state is None:
        out.mkdir(parents=True, exist_ok=True)
        for name in (STATE, METRICS, RUN_RECORD, *CHECKPOINT, CARD, RELIABILITY):
            (out / name).unlink(missing_ok=True)  # of an older run, to which nothing here belongs
    else:
        record["command"] = state["record"]["command"]
        refuse_another(out, state["record"], record)
        model.load_state_dict(state["model"])
    best = {"epoch": -1, "goal": -1.0, "loss": math.inf, "highest": -1.0}
    best |= state["best"] if state else {}
    rows: list[dict[str, Any]] = state["rows"] if state else []

    def ready(examples: Sequence[Example], text: bool = True) -> list[Encoded]:
        return encoded(examples, model, tokenizer, options.frozen, given["vectors"], text)

    def epochs_of(examples: Sequence[Example], text: bool = True) -> Callable[[int], list[Encoded]]:
        """Gives the examples as an epoch has them; those that are not cut are encoded once."""
        plain = cache(lambda: ready(examples, text))

        def of_epoch(epoch: int) -> list[Encoded]:
            if not options.recut:
                return plain()
            rngs = [random.Random(f"{options.seed} {epoch} {n}") for n in range(len(examples))]
            return ready(
                [
                    augment(item, options.recut, rng)
                    for item, rng in zip(examples, rngs, strict=True)
                ],
                text,
            )

        return of_epoch

    stages: list[tuple[str, int, Callable[[int], list[Encoded]], int]] = []
    if options.structure_epochs and model.config.features:
        unread = epochs_of(chosen, text=False)
        stages.append((STRUCTURE, len(chosen), unread, options.structure_epochs))
    if weak:
        stages.append(("weak", len(weak), epochs_of(weak), options.weak_epochs))
    stages.append(("gold", len(chosen), epochs_of(chosen), options.epochs))
    done = [name for name, *_ in stages].index(state["stage"]) if state else 0
    dev_items = ready(dev.examples)
    for stage, n_chapters, items_of, epochs in stages[done:]:

        def after_epoch(
            number: int, loss: float, seconds: float, tokens: int, stage: str = stage
        ) -> bool:
            alone = by_expert(model, dev_items, stage)
            fit_shares(model, alone, [example.tags for example in dev.examples])
            of_dev = mixture(model, alone)
            losses = {str(e): loss_over(dev, found) for e, found in alone.items()}
            losses["mixture"] = loss_over(dev, of_dev)
            offset = best_start_offset(dev, of_dev)
            scores = judged(dev, of_dev, given["dev_split"], start_offset=offset)
            epoch = Epoch(stage, number, loss, seconds, tokens, losses, scores)
            goal = _goal(scores.total.end_to_end)
            if accelerator.is_main_process:
                row = epoch.to_json()
                click.echo(" ".join(f"{k} {_short(v)}" for k, v in row.items()), err=True)
                rows.append(row)
            if stage != "gold":
                return False
            if is_better(goal, losses["mixture"], best):
                best.update(epoch=number, goal=goal, loss=losses["mixture"])
                if accelerator.is_main_process:
                    model.save_pretrained(out)
            best["highest"] = max(goal, best["highest"])
            return number - best["epoch"] >= options.patience

        def save(reached: dict[str, Any], stage: str = stage) -> None:
            if accelerator.is_main_process:
                whole = out / f"{STATE}.partial"
                more = {"stage": stage, "best": dict(best), "rows": rows, "record": record}
                torch.save(reached | more, whole)
                whole.replace(out / STATE)
                (out / METRICS).write_bytes(b"".join(map(json_line, rows)))

        train(
            model,
            n_chapters,
            items_of,
            options,
            accelerator,
            epochs,
            Expert.STRUCTURE if stage == STRUCTURE else Expert.TEXT,
            after_epoch,
            state,
            save,
        )
        state = None
    if accelerator.is_main_process:
        finish(out, tokenizer, accelerator.device, judges, given, record, best)


def finish(
    out: Path,
    tokenizer: Any,
    device: torch.device,
    judges: Sequence[tuple[str, AnnotatedExamples]],
    given: dict[str, Any],
    record: dict[str, Any],
    best: dict[str, Any],
) -> None:
    """Calibrates the best epoch on dev, scores it, and writes what belongs into a run folder.

    Args:
        out: the run folder, with the weights of the best epoch.
        tokenizer: the encoder's.
        device: where to score.
        judges: the splits to score, by name, dev first.
        given: the options of the command line.
        record: of the training.
        best: the epoch that is kept.
    """
    dev = judges[0][1]
    tokenizer.save_pretrained(out)
    model, _ = read_checkpoint(out)
    weights = quantize(model.state_dict()) if given["compact"] else {}
    if weights:
        model.load_state_dict(dequantize(weights))  # what is judged is what is kept
    nn.Module.to(model, device)
    found: dict[str, Scores] = {}
    offsets: dict[str, float] = {}  # of the mixture and of each expert alone
    mixtures: list[ChapterScores] = []
    for split, data in judges:
        items = encoded(data.examples, model, tokenizer, given["frozen"], given["vectors"])
        alone = by_expert(model, items)
        mixtures.append(mixture(model, alone))
        named = {"": mixtures[-1]}
        if len(alone) > 1:
            named |= {f", {expert} alone": rows for expert, rows in alone.items()}
        for name, rows in named.items():
            if data is dev:
                offsets[name] = best_start_offset(data, rows)
            found[split + name] = judged(data, rows, split, given["resamples"], offsets[name])
    model.config.start_offset = offsets[""]
    dev_tags = [example.tags for example in dev.examples]
    calibration = fit_temperature(mixtures[0], dev_tags, model.config.start_offset)
    model.config.confidence_temperature = calibration.temperature
    model.config.training = record | {"best epoch": best["epoch"] + 1}
    if weights:
        model.config.save_pretrained(out)
        save_file(weights, out / CHECKPOINT_WEIGHTS, {"format": "pt"})
    else:
        model.save_pretrained(out)
    errors = {
        split: calibration_error(
            rows,
            [example.tags for example in data.examples],
            calibration.temperature,
            model.config.start_offset,
        )[0]
        for (split, data), rows in zip(judges, mixtures, strict=True)
    }
    (out / CARD).write_text(
        model_card(model.config.training, found, calibration, errors), encoding="utf-8"
    )
    plots.save_figure(
        plots.reliability_plot(calibration.bins, given["dev_split"]), out / RELIABILITY, True
    )
    result = {
        "training": model.config.training,
        "calibration": asdict(calibration),
        "calibration errors": errors,
        "scores": {name: item.to_json() for name, item in found.items()},
    }
    (out / RUN_RECORD).write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    (out / STATE).unlink(missing_ok=True)
    for name, item in found.items():
        for unit in ("B-START", "turn-pair"):
            value = item.total.end_to_end[f"{unit}.f1"].value
            click.echo(f"{name}: {unit} F1 {_short(value)}")


def _state(out: Path) -> dict[str, Any]:
    """What an interrupted run had reached, and its record."""
    path = out / STATE
    if not path.is_file():
        raise ValueError(f"{out}: found no {STATE}, expected an interrupted run to go on with")
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except OSError:
        raise
    except Exception as error:  # whatever the library raises at a broken file
        raise ValueError(
            f"{path}: cannot be read ({reason_of(error)}); --force begins anew"
        ) from error
    if "record" not in state:
        raise ValueError(f"{path}: found a state of an older version; --force begins anew")
    return state


def _short(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
