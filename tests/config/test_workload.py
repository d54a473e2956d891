"""Workload files: read strictly, and refused with file, key, got and expected."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from collsim.config.workload import load
from collsim.errors import CollsimError, ConfigError

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples/workloads").glob("*.toml"))
PAGE = ROOT / "docs/workloads.md"

GOOD = """\
schema = "collsim/workload/1"
[model]
layers = 4
hidden = 64
heads = 4
ffn = 256
vocab = 100
[batch]
sequence = 16
[parallel]
tensor = 2
[compute]
peak = 1e12
efficiency = 0.5
"""
RAW = """\
schema = "collsim/workload/1"
[compute]
layers = 4
forward = "1ms"
backward = "2ms"
[[collective]]
collective = "allreduce"
size = "1MiB"
"""


def read(tmp_path: Path, text: str) -> str:
    """Return the error of a file with that text."""
    path = tmp_path / "w.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(ConfigError) as caught:
        load(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    return message.removeprefix(f"{path}: ")


def test_a_step_of_nccl_is_as_the_page_says(tmp_path: Path) -> None:
    """The block of docs/workloads.md goes with a file, and asks for what NCCL has."""
    (block,) = re.findall(
        r"^```toml\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    path = tmp_path / "mine.toml"
    path.write_text(GOOD + block, "utf-8")
    assert load(path).algorithms == {"data": "nccl", "tensor": "nccl"}


def test_defaults(tmp_path: Path) -> None:
    """A model, a batch and a speed are enough; the name is the file's."""
    path = tmp_path / "mine.toml"
    path.write_text(GOOD, "utf-8")
    work = load(path)
    assert (work.name, work.layers, work.batch.tokens) == ("mine", 4, 16)
    assert work.compute.rate == 5e11
    assert (work.parallel.bucket, work.parallel.sharding) == (25 * 2**20, "none")
    assert work.types.gradients == "float"


def test_algorithms_of_kinds_and_of_collectives(tmp_path: Path) -> None:
    """A name for all collectives of a kind of group, or for one of them."""
    path = tmp_path / "mine.toml"
    lines = "[algorithms]\ntensor = 'ring'\ndata.all_gather = 'bruck:radix=4'\n[compute]"
    path.write_text(GOOD.replace("[compute]", lines), "utf-8")
    assert load(path).algorithms == {"tensor": "ring", "data.all_gather": "bruck:radix=4"}


def test_given_collectives(tmp_path: Path) -> None:
    """Any spelling of a collective; it runs once, in backward, and the next layer waits."""
    path = tmp_path / "raw.toml"
    path.write_text(RAW, "utf-8")
    (given,) = load(path).given
    assert (given.name, given.collective, given.nbytes) == ("all_reduce", "all_reduce", 2**20)
    assert (given.group, given.count, given.phase, given.overlap) == (
        "data", 1, "backward", "none",
    )  # fmt: skip


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_read(path: Path) -> None:
    """Each names its cluster, and says where its numbers are from."""
    work = load(path)
    assert work.home.cluster is not None
    assert work.model is None or work.compute.source


def test_there_are_four_examples() -> None:
    """An empty list would make the test above pass without a look."""
    assert len(EXAMPLES) == 4


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("hidden = 64", "hiden = 64", "model.hiden: unknown key; did you mean 'hidden'?"),
        ("hidden = 64\n", "", "model.hidden: missing, expected a whole number"),
        ("heads = 4", "heads = 5", "model.heads: got 5, expected a divisor of hidden = 64"),
        ("heads = 4", "heads = 4\nmlp = 'gatd'", "did you mean 'gated'?"),
        ("heads = 4", "heads = 4\nexperts = 2", "model.experts_per_token: missing"),
        ("heads = 4", "heads = 4\nexperts_per_token = 2", "no such key without experts"),
        ("tensor = 2", "tensor = 3", "parallel.tensor: got 3, expected a divisor of the 4"),
        ("tensor = 2", "pipeline = 3", "parallel.pipeline: got 3, expected a divisor of the 4"),
        ("tensor = 2", "expert = 3", "parallel.expert: got 3, expected a divisor of the 1"),
        ("tensor = 2", "data = 3\nexpert = 2", "parallel.data: got 3, expected a multiple"),
        ("tensor = 2", "sequence = true", "expected false where tensor is 1"),
        (
            "tensor = 2",
            "order = ['tensor']",
            "parallel.order: got a list, expected tensor, dat",
        ),
        ("tensor = 2", "sharding = 'ful'", "did you mean 'full'?"),
        ("tensor = 2", "bucket = '1GB/s'", "parallel.bucket: got '1GB/s', expected a size"),
        ("tensor = 2", "bucket = 0", "parallel.bucket: got 0, expected a size above 0"),
        ("tensor = 2", "prefetch = -1", "parallel.prefetch: got -1, expected a whole number"),
        (
            "peak = 1e12",
            "peak = 0",
            "compute.peak: got 0, expected operations per second, 1 to",
        ),
        (
            "efficiency = 0.5",
            "efficiency = 50",
            "compute.efficiency: got 50, expected a number",
        ),
        ("peak = 1e12", "forward = '1ms'", "either peak and efficiency, or forward and back"),
        ("[compute]", "[types]\ngradients = 'flot'\n[compute]", "did you mean 'float'?"),
        ("[compute]", "[algorithms]\ndatta = 'ring'\n[compute]", "did you mean 'data'?"),
        ("[compute]", "[algorithms]\ndata = 'rng'\n[compute]", "did you mean 'ring'?"),
        (
            "[compute]",
            "[algorithms]\ndata.all_gather = 'nvls_tree'\n[compute]",
            "algorithms.data.all_gather: got 'nvls_tree', expected auto, nccl, or one of",
        ),
        ("[compute]", "[algorithms]\ndata.al_gather = 'ring'\n[compute]", "mean 'all_gather'?"),
        ("[compute]", "[cluster]\nnodes = 2\n[compute]", "cluster.name: missing"),
        ("collsim/workload/1", "collsim/cluster/1", "schema: got 'collsim/cluster/1'"),
        ("[model]", "[modle]", "modle: unknown key; did you mean 'model'?"),
        ("[batch]", "batch = 3\n[bach]", "unknown key"),
    ],
)
def test_wrong_files(tmp_path: Path, old: str, new: str, message: str) -> None:
    """One line: which key, what it holds, what was expected."""
    assert old in GOOD
    assert message in read(tmp_path, GOOD.replace(old, new, 1))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"allreduce"', '"alreduce"', "collective[0].collective: got 'alreduce'"),
        ('"1MiB"', "-1", "collective[0].size: got -1, expected a size in bytes"),
        ("size =", "group = 'dat'\nsize =", "did you mean 'data'?"),
        (
            "size =",
            "overlap = true\nsize =",
            "collective[0].overlap: got true, expected one of",
        ),
        ("[compute]", "[parallel]\npipeline = 2\n[compute]", "1 without a [model]"),
        ("[[collective]]", "[nothing]", "nothing: unknown key"),
        ("[[collective]]", "[collective]", "collective: got a table, expected tables"),
    ],
)
def test_wrong_collectives(tmp_path: Path, old: str, new: str, message: str) -> None:
    """They are counted from 0, as Python does."""
    assert old in RAW
    assert message in read(tmp_path, RAW.replace(old, new, 1))


def test_a_file_without_model_and_collectives(tmp_path: Path) -> None:
    """Nothing to estimate."""
    assert read(tmp_path, RAW.split("[[", maxsplit=1)[0]).startswith("model: missing")


def test_any_cut_is_refused_in_one_line(tmp_path: Path) -> None:
    """A file that ends early is read or refused, never worse."""
    path = tmp_path / "w.toml"
    said = []
    for end in range(0, len(GOOD), 3):
        path.write_text(GOOD[:end], "utf-8")
        try:
            load(path)
        except CollsimError as error:
            said.append(str(error))
    assert len(said) > 50
    assert not any("\n" in message for message in said)


@pytest.mark.parametrize("peak", ['"989TFLOPS"', "1e-300", "true", "nan", "1e31", "-1"])
def test_a_peak_has_one_rule(tmp_path: Path, peak: str) -> None:
    """Whatever is wrong with it, the same is expected."""
    message = read(tmp_path, GOOD.replace("1e12", peak))
    assert message.startswith("compute.peak: got ")
    assert message.endswith("expected operations per second, 1 to 1e30, such as 989.4e12")


def test_a_peak_is_asked_for(tmp_path: Path) -> None:
    """Beside an efficiency."""
    assert "compute.peak" in read(tmp_path, GOOD.replace("peak = 1e12\n", ""))
