"""How far a run is, in words."""

import threading

from helpers import DATA

import miner
from miner.corpus.mining import Progress, ProgressCounter

BOOKS = (DATA / "dash.htm", DATA / "play.html", "sample")


def states_of(*sources, **options):
    states = []
    run = miner.mine_corpus(sources, tagger="gap", on_progress=states.append, **options).finish()
    return states, run


def test_books_not_read_yet_are_taken_to_be_as_long_as_the_others():
    states = []
    counter = ProgressCounter(4, states.append)
    counter.add_read(100)
    counter.add_tagged(60)
    counter.add_result(100)
    counter.add_result(300)
    assert states == [
        Progress(4, 0, 0, 0),
        Progress(4, 0, 0, 400),
        Progress(4, 0, 60, 400),
        Progress(4, 1, 100, 400),
        Progress(4, 1, 100, 800),
        Progress(4, 2, 400, 800),
    ]


def test_words_of_books_that_an_earlier_run_mined_are_no_work():
    states = []
    counter = ProgressCounter(2, states.append)
    counter.add_result(None)
    assert states[-1] == Progress(2, 1, 0, 0)
    counter.add_read(50)
    assert states[-1] == Progress(2, 1, 0, 50)


def test_a_tagger_that_counts_other_words_does_not_pass_the_end():
    states = []
    counter = ProgressCounter(1, states.append)
    counter.add_read(50)
    counter.add_tagged(70)
    counter.add_result(50)
    assert states[-1] == Progress(1, 1, 50, 50)


def test_a_run_ends_with_all_words():
    states, run = states_of(*BOOKS, "gone.html")
    assert states[0] == Progress(run.n_sources) == Progress(4)
    words = run.totals["words"]
    assert states[-1] == Progress(4, 4, words, words)
    done = [state.n_words for state in states]
    assert done == sorted(done) and len(set(done)) == 3


def test_a_resumed_run_counts_the_books_and_not_their_words(tmp_path):
    with miner.mine_corpus(BOOKS, tmp_path / "out", tagger="gap") as run:
        next(run)
    states, run = states_of(*BOOKS, out=tmp_path / "out", resume=True)
    words = run.entries[1]["words"]
    assert states[-1] == Progress(3, 3, words, words)


def test_progress_is_told_in_the_process_of_the_run():
    lock, states = threading.Lock(), []  # a lock cannot be sent to a worker

    def tell(progress):
        with lock:
            states.append(progress)

    miner.mine_corpus(BOOKS, tagger="gap", workers=2, on_progress=tell).finish()
    assert [one.n_done for one in states][-1] == len(BOOKS)
