"""The rounds of a schedule as a reader wants them: who sends how much of what to whom."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

import numpy as np

from collsim.core.schedule import REDUCE, Schedule

__all__ = ["Does", "Round", "Send", "rounds_of", "turn_of"]

Does = Literal["reduces", "copies", "both"]

# A schedule of more messages is shown in part: so many rounds at its beginning, those where
# reducing ends and copying begins, the last one, and of each so many messages.
_WHOLE_UP_TO: Final = 512
_ROUNDS: Final = 5
_SENDS: Final = 16


@dataclass(frozen=True)
class Send:
    """One message.

    Parameters
    ----------
    src, dst : int
        Sender and receiver.
    blocks : tuple of int
        What it carries: blocks of the collective.
    pieces : tuple of int
        The same in the pieces into which the algorithm cuts blocks.
    fraction : float
        Its bytes as a fraction of n.
    reduces : bool
        Whether the receiver combines it with what it has.
    """

    src: int
    dst: int
    blocks: tuple[int, ...]
    pieces: tuple[int, ...]
    fraction: float
    reduces: bool


@dataclass(frozen=True)
class Round:
    """Messages that may travel at the same time.

    Parameters
    ----------
    number : int
        From 1 up.
    messages : int
        How many.
    fraction : float
        Bytes of the largest, as a fraction of n.
    does : {"reduces", "copies", "both"}
        What the receivers do with them: combine them with what they have, or keep them.
    sends : tuple of Send
        The first ones; all of them unless there are very many.
    """

    number: int
    messages: int
    fraction: float
    does: Does
    sends: tuple[Send, ...]


def rounds_of(schedule: Schedule) -> tuple[Round, ...]:
    """Return the rounds of a schedule; of a large one some, with their first messages.

    Those are the first rounds, the two where reducing ends and copying begins, and the
    last.

    Parameters
    ----------
    schedule : Schedule
        Any.

    Examples
    --------
    >>> from collsim.algorithms import build
    >>> first = rounds_of(build("all_reduce", "ring", 4))[0]
    >>> first.messages, first.fraction
    (4, 0.25)
    """
    whole = len(schedule) <= _WHOLE_UP_TO
    sends = len(schedule) if whole else _SENDS
    does = _does(schedule)
    numbers: list[int] = list(range(schedule.rounds))
    if not whole:
        turn = turn_of(does)
        around = () if turn is None else (turn - 1, turn)
        numbers = sorted({*numbers[:_ROUNDS], *around, *numbers[-1:]})
    return tuple(_round(schedule, number, does[number], sends) for number in numbers)


def turn_of(does: Sequence[Does]) -> int | None:
    """Return the index of the first round that copies right after one that reduces.

    Examples
    --------
    >>> turn_of(["reduces", "reduces", "copies"]), turn_of(["copies", "copies"])
    (2, None)
    """
    turns = (i for i, pair in enumerate(pairwise(does), 1) if pair == ("reduces", "copies"))
    return next(turns, None)


def _does(schedule: Schedule) -> list[Does]:
    reducing = schedule.kind == REDUCE
    some = np.bincount(schedule.round, weights=reducing, minlength=schedule.rounds)
    all_ = np.bincount(schedule.round, minlength=schedule.rounds)
    return [
        "copies" if few == 0 else "reduces" if few == many else "both"
        for few, many in zip(some.tolist(), all_.tolist(), strict=True)
    ]


def _round(schedule: Schedule, number: int, does: Does, sends: int) -> Round:
    own = np.flatnonzero(schedule.round == number)
    return Round(
        number=number + 1,
        messages=int(own.size),
        fraction=float(schedule.fraction[own].max(initial=0.0)),
        does=does,
        sends=tuple(_send(schedule, int(o)) for o in own[:sends]),
    )


def _send(schedule: Schedule, operation: int) -> Send:
    pieces = schedule.carried(operation).tolist()
    # Places past the pieces are scratch, and of no block.
    blocks = dict.fromkeys(p // schedule.parts for p in pieces if p < schedule.pieces)
    return Send(
        src=int(schedule.src[operation]),
        dst=int(schedule.dst[operation]),
        blocks=tuple(blocks),
        pieces=tuple(pieces),
        fraction=len(pieces) * schedule.piece_share,
        reduces=bool(schedule.kind[operation] == REDUCE),
    )
