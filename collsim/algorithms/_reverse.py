"""An algorithm run backwards: who received sends, and what was copied is added up."""

from collections.abc import Callable

from numpy.typing import ArrayLike

from collsim.core.builder import Builder
from collsim.errors import InputError

__all__ = ["reverse"]


class _Recorder(Builder):
    """Writes down copies, round by round, and builds nothing."""

    def __init__(self, like: Builder) -> None:
        super().__init__(
            like.collective,
            like.ranks,
            like.root,
            like.chunks,
            like.parts // like.channels,
            node=like.setting.node,
            channels=like.channels,
        )
        self.calls: list[list[tuple[ArrayLike, ArrayLike, ArrayLike, int]]] = []

    def next_round(self) -> None:
        self.calls.append([])

    def copy(
        self,
        src: ArrayLike,
        dst: ArrayLike,
        pieces: ArrayLike,
        into: ArrayLike | None = None,
        channel: int = 0,
        turn: ArrayLike | None = None,
        strict: bool = False,
    ) -> None:
        if into is not None:
            raise InputError("reverse: data must keep their place")
        self.calls[-1].append((src, dst, pieces, channel))


def reverse(b: Builder, steps: Callable[[Builder], None], turn: int | None = None) -> None:
    """List the operations of `steps` backwards, as reductions if the collective reduces.

    Where `steps` hands every piece down a tree, once to every rank, its reverse adds it up
    along the same tree: a broadcast becomes a reduce, an all_gather a reduce_scatter. A
    scatter becomes a gather, which copies.

    Parameters
    ----------
    b : Builder
        Of the collective that is the reverse.
    steps : callable
        Lists copies, each call after a ``next_round()``. Turns don't carry over, as they
        belong to receivers.
    turn : int, optional
        Queue of every reversed message at its receiver, in which senders are strict, too.

    Examples
    --------
    >>> from collsim.core.collective import collective
    >>> b = Builder(collective("reduce"), ranks=3)
    >>> def chain(b):
    ...     for rank in (1, 2):
    ...         b.next_round()
    ...         b.copy(rank - 1, rank, b.pieces[0])
    >>> reverse(b, chain)
    >>> schedule = b.finish()
    >>> schedule.src.tolist(), schedule.dst.tolist(), schedule.kind.tolist()
    ([2, 1], [1, 0], [1, 1])
    """
    send = b.reduce if b.collective.reduces else b.copy
    recorder = _Recorder(b)
    steps(recorder)
    for calls in reversed(recorder.calls):
        b.next_round()
        for src, dst, pieces, channel in calls:
            send(dst, src, pieces, channel=channel, turn=turn, strict=turn is not None)
