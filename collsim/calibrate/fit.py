"""Fit alpha, beta and launch of one link class to measured times."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from collsim.calibrate.estimate import Estimate, estimate, expected
from collsim.calibrate.formula import Chunks, check_chunks, found_for
from collsim.calibrate.hold_out import folds
from collsim.calibrate.importers import Logs, measurements_of
from collsim.calibrate.misfit import misfit_notes
from collsim.calibrate.rows import refuse_mixed, usable
from collsim.calibrate.select import select
from collsim.calibrate.words import bound_notes, chunk_notes, launch_notes
from collsim.core.measurements import LeftOut, Measurement
from collsim.core.profile import ErrorSummary, Parameter, Profile
from collsim.errors import InputError

__all__ = ["FitErrors", "FitResult", "fit"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class FitErrors:
    """How far the fitted model is off.

    Parameters
    ----------
    in_sample : ErrorSummary
        On the rows that were fitted.
    held_out : ErrorSummary, optional
        On rows that the fits did not see; None if too few rows are left to fit.
    """

    in_sample: ErrorSummary
    held_out: ErrorSummary | None


@dataclass(frozen=True)
class FitResult:
    """A fit.

    Parameters
    ----------
    profile : Profile
        From all rows.
    parameters : dict of str to Parameter
        The profile's parameters.
    errors : FitErrors
        In-sample and held-out.
    rows : tuple of Measurement
        The rows that were fitted.
    predicted : tuple of float
        The fitted model's seconds for each of them.
    left_out : tuple of LeftOut
        Rows that the files hold and that could not be used.
    """

    profile: Profile
    parameters: dict[str, Parameter]
    errors: FitErrors
    rows: tuple[Measurement, ...]
    predicted: tuple[float, ...]
    left_out: tuple[LeftOut, ...] = ()


def fit(
    logs: Logs,
    algorithm: str = "ring",
    hold_out: str = "sizes",
    columns: str = "out-of-place",
    where: Iterable[str] = (),
    chunks: Chunks = "auto",
    name: str = "fitted",
    cluster: str = "ideal",
    link_class: str = "link",
    fastest: tuple[str, float] | None = None,
) -> FitResult:
    """Fit ``launch + A alpha + B n beta``, A and B from an algorithm's formula.

    Relative least squares with no parameter below 0. ``launch`` is told from alpha
    only if the rows have several ratios of A to it, that is several rank counts or
    collectives; otherwise it is 0 and the profile says why.

    Parameters
    ----------
    logs : Measurements, or path, or iterable of path
        Rows of one system, or the files that hold them.
    algorithm : str
        Algorithm whose formula is fitted.
    hold_out : str
        ``sizes`` (every second), ``collectives``, ``ranks`` or ``nodes`` (each in turn).
    columns, where
        Which rows: see `collsim.calibrate.select.select`.
    chunks : int or "auto"
        Chunks of an algorithm that is pipelined; auto is the best power of two at each
        size, found together with the parameters. `predict` and `check` do as the profile
        says.
    name, cluster, link_class : str
        What the profile, its cluster and its class of links are called.
    fastest : tuple of str and float, optional
        Name and bandwidth of a link that none is faster than; a fit above it has a note.

    Raises
    ------
    InputError
        If no row is usable, the rows cannot tell alpha from beta, or they are of
        several process models, clocks, devices or protocols.

    Examples
    --------
    >>> result = fit("examples/nccl_tests_all_reduce_8gpu.txt")
    >>> {key: f"{p.value:.2g} {p.unit}" for key, p in result.parameters.items()}
    {'link.alpha': '1.5e-06 s', 'link.beta': '2.7e-12 s/B', 'launch': '0 s'}
    >>> result.errors.held_out.kind, result.errors.held_out.median < 0.02
    ('sizes', True)
    """
    chosen = select(measurements_of(logs), columns, where)
    rows, notes = usable(chosen.rows, algorithm)
    if not rows:
        raise InputError(f"no row to fit: {'; '.join(notes)}")
    notes = [*chosen.notes, *notes, *refuse_mixed(rows)]
    _check_chunked(rows, algorithm, check_chunks(chunks))
    found = estimate(rows, algorithm, chunks)
    notes += launch_notes(rows, found.with_launch, found.solution)
    notes += bound_notes(found.solution) + chunk_notes(found.settled)
    predicted = expected(rows, algorithm, chunks, found.values)
    in_sample = _summary("in_sample", predicted / _seconds(rows))
    held_out, why = _held_out(rows, algorithm, chunks, hold_out)
    notes += why
    errors = FitErrors(in_sample, held_out)
    notes += misfit_notes(rows, algorithm, held_out or in_sample, found.values[2], fastest)
    parameters = _parameters(found, link_class)
    profile = Profile(
        name=name,
        parameters=parameters,
        cluster=cluster,
        algorithm=algorithm,
        chunks=chunks,
        collectives=tuple(sorted({row.collective for row in rows})),
        ranks=tuple(sorted({row.ranks for row in rows})),
        nodes=tuple(sorted({row.nodes for row in rows if row.nodes is not None})),
        min_bytes=min(row.nbytes for row in rows),
        max_bytes=max(row.nbytes for row in rows),
        library=_joined(row.source.version for row in rows),
        process_model=_joined(row.source.process_model for row in rows),
        clock=_joined(row.source.clock for row in rows),
        device=_joined(row.source.device for row in rows),
        columns=columns,
        sources=tuple(dict.fromkeys(row.source.file for row in rows if row.source.file)),
        errors=(in_sample,) if held_out is None else (in_sample, held_out),
        notes=tuple(notes),
    )
    times = tuple(map(float, predicted))
    return FitResult(profile, parameters, errors, tuple(rows), times, chosen.left_out)


def _check_chunked(rows: Sequence[Measurement], algorithm: str, chunks: Chunks) -> None:
    """Refuse a chunk count where no message is cut."""
    names = sorted({row.collective for row in rows})
    if chunks not in (1, "auto") and not any(found_for(n, algorithm)[1].chunked for n in names):
        raise InputError(
            f"chunks: {', '.join(names)}/{algorithm} sends each message whole, got {chunks}"
        )


def _seconds(rows: Sequence[Measurement]) -> FloatArray:
    return np.array([row.seconds for row in rows])


def _parameters(found: Estimate, link_class: str) -> dict[str, Parameter]:
    solution = found.solution
    widths: Sequence[float | None] = solution.half_widths or (None,) * len(solution.values)
    keys = [(f"{link_class}.alpha", "s"), (f"{link_class}.beta", "s/B")]
    if found.with_launch:
        keys.insert(0, ("launch", "s"))
    made = {}
    for (key, unit), value, width in zip(keys, solution.values, widths, strict=True):
        low = None if width is None else max(0.0, value - width)
        made[key] = Parameter(value, low, None if width is None else value + width, unit)
    launch = made.pop("launch", Parameter(0.0, None, None, "s", kind="assumption"))
    return {**made, "launch": launch}


def _held_out(
    rows: Sequence[Measurement], algorithm: str, chunks: Chunks, kind: str
) -> tuple[ErrorSummary | None, list[str]]:
    ratios = []
    for seen, unseen in folds(rows, kind):
        others = [rows[i] for i in unseen]
        try:
            values = estimate([rows[i] for i in seen], algorithm, chunks).values
        except InputError:
            continue
        ratios.append(expected(others, algorithm, chunks, values) / _seconds(others))
    if not ratios or not np.concatenate(ratios).size:
        return None, [f"no held-out error: without the held-out {kind} too few rows are left"]
    return _summary(kind, np.concatenate(ratios)), []


def _summary(kind: str, ratios: FloatArray) -> ErrorSummary:
    off = np.abs(ratios - 1.0)
    return ErrorSummary(kind, float(np.median(off)), float(np.quantile(off, 0.9)), len(off))


def _joined(values: Iterable[str | None]) -> str | None:
    return ", ".join(sorted({value for value in values if value})) or None
