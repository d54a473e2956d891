"""What `calibrate run` says of schedules that it predicts."""

from __future__ import annotations

from collsim.calibrate.point_to_point.against import Compared
from collsim.calibrate.point_to_point.fit import PointToPoint
from collsim.core.profile import ErrorSummary, Parameter
from collsim.report.point_to_point_text import point_text


def test_misses_of_twenty_times_are_told() -> None:
    """A time that is predicted too short is off by less than 100 %, however much it is."""
    zero, beta = Parameter(0.0, None, None, "s"), Parameter(1e-9, None, None, "s/B")
    alone = ErrorSummary("in_sample", 0.0, 0.0, 4)
    found = PointToPoint(zero, beta, zero, zero, 1, zero, 0.0, alone, None)
    row = {"collective": "reduce", "algorithm": "mst", "size": 8}
    pairs = [Compared({**row, "seconds": 1e-6 * r}, 1e-6) for r in (0.5, 2.0, 20.0)]
    line = point_text(found, pairs, []).splitlines()[2]
    assert line == (
        "our schedules, predicted from these messages alone: off by 95.0% in the median, "
        "99.0% at the 90th percentile; they take 0.5 to 20 times the predicted time"
    )
