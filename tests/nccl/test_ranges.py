"""Ranges of sizes with one choice: their ends are exact, byte by byte."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collsim.core.cluster import Cluster
from collsim.errors import InputError
from collsim.nccl import (
    COLLECTIVES,
    ChoiceRange,
    Communicator,
    Graph,
    Tuning,
    communicator,
    smoothed,
    tuning,
)
from collsim.nccl._ranges import find_ranges
from collsim.nccl._time import Curve

LARGE = 2**33


def check(table: Tuning, collective: str, sizes: np.ndarray) -> None:
    """Compare ranges with trying all algorithms and protocols, at these sizes, in order."""
    ranges = table.ranges(collective, int(sizes[0]), int(sizes[-1]))
    assert (ranges[0].min_bytes, ranges[-1].max_bytes) == (sizes[0], sizes[-1])
    for one, two in pairwise(ranges):
        assert two.min_bytes == one.max_bytes + 1
        assert what(one) != what(two)
    times = table.times_us(collective, sizes)
    keys = list(times)
    lowest = np.argmin(np.stack([times[key] for key in keys]), axis=0)
    place = np.searchsorted([r.min_bytes for r in ranges], sizes, side="right") - 1
    said = np.array([keys.index((r.algorithm, r.protocol)) for r in ranges])[place]
    assert (said == lowest).all()
    for i in range(0, sizes.size, max(1, sizes.size // 300)):
        choice = table.choice(collective, int(sizes[i]))
        one = ranges[place[i]]
        assert what(one) == (choice.algorithm, choice.protocol, choice.channels)


def what(one: ChoiceRange) -> tuple[str, str, int]:
    """Return what is chosen."""
    return one.algorithm, one.protocol, one.channels


@st.composite
def graphs(draw: st.DrawFn, pattern: int) -> Graph:
    """Draw a graph."""
    inside = draw(st.sampled_from([2.4, 12.0, 20.0, 24.0, 30.0, 48.0, 60.0]))
    return Graph(
        channels=draw(st.integers(1, 32)),
        bw_intra=inside,
        bw_inter=draw(st.sampled_from([inside, 2.4, 12.0, 24.0, 48.0])),
        latency_inter=draw(st.sampled_from([0.0, 75.0])),
        type_intra=draw(st.sampled_from(["NVL", "PIX", "SYS"])),
        type_inter=draw(st.sampled_from(["PIX", "PXB", "PHB"])),
        same_channels=draw(st.booleans()),
        pattern=pattern,
    )


@st.composite
def tables(draw: st.DrawFn) -> Tuning:
    """Draw a table of NCCL."""
    nodes = draw(st.sampled_from([1, 2, 3, 8]))
    comm = Communicator(
        ranks=nodes * draw(st.sampled_from([2, 4, 8])),
        nodes=nodes,
        capability=draw(st.sampled_from([70, 80, 90, 100])),
        graphs={
            "ring": draw(graphs(4)),
            "tree": draw(graphs(1)),
            "nvls": draw(graphs(5)),
        },
        nvls_channels=16,
    )
    return tuning(comm, draw(st.sampled_from(["2.18.1", "2.21", "2.24", "2.27", "2.30"])))


@given(table=tables(), collective=st.sampled_from(COLLECTIVES), seed=st.integers(0, 2**32))
@settings(max_examples=60)
def test_ranges_say_what_trying_says(table: Tuning, collective: str, seed: int) -> None:
    """At every size about each end, and at 1,000 random ones."""
    ends = [r.min_bytes for r in table.ranges(collective, 1, LARGE)]
    near = np.concatenate([np.arange(max(1, end - 300), end + 300) for end in ends[:60]])
    some = (2 ** np.random.default_rng(seed).uniform(0, 33, 1000)).astype(np.int64)
    check(table, collective, np.unique(np.concatenate([near, some])))


@pytest.mark.parametrize("version", ["2.18.1", "2.30"])
def test_every_size_up_to_three_mebibytes(version: str) -> None:
    """All sizes of an all_reduce on 2 x 8 GPUs, tried one by one."""
    table = tuning(communicator(Cluster.load("dgx-h100", nodes=2)), version)
    check(table, "all_reduce", np.arange(1, 3 * 2**20, dtype=np.int64))


def test_where_rounding_decides_every_float_is_tried() -> None:
    """About 2.4 GB, where 32-bit floats are 256 bytes apart."""
    table = tuning(communicator(Cluster.load("dgx-h100", nodes=8)))
    ranges = [r for r in table.ranges("all_reduce", 2**31, LARGE) if r.min_bytes > 2**31]
    assert len(ranges) > 3
    middle = ranges[len(ranges) // 2].min_bytes
    check(table, "all_reduce", np.arange(middle - 10**6, middle + 10**6, dtype=np.int64))


@pytest.mark.parametrize("version", ["2.18", "2.30"])
def test_lines_of_one_slope_are_told_apart_up_to_the_largest_size(version: str) -> None:
    """Ring and NVLSTree of 4 B200 systems differ by their latency only."""
    table = tuning(communicator(Cluster.load("dgx-b200", nodes=4)), version)
    ends = [r.min_bytes for r in table.ranges("all_reduce", 1, 2**62)]
    assert len(ends) < 1000
    near = np.concatenate([np.arange(max(1, end - 100), end + 100) for end in ends])
    some = (2 ** np.random.default_rng(1).uniform(0, 62, 10000)).astype(np.int64)
    check(table, "all_reduce", np.unique(np.concatenate([near, some, [2**62]])))


@given(
    latencies=st.lists(st.floats(0.5, 500, width=32), min_size=2, max_size=4),
    rate=st.floats(1, 2, width=32),
    power=st.integers(20, 34),
)
@settings(max_examples=40)
def test_lines_of_one_slope_about_every_power(
    latencies: list[float], rate: float, power: int
) -> None:
    """A few thousand 32-bit sizes below and above it, tried one by one."""
    lines = [Curve("ring", "ll", (0,), (latency,), (rate,)) for latency in latencies]
    middle, step = int(2**power * rate), 2 ** max(0, power - 23)
    sizes = np.arange(middle - 4000 * step, middle + 4000 * step, step, dtype=np.int64)
    found = list(find_ranges(lines, int(sizes[0]), int(sizes[-1])))
    lowest = np.argmin(np.stack([line.over(sizes) for line in lines]), axis=0)
    place = np.searchsorted([first for first, _, _ in found], sizes, side="right") - 1
    assert (np.array([index for _, _, index in found])[place] == lowest).all()


def test_smoothed_ranges_cover_the_same_sizes() -> None:
    """And change only where the time does, to 16 bits."""
    table = tuning(communicator(Cluster.load("dgx-h100", nodes=8)))
    exact = table.ranges("all_reduce", 1, LARGE)
    smooth = smoothed(exact)
    assert len(smooth) < len(exact)
    assert (smooth[0].min_bytes, smooth[-1].max_bytes) == (1, LARGE)
    for one, two in pairwise(smooth):
        assert two.min_bytes == one.max_bytes + 1
    for r in smooth:
        for nbytes in (r.min_bytes, r.max_bytes):
            best = table.choice("all_reduce", nbytes).time_us
            time = table.time_us("all_reduce", r.algorithm, r.protocol, nbytes)
            assert time == pytest.approx(best, rel=1e-5)


def test_a_single_size_is_a_range() -> None:
    """Low and high the same; zero bytes too."""
    table = tuning(communicator(Cluster.load("dgx-a100")))
    only = table.ranges("broadcast", 0, 0)
    assert [(r.min_bytes, r.max_bytes, r.channels) for r in only] == [(0, 0, 1)]


def test_sizes_the_wrong_way_round_are_refused() -> None:
    """One line."""
    table = tuning(communicator(Cluster.load("dgx-a100")))
    with pytest.raises(InputError, match="expected the smaller first"):
        table.ranges("broadcast", 2, 1)
