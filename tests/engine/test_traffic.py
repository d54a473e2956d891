"""What flows over links while several jobs run together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from collsim.algorithms import build
from collsim.core.cluster import Cluster
from collsim.engine.simulate import Job, simulate
from collsim.engine.traffic import traffic
from collsim.engine.usage import usage

MODES = ("fifo", "fair")


def jobs() -> list[Job]:
    """Return a ring in each of two nodes, and one across that begins later."""
    ring = build("all_gather", "ring", 8)
    across = build("all_reduce", "mst", 4)
    return [
        Job(ring, range(8), 2**20),
        Job(across, [0, 8, 1, 9], 2**22, start=2e-6),
        Job(ring, range(8, 16), 2**20),
    ]


def routed(some: list[Job], cluster: Cluster) -> dict[str, float]:
    """Return the bytes that routes lead over every link."""
    total = dict.fromkeys(cluster.links.names, 0.0)
    for job in some:
        schedule, ranks = job.schedule, list(job.ranks)
        for o in range(len(schedule)):
            src, dst = ranks[schedule.src[o]], ranks[schedule.dst[o]]
            for link in cluster.route(src, dst):
                total[cluster.links.names[link]] += schedule.fraction[o] * float(job.nbytes)
    return total


@pytest.mark.parametrize("sharing", MODES)
def test_bytes_of_all_jobs_are_counted(sharing: str) -> None:
    """On every link, and never more at a time than it can carry."""
    cluster = replace(Cluster.load("dgx-h100", nodes=2), sharing=sharing)
    used = usage(simulate(jobs(), cluster), cluster)
    expected = routed(jobs(), cluster)
    assert dict(zip(used.names, used.nbytes, strict=True)) == pytest.approx(expected)
    assert (used.peak <= used.capacity * (1 + 1e-9)).all()


@pytest.mark.parametrize("sharing", MODES)
def test_a_job_alone_is_a_timeline(sharing: str) -> None:
    """One job of all ranks loads links as its schedule does by itself, from its start on."""
    cluster = replace(Cluster.load("dgx-h100", nodes=2), sharing=sharing)
    ring = build("all_reduce", "ring", 16)
    alone = traffic(simulate(ring, cluster, 2**22), cluster)
    together = traffic(simulate([Job(ring, range(16), 2**22, start=1e-3)], cluster), cluster)
    for one, other in zip(alone, together, strict=True):
        assert (one.name, one.capacity) == (other.name, other.capacity)
        assert other.begin == pytest.approx(one.begin + 1e-3, rel=1e-9)
        assert other.end == pytest.approx(one.end + 1e-3, rel=1e-9)
        assert other.rate == pytest.approx(one.rate, rel=1e-9)


def test_two_jobs_on_one_link_by_hand() -> None:
    """Each sends 8 bytes at 1 B/s from the same rank; the second begins at 5 s."""
    cluster = Cluster.ideal(3, 1.0, 1.0)
    pair = build("broadcast", "mst", 2)
    outcome = simulate([Job(pair, [0, 1], 8), Job(pair, [0, 2], 8, start=5.0)], cluster)
    used = usage(outcome, cluster)
    # The port is held by the first until 9 s; alpha is 1 s and no bytes pass in it.
    assert used.of("egress[0]") == [(1, 9, 1), (10, 18, 1)]
    fair = replace(cluster, sharing="fair")
    used = usage(simulate(outcome.jobs, fair), fair)
    # From 6 s on they share: the first has 3 bytes left, which take 6 s.
    assert used.of("ingress[1]") == [(1, 6, 1), (6, 12, 0.5)]
    assert used.of("ingress[2]") == [(6, 12, 0.5), (12, 17, 1)]
    assert np.isinf(used.capacity[used.names.index("link")])
