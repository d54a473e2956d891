"""What waits for ever is named by rank, thread block and step."""

from __future__ import annotations

from typing import Any


def reason(read: Any, outcomes: Any, text: str) -> str:
    """Return why a schedule is wrong, which a run on memory confirms."""
    file = read(text)
    assert file.schedule is None
    assert outcomes(text, 3) == {"hangs"}
    return str(file.verdict.reason)


def test_two_that_wait_for_each_other(read: Any, spelled: Any, outcomes: Any) -> None:
    """Both receive before they send."""
    swap = ["r o1", "s o0"], ["r o0", "s o1"]
    text = spelled("allgather", [[(1, 1, 0, swap[0])], [(0, 0, 0, swap[1])]], chunks=2)
    assert reason(read, outcomes, text) == (
        "rank 0, thread block 0, step 0 (r) waits for ever for a message from rank 1 on "
        "channel 0; rank 1, thread block 0, step 0 (r) waits for a message from rank 0 on "
        "channel 0: they wait in a circle"
    )


def test_a_circle_is_cut_short(read: Any, spelled: Any, outcomes: Any) -> None:
    """Of five that wait for each other three are named."""
    ring = [[((r + 1) % 5, (r - 1) % 5, 0, ["r i0", "s i0"])] for r in range(5)]
    said = reason(read, outcomes, spelled("broadcast", ring))
    assert said.count("waits") == 3
    assert said.endswith("; and 2 more: they wait in a circle")


def test_a_message_that_nobody_sends(read: Any, spelled: Any, outcomes: Any) -> None:
    """The receiver waits for it, for a reason further on if need be."""
    text = spelled(
        "broadcast",
        [
            [(1, -1, 0, ["s i0"])],
            [(-1, 0, 0, ["r i0", "r i0 !"]), (2, -1, 0, ["s i0 <0.1"])],
            [(-1, 1, 0, ["r i0"])],
        ],
    )
    assert reason(read, outcomes, text) == (
        "rank 1, thread block 0, step 1 (r) waits for ever for a message from rank 0 on "
        "channel 0, which is never sent"
    )


def test_a_message_that_nobody_receives(read: Any, spelled: Any, outcomes: Any) -> None:
    """It would be taken for the next one."""
    text = spelled("broadcast", [[(1, -1, 0, ["s i0", "s i0"])], [(-1, 0, 0, ["r i0"])]])
    assert reason(read, outcomes, text) == (
        "rank 0, thread block 0, step 1 (s) sends to rank 1 on channel 0 what rank 1 never "
        "receives"
    )


def test_a_wait_that_nobody_ends(read: Any, spelled: Any, outcomes: Any) -> None:
    """The step is done, but does not say so."""
    text = spelled(
        "broadcast",
        [
            [(1, -1, 0, ["s i0"])],
            [(-1, 0, 0, ["r i0"]), (2, -1, 0, ["s i0 <0.0"])],
            [(-1, 1, 0, ["r i0"])],
        ],
    )
    assert reason(read, outcomes, text) == (
        "rank 1, thread block 1, step 0 (s) waits for ever: it waits for step 0 of thread "
        "block 0, and neither that step nor a later one has hasdep set"
    )


def test_a_later_announcement_ends_a_wait(read: Any, spelled: Any, outcomes: Any) -> None:
    """As in the runtime, whose flags only grow."""
    text = spelled(
        "broadcast",
        [
            [(1, -1, 0, ["s i0", "s i1"])],
            [(-1, 0, 0, ["r i0", "r i1 !"]), (2, -1, 0, ["s i0 <0.0", "s i1"])],
            [(-1, 1, 0, ["r i0", "r i1"])],
        ],
        chunks=2,
    )
    file = read(text)
    assert file.verdict.ok
    assert outcomes(text, 5) == {"right"}
    # The first message of rank 1 waits for both that it receives.
    assert file.schedule.waits_for(2).tolist() == [0, 1]


def test_ends_that_differ(read: Any, spelled: Any, outcomes: Any) -> None:
    """Chunks sent and received are as many."""
    text = spelled("broadcast", [[(1, -1, 0, ["s i0 x2"])], [(-1, 0, 0, ["r i0"])]], chunks=2)
    assert reason(read, outcomes, text) == (
        "rank 0, thread block 0, step 0 (s) sends 2 chunks, but rank 1, thread block 0, "
        "step 0 (r) receives 1"
    )


def test_two_thread_blocks_at_one_end(read: Any, spelled: Any, outcomes: Any) -> None:
    """Nobody could tell whose message comes first."""
    text = spelled(
        "broadcast",
        [[(1, -1, 0, ["s i0"]), (1, -1, 0, ["s i1"])], [(-1, 0, 0, ["r i0", "r i1"])]],
        chunks=2,
    )
    assert read(text).verdict.reason == (
        "rank 0: thread blocks 0 and 1 both send to rank 1 on channel 0, in no fixed order"
    )
    assert outcomes(text, 10) == {"right", "wrong"}
