"""What a shape says of itself: which keys of a cluster file it takes, and how it is built.

``topology/<name>.py`` is the shape called ``<name>``; its constant ``SHAPE`` is one of the
two classes here. Cluster files are read by these declarations, so a new shape is one file.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from collsim.core.cluster import Cluster

__all__ = ["REQUIRED", "Key", "NetworkShape", "NodeShape"]

REQUIRED: Final = object()

# What a value may be; the reader of cluster files knows how each is written.
_KINDS: Final = (
    "count",
    "counts",
    "number",
    "part",
    "flag",
    "text",
    "time",
    "bandwidth",
    "link",
)


@dataclass(frozen=True)
class Key:
    """One key of a shape's table.

    Parameters
    ----------
    kind : str
        ``count`` (a whole number from 1 up), ``counts`` (a list of them), ``number``
        (finite, from 0 up), ``part`` (above 0, at most 1), ``flag``, ``text``, ``time``,
        ``bandwidth`` or ``link`` (a :class:`collsim.core.link.LinkClass`).
    default : object
        What `build` gets where the file leaves the key out; REQUIRED if it may not.
    """

    kind: str
    default: object = REQUIRED

    def __post_init__(self) -> None:
        if self.kind not in _KINDS:
            raise ValueError(f"kind: got {self.kind!r}, expected one of {', '.join(_KINDS)}")


@dataclass(frozen=True)
class NodeShape:
    """A shape for the table ``[node]``.

    Parameters
    ----------
    build : callable
        ``build(name=, gamma=, launch=, **values) -> Cluster`` of one node, with one value
        for each of `keys`.
    keys : dict of str to Key
        Keys of ``[node]`` beside ``shape``, ``source`` and ``kind``. Where one is called
        ``gpus``, the number of GPUs can be overridden.
    elastic : bool
        Whether there is no node that could be full or joined to others, so that any
        number of ranks is taken by setting ``gpus``.
    """

    build: Callable[..., Cluster]
    keys: Mapping[str, Key] = field(default_factory=dict)
    elastic: bool = False


@dataclass(frozen=True)
class NetworkShape:
    """A shape for the table ``[network]``.

    Parameters
    ----------
    build : callable
        ``build(node, nodes, **values) -> Cluster``: so many copies of the one-node
        cluster `node`, joined. Called for two nodes or more.
    keys : dict of str to Key
        Keys of ``[network]`` beside ``shape``, ``nodes``, ``source`` and ``kind``.
    """

    build: Callable[..., Cluster]
    keys: Mapping[str, Key] = field(default_factory=dict)
