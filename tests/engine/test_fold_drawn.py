"""Random symmetric programs: few ranks in place of all, all ranks, and the oracle."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from types import ModuleType

import numpy as np
import pytest
from numpy.typing import NDArray

from collsim.core.builder import Builder
from collsim.core.cluster import Cluster
from collsim.core.collective import collective
from collsim.core.folded import FoldedBuilder
from collsim.core.link import LinkClass
from collsim.core.symmetry import Fold
from collsim.core.timeline import Timeline
from collsim.engine.fold.simulation import FoldedSimulation, NotFoldedError
from collsim.engine.simulation import Simulation
from collsim.topology import fat_tree, rails, star
from collsim.topology.full_mesh import full_mesh
from collsim.topology.ring import ring
from collsim.topology.switch import switch
from collsim.topology.torus import torus

# So many programs; more at a desk by COLLSIM_ORACLE_CASES=5000.
CASES = int(os.environ.get("COLLSIM_ORACLE_CASES", "400")) // 4
WIRE = LinkClass("wire", 0.5, 4.0, alpha_busy=0.25)
FAR = LinkClass("far", 1.5, 1.0)
NODE = switch(2, WIRE, "node", gamma=0.25)
CLUSTERS = (
    Cluster.ideal(8, 1.0, 2.0, gamma=0.5),
    Cluster.ideal(8, 1.0, 2.0, alpha_busy=0.0),
    switch(8, WIRE, "switch", gamma=0.25),
    full_mesh(8, WIRE, "mesh", gamma=0.25),
    ring(8, WIRE, "ring", gamma=0.25),
    torus((2, 4), WIRE, "torus", gamma=0.25),
    rails.join(NODE, 4, FAR),
    rails.join(NODE, 4, FAR, nics=1),
    rails.join(NODE, 3, FAR, oversubscription=2.0),
    fat_tree.join(NODE, 4, FAR, 2, oversubscription=2.0),
    star.join(NODE, 4, FAR),
    replace(rails.join(NODE, 4, FAR), delay=np.tile([0.0, 0.75], 4), launch=0.5),
)


# How far the receiver, the block that is read and the one that is written are; which part;
# whether a round begins, and whether the receiver reduces.
IntArray = NDArray[np.int64]
Step = tuple[IntArray, IntArray, IntArray, int, bool, bool]


def moved(fold: Fold, rank: IntArray, far: IntArray) -> IntArray:
    """Return what is so far from each rank."""
    by = far[rank % fold.step]
    return rank ^ by if fold.kind == "xor" else (rank + by) % fold.ranks


def program(rng: random.Random, fold: Fold, parts: int) -> Callable[[Builder], None]:
    """Return what lists a random program that is the same after every renaming.

    Whom a rank sends to, and which block, is so far from it; how far goes by its number within
    the representatives. Messages that are listed at once are in nobody's way: in which order
    they are listed would be another one after a renaming.
    """
    steps: list[Step] = []
    for _ in range(rng.randint(1, 12)):
        far, block, into = (
            np.array([rng.randrange(fold.ranks) for _ in range(fold.step)]) for _ in range(3)
        )
        new, reduces, stays = rng.random() < 0.7, rng.random() < 0.5, rng.random() < 0.5
        step = (far, block, block if stays else into, rng.randrange(parts), new, reduces)
        every = np.arange(fold.ranks)
        to, read, written = (moved(fold, every, by) for by in step[:3])
        reads, writes = list(zip(every, read, strict=True)), list(zip(to, written, strict=True))
        if not set(reads) & set(writes) and (reduces or len(set(writes)) == len(writes)):
            steps.append(step)

    def build(b: Builder) -> None:
        for far, block, into, part, new, reduces in steps:
            if new:
                b.next_round()
            to, read, written = (moved(fold, b.every, by) for by in (far, block, into))
            carried, places = (b.pieces[one, part][:, None] for one in (read, written))
            (b.reduce if reduces else b.copy)(b.every, to, carried, into=places)

    return build


def path_of(timeline: Timeline) -> list[tuple[float, float, str, float]]:
    """Return the critical path, but for which operations are on it."""
    return [
        (step.start, step.finish, step.why, step.waiting) for step in timeline.critical_path
    ]


def test_random_symmetric_programs(oracle: ModuleType, drawn: ModuleType) -> None:
    """To the last bit, wherever folding is not refused; every tenth against the oracle too."""
    counted: Counter[str] = Counter()
    for seed in range(CASES):
        rng = random.Random(seed)
        cluster = rng.choice(CLUSTERS)
        kinds = ["shift"] if cluster.ranks & (cluster.ranks - 1) else ["shift", "xor"]
        steps = [step for step in (1, 2, 4) if cluster.ranks % step == 0]
        fold, parts = (
            Fold(rng.choice(kinds), cluster.ranks, rng.choice(steps)),
            rng.choice((1, 2)),
        )
        author = program(rng, fold, parts)
        kind, node = collective("all_gather"), cluster.node
        few = FoldedBuilder(
            kind, cluster.setting, fold, ((cluster.ranks, 1), (parts, 0)), 1, parts
        )
        whole = Builder(kind, cluster.ranks, parts=parts, node=node)
        for b in (few, whole):
            author(b)
        size = 8.0 * rng.randrange(3)
        try:
            folded = FoldedSimulation(few.folded(), cluster, compiled=False)
        except NotFoldedError:
            counted["refused"] += 1
            continue
        counted[fold.kind] += 1
        expected = Simulation(whole.finish(), cluster, compiled=False).run(size)
        found = folded.run(size)
        assert found.makespan == expected.makespan, f"seed {seed}"
        compiled = FoldedSimulation(folded.folded, cluster, compiled=True)
        for one in (folded, compiled):
            assert one.timed(size) == (expected.makespan, expected.breakdown), f"seed {seed}"
        assert path_of(found) == path_of(expected), f"seed {seed}"
        assert set(found.start) == set(expected.start), f"seed {seed}"
        assert set(found.finish) == set(expected.finish), f"seed {seed}"
        if seed % 10 == 0:
            listed = drawn.listed(expected.schedule)
            messages = drawn.messages_of(oracle, listed, cluster, size, range(cluster.ranks))
            start, finish = oracle.timeline(
                messages, Fraction(cluster.gamma), Fraction(cluster.launch)
            )
            for mine, right in ((expected.start, start), (expected.finish, finish)):
                times = [float(time) for time in right]
                assert mine.tolist() == pytest.approx(times, rel=1e-9), f"seed {seed}"
            counted["oracle"] += 1
    assert min(counted[name] for name in ("refused", "shift", "xor", "oracle")) > 0
