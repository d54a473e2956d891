"""Which rows are fitted, and which are held out."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from collsim.calibrate.validate.bench import Bench, Log, Trial
from collsim.calibrate.validate.rows import bench_rows, in_series, parted
from collsim.calibrate.validate.systems import BENCHES, LINES, REDUCING, ROLES
from collsim.core.measurements import Measurement


def row(size: int, us: float, collective: str = "all_gather", ranks: int = 8) -> Measurement:
    """Return a row of one node."""
    return Measurement(collective, ranks, size, us * 1e-6, nodes=1)


def test_no_row_is_both_fitted_and_held_out(shared_data: Path) -> None:
    """In every trial of every system; and each has rows of both kinds."""
    for bench in BENCHES:
        rows = bench_rows(bench, str(shared_data))
        assert rows is not None, bench.name
        for trial in bench.trials:
            both = parted(rows, trial)
            assert both.fit, (bench.name, trial.line)
            assert both.hold, (bench.name, trial.line)
            assert not Counter(both.fit) & Counter(both.hold), (bench.name, trial.line)


def test_every_second_size_of_each_series_is_held_out() -> None:
    """Series are apart: 3 and 2 sizes give 2 and 1 to the fit."""
    rows = tuple(
        row(size, 10.0, ranks=ranks)
        for ranks, sizes in ((4, (1, 2, 3)), (8, (5, 6)))
        for size in sizes
    )
    both = parted(rows, Trial("sizes", "", alternate=True))
    assert [(one.ranks, one.nbytes) for one in both.fit] == [(4, 1), (4, 3), (8, 5)]
    assert [(one.ranks, one.nbytes) for one in both.hold] == [(4, 2), (8, 6)]


def test_a_collective_is_held_out_with_what_is_neither() -> None:
    """all_to_all takes no part in reduce_scatter from the two others."""
    rows = tuple(row(8, 10.0, kind) for kind in (*REDUCING, "all_to_all"))
    trial = next(t for bench in BENCHES for t in bench.trials if t.line == "reduce_scatter")
    both = parted(rows, trial)
    assert [one.collective for one in both.fit] == ["all_reduce", "all_gather"]
    assert [one.collective for one in both.hold] == ["reduce_scatter"]


def test_forced_rows_are_series_of_their_own() -> None:
    """Two protocols of one size are no neighbours in size."""
    rows = [
        Measurement("all_gather", 2, size, 1e-5, nodes=1, algorithm="ring", protocol=protocol)
        for size in (1, 2)
        for protocol in ("ll", "simple")
    ]
    assert [len(one) for one in in_series(rows)] == [2, 2]


def test_a_folder_without_a_log_gives_none(tmp_path: Path) -> None:
    """The system is left out, not half of it fitted."""
    bench = Bench("a", "A", (Log("001", 8),), "dgx-a100", "own", (), None)
    assert bench_rows(bench, str(tmp_path)) is None


@pytest.mark.parametrize("bench", BENCHES, ids=lambda bench: bench.name)
def test_every_bench_is_declared_whole(bench: Bench) -> None:
    """Its role and its lines are known, and its preset loads."""
    assert bench.role in ROLES
    assert {trial.line for trial in bench.trials} <= LINES.keys()
    assert bench.cluster(2, 1).ranks == 2
