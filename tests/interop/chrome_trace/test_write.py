"""Writing a trace: any size, whole or not at all, and from the command line."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import collsim
from collsim.algorithms import build
from collsim.cli.main import main
from collsim.core.cluster import Cluster
from collsim.engine.simulate import Job, simulate
from collsim.engine.traffic import Traffic
from collsim.errors import FileError, InputError
from collsim.interop.chrome_trace._counters import levels


def test_no_list_of_all_events_is_held(tmp_path: Path) -> None:
    """What is held while writing does not grow with the text, which is far larger."""
    cluster = Cluster.load("dgx-h100", nodes=6)
    timeline = simulate(build("all_gather", "ring", 48), cluster, 2**20)
    path = tmp_path / "run.json"
    tracemalloc.start()
    collsim.write_trace(timeline, cluster, path)
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert timeline.operations == 48 * 47
    assert path.stat().st_size > 2_000_000
    assert held < 1_000_000


@pytest.mark.parametrize("name", ["run.txt", "run", "-", "run.gz"])
def test_a_name_says_the_format(tmp_path: Path, name: str) -> None:
    """Anything but the two endings is refused before anything is written."""
    cluster = Cluster.ideal(2, "1us", "1GB/s")
    timeline = simulate(build("broadcast", "mst", 2), cluster, 8)
    with pytest.raises(InputError, match=r"expected a name that ends in \.json or \.json\.gz"):
        collsim.write_trace(timeline, cluster, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_another_cluster_is_refused(tmp_path: Path) -> None:
    """A trace of four ranks on eight, or jobs of ranks that are not there, would be wrong."""
    four, two = (Cluster.ideal(n, "1us", "1GB/s") for n in (4, 2))
    tree = build("broadcast", "mst", 4)
    outcomes: list[Any] = [simulate(tree, four, 8), simulate([Job(tree, range(4), 8)], four)]
    for outcome in outcomes:
        with pytest.raises(InputError, match="of 4 ranks, but cluster 'ideal' has 2"):
            collsim.write_trace(outcome, two, tmp_path / "run.json")
    wrong: Any = tree
    with pytest.raises(InputError, match="expected what simulate returned"):
        collsim.write_trace(wrong, four, tmp_path / "run.json")


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    """An error of the file, and nothing is made."""
    cluster = Cluster.ideal(2, "1us", "1GB/s")
    timeline = simulate(build("broadcast", "mst", 2), cluster, 8)
    with pytest.raises(FileError, match="does not exist"):
        collsim.write_trace(timeline, cluster, tmp_path / "no" / "run.json")


def test_simulate_writes_what_it_prints(tmp_path: Path) -> None:
    """`--trace` beside the answer: as many messages, and the same time."""
    path = tmp_path / "run.json.gz"
    line = "simulate all_reduce --algorithm ring -s 1MiB -c dgx-h100 --json --trace"
    done = CliRunner().invoke(main, [*line.split(), str(path)])
    assert done.exit_code == 0, done.output
    (row,) = json.loads(done.stdout)["rows"]
    events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    assert sum(event["ph"] == "s" for event in events) == row["operations"]
    (call,) = [event for event in events if event["name"] == "all_reduce"]
    assert call["dur"] == pytest.approx(row["time_us"], abs=1e-3)
    assert call["args"]["time_us"] == pytest.approx(row["time_us"])


def test_simulate_refuses_a_wrong_name_at_once(tmp_path: Path) -> None:
    """One line, exit 1, and no answer that would seem to be all."""
    line = ["simulate", "reduce", "-s", "8", "--trace", str(tmp_path / "run.png")]
    done = CliRunner().invoke(main, line)
    assert done.exit_code == 1
    assert done.stdout == ""
    assert done.stderr.startswith("Error: trace ")


def test_very_many_levels_are_averaged() -> None:
    """10,000 bursts of 1 ms become 4096 levels with the same bytes in all, in their order."""
    begin = np.arange(10_000) * 2e-3
    rate = np.where(np.arange(10_000) < 5000, 1e9, 3e9)
    one = Traffic("link", 4e9, begin, begin + 1e-3, rate)
    told = levels(one)
    times, rates = np.array(told).T
    assert len(told) <= 4096 + 2
    assert (times[0], rates[-1]) == (0, 0)
    passed = np.concatenate([[0.0], np.cumsum(np.diff(times) * rates[:-1] / 1e9)])
    assert passed[-1] == pytest.approx(2e10, rel=1e-6)
    # Half of the time, a quarter of the bytes.
    assert np.interp(1e10, times, passed) == pytest.approx(5e9, rel=1e-3)


def test_levels_that_stay_are_told_once() -> None:
    """Two messages one after the other at one rate are one level."""
    ones = np.ones(2) * 1e9
    one = Traffic("link", 1e9, np.array([0.0, 1e-6]), np.array([1e-6, 2e-6]), ones)
    assert levels(one) == [(0, 1e9), (2000, 0.0)]
