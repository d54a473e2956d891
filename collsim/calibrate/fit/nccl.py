"""Fit the times of NCCL's pieces to the rows of a log, with errors, and what is not told."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from collsim.calibrate.fit.hold_out import folds
from collsim.calibrate.fit.nccl_doubts import doubt_notes
from collsim.calibrate.fit.ran import ran_as, ran_notes
from collsim.calibrate.fit.result import FitErrors, FitResult, measured_by, summary
from collsim.calibrate.fit.slower import slower_notes
from collsim.calibrate.gpu_names import names_joined
from collsim.calibrate.nccl_model import (
    COVERED,
    Fitted,
    System,
    facts_of,
    fit_nccl,
    outliers,
    parameters_of,
    system_named,
)
from collsim.calibrate.nccl_model.batch import unknown_piece
from collsim.calibrate.nccl_model.words import fit_notes
from collsim.calibrate.rows import refuse_mixed, usable
from collsim.core.measurements import Measurement, Measurements
from collsim.core.profile import ErrorSummary, Profile
from collsim.errors import InputError

__all__ = ["fit_pieces", "refusal_of"]

_LEAST_LIKE: Final = 0.3
"""Scatter about the model above which rows are not times of NCCL's collectives on a system."""
_NAMED: Final = 3
_LEAST, _MOST = 1e-9, 1e6


def refusal_of(
    rows: Sequence[Measurement], system: System | None
) -> tuple[System | None, str | None]:
    """Return the system of some rows, and why NCCL's model does not cover them, if it doesn't.

    Parameters
    ----------
    rows : sequence of Measurement
        Of one system.
    system : System, optional
        What is known of it; else the name of the GPU must tell.

    Examples
    --------
    >>> refusal_of([Measurement("all_reduce", 8, 1024, 1e-5)], None)[1]
    'the log does not name the GPU, and no cluster is given (-c)'
    """
    backends = {row.source.backend for row in rows} - {None}
    if backends - {"nccl"}:
        return system, f"the rows are of {', '.join(sorted(map(str, backends)))}, not of NCCL"
    if not any(row.collective in COVERED for row in rows):
        found = ", ".join(sorted({row.collective for row in rows}))
        return system, f"NCCL's model has no {found}"
    if system is None:
        devices = sorted({row.source.device for row in rows if row.source.device})
        if not devices:
            return None, "the log does not name the GPU, and no cluster is given (-c)"
        system = system_named(devices[0])
        if system is None:
            return None, f"{_untold(devices[0])}, and no cluster is given (-c)"
    nodes = max((row.nodes or 1 for row in rows), default=1)
    if nodes > 1 and not system.several:
        return system, f"rows of {nodes} nodes need the cluster (-c) that says what joins them"
    return system, None


def _untold(device: str) -> str:
    """Say why a name tells no system."""
    names = names_joined(device)
    if len(names) > 1:
        return f"its GPUs are of several kinds ({', '.join(names)})"
    return f"{device} does not tell how the GPUs are joined"


def fit_pieces(
    chosen: Measurements,
    system: System,
    hold_out: str,
    columns: str,
    name: str,
    cluster: str,
    sheet: tuple[str, float] | None = None,
    ran: str | None = None,
) -> FitResult:
    """Fit and judge; see `collsim.calibrate.fit.fit`; `ran` is what ran if rows say nothing.

    Raises
    ------
    InputError
        If no row is usable, rows are mixed, or are nowhere near what the model can be.
    """
    if ran is not None:
        chosen = ran_as(chosen, ran)
    rows, notes = usable([row for row in chosen.rows if row.collective in COVERED], None)
    rows, more = _modelled(rows, system)
    notes += more
    others = sorted({row.collective for row in chosen.rows} - set(COVERED))
    if others:
        notes.append(f"left out {', '.join(others)}: NCCL's model has no formula of it")
    if not rows:
        raise InputError(f"no row to fit: {'; '.join(notes)}")
    notes = [*chosen.notes, *notes, *refuse_mixed(rows, protocols=True)]
    fitted = fit_nccl(rows, system)
    _refuse_unlike(rows, fitted)
    seconds = np.array([row.seconds for row in rows])
    predicted = fitted.predict(rows)
    in_sample = summary("in_sample", predicted / seconds)
    odd = np.array(outliers(rows))
    held_out, ratios, places, why = _held_out(rows, system, hold_out)
    if held_out is None:
        ratios, places = predicted / seconds, np.arange(len(rows))
    without = None
    if odd[places].any() and not odd[places].all():
        kind = "in_sample" if held_out is None else hold_out
        without = summary(kind, ratios[~odd[places]])
    notes += ran_notes(rows, fitted, ran)
    notes += why + _odd_notes(rows, odd.tolist()) + fit_notes(rows, fitted)
    notes += doubt_notes(rows, fitted, held_out or in_sample, cluster, sheet)
    notes += slower_notes(rows)
    errors = FitErrors(in_sample, held_out, without)
    profile = Profile(
        name=name,
        parameters=parameters_of(fitted),
        model="nccl",
        cluster=cluster,
        chunks="auto",
        **measured_by(rows),
        columns=columns,
        errors=(in_sample,) if held_out is None else (in_sample, held_out),
        notes=tuple(notes),
        nccl=facts_of(fitted),
    )
    times = tuple(map(float, predicted))
    return FitResult(
        profile, profile.parameters, errors, tuple(rows), times, chosen.left_out, fitted
    )


def _modelled(
    rows: Sequence[Measurement], system: System
) -> tuple[list[Measurement], list[str]]:
    """Return the rows that a formula can be of, and why the others are left out."""
    kept, counts = [], Counter[str]()
    for row in rows:
        reason = unknown_piece(row, system)
        if not _LEAST <= row.seconds <= _MOST:
            reason = f"a time of {row.seconds:g} s, which no collective takes"
        if reason is None:
            kept.append(row)
        else:
            counts[reason] += 1
    return kept, [
        f"{n} row{'s' if n > 1 else ''} left out: {reason}" for reason, n in counts.items()
    ]


def _refuse_unlike(rows: Sequence[Measurement], fitted: Fitted) -> None:
    """Refuse rows that scatter about the model as no system does."""
    if fitted.noise <= _LEAST_LIKE:
        return
    falls = _falling(rows)
    what = "times fall as sizes grow" if falls else "no latency and bandwidth explain them"
    raise InputError(
        f"{rows[0].source}: the rows are off NCCL's model by {fitted.noise:.0%}, more than "
        f"{_LEAST_LIKE:.0%}: {what}; are they of one system, and the cluster the right one?"
    )


def _falling(rows: Sequence[Measurement]) -> bool:
    """Return whether most times are above that of the next larger size."""
    series: dict[tuple[str, int, int | None], list[Measurement]] = {}
    for row in sorted(rows, key=lambda row: row.nbytes):
        series.setdefault((row.collective, row.ranks, row.nodes), []).append(row)
    steps = [b.seconds < a.seconds for one in series.values() for a, b in pairwise(one)]
    return sum(steps) * 2 > len(steps)


def _held_out(
    rows: Sequence[Measurement], system: System, kind: str
) -> tuple[ErrorSummary | None, NDArray[np.float64], NDArray[np.intp], list[str]]:
    ratios, places = [np.zeros(0)], [np.zeros(0, dtype=np.intp)]
    for seen, unseen in folds(rows, kind):
        if not seen or not unseen:
            continue
        others = [rows[i] for i in unseen]
        fitted = fit_nccl([rows[i] for i in seen], system)
        ratios.append(fitted.predict(others) / np.array([row.seconds for row in others]))
        places.append(np.array(unseen, dtype=np.intp))
    every = np.concatenate(ratios)
    if not every.size:
        why = [f"no held-out error: without the held-out {kind} no row is left"]
        return None, every, np.concatenate(places), why
    return summary(kind, every), every, np.concatenate(places), []


def _odd_notes(rows: Sequence[Measurement], odd: Sequence[bool]) -> list[str]:
    found = [row for row, out in zip(rows, odd, strict=True) if out]
    if not found:
        return []
    named = ", ".join(f"{r.collective} of {r.nbytes} B ({r.source})" for r in found[:_NAMED])
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    count = "1 row stands" if len(found) == 1 else f"{len(found)} rows stand"
    return [f"{count} out, taking 1.3 times as long as neighbours in size: {named}{more}"]
