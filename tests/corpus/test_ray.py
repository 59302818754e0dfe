"""Ray: order, lost items and lost machines, and the same bytes as those of the local engine."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from build_helpers import digests, recipe_of
from corpus_helpers import MINER, bytes_of, shards_of
from encoders import save_checkpoint
from helpers import DATA, ROOT, SAMPLE, wait_until
from shelf import write_shelf

import miner
from miner.corpus.build import build_corpus
from miner.corpus.executors import LocalExecutor
from miner.corpus.ray_executor import RETRIES, RayExecutor
from miner.errors import InputError
from miner.extras import MissingExtraError

KILLED = "its process was killed, perhaps for want of memory"
HERE = RayExecutor("local", n_cpus=2)
BOOKS = (DATA / "dash.htm", "sample", DATA / "play.html", DATA / "single_curly.html", "gone.htm")


def test_without_ray_it_says_so_in_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match="^found no ray, .*: install the extra ray "):
        next(HERE.map(str, [1]))


@pytest.fixture(scope="module")
def ray():
    ray = pytest.importorskip("ray", reason="needs the extra ray")
    yield ray
    ray.shutdown()


@pytest.fixture
def cluster(ray, monkeypatch):
    """A cluster of several nodes on this machine, and a node to which tests add others."""
    from ray.cluster_utils import Cluster

    ray.shutdown()
    monkeypatch.setenv("RAY_worker_niceness", "0")
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    cluster = Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 1, "num_gpus": 0, "object_store_memory": 100_000_000},
    )
    yield cluster
    ray.shutdown()
    cluster.shutdown()


def add_node(cluster, **options):
    return cluster.add_node(object_store_memory=100_000_000, **({"num_gpus": 0} | options))


@pytest.fixture(scope="module")
def many_samples(tmp_path_factory):
    folder = tmp_path_factory.mktemp("samples")
    for n in range(24):
        shutil.copy(SAMPLE, folder / f"{n + 1}-h.htm")
    return folder


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    return save_checkpoint(tmp_path_factory.mktemp("many") / "tiny", window=48, margin=4)


def mined(out, sources, executor=None, **options):
    run = miner.mine_corpus(sources, out, executor=executor, **options).finish()
    return bytes_of(out), [(item.name, item.why) for item in run.set_aside]


def killing_in_the_second(book_spans):
    if book_spans.book.id == "sample":
        os.kill(os.getpid(), signal.SIGKILL)
    return True


@pytest.mark.slow
def test_results_come_in_order_and_items_are_taken_as_needed(ray):
    taken = []
    items = (taken.append(item) or item for item in range(30))
    results = HERE.map(lambda item: (item, os.getpid()), items)
    assert taken == []
    first, process = next(results)
    assert first == 0 and process != os.getpid() and len(taken) <= 5
    assert [item for item, _ in results] == list(range(1, 30))


@pytest.mark.slow
def test_an_item_that_ends_its_process_costs_no_other(ray, tmp_path):
    def work(item):
        if item == 2:
            with (tmp_path / "tries").open("a") as file:
                file.write("x")
            os.kill(os.getpid(), signal.SIGKILL)
        if item == 5:
            raise MemoryError
        return item

    found = list(HERE.map(work, range(8)))
    assert isinstance(found[2], ChildProcessError) and str(found[2]) == KILLED
    assert isinstance(found[5], MemoryError)
    assert [found[n] for n in (0, 1, 3, 4, 6, 7)] == [0, 1, 3, 4, 6, 7]
    assert len((tmp_path / "tries").read_text()) == RETRIES + 1


@pytest.mark.slow
def test_errors_of_the_function_come_back_and_end_the_map(ray):
    class TwoWords(Exception):
        """Cannot be unpickled from its one argument."""

        def __init__(self, first, second):
            super().__init__(f"{first} {second}")

    def work(item):
        if item == 1:
            raise FileNotFoundError(2, "no such", "file")
        if item == 2:
            raise TwoWords("too", "large")
        return item

    with pytest.raises(FileNotFoundError, match="no such"):
        list(HERE.map(work, [0, 1]))
    with pytest.raises(RuntimeError, match="^TwoWords: too large\n") as error:
        list(HERE.map(work, [2]))
    assert "in work\n" in "".join(error.value.__notes__)  # the traceback there
    lock = threading.Lock()
    with pytest.raises(InputError, match=r"cannot be sent to another process .*local engine"):
        next(HERE.map(lambda item: lock, [1]))


@pytest.mark.slow
def test_a_relative_path_is_that_of_this_process(ray, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("here").write_text("it is")
    assert list(HERE.map(lambda path: path.read_text(), [Path("here")])) == ["it is"]


@pytest.mark.slow
@pytest.mark.parametrize("tagger", ["gap", "checkpoint"])
def test_it_writes_the_bytes_of_the_local_engine(ray, checkpoint, tmp_path, tagger):
    options = {"tagger": checkpoint if tagger == "checkpoint" else tagger}
    local, ours = tmp_path / "local" / "out", tmp_path / "ray" / "out"
    assert mined(ours, BOOKS, HERE, **options) == mined(local, BOOKS, **options)


@pytest.mark.slow
@pytest.mark.parametrize("tagger", ["gap", "checkpoint"])
def test_a_book_that_kills_its_worker_is_set_aside(ray, checkpoint, tmp_path, tagger):
    options = {"tagger": checkpoint if tagger == "checkpoint" else tagger}
    options["filters"] = killing_in_the_second
    books = [DATA / "dash.htm", "sample", DATA / "single_curly.html"]
    bytes_by_ray, aside = mined(tmp_path / "ray" / "out", books, HERE, **options)
    assert aside == [("sample", KILLED)]
    assert bytes_by_ray == mined(tmp_path / "local" / "out", books, LocalExecutor(1), **options)[0]


@pytest.mark.slow
def test_an_interrupted_run_is_resumed_by_the_other_engine(ray, many_samples, tmp_path):
    out, options = tmp_path / "out", {"tagger": "gap"}
    with miner.mine_corpus(many_samples, out, executor=HERE, **options) as run:
        for _ in range(4):
            next(run)
    assert 4 <= len(shards_of(tmp_path / "out.partial")) < 24
    resumed = mined(out, many_samples, resume=True, **options)
    assert resumed == mined(tmp_path / "whole", many_samples, **options)


@pytest.mark.slow
@pytest.mark.parametrize("tagger", ["gap", "checkpoint"])
def test_a_machine_that_dies_in_the_middle_costs_nothing(
    cluster, many_samples, checkpoint, tmp_path, tagger
):
    options = {"tagger": checkpoint if tagger == "checkpoint" else tagger}
    nodes = [add_node(cluster, num_cpus=1) for _ in range(2)]
    executor = RayExecutor(cluster.address, shared=(tmp_path,))
    out, places = tmp_path / "out", tmp_path / "places"
    places.mkdir()

    def noting(book_spans):
        import ray

        place = ray.get_runtime_context().get_node_id()
        (places / f"{place}-{book_spans.book.id}").touch()
        wait_until(lambda: len({path.name.partition("-")[0] for path in places.iterdir()}) == 3)
        return True

    options["filters"] = noting
    run = miner.mine_corpus(many_samples, out, executor=executor, **options)
    for _ in range(3):  # none is done before all three machines have begun
        next(run)
    cluster.remove_node(nodes[0], allow_graceful=False)
    run.finish()
    assert run.set_aside == []
    options["filters"] = noting_nothing(noting)
    assert bytes_of(out) == mined(tmp_path / "local", many_samples, **options)[0]


def noting_nothing(noting):
    """A filter that has the name of `noting`, and so the same record."""

    def taking_all(book_spans):
        return True

    taking_all.__qualname__ = noting.__qualname__
    return taking_all


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    """A recipe for novels, and what the local engine builds from it."""
    folder = tmp_path_factory.mktemp("shelf")
    recipe = recipe_of(folder, write_shelf(folder / "books", 24), "convokit = {}")
    build_corpus(recipe, folder / "corpus")
    return recipe, digests(folder / "corpus")


@dataclass(frozen=True)
class Sticking:
    """An executor one of whose machines sticks fast in its second call of a stage.

    The other machines wait in their second call until it does, so that it has one.

    Attributes:
        executor: does the work.
        calls: a folder for a file for each call: the stage, the node, and which call of it.
        node_of: the node that sticks fast, by stage.
    """

    executor: RayExecutor
    calls: Path
    node_of: dict[str, str]

    def stuck(self, stage):
        """The file that says that the stage's node sticks fast."""
        return self.calls / f"{stage}-{self.node_of[stage]}-1"

    def map(self, function, items):
        calls = self.calls
        stage = getattr(function, "func", type(function)).__name__
        doomed = self.node_of.get(stage)
        stuck = doomed and self.stuck(stage)

        def call(item):
            import ray

            node = ray.get_runtime_context().get_node_id()
            n = len([*calls.glob(f"{stage}-{node}-*")])
            (calls / f"{stage}-{node}-{n}").touch()
            if n and stuck:
                wait_until(stuck.exists)
            if n and doomed == node:
                time.sleep(600)
            return function(item)

        return self.executor.map(call, items)


@pytest.mark.slow
def test_machines_that_die_in_a_build_cost_nothing(cluster, shelf, tmp_path):
    recipe, expected = shelf
    nodes = [add_node(cluster, num_cpus=1) for _ in range(3)]
    calls = tmp_path / "calls"
    calls.mkdir()
    dying = {"BookMiner": nodes[0], "finish_book": nodes[1]}
    executor = Sticking(
        RayExecutor(cluster.address, shared=(tmp_path,)),
        calls,
        {stage: node.node_id for stage, node in dying.items()},
    )
    built = []
    build = threading.Thread(
        target=lambda: built.append(build_corpus(recipe, tmp_path / "out", executor=executor)),
        daemon=True,
    )
    build.start()
    for stage, node in dying.items():
        wait_until(lambda: executor.stuck(stage).exists() or not build.is_alive())  # noqa: B023
        assert executor.stuck(stage).exists()  # one book is done, and one is not
        cluster.remove_node(node, allow_graceful=False)
    build.join()
    assert built and built[0].set_aside == ()
    assert digests(tmp_path / "out") == expected


@pytest.mark.slow
def test_the_command_builds_by_ray_what_it_builds_by_itself(ray, shelf, tmp_path):
    recipe, expected = shelf
    out = tmp_path / "out"
    words = ["build", recipe, "-o", out, "--engine", "ray", "--workers", "2", "-q"]
    done = subprocess.run([*MINER, *words], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert digests(out) == expected


@pytest.mark.slow
def test_the_cpus_share_the_gpus_and_their_processes_stay(cluster):
    nodes = [add_node(cluster, num_cpus=2, num_gpus=1) for _ in range(2)]

    def work(item):
        import ray

        time.sleep(0.3)
        context = ray.get_runtime_context()
        return context.get_node_id(), os.getpid(), len(ray.get_gpu_ids())

    found = list(RayExecutor(cluster.address).map(work, range(24)))
    assert {node for node, _, _ in found} == {node.node_id for node in nodes}
    assert len({process for _, process, _ in found}) == 4 and {n for _, _, n in found} == {1}


@pytest.mark.slow
def test_a_folder_that_a_machine_does_not_see_is_one_line(ray, cluster, tmp_path):
    join = f"mount -t tmpfs none {tmp_path} && exec {Path(sys.executable).parent}/ray start"
    options = "--num-cpus 1 --object-store-memory 100000000 --block"
    command = ["unshare", "--mount", "sh", "-c", f"{join} --address {cluster.address} {options}"]
    if not shutil.which("unshare") or subprocess.run([*command[:2], "true"]).returncode:
        pytest.skip("no mount of its own for a process here")
    (tmp_path / "out").mkdir()
    other = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        executor = RayExecutor(cluster.address, shared=(tmp_path / "out",))
        assert list(RayExecutor(cluster.address).map(str, [1])) == ["1"]
        wait_until(lambda: sum(node["Alive"] for node in ray.nodes()) == 2)
        with pytest.raises(InputError, match=r"^.*/out: not the same folder on machine [\d.]+, "):
            next(executor.map(str, [1]))
        assert list((tmp_path / "out").iterdir()) == []
    finally:
        other.terminate()
        other.wait()


@pytest.mark.slow
def test_no_cluster_at_the_address_is_one_line(ray):
    ray.shutdown()
    with pytest.raises(ConnectionError, match=r"^found no Ray cluster at 127.0.0.1:1: .+$"):
        next(RayExecutor("127.0.0.1:1").map(str, [1]))
    with pytest.raises(InputError, match="^found 2 CPUs for the cluster at 127.0.0.1:1"):
        next(RayExecutor("127.0.0.1:1", n_cpus=2).map(str, [1]))


SCRIPT = """
import os, signal
from miner.corpus.ray_executor import RayExecutor

def work(item):
    print("a worker speaks")
    if item == 1:
        os._exit(1)
    return item

before = signal.getsignal(signal.SIGTERM)
print(list(RayExecutor("local", n_cpus=2).map(work, range(3))))
assert signal.getsignal(signal.SIGTERM) is before
"""


@pytest.mark.slow
def test_ray_says_nothing_of_its_own(ray, tmp_path):
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=env, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (f"[0, ChildProcessError({KILLED!r}), 2]\n", "")
