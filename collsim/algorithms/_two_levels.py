"""Choices of a hierarchical algorithm: what is done inside the nodes, and what across them."""

from collections.abc import Callable, Iterable
from math import lcm

import numpy as np

from collsim.algorithms._catalogue import algorithm_names, find, unknown_algorithm
from collsim.core.option import Value
from collsim.core.setting import Setting

__all__ = ["TREES", "inner", "inside_of", "least_parts", "one_of", "rail_of", "refused"]

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


def refused(steps: Iterable[tuple[str, Value, Setting]]) -> str | None:
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
