"""Tiny encoders with random weights, their tokenizers, and models and checkpoints made of them."""

import os
import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from filelock import FileLock
from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from transformers import (
    AutoConfig,
    AutoModel,
    AutoTokenizer,
    BertConfig,
    BertTokenizerFast,
    DistilBertConfig,
    DistilBertTokenizerFast,
    ModernBertConfig,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaTokenizerFast,
    XLMRobertaConfig,
)

import miner
from miner.books.book import Block, BlockKind, Book
from miner.lab.training.tagger.onnx_export import export_encoder
from miner.speech.read import parse_spans
from miner.speech.spans import BookSpans, split_book
from miner.speech.typography import typography_from_names
from miner.tagger.encoding import plain_tokenizer
from miner.tagger.head import quantize
from miner.tagger.model import ConversationTagger, TaggerConfig
from miner.tagger.torch_runtime import write_checkpoint

torch.set_num_threads(1)

KINDS = ("bert", "distilbert", "roberta", "xlm-roberta", "modernbert")
HIDDEN = 32
SHAPE = {"window": 64, "margin": 8, "projection": 16, "hidden": 8, "dropout": 0.1}
# Some matrices are large enough to be stored in 8 bits, and others are not.
_SIZES = {"hidden_size": HIDDEN, "num_hidden_layers": 2, "num_attention_heads": 2}
_VOCABULARY = 600
# Of all processes of a run of tests; a notebook that takes an encoder has a folder of its own.
_OWN = None if "SHARED_BY_TESTS" in os.environ else TemporaryDirectory(prefix="encoders.")
_HOME = Path(_OWN.name if _OWN else os.environ["SHARED_BY_TESTS"])


@cache
def sample() -> BookSpans:
    """The spans of the sample book."""
    data = (Path(miner.__file__).parent / "books" / "sample.html").read_bytes()
    return parse_spans(data, "sample", ())


def told(*chapters, marks="double-curly", name="0"):
    """The spans of a book; a chapter is its paragraphs, numbered from 1."""
    texts = [(n, text) for n, chapter in enumerate(chapters, 1) for text in chapter]
    blocks = (Block(i, n, BlockKind.PARAGRAPH, text) for i, (n, text) in enumerate(texts))
    book = Book(name, "", "", "en", tuple(blocks), (), "")
    return split_book(book, typography_from_names([marks]))


def _made_once(name: str, make: Callable[[Path], object]) -> Path:
    """The folder of this name, which the first process that needs it makes."""
    folder = _HOME / name
    with FileLock(f"{folder}.lock"):
        if not folder.exists():
            make(part := folder.with_suffix(".part"))
            part.rename(folder)
    return folder


@cache
def encoder(kind: str = "bert") -> Path:
    """The folder of an encoder that Auto classes load; one per kind and run of tests."""

    def make(folder: Path) -> None:
        tokenizer = _tokenizer(kind)
        tokenizer.save_pretrained(folder)
        config = _config(kind, tokenizer)
        with torch.random.fork_rng():
            torch.manual_seed(3)
            AutoModel.from_config(config).save_pretrained(folder)

    return _made_once(kind, make)


@cache
def tokenizer_of(kind: str = "bert"):
    return AutoTokenizer.from_pretrained(encoder(kind))


@cache
def plain_of(kind: str = "bert") -> Tokenizer:
    """The tokenizer as taggers use it: it neither cuts nor pads texts."""
    return plain_tokenizer(tokenizer_of(kind).backend_tokenizer)


def model_of(kind: str = "bert", seed: int = 11, **shape) -> ConversationTagger:
    """A model with the encoder's weights and a random head that gives several tags."""
    config = AutoConfig.from_pretrained(encoder(kind)).to_dict()
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = ConversationTagger(TaggerConfig(encoder=config, **(SHAPE | shape)))
    model.encoder.load_state_dict(
        AutoModel.from_pretrained(encoder(kind)).state_dict(), strict=False
    )
    with torch.no_grad():  # otherwise nearly every utterance has the same tag
        for expert in filter(None, (model.text, model.structure)):
            expert.scores.weight.mul_(20)
            expert.scores.bias.zero_()
    return model.eval()


def save_checkpoint(folder: Path, kind: str = "bert", quantized=False, **options) -> Path:
    """A checkpoint without a file for ONNX Runtime, so that PyTorch computes it."""
    model = model_of(kind, **options)
    weights = {name: item.numpy() for name, item in model.state_dict().items()}
    write_checkpoint(folder, model, quantize(weights) if quantized else None)
    tokenizer_of(kind).save_pretrained(folder)
    return folder


def exported(kind: str = "bert", quantized: bool = False) -> Path:
    """A checkpoint with a file for ONNX Runtime, which takes seconds; no test may change it."""

    def make(folder: Path) -> None:
        export_encoder(save_checkpoint(folder, kind, quantized))

    return _made_once(f"exported {kind} {quantized}", make)


def _config(kind, tokenizer):
    size = {"vocab_size": len(tokenizer), "pad_token_id": tokenizer.pad_token_id}
    ends = {"bos_token_id": tokenizer.cls_token_id, "eos_token_id": tokenizer.sep_token_id}
    if kind == "bert":
        return BertConfig(**_SIZES, **size, intermediate_size=128)
    if kind == "distilbert":
        return DistilBertConfig(dim=HIDDEN, n_layers=2, n_heads=2, hidden_dim=128, **size)
    if kind in ("roberta", "xlm-roberta"):
        config = RobertaConfig if kind == "roberta" else XLMRobertaConfig
        return config(**_SIZES, **size, **ends, intermediate_size=128, max_position_embeddings=514)
    ends |= {"cls_token_id": tokenizer.cls_token_id, "sep_token_id": tokenizer.sep_token_id}
    return ModernBertConfig(
        **_SIZES, **size, **ends, intermediate_size=128, max_position_embeddings=512
    )


def _tokenizer(kind):
    if kind == "bert":
        return BertTokenizerFast(tokenizer_object=_wordpiece())
    if kind == "distilbert":
        return DistilBertTokenizerFast(tokenizer_object=_wordpiece())
    if kind == "roberta":
        return RobertaTokenizerFast(tokenizer_object=_bpe(_prose()))
    if kind == "xlm-roberta":
        return PreTrainedTokenizerFast(
            tokenizer_object=_unigram(),
            cls_token="<s>",
            sep_token="</s>",
            pad_token="<pad>",
            mask_token="<mask>",
        )
    return PreTrainedTokenizerFast(
        tokenizer_object=_bpe(_prose()), cls_token="<s>", sep_token="</s>", pad_token="<pad>"
    )


def _prose():
    return [block.text for block in sample().book.blocks]


def _wordpiece() -> Tokenizer:
    """A tokenizer like BERT's, of frequent words, letters, and letters inside words.

    It is not trained, since the trainer breaks ties at random.
    """
    counts = Counter(re.findall(r"\w+|[^\w\s]", " ".join(_prose()).lower()))
    letters = sorted({letter for word in counts for letter in word})
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters]
    pieces += [f"##{letter}" for letter in letters]
    words = sorted(counts, key=lambda word: (-counts[word], word))
    pieces += [word for word in words if len(word) > 1][: _VOCABULARY - len(pieces)]
    vocabulary = {piece: n for n, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    ends = [(name, vocabulary[name]) for name in ("[SEP]", "[CLS]")]
    tokenizer.post_processor = processors.BertProcessing(*ends)
    return tokenizer


def _unigram() -> Tokenizer:
    """A tokenizer like XLM-RoBERTa's: a piece that begins a word begins with ▁."""
    counts = Counter(f"▁{word}" for word in re.findall(r"\w+", " ".join(_prose())))
    letters = sorted(set("".join(_prose())) - {" "})
    words = sorted(counts, key=lambda word: (-counts[word], word))
    pieces = ["<s>", "<pad>", "</s>", "<unk>", "▁", *letters]
    pieces += words[: _VOCABULARY - len(pieces) - 1]
    scored = [(piece, -12.0 + len(piece)) for piece in pieces]
    tokenizer = Tokenizer(models.Unigram([*scored, ("<mask>", 0.0)], unk_id=3))
    tokenizer.normalizer, tokenizer.decoder = normalizers.NFKC(), decoders.Metaspace()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return tokenizer


def bytes_tokenizer(prose):
    """A tokenizer like RoBERTa's, trained on other prose."""
    return RobertaTokenizerFast(tokenizer_object=_bpe(prose))


def _bpe(prose) -> Tokenizer:
    """Byte pairs as in RoBERTa: a curly mark may be three tokens, or share one with a letter."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=_VOCABULARY,
        special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(prose, trainer)
    ends = [(name, tokenizer.token_to_id(name)) for name in ("</s>", "<s>")]
    tokenizer.post_processor = processors.RobertaProcessing(
        *ends, trim_offsets=True, add_prefix_space=False
    )
    return tokenizer
