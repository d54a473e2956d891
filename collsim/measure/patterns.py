"""What is measured beside collectives: messages between pairs, alone and at once.

| pattern | who | one repetition | messages at once |
|---|---|---|---|
| `ping_pong` | a pair | there and back; half of it counts | 1 |
| `relay` | all | once around, each passes on what comes; a P-th of it counts | 1 |
| `pairs` | disjoint pairs, all at once | there and back; half of it counts | one per pair |
| `exchange` | a pair | each sends and receives | 2 |
| `shift` | all | each sends to one, receives from another | P |
| `start` | all meet at a barrier, then the first pair | one message | 1 |
| `self` | rank 0 | a copy in its memory, as a message to itself is | - |
| `add` | rank 0 | adds up in its memory | - |
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import combinations

from collsim.measure.transport import Buffer, Transport

__all__ = ["Exchange", "Pairs", "at_once", "pairs_of", "prepared"]

Pairs = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Exchange:
    """A pattern, ready to be called on one rank.

    Parameters
    ----------
    call : callable
        Does this rank's part once.
    scale : float
        What to multiply its time by.
    takes_part : bool
        Whether this rank's time counts.
    """

    call: Callable[[], None]
    scale: float = 1.0
    takes_part: bool = True


def pairs_of(pattern: str, ranks: int, local_ranks: int, every: bool) -> list[Pairs]:
    """Return which pairs a pattern is measured between, one entry per measurement.

    Ping-pong and `exchange` take one pair inside a node and one across, ping-pong every pair
    if asked; `pairs` takes all ranks, each with one half of all away, so that their messages
    meet at the NICs, and next to each other inside nodes that have two such pairs; `shift`
    goes around all ranks, and on several nodes also from node to node, and around each node.

    Examples
    --------
    >>> pairs_of("ping_pong", 4, 2, every=False), pairs_of("pairs", 4, 4, every=False)
    ([((0, 1),), ((0, 2),)], [((0, 1), (2, 3))])
    >>> pairs_of("pairs", 4, 2, every=False)
    [((0, 2), (1, 3))]
    >>> pairs_of("shift", 4, 2, every=False)[1]
    ((0, 2), (1, 3), (2, 0), (3, 1))
    """
    if pattern in ("self", "add"):
        return [()]
    half = ranks // 2
    found: list[Pairs] = []
    if pattern == "ping_pong" and every:
        found = [(pair,) for pair in combinations(range(ranks), 2)]
    elif pattern in ("ping_pong", "exchange"):
        found = [((0, 1),)] if local_ranks > 1 else []
        found += [((0, local_ranks),)] if ranks > local_ranks else []
    elif pattern == "start":
        found = [((0, 1),)]
    elif pattern in ("shift", "relay"):
        found = [tuple((r, (r + 1) % ranks) for r in range(ranks))]
        if pattern == "shift" and ranks > local_ranks > 1:
            found += [tuple((r, (r + local_ranks) % ranks) for r in range(ranks))]
            found += [tuple((r, _next_in(r, local_ranks, ranks)) for r in range(ranks))]
    elif half > 1:
        across, side = ranks > local_ranks, range(0, local_ranks - 1, 2)
        found = [tuple((r, r + half) for r in range(half))] if across else []
        if len(side) > 1:
            firsts = [node + r for node in range(0, ranks, local_ranks) for r in side]
            found += [tuple((r, r + 1) for r in firsts if r + 1 < ranks)]
    return found if ranks > 1 else []


def _next_in(rank: int, local_ranks: int, ranks: int) -> int:
    """Return the rank after one, of those of its node."""
    first = rank - rank % local_ranks
    return first + (rank - first + 1) % (min(first + local_ranks, ranks) - first)


def at_once(pattern: str, pairs: Pairs) -> int:
    """Return how many messages are under way together.

    Examples
    --------
    >>> at_once("exchange", ((0, 1),)), at_once("pairs", ((0, 1), (2, 3)))
    (2, 2)
    """
    return {"exchange": 2, "relay": 1}.get(pattern, len(pairs))


def prepared(
    pattern: str, pairs: Pairs, transport: Transport, count: int, dtype: str
) -> Exchange:
    """Return what this rank does, with buffers of `count` elements."""
    me = transport.rank
    out, back = transport.empty(count, dtype), transport.empty(count, dtype)
    transport.fill(out, 0)
    transport.fill(back, 0)
    if pattern in ("self", "add"):
        work = transport.copy if pattern == "self" else partial(transport.combine, "sum")
        return Exchange(partial(work, back, out) if me == 0 else _nothing, 1.0, me == 0)
    if pattern == "relay":
        (ahead,), (behind,) = [b for a, b in pairs if a == me], [a for a, b in pairs if b == me]
        call = _rally(transport, out, back, ahead, behind, me == 0)
        return Exchange(call, 1 / len(pairs), me == 0)
    if pattern == "start":
        return Exchange(_one_message(transport, out, back, pairs[0]))
    if pattern in ("shift", "exchange"):
        whole = pairs if pattern == "shift" else (*pairs, *((b, a) for a, b in pairs))
        sends = [(out, b, 0) for a, b in whole if a == me]
        receives = [(back, a, 0) for a, b in whole if b == me]
        busy = bool(sends or receives)
        return Exchange(lambda: transport.group(sends, receives) if busy else None, 1.0, busy)
    mine = next((pair for pair in pairs if me in pair), None)
    if mine is None:
        return Exchange(_nothing, 0.5, False)
    first = mine[0] == me
    call = _rally(transport, out, back, mine[first], mine[first], first)
    return Exchange(call, 0.5, first)


def _rally(
    transport: Transport, out: Buffer, back: Buffer, ahead: int, behind: int, first: bool
) -> Callable[[], None]:
    """Return a rank's part in a message that goes around: first send, or first receive."""
    sends, receives = [(out, ahead, 0)], [(back, behind, 0)]

    def serve() -> None:
        transport.group(sends, ())
        transport.group((), receives)

    def answer() -> None:
        transport.group((), receives)
        transport.group(sends, ())

    return serve if first else answer


def _one_message(
    transport: Transport, out: Buffer, back: Buffer, pair: tuple[int, int]
) -> Callable[[], None]:
    """Return a message of one pair, in which others take part by doing nothing."""
    src, dst = pair
    sends = [(out, dst, 0)] if transport.rank == src else []
    receives = [(back, src, 0)] if transport.rank == dst else []
    return lambda: transport.group(sends, receives) if sends or receives else None


def _nothing() -> None:
    pass
