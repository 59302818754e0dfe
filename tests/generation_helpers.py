"""What the tests of models that answer need: pairs that a small model learns, and a tiny GPT-2."""

import random

from miner.lab.lessons.examples import Example, Part
from miner.lab.lessons.generation.kinds import find_kind
from miner.lab.lessons.generation.training import train_model

THINGS = "kettle lantern ferry barrow ledger orchard saddle parcel".split()
PLACES = "cellar pantry harbour chapel stable garden attic meadow".split()
SMALL = {"hidden": 32, "layers": 1, "heads": 2, "filter": 64, "vocabulary": 400, "dropout": 0.0}
QUICK = SMALL | {"epochs": 12, "batch": 16, "rate": 5e-3, "longest_response": 16}


def pairs(n, seed, book="a"):
    """Pairs whose response names the thing of the last turn, and the place that belongs to it."""
    rng = random.Random(seed)
    made = []
    for number in range(n):
        i = rng.randrange(len(THINGS))
        turns = ("Good day to you.", f"Where is the {THINGS[i]}?")
        made.append(Example(f"{book}{number % 3}", turns, f"In the {PLACES[i]}, sir."))
    return made


def train(out, kind="transformer", train=None, validation=None, seed=3, history_turns=0, **given):
    """A model that is trained on such pairs; `given` are its options and those of `train_model`."""
    found = find_kind(kind)
    told = {
        name: given.pop(name) for name in ("resume", "force", "report", "progress") if name in given
    }
    quick = QUICK if kind == "transformer" else {"longest_response": 16, "batch": 16}
    options = found.read_options({**quick, **given})
    parts = (
        Part(train or pairs(160, 1), "made up"),
        Part(validation or pairs(40, 2, "v"), "made up, validation"),
    )
    return train_model(found, options, *parts, out, seed=seed, history_turns=history_turns, **told)


def write_gpt2(folder, positions=64):
    """A folder of a tiny GPT-2 with random weights and its own tokenizer, as the Hub has it."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast, set_seed

    plain = Tokenizer(models.BPE())
    plain.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    plain.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=350,
        special_tokens=["<|endoftext|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    plain.train_from_iterator((text for one in pairs(50, 0) for text in one.context), trainer)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=plain, eos_token="<|endoftext|>")
    set_seed(0)
    config = GPT2Config(
        vocab_size=len(tokenizer), n_positions=positions, n_embd=64, n_layer=2, n_head=2
    )
    GPT2LMHeadModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def write_other(folder, kind):
    """A folder of a tiny model of another kind, with options of its own for other tasks."""
    from transformers import (
        AutoTokenizer,
        BartConfig,
        BartForConditionalGeneration,
        BertConfig,
        BertForMaskedLM,
        GenerationConfig,
        T5Config,
        T5ForConditionalGeneration,
        set_seed,
    )

    tokenizer = AutoTokenizer.from_pretrained(write_gpt2(folder.with_name("gpt2")))
    tokenizer.pad_token = tokenizer.eos_token
    n = len(tokenizer)
    small = {"vocab_size": n, "pad_token_id": 0, "eos_token_id": 0, "bos_token_id": 0}
    layers = {"d_model": 32, "encoder_layers": 1, "decoder_layers": 1}
    heads = {"encoder_attention_heads": 2, "decoder_attention_heads": 2}
    units = {"encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "max_position_embeddings": 128}
    bert = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    set_seed(0)
    match kind:
        case "bart":
            model = BartForConditionalGeneration(BartConfig(**small | layers | heads | units))
            model.generation_config = GenerationConfig(
                forced_bos_token_id=7, no_repeat_ngram_size=1, num_beams=4, min_length=30,
                eos_token_id=0, pad_token_id=0, decoder_start_token_id=0,
            )  # fmt: skip
        case "t5":
            sizes = {"d_model": 32, "d_kv": 16, "d_ff": 64, "num_layers": 1, "num_heads": 2}
            model = T5ForConditionalGeneration(T5Config(**small | sizes))
        case "bert":
            model = BertForMaskedLM(BertConfig(**small | bert, intermediate_size=64))
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
