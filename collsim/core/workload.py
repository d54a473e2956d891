"""A workload: what one step of training computes, and what its ranks say to one another."""

from dataclasses import dataclass, field
from typing import Final

from collsim.core.transformer import Transformer

__all__ = [
    "AXES",
    "GROUPS",
    "OVERLAPS",
    "PHASES",
    "SHARDING",
    "Batch",
    "Compute",
    "Given",
    "Home",
    "Parallel",
    "Types",
    "Workload",
]

# Axes along which ranks are laid out, the fastest first; Megatron-LM's order.
AXES: Final = ("tensor", "data", "pipeline")
# Kinds of groups; those of one kind run at the same time.
GROUPS: Final = ("tensor", "expert", "data", "expert_data", "all")
SHARDING: Final = ("none", "optimizer", "full")
PHASES: Final = ("forward", "backward")
# Whether a layer waits for a collective before it starts, or after it, or nobody does.
OVERLAPS: Final = ("none", "before", "after")


@dataclass(frozen=True)
class Parallel:
    """How ranks share the work.

    Parameters
    ----------
    tensor, pipeline, expert : int
        Ranks that share a layer, the stages, and the experts of a layer.
    data : int
        Replicas; 0 means whatever the ranks of the cluster leave.
    order : tuple of str
        The axes, the one with neighbouring ranks first; experts are shared out along data.
    sequence : bool
        Whether tensor parallelism also splits the sequence (all_gather and reduce_scatter
        in place of all_reduce).
    sharding : {"none", "optimizer", "full"}
        What data-parallel ranks share out: nothing (DDP), the optimizer's state (ZeRO-1),
        or the parameters too (FSDP, ZeRO-3).
    bucket : float
        Bytes of a bucket of gradients, where they are put in buckets.
    prefetch : int
        Layers for which parameters are gathered ahead of the one that is computed.
    """

    tensor: int = 1
    pipeline: int = 1
    expert: int = 1
    data: int = 0
    order: tuple[str, ...] = AXES
    sequence: bool = False
    sharding: str = "none"
    bucket: float = 25 * 2**20
    prefetch: int = 1


@dataclass(frozen=True)
class Batch:
    """What one replica trains on in a step.

    Parameters
    ----------
    sequence : int
        Tokens of a sequence.
    micro_batch : int
        Sequences that pass the model together.
    micro_batches : int
        How many of those a step has.
    """

    sequence: int
    micro_batch: int = 1
    micro_batches: int = 1

    @property
    def tokens(self) -> int:
        """Tokens of a micro-batch."""
        return self.sequence * self.micro_batch


@dataclass(frozen=True)
class Types:
    """Element types, by nccl-tests' names."""

    parameters: str = "bfloat16"
    gradients: str = "float"
    activations: str = "bfloat16"


@dataclass(frozen=True)
class Compute:
    """How long a rank computes.

    Parameters
    ----------
    forward, backward : float, optional
        Seconds of one layer on one rank, for one micro-batch. None: from its operations.
    rate : float
        Floating-point operations per second that a GPU reaches: peak times efficiency.
    recompute : bool
        Whether backward computes every layer's forward again, with its communication.
    optimizer : float
        Seconds at the end of the step.
    layers : int
        Layers, where no model says so.
    source : str
        Where these numbers come from.
    """

    forward: float | None = None
    backward: float | None = None
    rate: float = 0.0
    recompute: bool = False
    optimizer: float = 0.0
    layers: int = 0
    source: str = ""


@dataclass(frozen=True)
class Given:
    """A collective that the file gives as it is.

    Parameters
    ----------
    name : str
        What it carries.
    collective : str
        Canonical name.
    nbytes : float
        Size n of each call.
    group : str
        One of `GROUPS`.
    count : int
        Calls in one pass over all layers, evenly spread over them.
    phase : {"forward", "backward"}
        When.
    overlap : {"none", "before", "after"}
        None: the next layer waits for it. Before: its own layer waits for it, and it is
        started ahead. After: nobody waits before the end of the step.
    """

    name: str
    collective: str
    nbytes: float
    group: str
    count: int
    phase: str
    overlap: str


@dataclass(frozen=True)
class Home:
    """The cluster that a workload's file names, for when nobody names another."""

    cluster: str | None = None
    nodes: int | None = None
    gpus_per_node: int | None = None


@dataclass(frozen=True)
class Workload:
    """One step of training.

    Parameters
    ----------
    name : str
        For titles.
    compute : Compute
        How long ranks compute.
    parallel : Parallel
        How they share the work.
    batch : Batch
        What a replica trains on.
    model : Transformer, optional
        Collectives follow from it.
    types : Types
        Element types.
    given : tuple of Given
        Collectives beside those of the model, or all of them.
    algorithms : dict of str
        Algorithm per kind of group, or of one collective of it, as in
        ``"data.all_gather"``; ``"auto"`` where none is named.
    home : Home
        Cluster to run on.
    """

    name: str
    compute: Compute
    parallel: Parallel = Parallel()
    batch: Batch = Batch(1)
    model: Transformer | None = None
    types: Types = Types()
    given: tuple[Given, ...] = ()
    algorithms: dict[str, str] = field(default_factory=dict)
    home: Home = Home()

    @property
    def layers(self) -> int:
        """Number of layers, over all stages."""
        return self.compute.layers if self.model is None else self.model.layers
