"""Times of another algorithm than was predicted are told from a fault."""

from __future__ import annotations

import pytest

from collsim.calibrate.check import check
from collsim.calibrate.check.suggest._rows import Size
from collsim.calibrate.check.suggest.other import of_others
from collsim.calibrate.nccl_model import fitted_of
from collsim.config.presets import preset_path
from collsim.config.profile import load
from collsim.core.cluster import Cluster
from collsim.core.measurements import Measurement, Measurements, Source

SIZES = tuple(2**k for k in range(20, 34))


def measured(algorithm: str, named: bool = False) -> Measurements:
    """Return rows of two nodes that take what the profile has of an algorithm."""
    fitted = fitted_of(load(str(preset_path("profiles", "h100-ndr"))))
    return Measurements(
        [
            Measurement(
                "all_reduce", 16, n,
                fitted.seconds("all_reduce", 16, 2, n, algorithm), nodes=2,
                algorithm=algorithm if named else None, source=Source(backend="nccl"),
            )
            for n in SIZES
        ]
    )  # fmt: skip


def test_ring_in_the_place_of_nvls_is_the_first_thing_to_suspect() -> None:
    """Half of the cards comes after it: NCCL_ALGO=Ring on two nodes looks like that."""
    found = check(measured("ring"), load(str(preset_path("profiles", "h100-ndr"))))
    first, *more = (words.partition(": ")[2] for words in found.suggestions)
    assert first.startswith("as ring ")
    assert "(NCCL_ALGO=Ring" in first
    assert ", or NVLS off): all sizes from " in first
    assert all(words.startswith("or as if") for words in more)


def test_a_row_that_names_what_ran_is_not_taken_for_another() -> None:
    """It is compared with that, and nothing falls short."""
    profile = load(str(preset_path("profiles", "h100-ndr")))
    assert check(measured("ring", named=True), profile).suggestions == ()


def test_without_a_profile_too() -> None:
    """What NCCL's own model chooses is predicted, and a ring is told from it."""
    cluster = Cluster.load("dgx-h100", nodes=2)
    large = Measurements([row for row in measured("ring").rows if row.nbytes >= 2**31])
    rows = check(large, cluster, algorithm="ring").rows
    times = Measurements(
        [
            Measurement(
                "all_reduce", 16, row.size, row.predicted_us * 1e-6, nodes=2,
                source=Source(backend="nccl"),
            )
            for row in rows
        ]
    )  # fmt: skip
    (first, *_) = check(times, cluster).suggestions
    assert "as ring would take (NCCL_ALGO=Ring, or NVLS off)" in first


@pytest.mark.parametrize(
    ("ratios", "ring"),
    [
        ((1.0, 1.0, 1.0, 1.0), 1.0),  # nothing is late
        ((1.5, 1.5, 1.0, 1.0), 1.5),  # ring would not explain the largest
        ((1.5, 1.5), 1.5),  # two sizes are few
        ((1.5, 1.5, 1.5, 1.5), 1.2),  # ring is off too, and by more than half as much
    ],
)
def test_nothing_is_said_where_rows_do_not_show_it(
    ratios: tuple[float, ...], ring: float
) -> None:
    """Late rows, three or more, up to the largest, and well met."""
    sizes = [Size(2**k, ratio * 2.0**k, 2.0**k) for k, ratio in enumerate(ratios, 26)]
    assert of_others(sizes, {"ring": [ring * one.nbytes for one in sizes]}, 0.3) == []
