"""What is found of a step of training."""

from dataclasses import dataclass

__all__ = ["Estimate", "EstimateRow", "StepEvent"]


@dataclass(frozen=True)
class EstimateRow:
    """A collective of a step; attributes are the keys of the JSON output.

    Parameters
    ----------
    kind : str
        Kind of group: ``tensor expert data expert_data all``, or ``pipeline``.
    what : str
        What it carries.
    collective : str
        Canonical name.
    group, groups : int
        Ranks of a group, and groups that run it at once.
    count : int
        Calls in a step, of one rank of the busiest stage.
    size : float
        Bytes, n, of each call.
    algorithm, chunks, channels
        What runs it, and how.
    alone_us, time_us : float
        Microseconds of one call in the slowest group with the cluster to itself, and until
        the last group is done where all groups of the kind run it at once.
    busbw : float
        GB/s at that time, as nccl-tests counts it.
    total_us : float
        Microseconds of all calls, slowed down by other kinds where they share links.
    exposed_us, hidden_us : float
        Of the total, what computing waits for, and the rest.
    """

    kind: str
    what: str
    collective: str
    group: int
    groups: int
    count: int
    size: float
    algorithm: str
    chunks: int
    channels: int
    alone_us: float
    time_us: float
    busbw: float
    total_us: float
    exposed_us: float
    hidden_us: float


@dataclass(frozen=True)
class StepEvent:
    """Something that a stream of a stage does in a step.

    Parameters
    ----------
    stage : int
        Pipeline stage.
    stream : str
        ``"compute"``, a kind of group, or ``"pipeline forward"`` or ``"... backward"``.
    name : str
        What: the part that is computed, or what is carried.
    collective : str or None
        Canonical name; None for computing.
    size : float or None
        Bytes, n.
    start_us, end_us : float
        Microseconds from the start of the step.
    """

    stage: int
    stream: str
    name: str
    collective: str | None
    size: float | None
    start_us: float
    end_us: float


@dataclass(frozen=True)
class Estimate:
    """The answer of :func:`collsim.workload.estimate.estimate`.

    Parameters
    ----------
    workload, cluster : str
        Names.
    ranks : int
        Ranks of the cluster.
    tensor, expert, data, pipeline : int
        Sizes of the axes.
    step_us : float
        Microseconds of a step: the sum of the next three.
    compute_us : float
        Computing, of the stage that computes the most.
    bubble_us : float
        What that stage waits for other stages.
    exposed_us : float
        What it waits for its own collectives.
    hidden_us : float
        Time of its collectives that passes beside computing, or beside one another.
    share : float or None
        Exposed time as a part of the step; None for a step of no time.
    tokens_per_second : float or None
        Of all replicas; None without a model or in no time.
    rows : tuple of EstimateRow
        Collectives of that stage, the most exposed first.
    events : tuple of StepEvent
        What every stream of every stage does, in the order of its start.
    unused : tuple of str
        What of the workload has no effect here, each with its reason.
    """

    workload: str
    cluster: str
    ranks: int
    tensor: int
    expert: int
    data: int
    pipeline: int
    step_us: float
    compute_us: float
    bubble_us: float
    exposed_us: float
    hidden_us: float
    share: float | None
    tokens_per_second: float | None
    rows: tuple[EstimateRow, ...]
    events: tuple[StepEvent, ...]
    unused: tuple[str, ...] = ()

    def __repr__(self) -> str:
        share = "" if self.share is None else f", {100 * self.share:.1f} % of it exposed"
        return f"<Estimate of {self.workload}: {self.step_us / 1e3:.4g} ms a step{share}>"
