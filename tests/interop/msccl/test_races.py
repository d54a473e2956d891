"""Steps that touch one chunk are ordered, or the file is wrong."""

from __future__ import annotations

from typing import Any


def two_sums(spelled: Any, wait: str) -> str:
    """Return a reduce to rank 0 whose two reductions lie in two thread blocks."""
    return spelled(
        "reduce",
        [
            [(-1, 1, 0, ["rrc i0 !"]), (-1, 2, 0, [f"rrc i0 {wait}"])],
            [(0, -1, 0, ["s i0"])],
            [(0, -1, 0, ["s i0"])],
        ],
    )


def test_two_reductions_race(read: Any, spelled: Any) -> None:
    """Thread blocks add up without a lock."""
    assert read(two_sums(spelled, "")).verdict.reason == (
        "rank 0, thread block 0, step 0 (rrc) and rank 0, thread block 1, step 0 (rrc) touch "
        "i[0] in no fixed order"
    )


def test_reductions_in_turn_do_not_hold_messages_up(read: Any, spelled: Any) -> None:
    """The second message is under way while the first is added."""
    file = read(two_sums(spelled, "<0.0"))
    assert file.verdict.ok
    assert [file.schedule.waits_for(o).tolist() for o in range(2)] == [[], []]


def test_a_send_of_what_may_not_be_there(read: Any, spelled: Any, outcomes: Any) -> None:
    """Without a wait between two thread blocks it sends garbage or not."""
    text = spelled(
        "broadcast",
        [
            [(1, -1, 0, ["s i0"])],
            [(-1, 0, 0, ["r i0 !"]), (2, -1, 0, ["s i0"])],
            [(-1, 1, 0, ["r i0"])],
        ],
    )
    assert "touch i[0] in no fixed order" in read(text).verdict.reason
    assert outcomes(text, 10) == {"right", "wrong"}


def test_the_way_of_a_message_orders(read: Any, spelled: Any) -> None:
    """What is sent after something else was received comes later, wherever that is."""
    text = spelled(
        "broadcast",
        [
            [(1, -1, 0, ["s i0"]), (-1, 1, 0, ["r i0"])],
            [(0, 0, 0, ["r i0", "s i0"])],
        ],
    )
    file = read(text)
    assert file.verdict.ok
    assert file.schedule.waits_for(1).tolist() == [0]


def test_a_copy_over_itself(read: Any, spelled: Any) -> None:
    """Chunks that are read and written by one copy."""
    text = spelled("allreduce", [[(-1, -1, 0, ["cpy i0 i1 x2"])]], chunks=3)
    reason = read(text).verdict.reason
    assert reason == "rank 0, thread block 0, step 0 (cpy) reads i[1] while it writes it"
