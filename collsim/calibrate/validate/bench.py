"""What is validated: a system, its logs, and which of their rows are held out."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from collsim.core.cluster import Cluster
from collsim.nccl import Graph

__all__ = ["Bench", "Line", "Log", "TorchSettings", "Trial"]


@dataclass(frozen=True)
class Line:
    """A kind of prediction, and what must hold of it.

    Parameters
    ----------
    title : str
        What is predicted, in words.
    median, p90 : float, optional
        The errors that are asked for at most; None if they are only reported.
    """

    title: str
    median: float | None = None
    p90: float | None = None


@dataclass(frozen=True)
class Log:
    """A log of a system.

    Parameters
    ----------
    stem : str
        How the name of the file begins.
    gpus_per_node : int
        GPUs of a node that took part.
    dtype : str, optional
        The element type whose rows are taken; by default all are.
    forced : bool
        Whether only rows of a forced algorithm and protocol are taken.
    """

    stem: str
    gpus_per_node: int
    dtype: str | None = None
    forced: bool = False


@dataclass(frozen=True)
class Trial:
    """Rows to fit and rows to predict.

    Parameters
    ----------
    line : str
        Key of a `Line`.
    words : str
        What is held out.
    fit, hold : mapping of str to tuple
        Values of ``collective``, ``ranks`` and ``nodes`` that are fitted, and predicted.
        Rows that meet neither take no part.
    alternate : bool
        Whether every second size of each series is held out, of the rows that `fit` takes.
    """

    line: str
    words: str
    fit: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    hold: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    alternate: bool = False


@dataclass(frozen=True)
class TorchSettings:
    """What torch's estimator is told of a system.

    Parameters
    ----------
    gpu : str
        ``AMPERE``, ``HOPPER`` or ``BLACKWELL``.
    intra : float
        GB/s of the bus bandwidth in a node.
    inter : float
        GB/s of a GPU's network card.
    gpus_per_node : int
        GPUs of a node.
    nvlink : bool
        Whether NVLink joins them.
    """

    gpu: str
    intra: float
    inter: float = 25.0
    gpus_per_node: int = 8
    nvlink: bool = True


@dataclass(frozen=True)
class Bench:
    """A system with measurements.

    Parameters
    ----------
    name, title : str
        A key; what it is, in words.
    logs : tuple of Log
        Its measurements.
    preset : str
        The cluster that it is, as far as datasheets say.
    role : str
        ``design``, ``seen``, ``confirmation`` or ``own``: what it was for when the model was
        made; see `collsim.calibrate.validate.systems.ROLES`.
    trials : tuple of Trial
        What is held out in turn.
    torch : TorchSettings, optional
        None where torch's estimator does not apply.
    nccl : str
        Release of NCCL, whose model is the baseline.
    changes : mapping, optional
        What differs from the preset.
    cpu : tuple of str
        Architecture and vendor of the CPUs, by NCCL's names.
    card : str, optional
        NCCL's path from a GPU to its network card, where the preset does not tell: ``PHB`` is
        through the CPU, which LL128 may not take.
    graphs : mapping of str to Graph, optional
        NCCL's own graphs, where it dumped them, instead of those derived from the preset.
    channels : int
        Channels that the user allowed, with `graphs`.
    """

    name: str
    title: str
    logs: tuple[Log, ...]
    preset: str
    role: str
    trials: tuple[Trial, ...]
    torch: TorchSettings | None
    nccl: str = "2.30"
    changes: Mapping[str, object] | None = None
    cpu: tuple[str, str] = ("x86_64", "intel")
    card: str | None = None
    graphs: Mapping[str, Graph] | None = None
    channels: int = 0

    def cluster(self, ranks: int, nodes: int) -> Cluster:
        """Return the preset with so many ranks on so many nodes.

        Examples
        --------
        >>> bench = Bench("a", "A", (), "dgx-a100", "own", (), None)
        >>> bench.cluster(4, 1).ranks, bench.cluster(8, 2).nodes
        (4, 2)
        """
        if nodes == 1:
            return Cluster.load(self.preset, ranks=ranks, changes=self.changes)
        return Cluster.load(
            self.preset, nodes=nodes, gpus_per_node=ranks // nodes, changes=self.changes
        )
