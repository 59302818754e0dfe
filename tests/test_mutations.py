"""The benchmark that mines damaged books: every kind of damage, on the sample."""

import mmap

import pytest
from benchmarks import bench_mutations
from benchmarks.bench_mutations import DAMAGES, Mutator
from helpers import SAMPLE

MUTATOR = Mutator({"sample": SAMPLE}, seconds=20, megabytes=4_096)
N = len(DAMAGES)
TAGS_NOT_OPENED = list(DAMAGES).index(bench_mutations.tags_not_opened)


@pytest.mark.parametrize("seed", range(N), ids=[damage.__name__ for damage in DAMAGES])
def test_a_damaged_book_is_mined_or_refused(seed):
    outcome = MUTATOR(seed)
    assert outcome.end in ("mined", "refused"), bench_mutations.describe(outcome)
    assert outcome.damage == list(DAMAGES)[seed].__name__.replace("_", " ")


def test_the_limit_leaves_out_what_the_process_has():
    """A page of a large process is mined as that of a small one."""
    with mmap.mmap(-1, 6 * 2**30, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ):
        outcome = MUTATOR(TAGS_NOT_OPENED)
    assert (outcome.end, outcome.why) == ("mined", "")


def test_the_seed_alone_decides_what_is_made(tmp_path):
    other = tmp_path / "other.html"
    other.write_bytes(b"<p>One.</p>")
    beside = Mutator({"sample": SAMPLE, "other": other}, seconds=20, megabytes=4_096)
    found = 0
    for seed in range(N):
        made = MUTATOR.mutated(seed)
        assert MUTATOR.mutated(seed) == made
        if (again := beside.mutated(seed))[2] == "sample":
            assert again == made
            found += 1
    assert 0 < found < N


def test_a_fault_is_told_from_a_refusal(monkeypatch):
    def failing(*_, **__):
        raise RecursionError("too deep")

    def endless(*_, **__):
        while True:
            pass

    for work, why in (
        (failing, "RecursionError: too deep"),
        (endless, "takes more than 0.1 s"),
        (lambda *_, **__: [0] * 10**10, "needs more memory than there is"),
    ):
        monkeypatch.setattr("miner.corpus.pipeline.parse_spans", work)
        outcome = Mutator({"sample": SAMPLE}, seconds=0.1, megabytes=8_192)(0)
        assert (outcome.end, outcome.why) == ("fault", why)
