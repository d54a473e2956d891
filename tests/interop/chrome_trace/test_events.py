"""Traces keep the format, and say what the simulation found."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from collsim.algorithms import build
from collsim.core.cluster import Cluster
from collsim.core.timeline import Timeline
from collsim.engine.simulate import Together, simulate
from collsim.engine.usage import usage
from collsim.interop.chrome_trace.write import write_trace

Traced = tuple[Timeline | Together, Cluster, dict[str, Any]]
Read = Callable[..., dict[str, Any]]
Span = tuple[Fraction, Fraction, dict[str, Any]]


def exact(value: float) -> Fraction:
    """Return microseconds as nanoseconds; a trace has whole ones."""
    found = Fraction(str(value)) * 1000
    assert found.denominator == 1
    return found


def of(found: dict[str, Any], phase: str) -> list[dict[str, Any]]:
    """Return the events of one phase."""
    return [event for event in found["traceEvents"] if event["ph"] == phase]


def spans(found: dict[str, Any]) -> dict[tuple[int, int], list[Span]]:
    """Return the slices of every thread: begin, end, event."""
    threads = defaultdict(list)
    for event in of(found, "X"):
        begin = exact(event["ts"])
        threads[event["pid"], event["tid"]].append((begin, begin + exact(event["dur"]), event))
    return threads


def timelines(outcome: Timeline | Together) -> list[tuple[float, Timeline]]:
    """Return when each call was made, and its timeline."""
    if isinstance(outcome, Timeline):
        return [(0.0, outcome)]
    return [(j.start, t) for j, t in zip(outcome.jobs, outcome.timelines, strict=True)]


def test_keeps_the_schema_and_names_everything(traced: Traced) -> None:
    """Strictly; every process and thread that has an event has one name and one place."""
    found = traced[2]
    names = Counter((event["name"], event["pid"], event.get("tid")) for event in of(found, "M"))
    assert set(names.values()) == {1}
    for event in of(found, "X"):
        for kind in ("thread_name", "thread_sort_index"):
            assert (kind, event["pid"], event["tid"]) in names
    for event in of(found, "X") + of(found, "C"):
        for kind in ("process_name", "process_sort_index"):
            assert (kind, event["pid"], None) in names
    threads = [key[2] for key in names if key[0] == "thread_name"]
    assert len(set(threads)) == len(threads), "a number of two threads"


def test_slices_of_a_thread_lie_in_or_beside_each_other(traced: Traced) -> None:
    """None overlaps another in part, and messages never overlap at all."""
    for slices in spans(traced[2]).values():
        open_until: list[Fraction] = []
        for begin, end, event in sorted(slices, key=lambda s: (s[0], -s[1])):
            while open_until and open_until[-1] <= begin:
                open_until.pop()
            if "operation" in event.get("args", {}):
                assert not open_until
            assert not open_until or end <= open_until[-1]
            open_until.append(end)


def test_every_message_is_there_with_its_times(traced: Traced) -> None:
    """At its sender from its start, at its receiver to its finish, with what it carries."""
    outcome, cluster, found = traced
    ends: dict[tuple[int, int], list[Span]] = defaultdict(list)
    for slices in spans(found).values():
        for begin, end, event in slices:
            if event["cat"] not in {"alpha", "call", "critical"}:
                args = event["args"]
                ends[args.get("job", 0), args["operation"]].append((begin, end, event))
    whole = timelines(outcome)
    assert ends.keys() == {
        (j, o) for j, (_, t) in enumerate(whole) for o in range(t.operations)
    }
    for j, (at, timeline) in enumerate(whole):
        schedule = timeline.schedule
        critical = {step.operation for step in timeline.critical_path}
        for o in range(timeline.operations):
            out, into = sorted(ends[j, o], key=lambda s: " to " not in s[2]["name"])
            assert float(out[0]) == pytest.approx((at + timeline.start[o]) * 1e9, abs=0.51)
            assert float(into[1]) == pytest.approx((at + timeline.finish[o]) * 1e9, abs=0.51)
            assert out[0] <= into[0]
            assert out[1] <= into[1]
            assert out[2]["args"] == into[2]["args"]
            args = into[2]["args"]
            assert args["round"] == schedule.round[o] + 1
            nbytes = schedule.fraction[o] * timeline.nbytes
            assert args["bytes"] == pytest.approx(nbytes, rel=1e-11)
            assert args.get("critical", False) == (o in critical)
            assert ("critical" in into[2]["cat"]) == (o in critical)
            parts = [args.get(f"{p}_us", 0) for p in ("alpha", "beta", "gamma", "waiting")]
            lasts = float(timeline.finish[o] - timeline.start[o]) * 1e6
            assert sum(parts) == pytest.approx(lasts, rel=1e-5, abs=2e-3)
            # Under fifo what has started waits for nothing but its turn to be reduced.
            shared = cluster.sharing == "fair" or "gamma_us" in args
            assert shared or "waiting_us" not in args


def test_arrows_join_the_two_ends_of_a_message(traced: Traced) -> None:
    """Each has one tail and one head, both in a slice of its own message."""
    found = traced[2]
    tails = {event["id"]: event for event in of(found, "s")}
    heads = {event["id"]: event for event in of(found, "f")}
    assert len(tails) == len(of(found, "s"))
    assert len(heads) == len(of(found, "f"))
    assert tails.keys() == heads.keys()
    threads = spans(found)
    joined = []
    for number, tail in tails.items():
        pair = []
        for event in (tail, heads[number]):
            # Strictly inside, whether a reader takes ends for open or closed.
            at = Fraction(str(event["ts"])) * 1000
            around = [
                one["args"]
                for begin, end, one in threads[event["pid"], event["tid"]]
                if begin < at < end and "args" in one
            ]
            assert len(around) == 1
            pair += around
        assert pair[0] == pair[1]
        assert tail["ts"] <= heads[number]["ts"]
        joined.append((pair[0].get("job", 0), pair[0]["operation"]))
    expected = [
        (j, o)
        for j, (_, t) in enumerate(timelines(traced[0]))
        for o in range(t.operations)
        if t.schedule.src[o] != t.schedule.dst[o] and t.finish[o] > t.start[o]
    ]
    assert sorted(joined) == expected


def test_counters_count_all_bytes(traced: Traced) -> None:
    """From 0 to 0, and the area below each is what its link carries."""
    outcome, cluster, found = traced
    used = usage(outcome, cluster)
    limited = np.isfinite(used.capacity) & (used.nbytes > 0)
    carried = {used.names[k]: used.nbytes[k] for k in np.flatnonzero(limited)}
    counters = defaultdict(list)
    for event in of(found, "C"):
        counters[event["name"]].append((float(exact(event["ts"])), event["args"]["GB/s"]))
    assert counters.keys() == carried.keys()
    for name, levels in counters.items():
        times, rates = np.array(levels).T
        assert (rates[0], rates[-1]) in {(0.0, 0.0), (rates[0], 0.0)}
        assert times[0] == 0
        assert (np.diff(times) > 0).all()
        # Ends are rounded to a nanosecond each: GB/s are bytes per nanosecond.
        slack = float(np.abs(np.diff(rates)).sum()) * 0.51
        assert (np.diff(times) @ rates[:-1]) == pytest.approx(
            carried[name], abs=slack, rel=1e-6
        )
        assert rates.max() <= used.capacity[used.names.index(name)] / 1e9 * (1 + 1e-6)


def test_times_by_hand(read: Read) -> None:
    """Two ranks, 1 us and 1 byte a ns: sent from 0 to 3 us, received from 1 us on."""
    cluster = Cluster.ideal(2, "1us", "1GB/s")
    found = read(simulate(build("broadcast", "mst", 2), cluster, 2000), cluster)
    told = [(e["name"], e["ts"], e["dur"]) for e in of(found, "X")]
    assert told == [
        ("broadcast", 0, 3),
        ("0 to 1", 0, 3),
        ("copy to rank 1", 0, 3),
        ("start-up", 0, 1),
        ("copy from rank 0", 1, 2),
    ]
    assert [(e["ph"], e["ts"]) for e in of(found, "s") + of(found, "f")] == [
        ("s", 0.00025),
        ("f", 1.00025),
    ]
    assert [(e["name"], e["ts"], e["args"]["GB/s"]) for e in of(found, "C")] == [
        (f"{port}", at, rate)
        for port in ("egress[0]", "ingress[1]")
        for at, rate in ((0, 0), (1, 1), (3, 0))
    ]


def test_reducing_is_the_receivers_by_hand(read: Read) -> None:
    """1 us, then 2000 bytes at 1 B/ns, and 2 ns for each to be reduced: the sender is free."""
    cluster = Cluster.ideal(2, "1us", "1GB/s", gamma="2ns", launch="1us")
    found = read(simulate(build("reduce", "mst", 2), cluster, 2000), cluster)
    told = {e["name"]: (e["ts"], e["dur"]) for e in of(found, "X")}
    assert told == {
        "reduce": (0, 8),
        "launch": (0, 1),
        "1 to 0": (1, 7),
        "reduce to rank 0": (1, 3),
        "start-up": (1, 1),
        "reduce from rank 1": (2, 6),
    }


def test_a_process_per_node_and_threads_per_rank(read: Read) -> None:
    """Named for the reader; what overlaps at one port gets a lane of its own."""
    cluster = Cluster.ideal(3, "5us", "1GB/s", alpha_busy="1us")
    found = read(simulate(build("scatter", "linear", 3), cluster, 3000), cluster)
    names = [event["args"]["name"] for event in of(found, "M") if "name" in event["args"]]
    assert names == [
        "collectives on ideal", "scatter", "scatter, critical path",
        "node 0", "rank 0 out", "rank 0 out, lane 2", "rank 1 in", "rank 2 in",
    ]  # fmt: skip
    two = Cluster.load("dgx-h100", nodes=2)
    found = read(simulate(build("all_gather", "ring", 16), two, 2**20), two)
    names = [event["args"]["name"] for event in of(found, "M") if "name" in event["args"]]
    assert [name for name in names if " in" not in name and " out" not in name] == [
        "collectives on dgx-h100", "all_gather", "all_gather, critical path",
        "node 0", "node 1", "links",
    ]  # fmt: skip


@pytest.mark.parametrize("ending", ["json", "json.gz"])
def test_same_bytes_every_time(tmp_path: Path, traced: Traced, ending: str) -> None:
    """Neither dates nor names of files are in it."""
    one, two = tmp_path / f"one.{ending}", tmp_path / f"two.{ending}"
    for path in (one, two):
        write_trace(*traced[:2], path)
    assert one.read_bytes() == two.read_bytes()
