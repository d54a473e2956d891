"""A few ranks simulated in place of all give the same times, or it is refused."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from collsim.algorithms import algorithm_names, build, build_folded, find, refusal
from collsim.core.cluster import Cluster
from collsim.core.collective import COLLECTIVES, collective
from collsim.core.folded import FoldedBuilder
from collsim.core.link import LinkClass
from collsim.core.symmetry import Fold
from collsim.core.timeline import Breakdown
from collsim.engine.fold.proof import prove
from collsim.engine.fold.simulation import FoldedSimulation, NotFoldedError
from collsim.engine.simulation import Simulation
from collsim.errors import InputError
from collsim.topology import fat_tree, rails, star
from collsim.topology.full_mesh import full_mesh
from collsim.topology.ring import ring
from collsim.topology.switch import switch
from collsim.topology.torus import torus

WIRE = LinkClass("wire", 1e-6, 1e9, alpha_busy=3e-7)
FAR = LinkClass("far", 5e-6, 3e8)


def four() -> Cluster:
    """Return a node of four GPUs that adds up in time."""
    return switch(4, WIRE, "four", gamma=1e-10)


CLUSTERS = {
    "ideal": Cluster.ideal(12, "1us", "1GB/s", gamma=1e-10),
    "ideal, latency overlaps": Cluster.ideal(16, "1us", "1GB/s", alpha_busy="0us"),
    "switch": switch(8, WIRE, "switch", gamma=1e-10),
    "mesh": full_mesh(8, WIRE, "mesh", gamma=1e-10),
    "ring": ring(8, WIRE, "ring", gamma=1e-10),
    "torus": torus((4, 4), WIRE, "torus", gamma=1e-10),
    "rails": rails.join(four(), 8, FAR),
    "shared NICs": rails.join(four(), 6, FAR, nics=2),
    "one NIC": rails.join(four(), 4, FAR, nics=1),
    "two NICs each": rails.join(four(), 4, FAR, nics=8),
    "oversubscribed": rails.join(four(), 4, FAR, oversubscription=2.0),
    "fat tree": fat_tree.join(four(), 8, FAR, 2, oversubscription=2.0),
    "star": star.join(four(), 3, FAR),
    "dgx-h100": Cluster.load("dgx-h100", nodes=4),
    "late, all alike": replace(
        rails.join(four(), 4, FAR), delay=np.tile([0.0, 3e-5, 0.0, 1e-6], 4)
    ),
}

Case = tuple[str, str, int, Fold]


def claims(cluster: Cluster) -> Iterator[Case]:
    """Yield what may fold on a cluster: collective, name, channels and how."""
    setting, ranks = cluster.setting, cluster.ranks
    for kind in COLLECTIVES:
        for name in algorithm_names(kind):
            algorithm = find(kind, name)
            if refusal(kind, name, ranks, cluster.node) is not None:
                continue
            claim = algorithm.claim(setting)
            several = algorithm.channeled and cluster.nodes > 1
            for channels in (1, 3) if several else (1,):
                base = claim.step(setting, channels) if claim else ranks
                for step in (1, 2, 4, 8, 16):
                    if claim is None or step % base or step >= ranks or ranks % step:
                        continue
                    try:
                        yield kind, name, channels, Fold(claim.kind, ranks, step)
                    except InputError:
                        continue


@pytest.mark.parametrize("where", CLUSTERS)
def test_equal_to_the_last_bit(where: str) -> None:
    """Time and its parts are those of the full engine, wherever folding is not refused."""
    cluster = CLUSTERS[where]
    folded = 0
    for kind, name, channels, fold in claims(cluster):
        few = build_folded(kind, name, fold, node=cluster.node, channels=channels)
        try:
            simulation = FoldedSimulation(few, cluster, compiled=False)
        except NotFoldedError:
            continue
        whole = Simulation(
            build(kind, name, cluster.ranks, node=cluster.node, channels=channels),
            cluster,
            compiled=False,
        )
        for size in (0, 3, 1e5):
            expected = whole.run(size)
            case = kind, name, channels, fold, size
            found = expected.makespan, expected.breakdown
            assert simulation.timed(size) == found, case
            assert simulation.makespan(size) == expected.makespan, case
            timeline = simulation.run(size)
            assert (timeline.makespan, timeline.breakdown) == found, case
            # All operations of an orbit start when the one that stands for them does.
            assert set(expected.start) == set(timeline.start), case
            assert set(expected.finish) == set(timeline.finish), case
        folded += 1
    assert folded


@pytest.mark.parametrize(
    ("kind", "name", "how", "step"),
    [
        ("all_reduce", "ring", "shift", 8),
        ("all_to_all", "ring", "shift", 8),
        ("all_gather", "bruck", "shift", 8),
        ("all_reduce", "recursive_doubling", "xor", 8),
        ("all_reduce", "halving_doubling", "xor", 8),
        ("all_to_all", "pairwise", "xor", 8),
        ("all_reduce", "hierarchical", "xor", 8),
    ],
)
def test_equal_on_256_ranks(kind: str, name: str, how: str, step: int) -> None:
    """On 32 nodes of 8 GPUs, with the compiled loop and without."""
    cluster = Cluster.load("dgx-h100", nodes=32)
    few = build_folded(kind, name, Fold(how, 256, step), node=cluster.node)
    whole = Simulation(build(kind, name, 256, node=cluster.node), cluster, compiled=True)
    expected = whole.run(12_345_678)
    for compiled in (False, True):
        found = FoldedSimulation(few, cluster, compiled=compiled)
        assert len(found.schedule) * 32 == len(whole.schedule)
        assert found.timed(12_345_678) == (expected.makespan, expected.breakdown)


def reason(
    cluster: Cluster, kind: str = "all_reduce", name: str = "ring", step: int = 4
) -> str:
    """Return why an algorithm does not fold on a cluster of four GPUs to a node."""
    claim = find(kind, name).claim(cluster.setting)
    assert claim is not None
    few = build_folded(kind, name, Fold(claim.kind, cluster.ranks, step), node=cluster.node)
    with pytest.raises(NotFoldedError) as caught:
        FoldedSimulation(few, cluster)
    return str(caught.value)


def test_one_slow_nic_is_refused() -> None:
    """One link of another bandwidth, alpha or width is seen."""
    cluster = CLUSTERS["rails"]
    one = cluster.links.names.index("nic[5].up")
    for column, value in (("beta", 1e-8), ("alpha", 1e-3), ("busy", 0.0), ("lanes", 2)):
        changed = getattr(cluster.links, column).copy()
        changed[one] = value
        hurt = replace(cluster, links=replace(cluster.links, **{column: changed}))
        assert "nic[5].up differs from" in reason(hurt) or "differs from nic[5]" in reason(hurt)


def test_another_order_of_ranks_is_refused() -> None:
    """Whichever it is, even if it would be as symmetric."""
    dealt = Cluster.load("dgx-h100", nodes=4)
    from collsim.topology import reorder

    assert reason(reorder(dealt, "across"), step=8).startswith("ranks do not sit on the GPUs")


def test_one_late_rank_is_refused() -> None:
    """Others that are late alike are not: see the cluster above."""
    delay = np.zeros(32)
    delay[7] = 1e-6
    late = replace(CLUSTERS["rails"], delay=delay)
    assert reason(late) == "some ranks enter later than others"


def test_a_dead_part_is_refused() -> None:
    """Its traffic goes another way, which no shape vouches for."""
    from collsim.topology import fail

    hurt = fail(Cluster.load("dgx-h100", nodes=4), "nic[3]")
    assert "takes some routes to no others" in reason(hurt, step=8)


def test_part_of_a_node_is_refused() -> None:
    """A job on some GPUs of a cluster has the routes of all of it."""
    some = Cluster.load("dgx-h100", ranks=4)
    few = build_folded("all_reduce", "ring", Fold("shift", 4, 1))
    with pytest.raises(NotFoldedError, match="takes some routes to no others"):
        FoldedSimulation(few, some)


def test_a_shared_trunk_is_refused() -> None:
    """Where all messages of an orbit meet on one link, one of them can't stand for all."""
    said = reason(CLUSTERS["oversubscribed"], "all_gather", "bruck")
    assert said == "messages that are the same but for their ranks meet on leaf[0].up"


def test_ties_whose_order_changes_are_refused() -> None:
    """Rank r sends to r + 1 and r + 2 to a NIC that its node shares, in the order of ranks."""
    said = reason(CLUSTERS["one NIC"], "all_to_all", "ring")
    assert said.startswith("messages of one round that may tie meet on a link")


def test_such_ties_do_change_times() -> None:
    """Folded all the same, the time would be another one: the order at the seam counts."""
    from collsim.engine.fold import lower as lowering

    differs = 0
    for nodes in (3, 4, 5):
        cluster = rails.join(four(), nodes, FAR, nics=1)
        few = build_folded("all_to_all", "ring", Fold("shift", 4 * nodes, 4), node=cluster.node)
        whole = Simulation(build("all_to_all", "ring", 4 * nodes), cluster).run(1e5)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(lowering, "_out_of_order", lambda *_: False)
            differs += FoldedSimulation(few, cluster).run(1e5).makespan != whole.makespan
    assert differs


def test_fair_sharing_is_refused() -> None:
    """Rates of all flows are found together."""
    fair = replace(CLUSTERS["rails"], sharing="fair")
    assert reason(fair).startswith("links are shared fairly")


def test_orbits_of_links() -> None:
    """Links of one kind are the first one's, renamed by so many nodes."""
    cluster = CLUSTERS["shared NICs"]
    orbits = prove(cluster, Fold("shift", 24, 4))
    assert not isinstance(orbits, str)
    names = cluster.links.names
    shown = {
        names[i]: (names[int(orbits.standing[i])], int(orbits.turn[i]))
        for i in range(len(names))
    }
    assert shown["nic[7].down"] == ("nic[1].down", 3)
    assert shown["gpu[23].up"] == ("gpu[3].up", 5)
    assert orbits.free.all()


def test_xor_needs_a_power_of_two_of_nodes() -> None:
    """On six nodes there is no such renaming; on a node of four in a ring it is no symmetry."""
    with pytest.raises(InputError, match="expected powers of two for xor"):
        Fold("xor", 24, 4)
    assert isinstance(prove(ring(8, WIRE, "ring"), Fold("xor", 8, 1)), str)


def test_nothing_that_holds_anybody_up() -> None:
    """Private links without ports: no tie can matter."""
    free = replace(CLUSTERS["ideal"], egress=None, ingress=None, gamma=0.0)
    few = build_folded("all_gather", "ring", Fold("shift", 12, 1))
    whole = Simulation(build("all_gather", "ring", 12), free).run(1e5)
    assert FoldedSimulation(few, free).timed(1e5) == (whole.makespan, whole.breakdown)


def test_a_folded_schedule_is_of_the_clusters_ranks() -> None:
    """Both counts are named."""
    few = build_folded("all_gather", "ring", Fold("shift", 8, 1))
    with pytest.raises(InputError, match="made for 8 ranks, but cluster 'ideal' has 12"):
        FoldedSimulation(few, CLUSTERS["ideal"])


def test_done_is_when_all_have_entered() -> None:
    """All ranks are late by a second, and nobody has anything to do."""
    late = replace(CLUSTERS["switch"], delay=np.ones(8), launch=0.5)
    setting = late.setting
    axes = ((8, 1), (1, 0))
    nothing = FoldedBuilder(
        collective("all_gather"), setting, Fold("shift", 8, 1), axes
    ).folded()
    folded = FoldedSimulation(nothing, late)
    assert folded.timed(1e5) == (1.5, Breakdown(launch=0.5, waiting=1.0))
    assert folded.run(1e5).makespan == folded.makespan(1e5) == 1.5
