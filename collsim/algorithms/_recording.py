"""What an algorithm lists, written down, so that it can be turned around or put elsewhere."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from typing import TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from collsim.errors import InputError

__all__ = ["Call", "Numbers", "Recording", "apart", "checked", "together"]

IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Call:
    """Messages that are listed at once: of one kind and channel, equally long.

    Parameters
    ----------
    kind, channel, strict
        As in :class:`~collsim.core.builder.Builder`.
    src, dst : int array, shape (k,)
        Senders and receivers.
    pieces : int array, shape (k, m)
        What each carries.
    into : int array, shape (k, m), or None
        Where it goes at the receiver, unless data keep their place.
    turn : int array, shape (k,), or None
        Queues of the receivers; below 0 for none.
    """

    kind: int
    src: IntArray
    dst: IntArray
    pieces: IntArray
    into: IntArray | None = None
    channel: int = 0
    turn: IntArray | None = None
    strict: bool = False

    def moved(
        self,
        src: IntArray,
        dst: IntArray,
        pieces: IntArray,
        into: IntArray | None,
        turn: IntArray | None,
    ) -> "Call":
        """Return it with all arrays replaced; a schedule may have tens of thousands."""
        return Call(self.kind, src, dst, pieces, into, self.channel, turn, self.strict)


class Numbers(TypedDict, total=False):
    """Fields of a recording that are numbers."""

    pieces: int
    scratch: int
    queues: int
    within: int


@dataclass(frozen=True, eq=False)
class Recording:
    """Rounds of messages among some ranks, of some pieces.

    Parameters
    ----------
    pieces : int
        Number of pieces; places from here up are scratch.
    scratch : int
        Places beside them.
    queues : int
        Queues that a receiver keeps, numbered from 0.
    rounds : tuple of tuple of Call
        What is listed, round by round.
    within : int
        Ranks that stand for all, if not all are listed: rank r is one of them by
        ``r % within``, renamed.
    """

    pieces: int
    scratch: int
    queues: int
    rounds: tuple[tuple[Call, ...], ...]
    within: int = 0

    def changed(self, change: Callable[[Call], Call], **fields: Unpack[Numbers]) -> "Recording":
        """Return it with every call, and other fields, replaced."""
        rounds = tuple(tuple(change(call) for call in calls) for calls in self.rounds)
        return replace(self, rounds=rounds, **fields)

    def behind(self, other: "Recording", queues: bool = True) -> "Recording":
        """Return it with scratch places, and queues, that follow those of another."""
        more, later = other.scratch, other.queues if queues else 0
        used = max(other.queues, later + self.queues)
        if not (more and self.scratch) and not (later and self.queues):
            return replace(self, scratch=self.scratch + more, queues=used)
        first = self.pieces

        def moved(places: IntArray) -> IntArray:
            return np.where(places >= first, places + more, places)

        def change(call: Call) -> Call:
            turn = call.turn
            return call.moved(
                call.src,
                call.dst,
                moved(call.pieces),
                None if call.into is None else moved(call.into),
                None if turn is None else np.where(turn >= 0, turn + later, turn),
            )

        return self.changed(change, scratch=self.scratch + more, queues=used)

    def on(self, ranks: IntArray, pieces: IntArray, of: int, within: int) -> "Recording":
        """Return it among other ranks, with other pieces, in several groups at once.

        Groups have no rank in common, so they share scratch places and queues.

        Parameters
        ----------
        ranks : int array, shape (M, K)
            What the ranks are called in each group.
        pieces : int array, shape (M, pieces, w)
            What each piece is there: w of theirs.
        of : int
            Number of pieces there.
        within : int
            Ranks that stand for all there, if not all are listed.
        """
        groups, _, width = pieces.shape
        spare = of + np.arange(self.scratch * width).reshape(1, self.scratch, width)
        table = np.concatenate([pieces, np.repeat(spare, groups, axis=0)], axis=1)
        if int(table.max(initial=0)) < 2**31:
            # As the builder keeps them; numbers of ranks are smaller.
            table, ranks = table.astype(np.int32), ranks.astype(np.int32)

        def moved(places: IntArray) -> IntArray:
            return table[:, places].reshape(groups * len(places), -1)

        def change(call: Call) -> Call:
            return call.moved(
                ranks[:, call.src].ravel(),
                ranks[:, call.dst].ravel(),
                moved(call.pieces),
                None if call.into is None else moved(call.into),
                None if call.turn is None else np.tile(call.turn, groups),
            )

        return self.changed(change, pieces=of, scratch=self.scratch * width, within=within)


def checked(recording: object, what: str = "compose") -> Recording:
    """Return a recording, or raise InputError if it is none."""
    if not isinstance(recording, Recording):
        raise InputError(f"{what}: got {type(recording).__name__}, expected a Recording")
    return recording


def apart(recordings: Iterable[Recording], queues: bool = True) -> list[Recording]:
    """Return recordings whose scratch places, and queues, are told apart.

    The last one has the number of all of them.
    """
    found: list[Recording] = []
    for recording in map(checked, recordings):
        if found and recording.pieces != found[0].pieces:
            raise InputError(
                f"compose: recordings are of {found[0].pieces} and {recording.pieces} pieces, "
                "expected those of one builder"
            )
        found.append(recording.behind(found[-1], queues) if found else recording)
    if not found:
        raise InputError("compose: got no recording, expected at least one")
    return found


def together(*recordings: Recording) -> Recording:
    """Return recordings side by side: the first rounds of all, then the second ones, ...

    Examples
    --------
    >>> call = Call(0, np.array([0]), np.array([1]), np.array([[0]]))
    >>> one = Recording(1, 0, 0, ((call,),))
    >>> two = Recording(1, 0, 0, ((call,), (call,)))
    >>> [len(calls) for calls in together(one, two).rounds]
    [2, 1]
    """
    parts = apart(recordings)
    rounds = zip_longest(*(recording.rounds for recording in parts), fillvalue=())
    return replace(parts[-1], rounds=tuple(tuple(chain(*calls)) for calls in rounds))
