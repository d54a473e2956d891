"""Fits for the reader."""

from typing import Final

from collsim.calibrate.fit import FitResult
from collsim.core.profile import ErrorSummary, Parameter
from collsim.report.records import check_finite, record
from collsim.report.table import aligned
from collsim.units import format_bandwidth, format_size, format_time

__all__ = [
    "errors_text",
    "fit_head",
    "fit_rows",
    "fit_text",
    "interval",
    "parameter_rows",
    "spelled",
]

_CHECKED: Final = 1.2
"""The default tolerance of ``collsim check``, and 1."""
_ONE: Final = {"collectives": "collective", "ranks": "rank count", "nodes": "node count"}


def fit_rows(found: FitResult) -> list[dict[str, object]]:
    """Return the fitted rows, each with what was measured and what the fit says."""
    rows = []
    for row, seconds in zip(found.rows, found.predicted, strict=True):
        made = {
            "collective": row.collective,
            "ranks": row.ranks,
            "nodes": row.nodes,
            "size": row.nbytes,
            "measured_us": row.seconds * 1e6,
            "predicted_us": seconds * 1e6,
            "ratio": row.seconds / seconds if seconds > 0 else None,
        }
        check_finite(made)
        rows.append(made)
    return rows


def fit_head(found: FitResult) -> dict[str, object]:
    """Return ``profile``, ``parameters`` and ``errors`` of a fit."""
    profile = record(found.profile)
    del profile["parameters"], profile["errors"]
    return {
        "profile": profile,
        "parameters": {key: _parameter(p) for key, p in found.parameters.items()},
        "errors": {
            "in_sample": _errors(found.errors.in_sample, kind=False),
            "held_out": found.errors.held_out and _errors(found.errors.held_out, kind=True),
            **_without(found),
        },
    }


def _without(found: FitResult) -> dict[str, object]:
    """Return the errors without rows that stand out, where some do."""
    errors = found.errors.without_outliers
    return {} if errors is None else {"without_outliers": _errors(errors, kind=True)}


def _parameter(parameter: Parameter) -> dict[str, object]:
    return {key: getattr(parameter, key) for key in ("value", "low", "high", "unit")}


def _errors(errors: ErrorSummary, kind: bool) -> dict[str, object]:
    named = {"kind": errors.kind} if kind else {}
    return {**named, "median": errors.median, "p90": errors.p90, "n": errors.n}


def parameter_rows(found: FitResult) -> list[dict[str, object]]:
    """Return a row for each parameter, for CSV."""
    return [{"parameter": key, **_parameter(p)} for key, p in found.parameters.items()]


def fit_text(found: FitResult) -> str:
    """Return a fit as text: what its rows tell, with intervals, and its errors."""
    untold = () if found.fitted is None else found.fitted.untold
    told = {k: p for k, p in found.parameters.items() if p.kind == "fit" and k not in untold}
    shown = found.parameters if found.fitted is None else told
    rows = [(key, _with_unit(p), interval(p)) for key, p in shown.items()]
    lines = []
    if rows:
        lines.append(aligned(("parameter", "value", "95 % interval"), rows, ("parameter",)))
    more = len(found.parameters) - len(shown)
    if more:
        lines.append(
            f"{more} more, which these rows do not tell or hardly: -o FILE, then "
            "collsim show profile FILE"
        )
    lines += errors_text(found.errors.in_sample, found.errors.held_out)
    without = found.errors.without_outliers
    if without is not None:
        lines.append(f"without the rows that stand out, {without.n} rows: {_off(without)}")
    return "\n".join([*lines, *_late(found)])


def _late(found: FitResult) -> list[str]:
    """Say how many of its own rows a check against the fit would fail on."""
    pairs = zip(found.rows, found.predicted, strict=True)
    sizes = [row.nbytes for row, seconds in pairs if row.seconds > _CHECKED * seconds]
    if not sizes:
        return []
    first, last = format_size(min(sizes)), format_size(max(sizes))
    where = f"at {first}" if first == last else f"between {first} and {last}"
    takes = "1 row takes" if len(sizes) == 1 else f"{len(sizes)} rows take"
    said = f"{takes} more than {_CHECKED:g} times what the fit says, {where}"
    return [f"{said}: collsim check of this log with this profile fails"]


def _with_unit(parameter: Parameter) -> str:
    words = spelled(parameter.value, parameter.unit)
    return f"{words} (no unit)" if parameter.unit == "1" else words


def errors_text(own: ErrorSummary, held: ErrorSummary | None) -> list[str]:
    """Return sentences: how far a fit is off on its own rows, and on those it did not see.

    Examples
    --------
    >>> print(errors_text(ErrorSummary("in_sample", 0.01, 0.02, 8), None)[0])
    fitted to all 8 rows: off by 1.0% in the median, 2.0% at the 90th percentile
    """
    count = "the one row" if own.n == 1 else f"all {own.n} rows"
    lines = [f"fitted to {count}: {_off(own)}"]
    if held is not None and held.kind == "sizes":
        lines.append(
            f"fitted to {own.n - held.n} and tried on the other {held.n}: {_off(held)}"
        )
    elif held is not None:
        what = _ONE[held.kind]
        lines.append(f"fitted without each {what} and tried on it, {held.n} rows: {_off(held)}")
    return lines


def _off(errors: ErrorSummary) -> str:
    return f"off by {errors.median:.1%} in the median, {errors.p90:.1%} at the 90th percentile"


def interval(parameter: Parameter) -> str:
    """Spell the interval of 95 % of a parameter.

    Examples
    --------
    >>> interval(Parameter(1e-6, 9e-7, 2e-6, "s")), interval(Parameter(1.0, None, None, "1"))
    ('900ns to 2us', 'not known')
    """
    if parameter.low is None or parameter.high is None:
        return "not known"
    low, high = (spelled(v, parameter.unit) for v in (parameter.low, parameter.high))
    return f"{low} to {high}"


def spelled(value: float, unit: str) -> str:
    """Spell a parameter in its unit: seconds, seconds per byte, bytes, or 1.

    Examples
    --------
    >>> spelled(1.5e-6, "s"), spelled(2.5e-12, "s/B"), spelled(4096, "B"), spelled(0.5, "1")
    ('1.5us', '2.5ps/B (400GB/s)', '4KiB', '0.5')
    """
    if unit == "s":
        return format_time(value)
    if unit == "B":
        return format_size(round(value), 3)
    if unit == "1":
        return f"{value:.4g}"
    return f"{value * 1e12:.4g}ps/B" + (f" ({format_bandwidth(1 / value)})" if value else "")
