"""Measure all points of a job on one rank; rank 0 writes the rows."""

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from collsim.core.collective import collective
from collsim.core.measurements_file import RowFile
from collsim.core.measurements_setup import OURS
from collsim.errors import CollsimError, InputError, MeasureError
from collsim.measure.agree import agree
from collsim.measure.cases import Case, cases, check_job, key_of, schedule_of
from collsim.measure.execute import (
    Executor,
    Problem,
    check_all,
    held_in_order,
    load,
    wrong,
)
from collsim.measure.job import LIBRARY, Job
from collsim.measure.library_errors import said_by
from collsim.measure.patterns import at_once, prepared
from collsim.measure.progress import Progress
from collsim.measure.resumed import told
from collsim.measure.sampling import How, Sample, sample
from collsim.measure.steps import plan
from collsim.measure.transport import Buffer, Transport
from collsim.measure.watch import Watch

__all__ = ["measure"]


@dataclass
class _Rank:
    """What measuring one point needs."""

    job: Job
    transport: Transport
    local_ranks: int
    watch: Watch


def _common(job: Job, transport: Transport, local_ranks: int, case: Case) -> dict[str, Any]:
    """Return what a row says of the run that it came from."""
    ours = OURS if case.ours else ""
    return {
        "nodes": _nodes(case, transport.ranks, local_ranks),
        "ranks_per_node": local_ranks,
        "library": f"{ours}{transport.library}",
        "clock": transport.clock,
        "process_model": transport.process_model,
        "device": transport.device,
        "world": transport.ranks,
        "cores": len(os.sched_getaffinity(0)),
        "host": os.uname().nodename,
        "ranks_per_gpu": job.ranks_per_gpu if transport.device else None,
        "graph": job.graph or None,
    }


def _nodes(case: Case, ranks: int, local_ranks: int) -> int:
    """Return on how many nodes the ranks of a case are."""
    if case.pattern == "ping_pong":
        return len({rank // local_ranks for pair in case.pairs for rank in pair})
    return -(-ranks // local_ranks)


def measure(job: Job, transport: Transport, local_ranks: int, watch: Watch) -> int:
    """Measure what is not yet in the job's file; return how many rows were added.

    Every rank calls this with the same job. A row is in the file before the next point
    begins. Results are compared with the postcondition first, and wrong ones end the run.

    Raises
    ------
    UsageError
        If ranks were told different things.
    MeasureError
        If another rank left, or data came out wrong; names collective, size and rank.
    """
    agree(job, local_ranks, transport)
    if job.dtype not in transport.dtypes:
        raise InputError(
            f"dtype {job.dtype}: {transport.library} moves {', '.join(transport.dtypes)}"
        )
    check_job(job, transport.ranks, local_ranks)
    points, notes = cases(job, transport.ranks, local_ranks)
    rank = _Rank(job, transport, local_ranks, watch)
    rows = [
        {**case.fields(job, transport.ranks), **_common(job, transport, local_ranks, case)}
        for case in points
    ]
    added = 0
    with ExitStack() as stack:
        file, done = _taken_up(job, transport, rows)
        if file is not None:
            stack.enter_context(file)
            notes += told(job.path, file.rows, rows, int(done.sum()))
        progress = Progress(len(points), int(done.sum()))
        if file is not None:
            for note in notes:
                progress.note(note)
        for case, row, skip in zip(points, rows, done, strict=True):
            if skip:
                continue
            watch.at(f"{case.label}, rank {transport.rank}")
            if file is not None:
                progress.show(case.label)
            found = _measured(rank, case)
            if file is not None:
                file.append({**row, **found})
                progress.advance()
            added += 1
        if file is not None:
            progress.finish()
    return added


def _taken_up(
    job: Job, transport: Transport, rows: Sequence[dict[str, Any]]
) -> tuple[RowFile | None, NDArray[np.float64]]:
    """Return the job's file on rank 0, and on all ranks which rows are in it."""
    if transport.rank:
        done = transport.exchange(np.zeros(len(rows)))[0]
        if np.isnan(done).any():
            raise MeasureError(f"start, rank {transport.rank}: rank 0 can't write {job.path}")
        return None, done
    try:
        file = RowFile(job.path, job.resume)
    except CollsimError:
        # The others wait, and are to end with one line too.
        transport.exchange(np.full(len(rows), np.nan))
        raise
    try:
        known = {key_of(row) for row in file.rows}
        done = np.array([float(key_of(row) in known) for row in rows])
        return file, transport.exchange(done)[0]
    except BaseException:
        file.close()
        raise


def _measured(rank: _Rank, case: Case) -> dict[str, Any]:
    try:
        return _timed(rank, case)
    except CollsimError:
        raise
    except (RuntimeError, OSError) as error:
        # What libraries raise when a peer is gone, or has not come for too long.
        raise MeasureError(
            f"{case.label}, rank {rank.transport.rank}: {said_by(error)}"
        ) from error


def _timed(rank: _Rank, case: Case) -> dict[str, Any]:
    job, transport = rank.job, rank.transport
    how = replace(job.how, iterations=job.graph) if job.graph else job.how
    if case.pattern != "collective":
        made = prepared(case.pattern, case.pairs, transport, case.count, job.dtype)
        found = sample(
            transport, made.call, how, aligned=case.pattern == "start", scale=made.scale,
            takes_part=made.takes_part, alive=rank.watch.alive,
        )  # fmt: skip
        more = {"in_place": False, "at_once": at_once(case.pattern, case.pairs)}
        return {**more, **_numbers(found)}
    kind = collective(case.collective or "")
    problem = Problem(kind, transport.ranks, job.root if kind.rooted else 0, job.dtype, job.op)
    if case.algorithm == LIBRARY:
        transport.force(*case.forced)
        call, buffers = _library(rank, problem, case)
        in_place = transport.in_place(kind)
    else:
        call, buffers = _schedule(rank, problem, case)
        in_place = True
    # Zeros stay zeros however often they are added up.
    for buffer in buffers:
        transport.fill(buffer, 0)
    found = _sampled(rank, call, how)
    return {"in_place": in_place, "wrong": 0, **_numbers(found)}


def _sampled(rank: _Rank, call: Callable[[], None], how: How) -> Sample:
    return sample(rank.transport, call, how, alive=rank.watch.alive)


def _library(
    rank: _Rank, problem: Problem, case: Case
) -> tuple[Callable[[], None], list[Buffer]]:
    """Return the library's collective, its result checked, and its buffers."""
    transport, dtype = rank.transport, problem.dtype
    held = [
        held_in_order(problem, transport.rank, case.count, after) for after in (False, True)
    ]
    sizes = [max((part.span[1] for part in parts), default=0) for parts in held]
    if transport.in_place(problem.kind):
        # A rank that brings or keeps nothing has a buffer all the same.
        both = transport.empty(max(*sizes, case.count), dtype)
        inputs = outputs = both
    else:
        inputs, outputs = (transport.empty(size, dtype) for size in sizes)
    call = transport.collective(problem.kind, inputs, outputs, problem.op, problem.root)
    for buffer in (inputs, outputs):
        transport.fill(buffer, _POISON)
    load(transport, problem, inputs, held[0])
    call()
    transport.finish()
    rank.watch.alive()
    check_all(transport, wrong(transport, problem, outputs, held[1]), case.label)
    return call, [inputs, outputs]


def _schedule(
    rank: _Rank, problem: Problem, case: Case
) -> tuple[Callable[[], None], list[Buffer]]:
    """Return our schedule, its result checked, and its memory."""
    transport = rank.transport
    schedule = schedule_of(case, rank.job, transport.ranks, rank.local_ranks)
    mine = plan(schedule, transport.rank, case.count)
    run = Executor(mine, transport, problem)
    for buffer in (run.memory, run.staging):
        transport.fill(buffer, _POISON)
    load(transport, problem, run.memory, mine.inputs)
    run()
    transport.finish()
    rank.watch.alive()
    check_all(transport, wrong(transport, problem, run.memory, mine.outputs), case.label)
    return run, [run.memory, run.staging]


# No contribution is this; a place that nobody wrote shows.
_POISON = 101.0


def _numbers(found: Sample) -> dict[str, Any]:
    return {
        "seconds": found.median,
        "low": found.low,
        "high": found.high,
        "repetitions": found.repetitions,
        "relative_error": found.relative_error,
    }
