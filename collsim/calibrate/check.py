"""Hold measured times beside predicted ones, and say what falls short."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median

from collsim.calibrate.formula import Predictor, predictor_of
from collsim.calibrate.importers import Logs, measurements_of
from collsim.calibrate.rows import usable
from collsim.calibrate.select import select
from collsim.calibrate.verdict import verdicts
from collsim.core.cluster import Cluster
from collsim.core.measurements import LeftOut, Measurement
from collsim.core.profile import Profile
from collsim.errors import InputError
from collsim.units import format_size

__all__ = ["CheckResult", "CheckRow", "check"]


@dataclass(frozen=True)
class CheckRow:
    """One measured time beside its prediction.

    Parameters
    ----------
    collective : str
        What was measured.
    ranks, nodes : int
        On how many; nodes is None if not known.
    size : int
        Bytes.
    measured_us, predicted_us : float
        Microseconds.
    ratio : float
        Measured / predicted.
    verdict : str
        ``ok latency bandwidth both faster``; see `collsim.calibrate.verdict.verdicts`.
    """

    collective: str
    ranks: int
    nodes: int | None
    size: int
    measured_us: float
    predicted_us: float
    ratio: float
    verdict: str


@dataclass(frozen=True)
class CheckResult:
    """What a check found.

    Parameters
    ----------
    rows : tuple of CheckRow
        By collective, ranks, nodes, then size.
    summary : str
        Sentences for the reader: what falls short, from which size, by what factor.
    notes : tuple of str
        What was left out of the comparison, or makes it weaker.
    left_out : tuple of LeftOut
        Rows that the files hold and that could not be used.
    """

    rows: tuple[CheckRow, ...]
    summary: str
    notes: tuple[str, ...]
    left_out: tuple[LeftOut, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether no row is slower than predicted by more than the tolerance."""
        return all(row.verdict in ("ok", "faster") for row in self.rows)


def check(
    logs: Logs,
    model: Profile | Cluster | Predictor,
    tolerance: float = 0.2,
    algorithm: str | None = None,
    columns: str = "out-of-place",
    where: Iterable[str] = (),
) -> CheckResult:
    """Compare measured with predicted times and judge each row.

    What each verdict means is in `collsim.calibrate.verdict.verdicts`.

    Parameters
    ----------
    logs : Measurements, or path, or iterable of path
        Rows to judge, or the files that hold them.
    model : Profile, Cluster or callable
        What to expect; a callable is ``(collective, ranks, nbytes) -> Predicted``.
    tolerance : float
        0 or more.
    algorithm : str, optional
        By default the profile's own, or ring.
    columns, where
        Which rows: see `collsim.calibrate.select.select`.

    Raises
    ------
    InputError
        If the tolerance is negative, no row is left, or the formula does not hold.

    Examples
    --------
    >>> from collsim.calibrate.formula import formula_of
    >>> from collsim.core.measurements import Measurements
    >>> model = formula_of(1e-6, 1e-9, 0.0, "ring")
    >>> rows = [Measurement("all_reduce", 2, n, 2e-6 + n * 3e-9) for n in (8, 10**6)]
    >>> result = check(Measurements(rows), model)
    >>> [row.verdict for row in result.rows], result.ok
    (['ok', 'bandwidth'], False)
    >>> print(result.summary)
    all_reduce on 2 ranks: bandwidth falls short from 1000000B on, 3 times the predicted
    time (1 of 2 rows).
    """
    if not 0 <= tolerance < float("inf"):
        raise InputError(f"tolerance: got {tolerance!r}, expected a finite number from 0 up")
    chosen = select(measurements_of(logs), columns, where)
    rows, notes = usable(chosen.rows, None)
    if not rows:
        raise InputError(f"no row to check: {'; '.join(notes)}")
    if isinstance(model, Profile):
        notes += _caveats(rows, model)
    predict = predictor_of(model, algorithm) if isinstance(model, Profile | Cluster) else model
    rows.sort(key=lambda row: (*_group(row), row.nbytes))
    found: list[CheckRow] = []
    sentences = []
    for _, members in groupby(rows, key=_group):
        judged = _judge(list(members), predict, tolerance)
        found += judged
        sentences.append(_sentence(judged, tolerance))
    return CheckResult(tuple(found), " ".join(sentences), tuple(notes), chosen.left_out)


def _group(row: Measurement) -> tuple[str, int, int]:
    return row.collective, row.ranks, row.nodes or 0


def _judge(rows: Sequence[Measurement], predict: Predictor, tolerance: float) -> list[CheckRow]:
    expected = [predict(row.collective, row.ranks, row.nbytes) for row in rows]
    for row, model in zip(rows, expected, strict=True):
        if not model.seconds > 0:
            raise InputError(
                f"{row.source}: {row.collective} of {format_size(row.nbytes)} is predicted to "
                "take no time, expected a model with alpha or beta above 0"
            )
    judged = verdicts([row.seconds for row in rows], expected, tolerance)
    return [
        CheckRow(
            row.collective,
            row.ranks,
            row.nodes,
            row.nbytes,
            row.seconds * 1e6,
            model.seconds * 1e6,
            row.seconds / model.seconds,
            verdict,
        )
        for row, model, verdict in zip(rows, expected, judged, strict=True)
    ]


def _caveats(rows: Sequence[Measurement], profile: Profile) -> list[str]:
    notes = []
    models = {row.source.process_model for row in rows} - {None}
    if profile.process_model and models and models != {profile.process_model}:
        found = ", ".join(sorted(filter(None, models)))
        notes.append(f"rows of {found}, but the profile was fitted to {profile.process_model}")
    sizes = [row.nbytes for row in rows]
    if profile.max_bytes and (min(sizes) < profile.min_bytes or max(sizes) > profile.max_bytes):
        span = f"{format_size(profile.min_bytes)} to {format_size(profile.max_bytes)}"
        notes.append(f"some sizes lie outside {span}, which the profile was fitted to")
    return notes


def _sentence(rows: Sequence[CheckRow], tolerance: float) -> str:
    """Say in words what falls short in rows of one collective, ranks and nodes."""
    first = rows[0]
    where = f"{first.collective} on {first.ranks} ranks"
    if first.nodes is not None:
        where += f" of {first.nodes} node{'s' if first.nodes > 1 else ''}"
    parts = []
    late = [row for row in rows if row.verdict in ("latency", "both")]
    slow = [row for row in rows if row.verdict in ("bandwidth", "both")]
    if late:
        parts.append(
            f"latency falls short up to {format_size(late[-1].size)}, {_factor(late, rows)}"
        )
    if slow:
        parts.append(
            f"bandwidth falls short from {format_size(slow[0].size)} on, {_factor(slow, rows)}"
        )
    faster = [row for row in rows if row.verdict == "faster"]
    if faster:
        parts.append(
            f"faster than predicted by more than {tolerance:.0%} in {_share(faster, rows)}"
        )
    if not parts:
        parts.append(f"all {len(rows)} rows within {tolerance:.0%} of the prediction")
    return f"{where}: {'; '.join(parts)}."


def _factor(some: Sequence[CheckRow], rows: Sequence[CheckRow]) -> str:
    factor = median(row.ratio for row in some)
    return f"{factor:.3g} times the predicted time ({_share(some, rows)})"


def _share(some: Sequence[CheckRow], rows: Sequence[CheckRow]) -> str:
    return f"{len(some)} of {len(rows)} rows"
