"""The chunk count that is best, and simulations that are prepared once for each."""

from __future__ import annotations

from collsim.algorithms import build
from collsim.core.cluster import Cluster
from collsim.engine.chunks import best_chunks, candidates, more_chunks
from collsim.engine.prepared import Prepared


def test_a_chunk_is_a_byte_at_least() -> None:
    """Nothing to divide: one chunk; 5 bytes: at most 4."""
    more_is_better = lambda c: 1.0 / c  # noqa: E731
    for by_formula in (True, False):
        found = [best_chunks(n, more_is_better, by_formula) for n in (0, 0.5, 1, 5)]
        assert found == [1, 1, 1, 4]


def test_equal_times_take_the_fewest_chunks() -> None:
    """By formula and by simulation."""
    assert best_chunks(100, lambda c: 1.0, by_formula=True) == 1
    assert best_chunks(100, lambda c: 1.0, by_formula=False) == 1


def test_simulations_stop_after_two_counts_that_are_no_better() -> None:
    """8 is best; 16 and 32 are tried, no more."""
    tried = []

    def seconds(chunks: int) -> float:
        tried.append(chunks)
        return abs(chunks - 8)

    assert best_chunks(10**6, seconds, by_formula=False) == 8
    assert tried == [1, 2, 4, 8, 16, 32]


def test_counts_that_would_hardly_beat_a_time_are_not_tried() -> None:
    """Halving what is above 10 never gets to 5; who may get there is tried on."""
    tried = []

    def seconds(chunks: int) -> float:
        tried.append(chunks)
        return 10 + 16 / chunks

    best_chunks(10**6, seconds, by_formula=False, at_most=5.0)
    assert tried == [1, 2, 4, 8]
    assert best_chunks(10**6, seconds, by_formula=False, at_most=10.0) == 1024


def test_gains_that_hardly_shrink_tell_nothing() -> None:
    """Trees on 13 ranks gain 248, 75, 58 and 47: what is left after them is not known."""
    tried = [(1, 705.9), (2, 458.2), (4, 383.5)]
    assert more_chunks(tried) == 0.0
    tried.append((8, 325.3))
    assert more_chunks(tried) < 267.9
    assert more_chunks([(1, 40.0), (2, 30.0), (4, 20.0), (8, 10.0)]) == 0.0


def test_one_count_that_is_no_better_is_not_the_end() -> None:
    """Two in a row are."""
    tried = [(1, 26.0), (2, 18.0), (4, 14.0), (8, 12.0), (16, 12.5)]
    assert more_chunks(tried) == more_chunks(tried[:-1]) == 8.0
    assert more_chunks([*tried, (32, 13.0)]) == 12.0


def test_a_formula_is_tried_at_every_count() -> None:
    """A second valley is found, too."""
    tried = []
    best_chunks(10**6, lambda c: tried.append(c) or float(c), by_formula=True)
    assert tuple(tried) == candidates(by_formula=True)


def test_a_schedule_is_built_once_for_all_its_simulations() -> None:
    """Asked for alone it is not kept, as nothing was prepared."""
    built = []

    def make(chunks: int, channels: int) -> object:
        built.append(chunks)
        return build("broadcast", "ring", 3, chunks=chunks)

    prepared = Prepared(Cluster.ideal(3, 1.0, 1.0), make)  # type: ignore[arg-type]
    assert prepared.simulation(2).makespan(8) == 3 * (1 + 4)
    assert prepared.simulation(2).schedule is prepared.schedule(2)
    assert built == [2]


def test_counts_that_are_asked_for_are_all_tried() -> None:
    """Those above the bytes are not, but for the first."""
    tried = []

    def seconds(chunks: int) -> float:
        tried.append(chunks)
        return abs(chunks - 3)

    assert best_chunks(10, seconds, by_formula=False, asked=(1, 2, 3, 5, 50)) == 3
    assert tried == [1, 2, 3, 5]
    assert best_chunks(10, seconds, by_formula=True, asked=(50, 60)) == 50
