"""Series of rows, failures of runs, and rows of the other columns."""

from __future__ import annotations

from collsim.calibrate.check import check
from collsim.calibrate.formula import formula_of
from collsim.calibrate.match import device_notes
from collsim.calibrate.select import select
from collsim.core.measurements import LeftOut, Measurement, Measurements, Source

MODEL = formula_of(alpha=1e-5, beta=1e-9, launch=0.0, algorithm="ring")
SIZES = (8, 1024, 2**20)


def rows(factor: float = 1.0, **fields: object) -> Measurements:
    """Return rows that take so many times as long as predicted."""
    return Measurements(
        Measurement("all_reduce", 2, n, factor * (2e-5 + n * 1e-9), **fields)  # type: ignore[arg-type]
        for n in SIZES
    )


def test_algorithms_that_were_forced_are_series_of_their_own() -> None:
    """A slow one does not make single rows of a good one."""
    result = check(rows(algorithm="ring") + rows(3, algorithm="tree"), MODEL)
    ring, tree = result.summary.splitlines()
    assert ring == "all_reduce on 2 ranks by ring: all 3 rows within 20% of the prediction."
    assert tree.startswith("all_reduce on 2 ranks by tree: latency is too long up to 1KiB, 3 ")
    assert [row.algorithm for row in result.rows] == ["ring"] * 3 + ["tree"] * 3


def test_an_algorithm_that_changes_with_the_size_is_one_series() -> None:
    """That is how libraries choose."""
    first, *others = rows(algorithm="ring").rows
    changed = [first, *rows(algorithm="tree").rows[1:]]
    result = check(Measurements(changed), MODEL)
    assert len(others) == 2
    assert result.summary == "all_reduce on 2 ranks: all 3 rows within 20% of the prediction."


def test_a_run_that_failed_is_not_ok() -> None:
    """However good the other rows are."""
    left = [LeftOut("a", n, "out of place: 9 elements are wrong", failed=True) for n in (5, 6)]
    assert check(rows(), MODEL).ok
    result = check(Measurements(rows().rows, left), MODEL)
    assert not result.ok
    assert result.failures == ("a:5: out of place: 9 elements are wrong, and 1 more such",)
    plain = [LeftOut("a", 5, "a time of 0 cannot be true")]
    assert check(Measurements(rows().rows, plain), MODEL).ok


def test_rows_with_wrong_results_are_a_failure() -> None:
    """Those of a caller, which no file holds."""
    result = check(rows() + rows(wrong=9), MODEL)
    assert result.failures == ("9 elements are wrong, and 2 more such",)


def test_rows_in_place_only_are_not_dropped_in_silence() -> None:
    """Their count and the option that takes them."""
    own = Measurements(Measurement("broadcast", 2, n, 1e-5, in_place=True) for n in SIZES)
    note = (
        "3 rows of broadcast are left out, measured in-place only: --columns in-place takes "
        "them"
    )
    assert select(rows() + own).notes == (note,)
    assert check(rows() + own, MODEL).notes == (note,)
    assert select(rows() + rows(in_place=True)).notes == ()


def test_rows_that_are_slower_in_place_are_told() -> None:
    """Five times as long, and nobody looks there by default."""
    both = rows() + rows(5, in_place=True)
    note = (
        "all_reduce on 2 ranks takes 5 times as long in place, median of 3 sizes: --columns "
        "both checks these times, too"
    )
    assert check(both, MODEL).notes == (note,)
    assert check(rows() + rows(1.1, in_place=True), MODEL).notes == ()


def test_another_gpu_than_the_cluster_s_is_told() -> None:
    """By their names; a name without a model tells nothing."""
    found = [row for d in ("AMD Instinct MI300X", "NVIDIA A100-SXM4-80GB")
             for row in rows(source=Source(device=d))]  # fmt: skip
    assert device_notes(found, "dgx-h100") == [
        "the rows are of AMD Instinct MI300X, but the cluster is dgx-h100: is -c right?",
        "the rows are of NVIDIA A100-SXM4-80GB, but the cluster is dgx-h100: is -c right?",
    ]
    assert device_notes(found, "pcie-8") == []
    assert len(device_notes(found, "mi300x")) == 1


def test_cpu_time_is_no_time_of_a_collective() -> None:
    """Named as that, and left out."""
    own = rows(source=Source(clock="CPU time, CUDA graph"))
    assert check(rows() + own, MODEL).notes == (
        "3 rows left out: CPU time (nccl-tests -C), which is not the time of the collective",
    )
