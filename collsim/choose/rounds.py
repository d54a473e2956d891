"""The rounds of a schedule as a reader wants them: who sends how much of what to whom."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from collsim.core.schedule import REDUCE, Schedule

__all__ = ["Round", "Send", "rounds_of"]

# A schedule of more messages is shown in part: so many rounds, and of each so many.
_WHOLE_UP_TO: Final = 512
_ROUNDS: Final = 8
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
    sends : tuple of Send
        The first ones; all of them unless there are very many.
    """

    number: int
    messages: int
    fraction: float
    sends: tuple[Send, ...]


def rounds_of(schedule: Schedule) -> tuple[Round, ...]:
    """Return the rounds of a schedule; of a large one the first, with their first messages.

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
    rounds = schedule.rounds if whole else min(_ROUNDS, schedule.rounds)
    sends = len(schedule) if whole else _SENDS
    return tuple(_round(schedule, number, sends) for number in range(rounds))


def _round(schedule: Schedule, number: int, sends: int) -> Round:
    own = np.flatnonzero(schedule.round == number)
    return Round(
        number=number + 1,
        messages=int(own.size),
        fraction=float(schedule.fraction[own].max(initial=0.0)),
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
