"""Estimate a step of training: how long it takes, and what it waits for."""

import os
from dataclasses import replace
from typing import Final

from collsim.config.workload import load
from collsim.core.arguments import checked
from collsim.core.cluster import Cluster
from collsim.core.workload import Workload
from collsim.errors import InputError, TooLargeError
from collsim.workload.clock import Event, idle, run
from collsim.workload.derive import message, stages
from collsim.workload.layout import layout
from collsim.workload.parts import Call
from collsim.workload.result import Estimate, EstimateRow, StepEvent
from collsim.workload.steps import COMPUTE, count, tasks
from collsim.workload.timing import Timed, Timer
from collsim.workload.unused import unused

__all__ = ["Estimate", "EstimateRow", "StepEvent", "estimate", "own_cluster"]

_ROUNDING: Final = 1e-9
# Tasks of a step: some ten seconds and a gigabyte.
_MOST: Final = 1_000_000


def own_cluster(work: Workload) -> Cluster:
    """Return the cluster that a workload's file names.

    Raises
    ------
    InputError
        If it names none.
    """
    home = work.home
    if home.cluster is None:
        raise InputError(
            f"workload {work.name}: names no cluster, expected one, or [cluster] in its file"
        )
    return Cluster.load(home.cluster, nodes=home.nodes, gpus_per_node=home.gpus_per_node)


@checked
def estimate(
    workload: str | os.PathLike[str] | Workload, cluster: Cluster | None = None
) -> Estimate:
    """Estimate how long a step of training takes, and what it waits for.

    Parameters
    ----------
    workload : str, path or Workload
        A TOML file of schema ``collsim/workload/1``, or what was read from one.
    cluster : Cluster, optional
        Where; without, the one that the file names.

    Returns
    -------
    Estimate
        Step time, its parts, a row per collective, and the events of the step.

    Raises
    ------
    FileError, ConfigError
        If the file can't be read or understood.
    InputError
        If the ranks don't fit the workload's groups, an algorithm can't run in them, or
        ranks of the cluster enter late.

    Notes
    -----
    docs/workloads.md says how the step is put together and where each formula is from.

    Examples
    --------
    Two layers of 1 ms and 2 ms on two GPUs, whose gradients of 1 MB take 1 ms each; the
    first one hides behind the other layer's backward:

    >>> from collsim.core.workload import Compute, Given
    >>> work = Workload(
    ...     "two layers",
    ...     Compute(forward=1e-3, backward=2e-3, layers=2),
    ...     given=(Given("gradients", "all_reduce", 1e6, "data", 2, "backward", "after"),),
    ... )
    >>> step = estimate(work, Cluster.ideal(2, alpha=0, bandwidth="1GB/s"))
    >>> round(step.step_us), round(step.compute_us), round(step.exposed_us)
    (7000, 6000, 1000)
    """
    work = workload if isinstance(workload, Workload) else load(workload)
    cluster = own_cluster(work) if cluster is None else cluster
    if cluster.delay is not None and cluster.delay.any():
        raise InputError(
            "estimate: got a rank that enters late, but a step has many collectives; "
            "expected a cluster without delays"
        )
    # Before parts are made, of which there may be too many, and with the calls that they have.
    passes = work.batch.micro_batches
    _check_size(work, (2 * work.layers + sum(given.count for given in work.given)) * passes)
    found = layout(work.parallel, cluster.ranks)
    parts = stages(work, found)
    _check_size(work, count(parts, passes))
    todo = tasks(
        parts,
        micro_batches=passes,
        prefetch=work.parallel.prefetch,
        message=message(work, found),
        optimizer=work.compute.optimizer,
    )
    calls = dict.fromkeys(task.call for task in todo if task.call is not None)
    timer = Timer(cluster, found, work.algorithms, calls)
    timed = {call: timer(call) for call in calls}
    events = run(todo, {call: one.cost for call, one in timed.items()})
    step = _estimate(work, cluster, events, timed, (found.tensor, found.expert, found.data))
    return replace(step, unused=tuple(unused(work, found, calls)))


def _check_size(work: Workload, size: int) -> None:
    if size > _MOST:
        raise TooLargeError(
            f"workload {work.name}: {size:,} layers and collectives in a step, which is more "
            f"than the {_MOST:,} that are put together; expected fewer layers, micro-batches "
            "or calls"
        )


def _estimate(
    work: Workload,
    cluster: Cluster,
    events: list[Event],
    timed: dict[Call, Timed],
    axes: tuple[int, int, int],
) -> Estimate:
    pipeline = work.parallel.pipeline
    busy = [0.0] * pipeline
    for event in events:
        if event.task.stream == COMPUTE:
            busy[event.task.stage] += event.task.seconds
    stage = max(range(pipeline), key=lambda s: (busy[s], -s))
    exposed, bubble = idle(events, stage)
    totals: dict[Call, list[float]] = {}
    for event in events:
        if event.task.call is not None and event.task.stage == stage:
            totals.setdefault(event.task.call, []).append(event.seconds)
    rows = [
        _row(timed[call], call, times, exposed.get(call, 0.0)) for call, times in totals.items()
    ]
    step = max(event.end for event in events)
    waited = sum(exposed.values())
    last = max(event.end for event in events if event.task.stage == stage)
    tensor, expert, data = axes
    tokens = work.batch.tokens * work.batch.micro_batches * data if work.model else None
    return Estimate(
        workload=work.name,
        cluster=cluster.name,
        ranks=cluster.ranks,
        tensor=tensor,
        expert=expert,
        data=data,
        pipeline=pipeline,
        step_us=step * 1e6,
        compute_us=busy[stage] * 1e6,
        bubble_us=(bubble + step - last) * 1e6,
        exposed_us=waited * 1e6,
        hidden_us=sum(row.hidden_us for row in rows),
        share=waited / step if step > 0 else None,
        tokens_per_second=tokens / step if tokens is not None and step > 0 else None,
        rows=tuple(sorted(rows, key=lambda row: -row.exposed_us)),
        events=tuple(
            sorted((_event(event) for event in events), key=lambda e: (e.start_us, e.stage))
        ),
    )


def _row(timed: Timed, call: Call, times: list[float], exposed: float) -> EstimateRow:
    total = sum(times)
    # Times are differences of times since the start of the step.
    hidden = total - exposed if total - exposed > _ROUNDING * total else 0.0
    return EstimateRow(
        kind=call.kind,
        what=call.what,
        collective=call.collective,
        group=timed.group,
        groups=timed.groups,
        count=len(times),
        size=int(call.nbytes) if float(call.nbytes).is_integer() else call.nbytes,
        algorithm=timed.algorithm,
        chunks=timed.chunks,
        channels=timed.channels,
        alone_us=timed.alone * 1e6,
        time_us=timed.cost.seconds * 1e6,
        busbw=timed.busbw / 1e9,
        total_us=total * 1e6,
        exposed_us=exposed * 1e6,
        hidden_us=hidden * 1e6,
    )


def _event(event: Event) -> StepEvent:
    task = event.task
    return StepEvent(
        stage=task.stage,
        stream=task.stream,
        name=task.name,
        collective=None if task.call is None else task.call.collective,
        size=None if task.call is None else task.call.nbytes,
        start_us=event.start * 1e6,
        end_us=event.end * 1e6,
    )
