"""Programs become schedules that do the same."""

from __future__ import annotations

from typing import Any

import numpy as np

from collsim.core.cluster import Cluster
from collsim.engine.execute import execute
from collsim.engine.simulate import simulate
from collsim.interop.schedule_file import ScheduleFile


def right(read: Any, outcomes: Any, text: str) -> ScheduleFile:
    """Return a file that is right, which a run on memory confirms."""
    file: ScheduleFile = read(text)
    assert file.verdict.ok, file.verdict.reason
    assert outcomes(text, 5) == {"right"}
    return file


def listed(file: ScheduleFile) -> list[tuple[int, int, bool, list[int], list[int], list[int]]]:
    """Return sender, receiver, whether it adds, places read and written, and waits."""
    s = file.schedule
    assert s is not None
    return [
        (int(s.src[o]), int(s.dst[o]), bool(s.kind[o]), s.carried(o).tolist(),
         s.written(o).tolist(), s.waits_for(o).tolist())
        for o in range(len(s))
    ]  # fmt: skip


def test_steps_that_receive_and_send(read: Any, spelled: Any, outcomes: Any) -> None:
    """A ring all_reduce of two chunks on three ranks in fused steps."""
    ring = [
        [(1, 2, 0, ["s i0", "rcs i0"]), (-1, 2, 1, [])],
        [(2, 0, 0, ["rrs i0", "rcs i0"])],
        [(0, 1, 0, ["rrcs i0", "r i0"])],
    ]
    file = right(read, outcomes, spelled("allreduce", ring))
    # The sum that rank 1 only passes on is kept where its own was: nobody misses that.
    assert listed(file) == [
        (0, 1, True, [0], [0], []),
        (1, 2, True, [0], [0], [0]),
        (2, 0, False, [0], [0], [1]),
        (0, 1, False, [0], [0], [2]),
        (1, 2, False, [0], [0], [3]),
    ]


def test_a_sum_that_is_passed_on_leaves_the_memory_alone(
    read: Any, spelled: Any, outcomes: Any
) -> None:
    """Rank 1 adds what comes in on the way, and still reads its own afterwards."""
    steps = [
        [(1, -1, 0, ["s i0"])],
        [(2, 0, 0, ["rrs i0", "cpy i0 s0"])],
        [(-1, 1, 0, ["rrc i0"])],
    ]
    file = right(read, outcomes, spelled("reduce", steps, scratch=1, root=2))
    assert listed(file) == [
        (1, 1, False, [0], [2], []),
        (0, 1, True, [0], [2], [0]),
        (1, 2, True, [2], [0], [1]),
        (1, 1, False, [0], [1], [1]),
    ]


def test_a_swap_in_place_goes_by_way_of_scratch(read: Any, spelled: Any, outcomes: Any) -> None:
    """Each is held by its connection until the other end has sent its own."""
    swap = [[(1 - r, 1 - r, 0, ["s i0", "rrc i0"])] for r in range(2)]
    file = right(read, outcomes, spelled("allreduce", swap))
    assert listed(file) == [
        (0, 1, False, [0], [1], []),
        (1, 0, False, [0], [1], []),
        (1, 1, True, [1], [0], [0, 1]),
        (0, 0, True, [1], [0], [0, 1]),
    ]
    cluster = Cluster.ideal(2, "1us", "1GB/s")
    # Both at once, as two GPUs do it, and not one after the other.
    assert round(simulate(file.schedule, cluster, 1000).makespan_us, 9) == 2.0


def test_two_buffers_that_are_one_place(read: Any, spelled: Any, outcomes: Any) -> None:
    """The copy from input to output costs nothing and is left out."""
    ends = [
        [(-1, -1, 0, [f"cpy i0 o{r} !"]), (1 - r, 1 - r, 0, ["s i0", f"r o{1 - r}"])]
        for r in range(2)
    ]
    file = right(read, outcomes, spelled("allgather", ends, chunks=2, in_place=False))
    assert listed(file) == [(0, 1, False, [0], [0], []), (1, 0, False, [1], [1], [])]


def test_an_output_that_is_written_while_its_input_is_needed(
    read: Any, spelled: Any, outcomes: Any
) -> None:
    """It is kept aside and moved in the end."""
    ends = [
        [(1 - r, 1 - r, 0, ["r o0", "re i0 o0", "s i0"] if r else ["s i0", "r o0", "re i0 o0"])]
        for r in range(2)
    ]
    file = right(read, outcomes, spelled("allreduce", ends, in_place=False))
    assert [entry[:3] for entry in listed(file)][-2:] == [(0, 0, False), (1, 1, False)]
    out = execute(file.schedule, [np.array([1, 2]), np.array([10, 20])])
    assert [row.tolist() for row in out if row is not None] == [[11, 22], [11, 22]]


def test_an_output_that_nobody_writes(read: Any, spelled: Any) -> None:
    """The own share of an all_gather that is not in place has to be copied."""
    ends = [[(1 - r, 1 - r, 0, ["s i0", f"r o{1 - r}"])] for r in range(2)]
    file = read(spelled("allgather", ends, chunks=2, in_place=False))
    assert file.verdict.reason == "rank 0: o[0] must hold a result, but no step writes it"


def test_what_nobody_has_written_is_not_read(read: Any, spelled: Any) -> None:
    """Scratch holds garbage before the call, so adding to it is an error."""
    ends = [[(1, -1, 0, ["s i0"])], [(-1, 0, 0, ["rrc s0", "re s0 i0"])]]
    file = read(spelled("reduce", ends, scratch=1, root=1))
    assert file.verdict.reason == (
        "rank 1, thread block 0, step 0 (rrc) reads s[0], which no step has written"
    )


def test_an_all_to_all_in_place(read: Any, spelled: Any, outcomes: Any) -> None:
    """A chunk of the one buffer begins as a message to a rank and ends as one from it."""
    ends = [[(1 - r, 1 - r, 0, [f"s i{1 - r}", f"r i{1 - r}"])] for r in range(2)]
    file = right(read, outcomes, spelled("alltoall", ends, chunks=2))
    assert file.schedule is not None
    assert file.schedule.pieces == 4


def test_a_thread_block_does_one_step_after_the_other(read: Any, spelled: Any) -> None:
    """Rank 1 sends to 2 only after it has received from 0, though the data were its own."""

    def chain(first: list[str], second: list[str]) -> str:
        return spelled(
            "allgather",
            [
                [(1, -1, 0, ["s o0"]), (-1, 2, 0, ["r o1", "r o2"])],
                [(2, 0, 0, [*first, *second])],
                [(0, 1, 0, ["r o1 !", "s o1", "s o2", "r o0"])],
            ],
            chunks=3,
        )

    late = read(chain(["r o0"], ["s o1", "s o0"]))
    early = read(chain(["s o1"], ["r o0", "s o0"]))
    first = next(entry for entry in listed(late) if entry[:2] == (1, 2))
    assert first[3:] == ([1], [1], [0])
    first = next(entry for entry in listed(early) if entry[:2] == (1, 2))
    assert first[3:] == ([1], [1], [])


def test_what_is_wrong_is_told_by_its_steps(read: Any, spelled: Any) -> None:
    """The data end up at the wrong rank."""
    ends = [[(1, -1, 0, ["s i0"])], [(-1, 0, 0, ["r i1"])]]
    file = read(spelled("broadcast", ends, chunks=2))
    assert file.verdict.reason.startswith("at the end rank 1 holds nothing in block 0 part 0")
    twice = [[(1, -1, 0, ["s i0", "s i0"])], [(-1, 0, 0, ["rrc i0", "rrc i0"])]]
    assert read(spelled("reduce", twice, root=1)).verdict.reason == (
        "rank 0, thread block 0, step 1 (s) to rank 1, thread block 0, step 1 (rrc) counts "
        "the contribution of rank 0 twice in block 0 of rank 1"
    )
