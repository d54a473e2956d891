"""What a fit found."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from collsim.calibrate.nccl_model.fitted import Fitted
from collsim.core.measurements import LeftOut, Measurement
from collsim.core.profile import ErrorSummary, Parameter, Profile

__all__ = ["FitErrors", "FitResult", "Measured", "measured_by", "summary"]


@dataclass(frozen=True)
class FitErrors:
    """How far the fitted model is off.

    Parameters
    ----------
    in_sample : ErrorSummary
        On the rows that were fitted.
    held_out : ErrorSummary, optional
        On rows that the fits did not see; None if too few rows are left to fit.
    without_outliers : ErrorSummary, optional
        The latter (else the former) without the rows that stand out, where some do.
    """

    in_sample: ErrorSummary
    held_out: ErrorSummary | None
    without_outliers: ErrorSummary | None = None


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
    fitted : Fitted, optional
        What was fitted to NCCL's pieces, if it was.
    """

    profile: Profile
    parameters: dict[str, Parameter]
    errors: FitErrors
    rows: tuple[Measurement, ...]
    predicted: tuple[float, ...]
    left_out: tuple[LeftOut, ...] = ()
    fitted: Fitted | None = None


def summary(kind: str, ratios: NDArray[np.float64]) -> ErrorSummary:
    """Return how far ratios of predicted to measured times are from 1.

    Examples
    --------
    >>> summary("in_sample", np.array([1.0, 0.9, 1.2])).median.__round__(3)
    0.1
    """
    off = np.abs(ratios - 1.0)
    return ErrorSummary(kind, float(np.median(off)), float(np.quantile(off, 0.9)), len(off))


class Measured(TypedDict):
    """Fields of a profile that say what it was fitted to."""

    collectives: tuple[str, ...]
    ranks: tuple[int, ...]
    nodes: tuple[int, ...]
    min_bytes: int
    max_bytes: int
    library: str | None
    process_model: str | None
    clock: str | None
    device: str | None
    sources: tuple[str, ...]


def measured_by(rows: Sequence[Measurement]) -> Measured:
    """Return what a profile says of the rows that it is fitted to, by its fields.

    Examples
    --------
    >>> rows = [Measurement("broadcast", p, 8, 1e-6, root=0) for p in (4, 2)]
    >>> told = measured_by(rows)
    >>> told["collectives"], told["ranks"], told["library"]
    (('broadcast',), (2, 4), None)
    """
    sources = [row.source for row in rows]
    return {
        "collectives": tuple(sorted({row.collective for row in rows})),
        "ranks": tuple(sorted({row.ranks for row in rows})),
        "nodes": tuple(sorted({row.nodes for row in rows if row.nodes is not None})),
        "min_bytes": min(row.nbytes for row in rows),
        "max_bytes": max(row.nbytes for row in rows),
        "library": _joined(source.version for source in sources),
        "process_model": _joined(source.process_model for source in sources),
        "clock": _joined(source.clock for source in sources),
        "device": _joined(source.device for source in sources),
        "sources": tuple(dict.fromkeys(source.file for source in sources if source.file)),
    }


def _joined(values: Iterable[str | None]) -> str | None:
    """Return what sources say, each once; None if they say nothing."""
    return ", ".join(sorted({value for value in values if value})) or None
