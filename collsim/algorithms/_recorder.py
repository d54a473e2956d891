"""From a builder's calls to a recording, and back."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from collsim.algorithms._recording import Call, Recording, checked
from collsim.core.builder import Builder
from collsim.core.collective import Collective
from collsim.core.schedule import COPY
from collsim.core.setting import Setting
from collsim.core.symmetry import Fold
from collsim.errors import InputError

__all__ = ["Recorder", "play"]

IntArray = NDArray[np.int64]


class Recorder(Builder):
    """A builder that writes down what is listed, and builds nothing.

    Parameters
    ----------
    kind : Collective
        What is listed.
    setting : Setting
        Its ranks.
    root, chunks, parts, channels
        As in :class:`~collsim.core.builder.Builder`.
    fold : Fold, optional
        Under which renamings a few ranks stand for all.
    """

    def __init__(
        self,
        kind: Collective,
        setting: Setting,
        root: int = 0,
        chunks: int = 1,
        parts: int = 1,
        channels: int = 1,
        fold: Fold | None = None,
    ) -> None:
        super().__init__(
            kind, setting.ranks, root, chunks, parts, node=setting.node, channels=channels,
            multicast=setting.multicast, rings=setting.rings,
        )  # fmt: skip
        self.fold = fold
        self._rounds: list[list[Call]] = []

    def next_round(self) -> None:
        """Begin a new round."""
        self._rounds.append([])

    def _add(
        self,
        kind: int,
        src: ArrayLike,
        dst: ArrayLike,
        pieces: ArrayLike,
        into: ArrayLike | None,
        channel: int,
        turn: ArrayLike | None,
        strict: bool,
    ) -> None:
        source = np.atleast_1d(np.asarray(src))
        self._count(np.asarray(pieces).size)
        rows = (source.size, -1)
        queue = None if turn is None else np.broadcast_to(np.asarray(turn), source.shape)
        if not self._rounds:
            self._rounds.append([])
        self._rounds[-1].append(
            Call(
                kind,
                source,
                np.atleast_1d(np.asarray(dst)),
                np.reshape(np.asarray(pieces), rows),
                None if into is None else np.reshape(np.asarray(into), rows),
                channel,
                queue,
                strict,
            )
        )

    def block(self, kind: int, src: ArrayLike, dst: ArrayLike, pieces: ArrayLike) -> None:
        """List many rounds at once; see :meth:`~collsim.core.builder.Builder.block`."""
        carried = np.asarray(pieces)
        source, target = (np.broadcast_to(np.asarray(end), carried.shape) for end in (src, dst))
        for at in range(len(carried)):
            self.next_round()
            for channel, row in enumerate(carried[at]):
                ends = source[at, channel], target[at, channel]
                self._add(kind, *ends, row[:, None], None, channel, None, False)

    def recording(self) -> Recording:
        """Return what was listed."""
        rounds = tuple(tuple(calls) for calls in self._rounds)
        queues = max((int(turn.max()) + 1 for turn in _turns(rounds)), default=0)
        within = 0 if self.fold is None else self.fold.step
        return Recording(self.pieces.size, self._scratch, max(0, queues), rounds, within)


def _turns(rounds: tuple[tuple[Call, ...], ...]) -> Iterator[IntArray]:
    for calls in rounds:
        for call in calls:
            if call.turn is not None and call.turn.size:
                yield call.turn


def play(b: Builder, recording: Recording) -> None:
    """List what a recording holds, in a builder with as many pieces.

    Examples
    --------
    >>> from collsim.core.collective import collective
    >>> b = Builder(collective("broadcast"), ranks=2)
    >>> call = Call(COPY, np.array([0]), np.array([1]), np.array([[0]]))
    >>> play(b, Recording(1, 0, 0, ((call,),)))
    >>> len(b.finish())
    1
    """
    checked(recording, "play")
    for calls in recording.rounds:
        for call in calls:
            if call.channel >= b.channels:
                raise InputError(
                    f"play: the recording has a channel {call.channel}, the builder has "
                    f"{b.channels}, counted from 0"
                )
    if recording.pieces != b.pieces.size:
        raise InputError(
            f"play: the recording has {recording.pieces} pieces, the builder {b.pieces.size}"
        )
    spare = b.scratch(recording.scratch)
    offset = int(spare[0]) - recording.pieces if spare.size else 0

    def moved(places: IntArray) -> IntArray:
        return np.where(places >= recording.pieces, places + offset, places)

    for calls in recording.rounds:
        b.next_round()
        for call in calls:
            send = b.copy if call.kind == COPY else b.reduce
            pieces, into = call.pieces, call.into
            if offset:
                pieces, into = moved(pieces), None if into is None else moved(into)
            send(
                call.src, call.dst, pieces, into,
                channel=call.channel, turn=call.turn, strict=call.strict,
            )  # fmt: skip
