"""What NCCL would run on a machine that is changed since its profile was fitted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from collsim.calibrate.check import check
from collsim.calibrate.check.fastest import FastestOfNccl
from collsim.calibrate.nccl_model import example_profile
from collsim.config.fitted import with_profile
from collsim.core.cluster import Cluster
from collsim.core.measurements import Measurement, Measurements
from collsim.errors import InputError

PROFILE = example_profile(Cluster.load("dgx-h100"))
CLUSTER = with_profile(Cluster.load("dgx-h100"), PROFILE)
ROW = Measurement("all_reduce", 8, 2**30, 1e-2, nodes=1)


def test_the_fastest_that_nccl_has_is_expected() -> None:
    """Of ring, tree and NVLS."""
    found = check(Measurements([ROW]), CLUSTER, profile=PROFILE)
    (name,) = found.chosen
    times = {
        one: check(Measurements([ROW]), CLUSTER, algorithm=one, profile=PROFILE).rows[0]
        for one in ("ring", "double_binary_tree", "nvls")
    }
    assert len({one.predicted_us for one in times.values()}) == len(times)
    assert found.rows[0].predicted_us == times[name].predicted_us
    assert found.rows[0].predicted_us == min(one.predicted_us for one in times.values())


def test_what_ran_is_expected_where_the_log_says_it() -> None:
    """Nothing is chosen then."""
    row = replace(ROW, algorithm="ring")
    found = check(Measurements([row]), CLUSTER, profile=PROFILE)
    named = check(Measurements([ROW]), CLUSTER, algorithm="ring", profile=PROFILE)
    assert found.chosen == ()
    assert found.rows[0].predicted_us == named.rows[0].predicted_us


def test_what_a_profile_has_no_times_of_is_not_chosen() -> None:
    """A gather, or one rank."""
    choose = FastestOfNccl(CLUSTER)
    assert choose(replace(ROW, collective="gather")) is None
    assert choose(replace(ROW, ranks=1)) is None
    assert (choose.names, choose.notes) == ((), [])


@pytest.mark.parametrize("name", ["nccl", "auto", "all"])
def test_a_name_of_several_is_no_algorithm(name: str) -> None:
    """Without one, what ran is predicted."""
    with pytest.raises(InputError, match=f"algorithm: got '{name}', expected a name; without"):
        check(Measurements([ROW]), CLUSTER, algorithm=name)


def test_a_product_is_no_switchs() -> None:
    """What NCCL has goes by the row's type and reduction, as its choice does."""
    assert FastestOfNccl(CLUSTER)(replace(ROW, op="sum", dtype="float")) == "nvls"
    assert FastestOfNccl(CLUSTER)(replace(ROW, op="prod", dtype="float")) == "ring"
