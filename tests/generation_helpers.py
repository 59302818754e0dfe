"""What the tests of models that answer need: pairs that a small model learns, and a tiny GPT-2."""

import random

from miner.examples.example import Example
from miner.examples.part import Part
from miner.generation.kinds import find_kind
from miner.generation.training import train_model

THINGS = "kettle lantern ferry barrow ledger orchard saddle parcel".split()
PLACES = "cellar pantry harbour chapel stable garden attic meadow".split()
SMALL = {"hidden": 32, "layers": 1, "heads": 2, "filter": 64, "tokens": 400, "dropout": 0.0}
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
