"""Several collectives at once on the links of one cluster."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import collsim
from collsim.algorithms import build
from collsim.core.builder import Builder
from collsim.core.cluster import Cluster
from collsim.core.collective import collective
from collsim.core.link import LinkClass
from collsim.core.schedule import Schedule
from collsim.engine.simulate import Job, simulate
from collsim.engine.simulation import Simulation
from collsim.errors import InputError
from collsim.topology import delay, groups
from collsim.topology.rails import join
from collsim.topology.switch import switch

NEAR = LinkClass("near", alpha=1.0, bandwidth=4.0)
FAR = LinkClass("far", alpha=2.0, bandwidth=1.0)
SHARING = ("fifo", "fair")


def message(*pairs: tuple[int, int]) -> Schedule:
    """Return a schedule of one message of n bytes per pair, all ready at once."""
    ranks = 1 + max(rank for pair in pairs for rank in pair)
    b = Builder(collective("all_reduce"), ranks)
    for src, dst in pairs:
        b.next_round()
        b.copy(src, dst, [0])
    return b.finish()


@pytest.mark.parametrize("sharing", SHARING)
def test_one_job_is_a_simulation(sharing: str) -> None:
    """Every start and finish, whatever the ranks are called."""
    cluster = replace(join(switch(4, NEAR, "two"), 2, FAR), sharing=sharing)
    schedule = build("all_reduce", "ring", 8)
    (one,) = simulate([Job(schedule, range(8), 100.0)], cluster).timelines
    alone = simulate(schedule, cluster, 100.0)
    assert one.finish.tolist() == pytest.approx(alone.finish.tolist(), rel=1e-12)
    assert [s.why for s in one.critical_path] == [s.why for s in alone.critical_path]


@pytest.mark.parametrize("sharing", SHARING)
@pytest.mark.parametrize("name", ["all_reduce", "all_gather"])
def test_eight_rings_on_eight_rails_are_one_ring(sharing: str, name: str) -> None:
    """Data-parallel groups across four nodes, each on NICs of its own."""
    cluster = replace(join(switch(8, NEAR, "pod"), 4, FAR), sharing=sharing)
    ring = build(name, "ring", 4)
    across = groups(cluster, "across")
    assert len(across) == 8
    jobs = [Job(ring, group, 1000.0) for group in across]
    found = simulate(jobs, cluster)
    (alone,) = simulate(jobs[:1], cluster).timelines
    for one in found.timelines:
        assert one.makespan == pytest.approx(alone.makespan, rel=1e-12)
        assert one.breakdown.waiting == 0
    assert found.makespan == pytest.approx(alone.makespan, rel=1e-12)


@pytest.mark.parametrize("sharing", SHARING)
def test_jobs_on_disjoint_links_do_not_feel_each_other(sharing: str) -> None:
    """Whatever their sizes are and whenever they start."""
    cluster = replace(switch(6, NEAR, "six"), sharing=sharing, gamma=0.25)
    jobs = [
        Job(build("all_reduce", "mst", 3), [0, 2, 4], 700.0),
        Job(build("all_to_all", "mst", 3), [5, 3, 1], 30.0, start=1.7),
    ]
    found = simulate(jobs, cluster)
    for job, one in zip(jobs, found.timelines, strict=True):
        (alone,) = simulate([job], cluster).timelines
        assert one.finish.tolist() == pytest.approx(alone.finish.tolist(), rel=1e-12)
    assert found.ends == pytest.approx(
        [found.timelines[0].makespan, 1.7 + found.timelines[1].makespan]
    )


def shared_pair() -> Cluster:
    """Return two nodes of two GPUs; the two of a node share one NIC each way."""
    return join(switch(2, NEAR, "pair"), 2, FAR, nics=1)


def test_two_rings_that_share_a_link() -> None:
    """Each ring of two sends n/2 = 4 bytes each way: 2 + 4 s on a NIC that both need."""
    ring = build("all_gather", "ring", 2)
    cluster = shared_pair()
    jobs = [Job(ring, group, 8.0) for group in groups(cluster, "across")]
    found = simulate(jobs, cluster)
    # The second one waits until the first has let go of the NIC, and then takes its 6 s.
    assert [one.makespan for one in found.timelines] == [6, 12]
    assert [one.breakdown.waiting for one in found.timelines] == [0, 6]
    assert [step.why for step in found.timelines[1].critical_path] == ["job"]


def test_two_rings_that_share_a_link_fairly() -> None:
    """Both start up for 2 s, then each has half a byte per second: 2 + 4 / 0.5."""
    ring = build("all_gather", "ring", 2)
    cluster = replace(shared_pair(), sharing="fair")
    jobs = [Job(ring, group, 8.0) for group in groups(cluster, "across")]
    found = simulate(jobs, cluster)
    assert [one.makespan for one in found.timelines] == [10, 10]
    assert [one.breakdown.waiting for one in found.timelines] == [4, 4]


def test_flows_of_different_sizes_share_fairly() -> None:
    """2 and 6 bytes: at half speed until 2 + 4, then 4 more bytes alone until 10."""
    cluster = replace(shared_pair(), sharing="fair")
    one = message((0, 1))
    found = simulate([Job(one, [0, 2], 2.0), Job(one, [1, 3], 6.0)], cluster)
    assert [t.makespan for t in found.timelines] == [6, 10]


def test_jobs_take_turns_round_by_round() -> None:
    """Two messages each over one NIC, all ready at once: a, b, a, b."""
    b = Builder(collective("all_reduce"), 2, parts=2)
    for piece in (0, 1):
        b.next_round()
        b.copy(0, 1, [piece])
    two = b.finish()
    found = simulate([Job(two, [0, 2], 2.0), Job(two, [1, 3], 2.0)], shared_pair())
    assert [t.start.tolist() for t in found.timelines] == [[0, 6], [3, 9]]


def test_times_count_from_the_start_of_each_job() -> None:
    """The second starts at 4 and waits for 2 s of the first's 6 on the NIC."""
    one = message((0, 1))
    found = simulate([Job(one, [0, 2], 4.0), Job(one, [1, 3], 4.0, start=4.0)], shared_pair())
    assert [t.makespan for t in found.timelines] == [6, 8]
    assert found.ends == (6, 12)
    assert found.makespan == 12
    assert found.timelines[1].breakdown.waiting == 2


@pytest.mark.parametrize("sharing", SHARING)
def test_reductions_of_two_jobs_at_one_receiver_go_one_by_one(sharing: str) -> None:
    """They arrive at 2 and 4, or both at 3; each is 10 s of adding, one after the other."""
    b = Builder(collective("all_reduce"), 2)
    b.reduce(0, 1, [0])
    one = b.finish()
    cluster = replace(
        switch(3, LinkClass("wire", 1.0, 2.0), "three"), gamma=5.0, sharing=sharing
    )
    found = simulate([Job(one, [0, 2], 2.0), Job(one, [1, 2], 2.0)], cluster)
    assert found.timelines[0].makespan == pytest.approx({"fifo": 12.0, "fair": 13.0}[sharing])
    assert found.timelines[1].makespan == pytest.approx({"fifo": 22.0, "fair": 23.0}[sharing])
    for t in found.timelines:
        parts = t.breakdown
        assert parts.alpha + parts.beta + parts.gamma + parts.waiting == pytest.approx(
            t.makespan
        )
        assert parts.gamma == pytest.approx(10.0)


@pytest.mark.parametrize("sharing", SHARING)
def test_nothing_to_add_up_waits_its_turn_too(sharing: str) -> None:
    """One byte has arrived by 1.5 s and takes 5 s; the job of no bytes is there at 4 s."""
    b = Builder(collective("all_reduce"), 2)
    b.reduce(0, 1, [0])
    one = b.finish()
    wire = LinkClass("wire", 1.0, 2.0)
    cluster = replace(switch(3, wire, "three"), gamma=5.0, sharing=sharing)
    found = simulate([Job(one, [0, 2], 1.0), Job(one, [1, 2], 0.0, start=3.0)], cluster)
    assert found.ends == (6.5, 6.5)
    assert found.timelines[1].breakdown.waiting == 2.5


def test_what_arrives_counts_before_what_is_admitted_at_the_same_time() -> None:
    """At 1 s a reduction of no bytes is there, and rank 2 answers before it does anything else.

    Another job is called at 1 s; its message from rank 2 is of that round too.
    """
    b = Builder(collective("all_reduce"), 2)
    b.next_round()
    b.reduce(0, 1, [0])
    b.next_round()
    b.copy(1, 0, [0])
    answered = b.finish()
    b = Builder(collective("all_reduce"), 2)
    b.next_round()
    b.next_round()
    b.copy(0, 1, [0])
    later = b.finish()
    cluster = switch(3, LinkClass("wire", 1.0, 2.0), "three", gamma=5.0)
    jobs = [Job(answered, [0, 2], 0.0), Job(later, [2, 1], 2.0, start=1.0)]
    found = simulate(jobs, cluster)
    assert found.timelines[0].finish.tolist() == [1.0, 2.0]
    assert found.ends == (2.0, 4.0)


def test_launch_is_paid_by_each_job_and_late_ranks_are_late_for_each() -> None:
    """3 s of launch; rank 3 enters 5 s after the start of its job."""
    cluster = delay(replace(switch(4, NEAR, "four"), launch=3.0), "rank[3]", 5.0)
    one = message((0, 1))
    found = simulate([Job(one, [0, 1], 4.0), Job(one, [2, 3], 4.0, start=10.0)], cluster)
    assert [t.makespan for t in found.timelines] == [3 + 2, 3 + 5 + 2]
    assert found.timelines[1].breakdown.waiting == 5


def test_random_jobs_alone_in_their_time_are_as_if_alone() -> None:
    """Starts far enough apart: the grid of time is coarser, the times are the same."""
    cluster = join(switch(4, NEAR, "two"), 2, FAR)
    schedules = [build("all_reduce", name, 8) for name in ("ring", "mst", "linear")]
    jobs = [Job(s, range(8), 10.0 * i + 1, start=1e4 * i) for i, s in enumerate(schedules)]
    for job, one in zip(jobs, simulate(jobs, cluster).timelines, strict=True):
        alone = Simulation(job.schedule, cluster).run(job.nbytes)
        assert one.finish.tolist() == pytest.approx(alone.finish.tolist(), rel=1e-9)


@pytest.mark.parametrize("sharing", SHARING)
def test_plain_and_compiled_are_equal(sharing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """To the last bit, with jobs of unequal sizes."""
    cluster = replace(shared_pair(), sharing=sharing, gamma=0.3)
    jobs = [
        Job(build("all_reduce", "ring", 3), [0, 1, 3], 7.0),
        Job(build("all_reduce", "mst", 4), [2, 0, 3, 1], 11.0, start=0.7),
    ]
    outcomes = []
    for compiled in (False, True):
        monkeypatch.setattr("collsim.engine.together.large", lambda *_, c=compiled: c)
        outcomes.append(simulate(jobs, cluster).timelines)
    for one, other in zip(*outcomes, strict=True):
        assert one.start.tolist() == other.start.tolist()
        assert one.finish.tolist() == other.finish.tolist()
        assert one.breakdown == other.breakdown


def test_jobs_without_messages() -> None:
    """Single ranks and sizes of 0."""
    cluster = switch(4, NEAR, "four")
    one = build("all_reduce", "ring", 1)
    assert simulate([Job(one, [3], 8.0)], cluster).makespan == 0
    two = build("all_reduce", "ring", 2)
    assert simulate([Job(one, [3], 8.0), Job(two, [0, 1], 0.0)], cluster).makespan == 2


@pytest.mark.parametrize(
    ("job", "message"),
    [
        ({"ranks": [0, 0]}, "rank 0 is named twice"),
        ({"ranks": [0, 1, 2]}, "3 ranks, but its schedule is of 2"),
        ({"ranks": [0]}, "1 ranks, but its schedule is of 2"),
        ({"ranks": [-1, 0]}, "got rank -1"),
        ({"ranks": [0.5, 1]}, "whole numbers"),
        ({"start": -1.0}, "start is -1.0"),
        ({"start": float("nan")}, "start is nan"),
        ({"nbytes": -1.0}, "got -1.0 bytes"),
    ],
)
def test_jobs_are_validated(job: dict[str, Any], message: str) -> None:
    """The message names what is wrong."""
    given = {"schedule": build("all_reduce", "ring", 2), "ranks": [0, 1], "nbytes": 8.0} | job
    with pytest.raises(InputError, match=message):
        Job(**given)


def test_ranks_must_be_of_the_cluster() -> None:
    """Which job, which rank, and what there is."""
    ring = build("all_reduce", "ring", 2)
    jobs = [Job(ring, [0, 1], 8.0), Job(ring, [3, 4], 8.0)]
    with pytest.raises(
        InputError, match=r"jobs\[1\]: got rank 4, but cluster 'four' has ranks 0 to 3"
    ):
        simulate(jobs, switch(4, NEAR, "four"))
    with pytest.raises(InputError, match="jobs: got none"):
        simulate([], switch(4, NEAR, "four"))


def test_a_size_belongs_to_a_schedule_or_to_jobs() -> None:
    """Neither twice nor not at all."""
    ring = build("all_reduce", "ring", 4)
    four = switch(4, NEAR, "four")
    with pytest.raises(InputError, match="nbytes: missing"):
        simulate(ring, four)  # type: ignore[call-overload]
    with pytest.raises(InputError, match="each job has its own"):
        simulate([Job(ring, range(4), 8.0)], four, 8.0)  # type: ignore[call-overload]


def test_a_job_reads_sizes_and_wants_a_schedule() -> None:
    """Text with a unit is a number from then on; a name is no schedule."""
    ring = build("all_reduce", "ring", 2)
    assert Job(ring, [0, 1], "1KiB").nbytes == 1024
    with pytest.raises(InputError, match="12XB"):
        Job(ring, [0, 1], "12XB")
    with pytest.raises(
        InputError, match="job: schedule is 'ring', expected a Schedule, as build"
    ):
        Job("ring", [0, 1], 8.0)  # type: ignore[arg-type]


def test_together_is_short_to_read() -> None:
    """How many jobs, and how long."""
    found = simulate([Job(build("sendrecv", "direct", 2), [0, 1], 0)], switch(2, NEAR, "two"))
    assert repr(found).startswith("<Together: 1 job, ")


def test_public_names() -> None:
    """Jobs and groups are in the package's own table."""
    two = collsim.Cluster.load("dgx-h100", nodes=2)
    ring = collsim.build("all_reduce", "ring", 8)
    jobs = [collsim.Job(ring, group, 2**20) for group in collsim.groups(two, "inside")]
    found = collsim.simulate(jobs, two)
    assert np.ptp([t.makespan for t in found.timelines]) == pytest.approx(0)
