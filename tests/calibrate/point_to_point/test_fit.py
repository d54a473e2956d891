"""From messages between pairs to a model, and from the model to schedules."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tomli_w

from collsim.algorithms import build
from collsim.calibrate.point_to_point.against import compare
from collsim.calibrate.point_to_point.cores import cluster_document, shared_cores
from collsim.calibrate.point_to_point.fit import PointToPoint, alone_in, fit_point_to_point
from collsim.calibrate.point_to_point.profile import profile_of
from collsim.calibrate.scope import sharing_note
from collsim.config.profile import dumps, loads
from collsim.core.cluster import Cluster
from collsim.engine.simulate import simulate
from collsim.errors import InputError

SIZES = tuple(4**k for k in range(2, 13))
ALPHA, BETA, BUSY, SHARED, LAUNCH = 2e-5, 2e-10, 1e-5, 1e-10, 3e-5


def rows(lanes: int = 1, noise: float = 0.0, busy: float = BUSY) -> list[dict[str, Any]]:
    """Return rows of a machine that is just like the model."""
    chance = np.random.default_rng(0)
    made: list[dict[str, Any]] = []
    for pattern, at_once in (("ping_pong", 1), ("pairs", 2), ("exchange", 2), ("shift", 4)):
        for n in SIZES:
            turns = -(-at_once // lanes) - 1
            seconds = ALPHA + n * BETA + turns * (busy + n * SHARED * (busy > 0))
            seconds *= 1 + noise * float(chance.standard_normal())
            made.append(
                {"pattern": pattern, "at_once": at_once, "size": n, "seconds": seconds,
                 "pairs": [[0, 1]], "ranks": 4, "world": 4}
            )  # fmt: skip
    made += [
        {"pattern": "start", "size": n, "seconds": LAUNCH + ALPHA + n * BETA} for n in SIZES
    ]
    return made + [{"pattern": "add", "size": n, "seconds": 1e-6 + n * 1e-11} for n in SIZES]


@pytest.mark.parametrize("lanes", [1, 2, 3])
def test_known_parameters_come_back(lanes: int) -> None:
    """All of them, and the number of messages that need not wait."""
    found = fit_point_to_point(rows(lanes))
    assert found.alpha.value == pytest.approx(ALPHA)
    assert found.beta.value == pytest.approx(BETA)
    assert found.busy.value == pytest.approx(BUSY, rel=1e-3)
    assert found.shared.value == pytest.approx(SHARED, rel=1e-3)
    assert found.launch.value == pytest.approx(LAUNCH)
    assert found.gamma == pytest.approx(1e-11)
    # Two messages at once and four need as many turns on three lanes as on two.
    assert found.lanes in ({2, 3} if lanes > 1 else {1})
    assert found.alone.median < 1e-6


def test_noise_is_within_the_interval() -> None:
    """Of 5 %, with the intervals that the fit gives."""
    found = fit_point_to_point(rows(noise=0.05))
    for parameter, true in ((found.alpha, ALPHA), (found.beta, BETA)):
        assert parameter.low is not None
        assert parameter.high is not None
        assert parameter.low < true < parameter.high
    assert found.together is not None
    assert found.together.median < 0.1


def test_messages_that_do_not_wait_make_an_ideal_network() -> None:
    """As on GPUs, each with its own links."""
    found = fit_point_to_point(rows(busy=0.0))
    assert not found.shares
    assert shared_cores(found, 4).uniform == pytest.approx((ALPHA, BETA))


def test_the_cluster_gives_back_what_was_measured() -> None:
    """One message alone, and four at once, in simulated time."""
    found = fit_point_to_point(rows())
    cluster = shared_cores(found, 4)
    alone = simulate(build("sendrecv", "direct", 2), shared_cores(found, 2), 4096).makespan
    together = simulate(build("sendrecv", "direct", 4), cluster, 4096).makespan
    one = LAUNCH + ALPHA + 4096 * BETA
    assert alone == pytest.approx(one + BUSY + 4096 * SHARED, rel=1e-3)
    assert together == pytest.approx(one + 3 * (BUSY + 4096 * SHARED), rel=1e-3)


def test_the_file_is_the_same_cluster(tmp_path: Path) -> None:
    """Written, read, simulated."""
    found = fit_point_to_point(rows(2))
    path = tmp_path / "mine.toml"
    path.write_text(tomli_w.dumps(cluster_document(found, 4, "mine")))
    assert tomllib.loads(path.read_text())["schema"] == "collsim/cluster/1"
    read, made = Cluster.load(path), shared_cores(found, 4, "mine")
    schedule = build("all_reduce", "ring", 4)
    for n in (8, 2**20):
        times = [simulate(schedule, cluster, n).makespan for cluster in (read, made)]
        assert times[0] == pytest.approx(times[1], rel=1e-6)


def test_the_profile_survives_its_file() -> None:
    """And says that messages share something, which an ideal network has not."""
    found = fit_point_to_point(rows())
    profile = profile_of(found, rows(), "mine", "mine.jsonl")
    assert loads(dumps(profile), "mine.toml") == profile
    assert profile.uniform == pytest.approx((ALPHA, BETA, LAUNCH))
    assert any("`cores`" in note for note in profile.notes)
    assert "need not wait" in str(sharing_note(profile))


def test_schedules_are_compared_on_their_own_rank_count() -> None:
    """Rows of other runs, and those of the library, are passed by."""
    row = {"runs": "schedule", "collective": "all_reduce", "algorithm": "ring", "ranks": 4,
           "size": 4000, "seconds": 1e-3}  # fmt: skip
    others = [{**row, "ranks": 8}, {**row, "runs": "library"}, *rows()]
    (found,) = compare([row, *others], Cluster.ideal(4, "1us", "1GB/s"))
    assert found.predicted == pytest.approx(12e-6)
    assert found.ratio == pytest.approx(1e-3 / 12e-6)


def test_times_that_do_not_grow_are_refused() -> None:
    """They tell nothing of beta."""
    flat = [{**row, "seconds": 1e-5 / (1 + row["size"] * 1e-8)} for row in rows()]
    with pytest.raises(InputError, match="times do not grow up to 16MiB"):
        fit_point_to_point(flat)


def test_ranks_that_take_turns_tell_more_than_two_that_are_awake() -> None:
    """On one machine the message that goes around counts; on several nodes or GPUs not."""
    around = [
        {**row, "pattern": "relay", "seconds": row["seconds"] * 2, "nodes": 1}
        for row in rows()
        if row["pattern"] == "ping_pong"
    ]
    assert fit_point_to_point([*rows(), *around]).alpha.value == pytest.approx(2 * ALPHA)
    for change in ({"nodes": 2}, {"device": "a GPU"}):
        apart = [{**row, **change} for row in around]
        assert fit_point_to_point([*rows(), *apart]).alpha.value == pytest.approx(ALPHA)


@pytest.mark.parametrize("left", ["none", "one size"])
def test_too_little_to_fit_is_refused(left: str) -> None:
    """In words that say what to measure."""
    some = [] if left == "none" else rows()[:1]
    with pytest.raises(InputError, match="ping_pong"):
        fit_point_to_point(some)


def test_kind_of_result() -> None:
    """A frozen thing with named numbers."""
    assert isinstance(fit_point_to_point(rows()), PointToPoint)


def test_a_message_that_goes_around_one_machine_counts_before_ping_pong() -> None:
    """Not over nodes, nor between GPUs, nor where pairs are asked for."""
    around = [
        {"pattern": "relay", "size": n, "seconds": 3 * (ALPHA + n * BETA), "pairs": [[0, 1]]}
        for n in SIZES
    ]
    pairs = [row for row in rows() if row["pattern"] == "ping_pong"]
    assert alone_in(around + pairs) == around
    assert alone_in([row | {"nodes": 1} for row in around] + pairs) == [
        row | {"nodes": 1} for row in around
    ]
    for other in ({"nodes": 2}, {"device": "GPU"}):
        assert alone_in([row | other for row in around] + pairs) == pairs
    assert alone_in(around + pairs, [[0, 1]]) == pairs
    assert alone_in(around + pairs, [[0, 2]]) == []
    assert alone_in([]) == []


def test_the_launch_is_that_of_the_smaller_half() -> None:
    """What larger messages take more is the bytes' affair; without rows it is an assumption."""
    half = len(SIZES) // 2
    later = [
        {
            "pattern": "start",
            "size": n,
            "seconds": LAUNCH * (1 + 9 * (i > half)) + ALPHA + n * BETA,
        }
        for i, n in enumerate(SIZES)
    ]
    others = [row for row in rows() if row["pattern"] != "start"]
    assert fit_point_to_point(others + later).launch.value == pytest.approx(LAUNCH)
    none = fit_point_to_point(others).launch
    assert (none.value, none.kind) == (0.0, "assumption")
    sooner = [row | {"seconds": row["seconds"] - 12 * LAUNCH} for row in later[-1:]]
    assert fit_point_to_point(others + sooner).launch.value == 0.0
