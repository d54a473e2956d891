"""Turns: messages that go one after the other though no data say so."""

from __future__ import annotations

from collsim.core.builder import Builder
from collsim.core.collective import collective
from collsim.core.schedule import Schedule


def waits(schedule: Schedule) -> list[list[int]]:
    """Return what every operation waits for."""
    return [schedule.waits_for(i).tolist() for i in range(len(schedule))]


def test_a_queue_of_the_receiver_orders_reductions() -> None:
    """Two queues at rank 0: messages 0 and 2, and message 1 alone; message 3 has none."""
    b = Builder(collective("reduce"), 3, parts=2)
    b.next_round()
    for src, turn in ((1, 0), (2, 1), (2, 0), (1, None)):
        b.reduce(src, 0, b.pieces[0], turn=turn)
    schedule = b.finish()
    assert waits(schedule) == [[], [], [0], []]
    assert [schedule.written(i).tolist() for i in range(4)] == [[0, 1]] * 4
    assert schedule.scratch == 0


def test_queues_of_two_receivers_know_nothing_of_each_other() -> None:
    """One sender, the same number of queue: nobody waits."""
    b = Builder(collective("broadcast"), 3)
    b.next_round()
    b.copy([0, 0], [1, 2], [[0], [0]], turn=[0, 0])
    assert waits(b.finish()) == [[], []]


def test_strict_messages_of_a_sender_go_one_after_the_other() -> None:
    """Whoever they are for; one that is not strict doesn't count."""
    b = Builder(collective("broadcast"), 4)
    b.next_round()
    b.copy(0, 1, b.pieces[0], turn=0, strict=True)
    b.copy(0, 2, b.pieces[0], turn=0)
    b.copy(0, 3, b.pieces[0], turn=0, strict=True)
    assert waits(b.finish()) == [[], [], [0]]


def test_a_wait_that_data_imply_is_not_listed_twice() -> None:
    """Rank 1 forwards what came: it waits once, whatever the turn says."""
    b = Builder(collective("broadcast"), 3)
    b.next_round()
    b.copy(0, 1, b.pieces[0], turn=0, strict=True)
    b.copy(1, 2, b.pieces[0], turn=0, strict=True)
    b.copy(0, 2, b.pieces[0], turn=0, strict=True)
    assert waits(b.finish()) == [[], [0], [1]]


def test_strict_messages_of_two_queues_know_nothing_of_each_other() -> None:
    """Two channels of one sender: each goes one after the other, side by side."""
    b = Builder(collective("broadcast"), 4)
    b.next_round()
    for dst, turn in ((1, 0), (2, 1), (3, 0), (3, 1)):
        b.copy(0, dst, b.scratch(1), turn=turn, strict=True)
    assert waits(b.finish()) == [[], [], [0], [1]]


def test_a_turn_below_0_is_none() -> None:
    """As where a tree gives some of its messages turns, and this call has none of them."""
    b = Builder(collective("broadcast"), 3)
    b.next_round()
    b.copy([0, 0], [1, 2], [[0], [0]], turn=[-1, -1])
    assert waits(b.finish()) == [[], []]
