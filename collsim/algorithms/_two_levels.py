"""Choices of a hierarchical algorithm: what is done inside the nodes, and what across them."""

from collections.abc import Callable, Iterable
from math import lcm

import numpy as np

from collsim.algorithms._catalogue import algorithm_names, find, unknown_algorithm
from collsim.algorithms._rails import even_nodes
from collsim.core.algorithm import Algorithm
from collsim.core.option import Options, Value
from collsim.core.setting import Setting

__all__ = [
    "TREES",
    "Where",
    "both",
    "direct_or_ring",
    "inner",
    "inside_of",
    "least_parts",
    "mst_of_many",
    "needs_of",
    "one_of",
    "rail_of",
    "varied",
]

# Which algorithms of which collectives are run, and on what ranks.
Where = Callable[[Setting], list[tuple[str, str, Setting]]]

# all_gathers that hand every piece down a tree, once to every rank: their reverse adds up.
TREES = ("bruck", "direct", "pat", "recursive_doubling", "ring")


def inner(kind: str) -> tuple[str, ...]:
    """Return the algorithms of a collective that have one level."""
    return tuple(name for name in algorithm_names(kind) if name != "hierarchical")


def one_of(kind: str, names: Callable[[], Iterable[str]] | None = None) -> Callable[[str], str]:
    """Return how to read the name of an algorithm that has one level.

    Examples
    --------
    >>> one_of("all_reduce")("rign")
    Traceback (most recent call last):
    collsim.errors.UnknownNameError: unknown algorithm of all_reduce 'rign'; did you mean ...
    """

    def read(text: str) -> str:
        choices = tuple(inner(kind) if names is None else names())
        if text not in choices:
            raise unknown_algorithm(f"algorithm of {kind}", text, choices)
        return text

    return read


def inside_of(setting: Setting) -> Setting:
    """Return the ranks of one node, all nodes being alike."""
    return Setting(setting.fewest, multicast=setting.multicast)


def rail_of(setting: Setting) -> Setting:
    """Return the ranks of one rail: one on every node."""
    return Setting(setting.nodes, np.arange(setting.nodes), setting.multicast)


def both(kind: str, inside: str, across: str) -> Where:
    """Return where the two algorithms of one collective run: in a node, and on a rail."""
    return lambda setting: [
        (kind, inside, inside_of(setting)),
        (kind, across, rail_of(setting)),
    ]


def needs_of(where: Where) -> Callable[[Setting], str | None]:
    """Return what tells why nodes don't suit, or one of the algorithms can't run there.

    Examples
    --------
    >>> needs_of(both("all_to_all", "pairwise", "direct"))(Setting(6, [0, 0, 0, 1, 1, 1]))
    'all_to_all/pairwise on 3 of them: partners are rank XOR k, so it takes a power of two, ...'
    """
    return lambda setting: even_nodes(setting) or _refused(where(setting))


def varied(of: Callable[[str, str], Algorithm]) -> Callable[[Options], Algorithm]:
    """Return how the options `inside` and `across` make another algorithm of this one."""
    return lambda values: of(str(values["inside"]), str(values["across"]))


def mst_of_many(setting: Setting) -> tuple[str, ...]:
    """Return what takes fewer messages inside a node than everybody to everybody."""
    return ("mst",) if setting.fewest > 2 else ()


def direct_or_ring(setting: Setting) -> tuple[str, ...]:
    """Return what may be faster in a node where messages overlap, or where few are linked."""
    return ("direct", "ring") if setting.fewest > 2 else ()


def _refused(steps: Iterable[tuple[str, Value, Setting]]) -> str | None:
    """Return why one of several algorithms can't run where it is to, or None."""
    for kind, name, setting in steps:
        algorithm = find(kind, str(name))
        reason = algorithm.limits(setting.ranks) or algorithm.needs(setting)
        if reason is not None:
            return f"{kind}/{name} on {setting.ranks} of them: {reason}"
    return None


def least_parts(steps: Iterable[tuple[str, Value, Setting]]) -> int:
    """Return into how many parts a block is cut so that all algorithms can cut it on."""
    return lcm(*(find(kind, str(name)).cut(setting, 1) for kind, name, setting in steps))
