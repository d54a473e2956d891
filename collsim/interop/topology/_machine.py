"""What an importer finds: GPUs, cables between them and devices, NICs, and how it knows."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from collsim.config.links import SEPARATOR, Number
from collsim.config.values import PROVENANCE
from collsim.core.link import LinkClass
from collsim.errors import FileError

__all__ = [
    "MOST_GPUS",
    "Cable",
    "Machine",
    "Nic",
    "Notes",
    "Wire",
    "both_ways",
    "gpu",
    "is_gpu",
]

# NCCL's tables of a node end at 256 of a kind.
MOST_GPUS: Final = 256


class Wire(NamedTuple):
    """A class of links: one direction of a cable.

    Parameters
    ----------
    name : str
        Such as ``nvlink4``.
    bandwidth, alpha : Number
        Bytes per second and seconds per message, with their sources.
    """

    name: str
    bandwidth: Number
    alpha: Number

    @property
    def link(self) -> LinkClass:
        """Return it as a class of links of a cluster."""
        numbers = {"bandwidth": self.bandwidth, "alpha": self.alpha}
        return LinkClass(
            name=self.name,
            alpha=self.alpha.value,
            bandwidth=self.bandwidth.value,
            source=SEPARATOR.join(f"{k} ({n.kind}): {n.source}" for k, n in numbers.items()),
            kind=max((n.kind for n in numbers.values()), key=PROVENANCE.index),
        )


class Cable(NamedTuple):
    """A directed link between two vertices, such as ``gpu[0]`` and ``switch[0]``."""

    src: str
    dst: str
    wire: Wire

    @property
    def name(self) -> str:
        """Return what it joins, which no two cables of a machine have in common."""
        return f"{self.src}>{self.dst}"

    @property
    def pays(self) -> bool:
        """Whether it charges alpha: a message does once, where it leaves a GPU."""
        return is_gpu(self.src)


class Nic(NamedTuple):
    """A network card.

    Parameters
    ----------
    name : str
        Such as ``mlx5_0``.
    bandwidth : Number or None
        Bytes per second one way; None where the file does not say.
    """

    name: str
    bandwidth: Number | None


@dataclass(frozen=True)
class Notes:
    """Sentences for the reader.

    Parameters
    ----------
    read, assumed, left_out : tuple of str
        What they are about.
    pcie : tuple of str
        Assumptions that count only where a message crosses PCIe.
    """

    read: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    pcie: tuple[str, ...] = ()

    def __add__(self, more: "Notes") -> "Notes":
        return Notes(
            self.read + more.read,
            self.assumed + more.assumed,
            self.left_out + more.left_out,
            self.pcie + more.pcie,
        )


@dataclass(frozen=True)
class Machine:
    """One node as a file describes it.

    Parameters
    ----------
    file : str
        The file, as the user named it.
    what : str
        What it is, such as ``"NCCL topology XML"``.
    labels : tuple of str
        What the file calls each GPU, in the order of their ranks.
    cables : tuple of Cable
        No two of the same ends.
    nics : tuple of Nic
        Its network cards.
    notes : Notes
        What was read, assumed and left out so far.
    multicast : bool
        Whether the switch can deliver one message to many.
    relays : bool
        Whether a message may pass through other GPUs.

    Raises
    ------
    FileError
        For no GPU, or more than 256.
    """

    file: str
    what: str
    labels: tuple[str, ...]
    cables: tuple[Cable, ...]
    nics: tuple[Nic, ...] = ()
    notes: Notes = Notes()
    multicast: bool = False
    relays: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.gpus <= MOST_GPUS:
            raise FileError(
                self.file, f"{self.what} of {self.gpus} GPUs, expected 1 to {MOST_GPUS}"
            )

    @property
    def gpus(self) -> int:
        """Number of GPUs."""
        return len(self.labels)


def gpu(rank: int) -> str:
    """Return the vertex of a GPU.

    Examples
    --------
    >>> gpu(3), is_gpu(gpu(3)), is_gpu("switch[0]")
    ('gpu[3]', True, False)
    """
    return f"gpu[{rank}]"


def is_gpu(vertex: str) -> bool:
    """Return whether a vertex is a GPU."""
    return vertex.startswith("gpu[")


def both_ways(a: str, b: str, wire: Wire) -> Iterator[Cable]:
    """Iterate over the two directions of a full-duplex cable.

    Examples
    --------
    >>> number = Number(1.0, "here", "assumption")
    >>> [cable.name for cable in both_ways("gpu[0]", "cpu[0]", Wire("w", number, number))]
    ['gpu[0]>cpu[0]', 'cpu[0]>gpu[0]']
    """
    yield Cable(a, b, wire)
    yield Cable(b, a, wire)
