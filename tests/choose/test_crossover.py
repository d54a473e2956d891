"""Swaps of two algorithms: where algebra puts them, and where a dense scan finds them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from types import ModuleType

import pytest

from collsim.choose.crossover import crossover
from collsim.choose.curve import Curve
from collsim.core.cluster import Cluster
from collsim.errors import InputError

ALPHA, BETA = 10e-6, 1 / 900e9
EIGHT = Cluster.ideal(8, alpha=ALPHA, bandwidth=900e9)


@pytest.fixture(scope="module")
def scan(by_path: Callable[[str], ModuleType]) -> ModuleType:
    """Return the benchmark, which holds the random cases and the scan."""
    return by_path("benchmarks/crossover_scan.py")


# (a1 + b1 n beta = a2 + b2 n beta) gives n = (a2 - a1) / (b1 - b2) times alpha / beta.
@pytest.mark.parametrize(
    ("collective", "ranks", "chunks", "expected"),
    [
        # 6 alpha + 6 n beta = 14 alpha + 7/4 n beta
        ("all_reduce", 8, 1, 8 / (6 - 7 / 4)),
        # 2 * 3 alpha + (3 + 4/5) n beta at P = 5 against 4 alpha + 4/5 n beta: never
        ("all_gather", 5, 1, None),
        # 3 alpha + 3/2 n beta = 7 alpha + 7/8 n beta
        ("all_to_all", 8, 1, 4 / (3 / 2 - 7 / 8)),
        # 3 (alpha + n beta) = (6 + 16) (alpha + n beta / 16)
        ("broadcast", 8, 16, 19 / (3 - 22 / 16)),
        # 4 (alpha + n beta) = (11 + 7) (alpha + n beta / 7) at P = 13
        ("reduce", 13, 7, 14 / (4 - 18 / 7)),
    ],
)
@pytest.mark.parametrize("model", ["formula", "event"])
def test_swap_is_where_algebra_puts_it(
    collective: str, ranks: int, chunks: int, expected: float | None, model: str
) -> None:
    """On an ideal network two straight lines meet at one size, found to 1e-9."""
    cluster = Cluster.ideal(ranks, alpha=ALPHA, bandwidth=900e9)
    found = crossover(
        collective,
        "mst",
        "ring",
        cluster,
        chunks=chunks,
        model=model,  # type: ignore[arg-type]
    )
    if expected is None:
        assert found.rows == ()
        return
    (swap,) = found.rows
    assert swap.size == pytest.approx(expected * ALPHA / BETA, rel=1e-9)
    assert (swap.below, swap.above, swap.jump) == ("mst", "ring", None)


def test_time_at_a_swap_is_that_of_both() -> None:
    """Both take the time that the row names."""
    (swap,) = crossover("all_reduce", "mst", "ring", EIGHT).rows
    for name in ("mst", "ring"):
        seconds = Curve("all_reduce", name, EIGHT).seconds(swap.size)
        assert swap.time_us == pytest.approx(seconds * 1e6, rel=1e-9)


def test_order_of_the_two_makes_no_difference() -> None:
    """The one that is faster below is so whichever is named first."""
    one = crossover("all_reduce", "mst", "ring", EIGHT)
    other = crossover("allreduce", "ring", "mst", EIGHT)
    assert [(s.below, s.above) for s in one.rows] == [(s.below, s.above) for s in other.rows]
    assert one.rows[0].size == pytest.approx(other.rows[0].size, rel=1e-12)


def test_no_swap_names_the_faster_one() -> None:
    """The MST scatter is faster at every size: as many bytes, fewer messages."""
    found = crossover("scatter", "mst", "ring", EIGHT)
    assert (found.rows, found.identical, found.faster) == ((), False, "mst")


def test_identical_curves_are_said_to_be() -> None:
    """A scatter on two ranks is one message either way."""
    two = Cluster.ideal(2, alpha=ALPHA, bandwidth=900e9)
    found = crossover("scatter", "mst", "ring", two)
    assert (found.rows, found.identical, found.faster) == ((), True, None)


def test_one_rank_takes_no_time_either_way() -> None:
    """Nothing is sent, so the curves are the same."""
    one = Cluster.ideal(1, alpha=ALPHA, bandwidth=900e9)
    assert crossover("all_reduce", "mst", "ring", one).identical


def test_equal_for_small_sizes_and_not_for_large_is_no_swap() -> None:
    """Without alpha both take 0 at size 0, and above the ring is faster throughout."""
    free = Cluster.ideal(8, alpha=0, bandwidth=900e9)
    found = crossover("all_reduce", "mst", "ring", free, min_bytes=0, max_bytes=1e9)
    assert (found.rows, found.identical, found.faster) == ((), False, "ring")


def test_swap_outside_the_range_is_not_reported() -> None:
    """The swap at 16.9 MB is not seen from 1 KiB to 1 MiB, where MST is faster."""
    found = crossover("all_reduce", "mst", "ring", EIGHT, min_bytes=2**10, max_bytes=2**20)
    assert (found.rows, found.faster) == ((), "mst")


@pytest.mark.parametrize(
    ("low", "high", "message"),
    [(8, 8, "sizes: got 8 to 8 bytes"), (9, 8, "sizes: got 9 to 8"), (-1, 8, "size: got -1")],
)
def test_empty_range_is_refused(low: float, high: float, message: str) -> None:
    """The error names both ends, or the one that is no size."""
    with pytest.raises(InputError, match=message):
        crossover("all_reduce", "mst", "ring", EIGHT, min_bytes=low, max_bytes=high)


def test_jump_is_named_with_the_times_on_both_sides(scan: ModuleType) -> None:
    """Where another order of messages becomes the right one, a time jumps over the other's."""
    one = scan.case(2808)
    found = crossover(one.collective, one.a, one.b, one.cluster, root=one.root)
    (swap,) = (row for row in found.rows if row.jump is not None)
    assert (swap.below, swap.above) == ("mst", "ring")
    jump = swap.jump
    assert jump is not None
    assert jump.b_below_us < jump.a_below_us == pytest.approx(jump.a_above_us, rel=1e-9)
    assert jump.b_above_us > 1.3 * jump.b_below_us
    assert swap.time_us == pytest.approx(jump.a_above_us)
    a, b = scan.curves_of(one)
    assert b.seconds(swap.size * (1 - 1e-9)) < a.seconds(swap.size)
    assert b.seconds(swap.size * (1 + 1e-9)) > a.seconds(swap.size)


def test_many_swaps_of_a_jumping_curve_are_all_found(scan: ModuleType) -> None:
    """Several swaps between 250 kB and 1 MB, half of them jumps, as the scan says."""
    verdict = scan.judge(scan.case(6014), 4000)
    assert verdict.scanned == verdict.found > 2
    assert not verdict.missing + verdict.invented + verdict.misplaced


def test_curve_that_dips_under_the_other_is_noticed(scan: ModuleType) -> None:
    """Between 4.3 and 4.8 MB another order of messages makes the slower one faster by 1.4."""
    one = scan.case(12601)
    found = crossover(one.collective, one.a, one.b, one.cluster, root=one.root)
    dip = [row for row in found.rows if 4.3e6 < row.size < 4.8e6]
    assert [(row.below, row.above) for row in dip] == [("ring", "mst"), ("mst", "ring")]
    assert all(row.jump is not None for row in dip)


def test_chunk_count_that_becomes_possible_is_a_jump(scan: ModuleType) -> None:
    """A chunk is a byte at least: with overlapping latency, time falls at 2 bytes."""
    one = scan.case(77)
    (swap,) = crossover(one.collective, one.a, one.b, one.cluster, root=one.root).rows
    assert swap.size == pytest.approx(2.0, rel=1e-9)
    assert swap.jump is not None


def test_same_answer_twice() -> None:
    """The search is a pure function of its arguments."""
    cluster = Cluster.load("dgx-h100", nodes=2)
    runs = [crossover("all_reduce", "mst", "ring", cluster) for _ in range(2)]
    assert runs[0] == runs[1]


@pytest.mark.parametrize("part", range(5))
def test_swaps_are_those_of_a_dense_scan(scan: ModuleType, part: int) -> None:
    """None is missing, none invented, each changes the faster one; the benchmark runs 300."""
    cases = [scan.case(number) for number in range(12 * part, 12 * part + 12)]
    # One that tries all chunk counts by simulation takes the scan a minute.
    quick = [c for c in cases if c.chunks != "auto" or not scan.simulated_and_chunked(c)]
    assert len(quick) >= 8
    for one in quick:
        verdict = scan.judge(one, 2000)
        assert not verdict.missing + verdict.invented + verdict.misplaced, verdict


def test_equal_times_do_not_jump_about(scan: ModuleType) -> None:
    """Messages ready at the same time stay in order of their index at every size.

    Rounding once let this curve jump by 6 % from one size to the next.
    """
    one = scan.case(153)
    a, _ = scan.curves_of(one)
    sizes = [4000 * 1.0005**i for i in range(1000)]
    times = [a.seconds(n) for n in sizes]
    assert max(t / s for s, t in pairwise(times)) < 1.001


def test_rounding_of_long_pipelines_bends_no_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """1,024 chunks in turn: rounding that was taken for kinks cost 48,000 runs."""
    calls = 0
    plain = Curve.seconds

    def counted(self: Curve, nbytes: float) -> float:
        nonlocal calls
        calls += 1
        return plain(self, nbytes)

    monkeypatch.setattr(Curve, "seconds", counted)
    cluster = Cluster.ideal(8, alpha="1us", bandwidth="50GiB/s", alpha_busy=0)
    found = crossover("broadcast", "mst", "ring", cluster, channels=1)
    assert [(row.below, row.above) for row in found.rows] == [("mst", "ring")]
    assert calls < 3000


def test_fitted_times_swap_where_predictions_of_them_do() -> None:
    """A profile's own times, at a smooth swap and at a jump; else both are simulated."""
    import collsim

    profile = collsim.load_profile("h100-nvswitch-8")
    cluster = collsim.with_profile(Cluster.load("dgx-h100"), profile)
    fitted = collsim.fitted_times(profile)
    found = crossover("all_reduce", "ring", "nvls", cluster, fitted=fitted)
    assert found.fitted
    assert len(found.rows) >= 1
    for swap in found.rows:
        for size, faster in ((swap.size * 0.999, swap.below), (swap.size * 1.001, swap.above)):
            times = {
                name: collsim.predict("all_reduce", cluster, size, name, fitted=fitted).rows[0]
                for name in ("ring", "nvls")
            }
            assert {row.model for row in times.values()} == {"fit"}
            assert min(times, key=lambda name: times[name].time_us) == faster
    assert found.rows[0].below == "ring"
    assert not crossover("all_reduce", "ring", "mst", cluster, fitted=fitted).fitted
    plain = crossover("all_reduce", "ring", "nvls", cluster, fitted=fitted, model="event")
    assert plain == crossover("all_reduce", "ring", "nvls", cluster, model="event")
