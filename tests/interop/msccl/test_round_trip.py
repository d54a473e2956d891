"""What is written as MSCCL XML reads back the same, for every algorithm."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from collsim.algorithms import algorithm_names, build
from collsim.core.cluster import Cluster
from collsim.core.collective import COLLECTIVES
from collsim.core.same import difference
from collsim.engine.simulate import simulate
from collsim.errors import InputError
from collsim.interop.msccl.blocks import to_program
from collsim.interop.msccl.flow import follow
from collsim.interop.msccl.limits import limits_broken
from collsim.interop.msccl.lower import lower
from collsim.interop.msccl.races import find_race
from collsim.interop.msccl.reader import read_program
from collsim.interop.msccl.writer import to_xml

CASES = [(kind, name) for kind in COLLECTIVES for name in algorithm_names(kind)]
NAMES = [f"{kind}-{name}" for kind, name in CASES]


@pytest.mark.parametrize(("kind", "name"), CASES, ids=NAMES)
def test_reads_back_the_same(schedules: Any, kind: str, name: str) -> None:
    """On 2 to 16 ranks: operations, their order and waits; nothing hangs, nothing races.

    Even a connection that holds one message is enough.
    """
    for what, schedule in schedules(kind, name, range(2, 17)):
        program = to_program(schedule, name)
        again = read_program(what, to_xml(program).encode())
        assert again == program, what
        flow = follow(again, slots=1)
        assert find_race(again, flow) is None, what
        assert difference(schedule, lower(again, flow).schedule) is None, what


@pytest.mark.parametrize(("kind", "name"), CASES, ids=NAMES)
def test_is_right_without_what_collsim_adds(
    schedules: Any, plain: Any, read: Any, outcomes: Any, depth: Any, kind: str, name: str
) -> None:
    """Another reader sees the same collective: verified, and run on memory step by step.

    Where latency alone counts, simulated time is the number of messages that follow each other
    when thread blocks run step by step. It is more where a rank changes what it has sent, as a
    message is read until it has arrived, while the runtime is done with it before.
    """
    for what, schedule in schedules(kind, name, range(5, 9)):
        text = plain(schedule)
        assert "adds" not in text
        assert outcomes(text, 2) == {"right"}, what
        file = read(text, root=schedule.root if schedule.collective.rooted else None)
        assert file.verdict.ok, what
        cluster = Cluster.ideal(schedule.ranks, 1.0, 1e9, alpha_busy=0.0)
        rounds = simulate(file.right(), cluster, 0).makespan
        changes = name == "recursive_doubling" and kind == "all_reduce"
        assert rounds >= depth(text) if changes else rounds == depth(text), what


def test_takes_as_long_without_what_collsim_adds(plain: Any, read: Any) -> None:
    """Where every message is one step, times are those of the schedule."""
    cluster = Cluster.ideal(6, "1us", "1GB/s", alpha_busy=0.0)
    for kind, name in (("all_reduce", "ring"), ("broadcast", "mst"), ("reduce", "mst")):
        schedule = build(kind, name, 6)
        text = plain(schedule)
        there = simulate(read(text).right(), cluster, 6000)
        assert len(there.schedule) == len(schedule)
        here = simulate(schedule, cluster, 6000)
        assert there.makespan == pytest.approx(here.makespan, rel=1e-12)


def test_thread_blocks_keep_the_runtimes_rules() -> None:
    """One peer in each direction, one thread block for each connection, steps in order."""
    schedule = build("all_to_all", "bruck", 8)
    algo = ET.fromstring(to_xml(to_program(schedule, "bruck")))
    assert algo.tag == "algo"
    for gpu in algo:
        ends = [
            (key, tb.get(key), tb.get("chan"))
            for tb in gpu.iter("tb")
            for key in ("send", "recv")
            if tb.get(key) != "-1"
        ]
        assert len(ends) == len(set(ends))
        for tb in gpu.iter("tb"):
            types = {step.get("type") for step in tb}
            assert tb.get("send") != "-1" or types.isdisjoint({"s"})
            assert tb.get("recv") != "-1" or types.isdisjoint({"r", "rrc"})
            assert [step.get("s") for step in tb] == [str(i) for i in range(len(tb))]


def test_many_peers_share_no_channel_beyond_its_limit() -> None:
    """Of 39 peers 32 are reached on one channel and the others on the next."""
    program = to_program(build("scatter", "linear", 40), "linear")
    channels = [block.channel for block in program.gpus[0].blocks]
    assert (len(channels), channels.count(0), channels.count(1)) == (39, 32, 7)
    assert limits_broken(program) == []


def test_the_runtimes_parser_can_read_it() -> None:
    """No declaration, no tabs, one blank between attributes, values below 256 letters."""
    text = to_xml(to_program(build("all_to_all", "bruck", 5), 'a "name" & more'))
    assert text.startswith("<algo name=")
    assert "\t" not in text
    for line in text.splitlines():
        assert "  " not in line.strip()
        assert all(len(value) < 256 for value in re.findall(r'"([^"]*)"', line))
    assert ET.fromstring(text).get("name") == 'a "name" & more'


def test_a_small_one_by_hand() -> None:
    """A broadcast in two chunks past three ranks: who waits for whom."""
    text = to_xml(to_program(build("broadcast", "ring", 3, chunks=2), "ring"))
    steps = [
        (gpu.get("id"), tb.get("send"), tb.get("recv"), step.get("type"), step.get("srcoff"),
         f"{step.get('depid')}.{step.get('deps')}", step.get("hasdep"))
        for gpu in ET.fromstring(text)
        for tb in gpu.iter("tb")
        for step in tb
    ]  # fmt: skip
    assert steps == [
        ("0", "1", "-1", "s", "0", "-1.-1", "0"),
        ("0", "1", "-1", "s", "1", "-1.-1", "0"),
        ("1", "-1", "0", "r", "0", "-1.-1", "1"),
        ("1", "-1", "0", "r", "1", "-1.-1", "1"),
        ("1", "2", "-1", "s", "0", "0.0", "0"),
        ("1", "2", "-1", "s", "1", "0.1", "0"),
        ("2", "-1", "1", "r", "0", "-1.-1", "0"),
        ("2", "-1", "1", "r", "1", "-1.-1", "0"),
    ]


def test_switches_have_no_step() -> None:
    """In-switch algorithms are refused by name, with the reason."""
    schedule = build("all_reduce", "nvls", 4, multicast=True)
    with pytest.raises(
        InputError, match=r"^nvls: its messages go by way of a switch that adds"
    ):
        to_program(schedule, "nvls")


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        (' op="1"', ' op="7"', "op does not count all messages from 0 up"),
        (' op="1"', "", "some steps have an op and others have none"),
        (' op="2"', ' op="0"', "op 0 goes from 0 to 1 and from 2 to 3"),
        (' op="0"', ' op="1"', "op 1 goes from 0 to 1 and from 1 to 2"),
    ],
)
def test_what_collsim_adds_is_ignored_where_it_is_stale(
    read: Any, plain: Any, before: str, after: str, reason: str
) -> None:
    """Somebody may have edited the file: a note, and it is read as the runtime does."""
    text = to_xml(to_program(build("broadcast", "ring", 4), "ring"))
    assert before in text
    file = read(text.replace(before, after, 1))
    assert file.verdict.ok, file.verdict.reason
    note = "is not as collsim wrote it, so op and its like are ignored: "
    assert file.warnings == (note + reason,)
    bare = read(plain(build("broadcast", "ring", 4))).schedule
    assert difference(file.schedule, bare) is None


def test_messages_that_swapped_their_numbers(read: Any) -> None:
    """The order of the file is that of its steps."""
    text = to_xml(to_program(build("broadcast", "ring", 4), "ring"))
    swapped = text.replace(' op="0"', ' op="x"').replace(' op="1"', ' op="0"')
    file = read(swapped.replace(' op="x"', ' op="1"'))
    assert file.verdict.ok
    (warning,) = file.warnings
    assert warning.endswith("op 0 waits for a message with a larger op")
