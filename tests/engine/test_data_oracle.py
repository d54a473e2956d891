"""What `verify` says, against data that are moved in random legal orders, and in all of few."""

from __future__ import annotations

import os
import random
from collections import Counter
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from collsim.engine.verdict import verify_schedule

# So many schedules, a third of them right; more at a desk by COLLSIM_ORACLE_CASES=5000.
CASES = int(os.environ.get("COLLSIM_ORACLE_CASES", "400"))
BATCH = 100
# Orders that are tried of each schedule, and operations up to which all are.
ORDERS, FEW = 10, 4


class Found(NamedTuple):
    """What trying found of one schedule."""

    how: str
    one: Any
    broken: set[str]
    misdeeds: set[str]
    right: bool
    all_tried: bool


def tried(data_oracle: ModuleType, how: str, one: Any) -> Found:
    """Return which rules a schedule breaks, what it does wrong, and whether it ends right."""
    task = data_oracle.task(one.kind, one.ranks, one.root, one.parts)
    runs = [data_oracle.run(task, one.operations, random.Random(i)) for i in range(ORDERS)]
    every = data_oracle.every_run(task, one.operations) if len(one.operations) <= FEW else None
    runs += every or []
    return Found(
        how,
        one,
        data_oracle.rules_broken(task, one.operations),
        set().union(*(one.misdeeds for one in runs)),
        all(one.right() for one in runs),
        every is not None,
    )


@pytest.mark.parametrize("first", range(0, CASES, BATCH))
def test_the_verdict_is_that_of_the_data(
    data_oracle: ModuleType, broken: ModuleType, first: int
) -> None:
    """Fine if every order ends right, no rule of order is broken, and no data are made up.

    Beyond the result the verdict asks for what makes it so on any machine: conflicting accesses
    in a fixed order, waits that their rank can know of, and that nothing is sent, combined or
    counted that is not there, or not so, even where nobody uses it.
    """
    for seed in range(first, first + BATCH):
        found = tried(data_oracle, *broken.draw(data_oracle, seed))
        verdict = verify_schedule(found.one.schedule())
        fine = found.right and not found.broken and not found.misdeeds
        assert verdict.ok == fine, f"seed {seed}, {found.how}: {verdict.reason}"


def test_nothing_is_left_out(data_oracle: ModuleType, broken: ModuleType) -> None:
    """Right and wrong schedules, every error, rule and misdeed, and what they are made of."""
    counted: Counter[str] = Counter()
    for seed in range(0, 4 * CASES, 4):
        found = tried(data_oracle, *broken.draw(data_oracle, seed))
        ops, ranks = found.one.operations, found.one.ranks
        into = [(op.dst, place) for op in ops if op.reduces for place in set(op.writes)]
        has = {
            "a switch": any(max(op.src, op.dst) >= ranks for op in ops),
            "a message to itself": any(op.src == op.dst for op in ops),
            "scratch": found.one.scratch > 0,
            "several pieces": any(len(op.reads) > 1 for op in ops),
            "no pieces": any(not op.reads for op in ops),
            "reductions in any order": len(set(into)) < len(into),
            "all orders": found.all_tried,
            "ends right": found.right,
            "ends wrong": not found.right,
            "ends right by chance": found.right and bool(found.broken | found.misdeeds),
        }
        counted.update(name for name, true in has.items() if true)
        counted.update({found.how} | found.broken | found.misdeeds)
    wanted = {
        *("a switch", "a message to itself", "scratch", "several pieces", "no pieces"),
        *("reductions in any order", "all orders", "right", "ends right", "ends wrong"),
        *("ends right by chance", *(error.__name__ for error in broken.ERRORS)),
        *data_oracle.RULES,
        *data_oracle.MISDEEDS,
    }
    assert wanted - set(counted) == set()


def test_a_race_is_found_by_trying(data_oracle: ModuleType) -> None:
    """Of 70 orders of three hops without a wait between two of them few end right."""
    ops = [
        data_oracle.Operation(src, src + 1, False, (0,), (0,), waits)
        for src, waits in ((0, frozenset()), (1, frozenset()), (2, frozenset({1})))
    ]
    task = data_oracle.task("broadcast", 4, 0, 1)
    ends = data_oracle.every_run(task, ops)
    assert {run.right() for run in ends} == {True, False}
    ops[1] = data_oracle.Operation(1, 2, False, (0,), (0,), frozenset({0}))
    assert [run.right() for run in data_oracle.every_run(task, ops)] == [True]
