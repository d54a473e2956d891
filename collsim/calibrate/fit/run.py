"""Fit a model to measured times: NCCL's pieces, or one line of latency and bandwidth."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from collsim.calibrate.fit.estimate import Estimate, estimate, expected
from collsim.calibrate.fit.hold_out import folds
from collsim.calibrate.fit.misfit import misfit_notes
from collsim.calibrate.fit.nccl import fit_pieces, refusal_of
from collsim.calibrate.fit.result import FitErrors, FitResult, measured_by, summary
from collsim.calibrate.fit.words import bound_notes, chunk_notes, launch_notes
from collsim.calibrate.formula import Chunks, check_chunks, found_for
from collsim.calibrate.importers import Logs, measurements_of
from collsim.calibrate.nccl_model import System
from collsim.calibrate.rows import refuse_mixed, usable
from collsim.calibrate.select import select
from collsim.core.arguments import checked
from collsim.core.measurements import Measurement, Measurements
from collsim.core.profile import ErrorSummary, Parameter, Profile
from collsim.errors import InputError, UnknownNameError

__all__ = ["fit"]

_MODELS: Final = ("auto", "nccl", "line")
FloatArray = NDArray[np.float64]


@checked
def fit(
    logs: Logs,
    algorithm: str | None = None,
    hold_out: str = "sizes",
    columns: str = "out-of-place",
    where: Iterable[str] = (),
    chunks: Chunks | None = None,
    name: str = "fitted",
    cluster: str = "ideal",
    link_class: str = "link",
    fastest: tuple[str, float] | None = None,
    model: str = "auto",
    system: System | None = None,
    sheet: tuple[str, float] | None = None,
) -> FitResult:
    """Fit the times of NCCL's pieces, or one line of latency and bandwidth.

    NCCL's pieces are its algorithms and protocols, of which its own table tells which one runs
    (`collsim.calibrate.nccl_model`). The line is ``launch + A alpha + B n beta``, A and B from
    an algorithm's formula: relative least squares with no parameter below 0. ``launch`` is
    told from alpha only if the rows have several ratios of A to it, that is several rank
    counts or collectives; otherwise it is 0 and the profile says why.

    Parameters
    ----------
    logs : Measurements, or path, or iterable of path
        Rows of one system, or the files that hold them.
    algorithm : str, optional
        Algorithm whose formula is fitted, of a line; by default ring. Of NCCL's pieces, which
        `model` nccl or rows over nodes ask for, what NCCL ran where rows don't say it.
    hold_out : str
        ``sizes`` (every second), ``collectives``, ``ranks`` or ``nodes`` (each in turn).
    columns, where
        Which rows: see `collsim.calibrate.select.select`.
    chunks : int or "auto", optional
        Chunks of an algorithm that is pipelined, of a line; auto, the default, is the best
        power of two at each size, found together with the parameters. `predict` and `check`
        do as the profile says.
    name, cluster, link_class : str
        What the profile, its cluster and its class of links are called.
    fastest : tuple of str and float, optional
        Name and bandwidth of a link that none is faster than; a fit above it has a note.
    model : {"auto", "nccl", "line"}
        Auto is nccl where the rows are of NCCL, the system is known and no chunks are named,
        nor, on one node, an algorithm; a note says why it is not.
    system : System, optional
        What is known of the system; by default what the name of the GPU tells.
    sheet : tuple of str and float, optional
        What joins the GPUs of its nodes and what a GPU sends by datasheet, in bytes/s; of
        NCCL's pieces what is measured faster has a note. By default `fastest`.

    Returns
    -------
    FitResult
        `profile`, its `parameters` with intervals, and `errors` in and out of sample.

    Raises
    ------
    InputError
        If no row is usable, the rows cannot tell alpha from beta, they are of several
        process models, clocks, devices or protocols, or are not as NCCL's model has them.
    UnknownNameError
        For another model, or what is held out.

    Examples
    --------
    >>> result = fit("examples/nccl_tests_all_reduce_8gpu.txt")
    >>> {key: f"{p.value:.2g} {p.unit}" for key, p in result.parameters.items()}
    {'link.alpha': '1.5e-06 s', 'link.beta': '2.7e-12 s/B', 'launch': '0 s'}
    >>> result.errors.held_out.kind, result.errors.held_out.median < 0.02
    ('sizes', True)
    """
    if model not in _MODELS:
        raise UnknownNameError("model", model, _MODELS)
    chosen = select(measurements_of(logs), columns, where)
    why = own = None
    if model != "line":
        system, why = refusal_of(chosen.rows, system)
        # A line is of one node: over several an algorithm that is named is what NCCL ran.
        line = model == "auto" and not any((row.nodes or 1) > 1 for row in chosen.rows)
        if chunks is not None or (algorithm is not None and line):
            own = "an algorithm or chunks are named"
        why = own or why
        if why is not None and model == "nccl":
            raise InputError(f"model nccl: {why}; expected model line")
        if why is None and system is not None:
            return fit_pieces(
                chosen, system, hold_out, columns, name, cluster, sheet or fastest, algorithm
            )
    # Rows that nobody says anything of could be of any library.
    known = system is not None or any(row.source.backend for row in chosen.rows)
    try:
        found = _fit_line(
            chosen, algorithm or "ring", hold_out, columns,
            "auto" if chunks is None else chunks, name, cluster, link_class, fastest,
        )  # fmt: skip
    except InputError as error:
        if not (known and why) or why == own:
            raise
        raise InputError(f"{error}; and no model of NCCL is fitted: {why}") from error
    return _said(found, f"one line is fitted: {why}") if known and why else found


def _said(found: FitResult, note: str) -> FitResult:
    profile = replace(found.profile, notes=(*found.profile.notes, note))
    return replace(found, profile=profile)


def _fit_line(
    chosen: Measurements,
    algorithm: str,
    hold_out: str,
    columns: str,
    chunks: Chunks,
    name: str,
    cluster: str,
    link_class: str,
    fastest: tuple[str, float] | None,
) -> FitResult:
    rows, notes = usable(chosen.rows, algorithm)
    if not rows:
        raise InputError(f"no row to fit: {'; '.join(notes)}")
    notes = [*chosen.notes, *notes, *refuse_mixed(rows)]
    _check_chunked(rows, algorithm, check_chunks(chunks))
    found = estimate(rows, algorithm, chunks)
    notes += launch_notes(rows, found.with_launch, found.solution)
    notes += bound_notes(found.solution) + chunk_notes(found.settled)
    predicted = expected(rows, algorithm, chunks, found.values)
    in_sample = summary("in_sample", predicted / _seconds(rows))
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
        **measured_by(rows),
        columns=columns,
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
    return summary(kind, np.concatenate(ratios)), []
