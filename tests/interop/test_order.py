"""Orders of operations: what data ask for, and what of it others imply."""

from __future__ import annotations

import random
from itertools import pairwise

from collsim.algorithms import build
from collsim.core.schedule import REDUCE
from collsim.interop._order import Phases, circular, depths, in_order, reduced


def test_phases_give_the_builders_dependencies() -> None:
    """Reads, sums and copies of every place, reduced, are what the builder derives."""
    for kind, name in (("all_reduce", "one_shot"), ("all_gather", "bruck"), ("reduce", "mst")):
        schedule = build(kind, name, 6)
        phases, waits = Phases(), []
        for o in range(len(schedule)):
            how = "reduce" if schedule.kind[o] == REDUCE else "copy"
            mine: set[int] = set()
            for place in schedule.carried(o).tolist():
                mine.update(phases.access(o, (int(schedule.src[o]), place), "read"))
            for place in schedule.written(o).tolist():
                mine.update(phases.access(o, (int(schedule.dst[o]), place), how))
            waits.append(mine)
        dep_ptr, dep = reduced(waits)
        assert dep_ptr.tolist() == schedule.dep_ptr.tolist()
        assert dep.tolist() == schedule.dep.tolist()


def test_reduced_keeps_what_nothing_implies() -> None:
    """The closure of what is kept is the closure of all, and none of it can go."""
    draw = random.Random(3)
    for _ in range(50):
        waits = [sorted(draw.sample(range(o), min(o, draw.randrange(4)))) for o in range(12)]
        dep_ptr, dep = reduced(waits)
        kept = [set(dep[a:b].tolist()) for a, b in pairwise(dep_ptr)]
        whole, small = closure(waits), closure(kept)
        assert whole == small
        for o, mine in enumerate(kept):
            assert all(not any(d in small[e] for e in mine) for d in mine), o


def closure(waits: list[list[int]] | list[set[int]]) -> list[set[int]]:
    """Return all that each operation waits for, directly or through others."""
    found: list[set[int]] = []
    for mine in waits:
        found.append(set(mine).union(*(found[d] for d in mine)))
    return found


def test_in_order_by_priority() -> None:
    """Who waits comes later, else the smaller goes first."""
    assert in_order([{2}, set(), set()], [(0, 0), (2, 0), (1, 0)]) == [2, 0, 1]
    assert in_order([{1}, {0}], [(0, 0), (0, 0)]) is None


def test_depths_count_messages() -> None:
    """Those that do not count add nothing."""
    assert depths([set(), {0}, {1}, {2}], [True, False, True, True]) == [0, 1, 1, 2]
    assert depths([{1}, {0}], [True, True]) is None


def test_circles() -> None:
    """Operations in them, and between two of them, but not before or after."""
    waits = [{1}, {0}, {1}, {2, 4}, {3}, {4}, set()]
    assert circular(waits) == {0, 1, 2, 3, 4}
