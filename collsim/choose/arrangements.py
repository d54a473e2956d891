"""On which nodes an algorithm is verified: arrangements of ranks, in words and as settings."""

import numpy as np

from collsim.core.algorithm import Algorithm, no_needs
from collsim.core.setting import Setting

__all__ = ["alike_on_all", "arrangements", "words_of"]


def arrangements(ranks: int) -> tuple[tuple[str, Setting], ...]:
    """Return arrangements: one node, two that differ, and pairs or threes that are dealt out.

    All have switches that take part. What is spread evenly comes last: where even that is
    refused, its reason is the one that says something of the rank count.

    Examples
    --------
    >>> [words for words, _ in arrangements(6)]
    ['one node', 'two nodes that differ', 'two nodes', 'nodes of 2, rank by rank in turn']
    """
    one = ("one node", Setting(ranks, multicast=True))
    every = np.arange(ranks)
    if ranks < 4:
        return (one,)
    even = next((size for size in (2, 3) if ranks % size == 0), 2)
    nodes = (
        ("two nodes that differ", every >= ranks // 2 + 1),
        ("two nodes", every * 2 // ranks),
        (f"nodes of {even}, rank by rank in turn", every % (ranks // even)),
    )
    return (
        one,
        *(
            (words, Setting(ranks, node.astype(np.int64), multicast=True))
            for words, node in nodes
        ),
    )


def alike_on_all(algorithm: Algorithm) -> bool:
    """Return whether nodes make no difference to an algorithm."""
    return algorithm.needs is no_needs and not algorithm.channeled


def words_of(algorithm: Algorithm, ranks: int) -> tuple[str, ...]:
    """Return the arrangements of so many ranks that an algorithm can run on.

    Examples
    --------
    >>> from collsim.algorithms import find
    >>> words_of(find("all_reduce", "hierarchical"), 4)
    ('two nodes', 'nodes of 2, rank by rank in turn')
    """
    return tuple(
        words for words, setting in arrangements(ranks) if algorithm.needs(setting) is None
    )
