"""Steps over the switch of a node: up into it, where data are added up, and down from it."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from collsim.core.builder import Builder
from collsim.core.setting import Setting

__all__ = ["one_switch", "stream", "switches", "there_and_back"]

Int64 = NDArray[np.int64]


def switches(setting: Setting) -> str | None:
    """Return why switches can't take part."""
    if setting.multicast:
        return None
    where = "that of the node" if setting.nodes == 1 else "those of the nodes"
    return f"needs switches that add up and multicast, which {where} can't"


def one_switch(setting: Setting) -> str | None:
    """Return why one switch can't serve all ranks."""
    if setting.nodes > 1:
        return (
            f"runs on the switch of one node, got {setting.nodes} nodes; in-network reduction "
            "across nodes is not modelled"
        )
    return switches(setting)


def _up(
    b: Builder,
    ranks: ArrayLike,
    agent: ArrayLike,
    pieces: Int64,
    *,
    adds: bool,
    in_turn: bool = True,
) -> None:
    """List one message from each of some ranks to a switch.

    Parameters
    ----------
    ranks : int or int array, shape (k,)
        Who sends.
    agent : int or int array, shape (k,)
        The switch that each sends to.
    pieces : int array, shape (m,) or (k, m)
        What all of them send, or what each does.
    adds : bool
        Whether the switch adds up what they send.
    in_turn : bool
        Whether a rank sends this when its last such message is there. Its link would
        otherwise be promised to all chunks that it has ready, before what it returns.
    """
    src = np.atleast_1d(ranks)
    carried = np.broadcast_to(pieces, (src.size, np.shape(pieces)[-1]))
    send = b.reduce if adds else b.copy
    send(src, np.broadcast_to(agent, src.shape), carried, turn=src if in_turn else None)


def _down(b: Builder, agent: ArrayLike, ranks: ArrayLike, pieces: Int64) -> None:
    """List one message to each of some ranks from a switch; the arguments as for `_up`."""
    dst = np.atleast_1d(ranks)
    carried = np.broadcast_to(pieces, (dst.size, np.shape(pieces)[-1]))
    b.copy(np.broadcast_to(agent, dst.shape), dst, carried)


def stream(
    b: Builder,
    senders: ArrayLike,
    receivers: ArrayLike,
    chunks: Int64,
    sent: Int64,
    *,
    adds: bool,
) -> None:
    """List messages up and down one switch, chunk by chunk.

    Parameters
    ----------
    senders, receivers : int or int array, shapes (s,), (r,)
        Who sends to the switch, and who has from it.
    chunks : int array, shape (c, s or 1, m)
        What each of them sends of every chunk.
    sent : int array, shape (c, r or 1, l)
        What each of these is sent of every chunk.
    adds : bool
        Whether the switch adds up.
    """
    agent = b.setting.agents[0]
    for carried, handed in zip(chunks, sent, strict=True):
        b.next_round()
        _up(b, senders, agent, carried, adds=adds)
        b.next_round()
        _down(b, agent, receivers, handed)


def there_and_back(
    b: Builder, chunks: Int64, between: Callable[[], None] | None = None
) -> None:
    """List how switches add up chunks for the ranks, and multicast what these return.

    Each rank of a node has one part of every chunk added up in its switch, which reads it
    from all of them, the rank's own memory included. What the rank returns goes from there
    to all, itself included, while the next chunks are added up.

    Parameters
    ----------
    chunks : int array, shape (c, G, m)
        Pieces of every chunk, a row per rank of a node.
    between : callable, optional
        Lists what ranks do with their parts of all chunks before they return them.
    """
    setting, count = b.setting, len(chunks)
    every = np.concatenate(setting.members)
    agent = np.repeat(setting.agents, [len(ranks) for ranks in setting.members])
    place = np.concatenate([np.arange(len(ranks)) for ranks in setting.members])
    lag = 1 if between is None else count
    for step in range(count + lag):
        last = step - lag
        if step == count and between is not None:
            between()
        b.next_round()
        if step < count:
            _up(b, every, agent, chunks[step].ravel(), adds=True)
        if last >= 0:
            _up(b, every, agent, chunks[last][place], adds=False, in_turn=False)
        b.next_round()
        if step < count:
            _down(b, agent, every, chunks[step][place])
        if last >= 0:
            _down(b, agent, every, chunks[last].ravel())
