"""Links: what a directed cable costs, as a class, and all cables of a cluster."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from collsim.errors import InputError

__all__ = ["Bundle", "LinkClass", "Links"]

T = TypeVar("T", np.int64, np.float64)


@dataclass(frozen=True)
class LinkClass:
    """A kind of link: one direction of a cable.

    Parameters
    ----------
    name : str
        For example ``"nvlink4"``; fitted parameters are keyed by it.
    alpha : float
        Seconds per message.
    bandwidth : float
        Bytes per second, one direction.
    alpha_busy : float, optional
        Seconds for which a message holds the link apart from its bytes; alpha by default.
    source : str
        Where the numbers are from.
    kind : str
        ``"datasheet"``, ``"fit"`` or ``"assumption"``.

    Raises
    ------
    InputError
        For a bandwidth that is not positive and finite, an alpha that is negative or
        not finite, or an alpha_busy outside 0 to alpha.

    Examples
    --------
    >>> LinkClass("wire", alpha=1e-6, bandwidth=1e9).beta
    1e-09
    """

    name: str
    alpha: float
    bandwidth: float
    alpha_busy: float | None = None
    source: str = ""
    kind: str = "assumption"

    def __post_init__(self) -> None:
        inverse = 1 / self.bandwidth if self.bandwidth else math.inf
        if not (0 < self.bandwidth < math.inf and inverse < math.inf):
            raise InputError(
                f"link {self.name}: bandwidth is {self.bandwidth!r}, "
                "expected a positive, finite number of bytes per second"
            )
        if not (math.isfinite(self.alpha) and self.alpha >= 0):
            raise InputError(
                f"link {self.name}: alpha is {self.alpha!r}, "
                "expected seconds, 0 or more and finite"
            )
        if not 0 <= self.busy <= self.alpha:
            raise InputError(
                f"link {self.name}: alpha_busy is {self.alpha_busy!r}, "
                f"expected seconds from 0 to alpha ({self.alpha!r})"
            )

    @property
    def beta(self) -> float:
        """Seconds per byte."""
        return 1.0 / self.bandwidth

    @property
    def busy(self) -> float:
        """Seconds for which a message holds the link apart from its bytes."""
        return self.alpha if self.alpha_busy is None else self.alpha_busy


class Bundle(NamedTuple):
    """Equal cables, for :meth:`Links.assemble`.

    Parameters
    ----------
    names : sequence of str
        Of every cable.
    link : LinkClass
        What each of them is.
    pays : bool
        Whether it charges alpha: a route over a switch has two links, one of which does.
    tail, head : sequence of int, optional
        Vertices at which each begins and ends; see :class:`Links`.
    lanes : int
        Messages that may hold one at once; 0 means no limit.
    """

    names: Sequence[str]
    link: LinkClass
    pays: bool = True
    tail: Sequence[int] | NDArray[np.int64] | None = None
    head: Sequence[int] | NDArray[np.int64] | None = None
    lanes: int = 1


@dataclass(frozen=True, eq=False)
class Links:
    """All directed links of a cluster.

    Parameters
    ----------
    names : tuple of str
        Of every link, such as ``"nvlink[3].up"``.
    classes : tuple of LinkClass
        The kinds of link there are.
    kind : int array, shape (L,)
        Class of every link, as an index of `classes`.
    alpha, beta, busy : float array, shape (L,)
        Of every link; a route's alpha may be put on one of its links alone.
    lanes : int array, shape (L,)
        Messages that may hold a link at once; 0 means no limit (each pair has its own).
    tail, head : int array, shape (L,), optional
        Vertices at which every link begins and ends: below P the GPU of that rank, from
        P up the devices of the cluster. None where there is no such graph.
    """

    names: tuple[str, ...]
    classes: tuple[LinkClass, ...]
    kind: NDArray[np.int64]
    alpha: NDArray[np.float64]
    beta: NDArray[np.float64]
    busy: NDArray[np.float64]
    lanes: NDArray[np.int64]
    tail: NDArray[np.int64] | None = None
    head: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        for name in ("kind", "alpha", "beta", "busy", "lanes", "tail", "head"):
            array = getattr(self, name)
            if array is None:
                continue
            if array.shape != (len(self.names),):
                raise InputError(
                    f"links: {name} has {array.size} entries, expected {len(self.names)}"
                )
            array.flags.writeable = False

    def __len__(self) -> int:
        return len(self.names)

    @staticmethod
    def assemble(*bundles: Bundle | tuple[Sequence[str], LinkClass, bool]) -> "Links":
        """Return the links of several bundles of equal cables, one after the other.

        Parameters
        ----------
        *bundles : Bundle or (names, link class, whether it charges alpha)
            All of them with vertices, or none.

        Examples
        --------
        >>> wire = LinkClass("wire", alpha=1e-6, bandwidth=1e9)
        >>> Links.assemble((["up"], wire, True), (["down"], wire, False)).alpha.tolist()
        [1e-06, 0.0]
        """
        whole = [Bundle(*bundle) for bundle in bundles]
        classes = list(dict.fromkeys(bundle.link for bundle in whole))
        counts = [len(bundle.names) for bundle in whole]
        costs = [(b.link.alpha, b.link.busy) if b.pays else (0.0, 0.0) for b in whole]
        return Links(
            names=tuple(name for bundle in whole for name in bundle.names),
            classes=tuple(classes),
            kind=_each([classes.index(bundle.link) for bundle in whole], counts, np.int64),
            alpha=_each([alpha for alpha, _ in costs], counts, np.float64),
            beta=_each([bundle.link.beta for bundle in whole], counts, np.float64),
            busy=_each([busy for _, busy in costs], counts, np.float64),
            lanes=_each([bundle.lanes for bundle in whole], counts, np.int64),
            tail=_vertices([bundle.tail for bundle in whole]),
            head=_vertices([bundle.head for bundle in whole]),
        )


def _each(values: Sequence[float], counts: Sequence[int], dtype: type[T]) -> NDArray[T]:
    """Return every value as often as it counts, of this type even where there is none."""
    return np.repeat(np.array(values, dtype=dtype), np.array(counts, dtype=np.int64))


def _vertices(
    ends: Sequence[Sequence[int] | NDArray[np.int64] | None],
) -> NDArray[np.int64] | None:
    known = [np.asarray(end, dtype=np.int64) for end in ends if end is not None]
    if len(known) < len(ends):
        return None
    return np.concatenate([np.zeros(0, dtype=np.int64), *known])
