"""What random calls of public functions found: each is refused in one line now."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import collsim
from collsim import units
from collsim.errors import CollsimError

LOG = Path(__file__).resolve().parents[2] / "examples" / "nccl_tests_all_reduce_8gpu.txt"
IDEAL = collsim.Cluster.ideal(4, "1us", "1GB/s")
TWO = collsim.Cluster.ideal(2, "1us", "1GB/s")
HUGE = 10**400


def _timeline() -> collsim.core.timeline.Timeline:
    return collsim.simulate(collsim.build("all_reduce", "ring", 4), IDEAL, 1024)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: collsim.choose("reduce", IDEAL, max_bytes=HUGE), "max_bytes: got 1000"),
        (
            lambda: collsim.crossover("reduce", "mst", "ring", IDEAL, max_bytes=HUGE),
            "size: got",
        ),
        (lambda: collsim.predict("reduce", IDEAL, [8, -HUGE]), "size: got -1000"),
        (lambda: collsim.check(LOG, IDEAL, tolerance=HUGE), "tolerance: got 1000"),
        (lambda: collsim.plot.link_map(_timeline(), IDEAL, most=0), "plot: got 0 links"),
        (lambda: collsim.plot.time_breakdown("gather", IDEAL, 8, ()), "algorithms: none given"),
        (lambda: collsim.plot.time_breakdown("gather", IDEAL, 8, most=-1), "plot: got -1 algo"),
        (
            lambda: collsim.plot.scaling_curves("gather", [TWO, IDEAL], 8, ()),
            "algorithms: none given",
        ),
        (
            lambda: collsim.nccl.communicator(
                collsim.Cluster.load("dgx-h100", nodes=2), capability=-1
            ),
            "capability: got -1",
        ),
        (lambda: collsim.verify("gather", "mst", [HUGE]), "ranks: got more than 1048576"),
        (
            lambda: collsim.save_schedule(
                collsim.build("gather", "mst", 2), "/dev/null", "msccl", name="\udcff"
            ),
            "name: got '\\udcff', expected text that has a UTF-8 form",
        ),
    ],
)
def test_refused_in_one_line(call: Callable[[], object], message: str) -> None:
    """Each ended in an exception of Python, or with an empty message."""
    with pytest.raises(CollsimError) as caught:
        call()
    assert str(caught.value).startswith(message)


def test_more_digits_than_a_float_has() -> None:
    """They are those that it has."""
    assert units.format_size(1536, digits=2**31) == "1.5KiB"
    assert units.format_time(1e-6, digits=64) == "1us"
