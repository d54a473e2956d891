"""What is to run: the operations of one collective, or of several that run together."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from collsim.core.schedule import REDUCE, Schedule

__all__ = ["Program", "merged", "single"]

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Program:
    """Operations between ranks of a cluster, in the order in which ties are resolved.

    Parameters
    ----------
    src, dst : int array, shape (N,)
        Ranks of the cluster P; the switch of node k is P + k.
    job : int array, shape (N,)
        Which of the J collectives an operation belongs to.
    reduces : bool array, shape (N,)
        Whether the receiver combines what arrives.
    size : float array, shape (N,)
        Pieces that each operation carries, of its own job.
    piece : float
        Bytes of the largest piece of all jobs; as a fraction of n, or in bytes.
    scale : float array, shape (J,)
        Bytes of each job's piece as a fraction of that.
    start : float array, shape (J,)
        Seconds at which each job is called.
    rounds : int
        Of all jobs together.
    in_turn : float
        Pieces sent one after another, were each round to wait for its largest message.
    dep_ptr, dep : int arrays
        Operation i waits for ``dep[dep_ptr[i]:dep_ptr[i + 1]]``.
    """

    src: NDArray[np.int32]
    dst: NDArray[np.int32]
    job: NDArray[np.int32]
    reduces: NDArray[np.bool_]
    size: FloatArray
    piece: float
    scale: FloatArray
    start: FloatArray
    rounds: int
    in_turn: float
    dep_ptr: IntArray
    dep: NDArray[np.int32]


def single(schedule: Schedule) -> Program:
    """Return the program of one schedule, whose ranks are those of the cluster."""
    size = _sizes(schedule)
    return Program(
        src=schedule.src,
        dst=schedule.dst,
        job=np.broadcast_to(np.int32(0), size.shape),
        reduces=schedule.kind == REDUCE,
        size=size,
        piece=schedule.piece_share,
        scale=np.ones(1),
        start=np.zeros(1),
        rounds=schedule.rounds,
        in_turn=_in_turn(schedule, size),
        dep_ptr=schedule.dep_ptr,
        dep=schedule.dep,
    )


def merged(
    schedules: Sequence[Schedule],
    ranks: Sequence[IntArray],
    nbytes: Sequence[float],
    start: Sequence[float],
) -> tuple[Program, list[IntArray]]:
    """Return one program of several schedules, round by round, and where each one's are.

    The first rounds of all jobs come first, in the order of the jobs, then their second
    rounds. At equal times the jobs so take turns.

    Parameters
    ----------
    schedules : sequence of Schedule
        One per job.
    ranks : sequence of int array
        The rank of the cluster on which each rank of each schedule runs, and after them
        the numbers of the switches that take part.
    nbytes, start : sequence of float
        Size of each job's buffer in bytes, and seconds at which it is called.

    Returns
    -------
    Program, list of int array
        Operation i of job j is ``places[j][i]`` in the program.
    """
    pieces = np.array([s.piece_share * n for s, n in zip(schedules, nbytes, strict=True)])
    piece = float(pieces.max(initial=0.0))
    scale = pieces / piece if piece > 0 else np.ones(pieces.size)
    counts = [len(schedule) for schedule in schedules]
    first = np.cumsum([0, *counts])
    job = np.repeat(np.arange(len(schedules), dtype=np.int32), counts)
    # A schedule may list a later round before an earlier one; its own order stays.
    rounds = [np.maximum.accumulate(schedule.round) for schedule in schedules]
    order = np.lexsort((job, np.concatenate(rounds)))
    place = np.empty(order.size, dtype=np.int64)
    place[order] = np.arange(order.size)
    waits = np.concatenate([np.diff(schedule.dep_ptr) for schedule in schedules])
    dep = np.concatenate([s.dep + i for s, i in zip(schedules, first, strict=False)])
    owner = place[np.repeat(np.arange(order.size), waits)]
    dep_ptr = np.zeros(order.size + 1, dtype=np.int64)
    np.cumsum(waits[order], out=dep_ptr[1:])
    sizes = [_sizes(schedule) for schedule in schedules]
    ends = [
        np.concatenate([r[end] for r, end in zip(ranks, column, strict=True)])[order]
        for column in ([s.src for s in schedules], [s.dst for s in schedules])
    ]
    turns = [_in_turn(s, size) for s, size in zip(schedules, sizes, strict=True)]
    program = Program(
        src=ends[0].astype(np.int32),
        dst=ends[1].astype(np.int32),
        job=job[order],
        reduces=np.concatenate([s.kind == REDUCE for s in schedules])[order],
        size=np.concatenate(sizes)[order],
        piece=piece,
        scale=scale,
        start=np.array(start, dtype=np.float64),
        rounds=sum(schedule.rounds for schedule in schedules),
        in_turn=float(np.array(turns) @ scale),
        dep_ptr=dep_ptr,
        dep=place[dep[np.argsort(owner, kind="stable")]].astype(np.int32),
    )
    return program, [place[i:j] for i, j in pairwise(first)]


def _sizes(schedule: Schedule) -> FloatArray:
    """Return the pieces of every operation; in one number's memory where all are equal."""
    if schedule.width:
        return np.broadcast_to(np.float64(schedule.width), schedule.src.shape)
    return np.diff(schedule.piece_ptr).astype(np.float64)


def _in_turn(schedule: Schedule, size: FloatArray) -> float:
    if schedule.width:
        return float(schedule.width * schedule.turns)
    first = np.flatnonzero(np.diff(schedule.round, prepend=np.int32(-1)))
    return float(np.maximum.reduceat(size, first).sum()) if size.size else 0.0
