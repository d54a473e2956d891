"""A step of training for the reader: its parts, and a row per collective."""

from typing import Final

from collsim.report.records import check_finite, keys_of
from collsim.report.table import aligned, format_number, format_us
from collsim.units import format_size, format_time
from collsim.workload.estimate import Estimate, EstimateRow

__all__ = ["ESTIMATE_KEYS", "estimate_head", "estimate_text"]

ESTIMATE_KEYS: Final = keys_of(EstimateRow)
_DIGITS: Final = 4  # of a size in the table
# Keys of the step as a whole, in the JSON object.
_STEP_KEYS: Final = (
    "tensor", "expert", "data", "pipeline", "step_us", "compute_us", "bubble_us", "exposed_us",
    "hidden_us", "share", "tokens_per_second",
)  # fmt: skip


def estimate_head(found: Estimate, healthy: Estimate | None) -> dict[str, object]:
    """Return what holds of the step as a whole.

    Parameters
    ----------
    found : Estimate
        The step.
    healthy : Estimate, optional
        The same on a healthy cluster; adds ``healthy_step_us`` and ``change``.
    """
    head: dict[str, object] = {"workload": found.workload}
    head |= {key: getattr(found, key) for key in _STEP_KEYS}
    if healthy is not None:
        head["healthy_step_us"] = healthy.step_us
        head["change"] = found.step_us / healthy.step_us if healthy.step_us > 0 else None
    check_finite(head)
    return head


def estimate_text(found: Estimate, where: str, healthy: Estimate | None = None) -> str:
    """Return an estimate as text for the reader.

    Parameters
    ----------
    found : Estimate
        The step.
    where : str
        What the cluster is.
    healthy : Estimate, optional
        The same on a healthy cluster.
    """
    axes = [
        f"{axis} {getattr(found, axis)}"
        for axis in ("tensor", "expert", "data", "pipeline")
        if getattr(found, axis) > 1
    ]
    shown = f": {', '.join(axes)}" if axes else ""
    lines = [f"{found.workload} on {found.ranks} ranks of {found.cluster} ({where}){shown}"]
    parts = [
        ("step", found.step_us, _rate(found)),
        ("computing", found.compute_us, _share(found.compute_us, found)),
        ("waiting for messages", found.exposed_us, _share(found.exposed_us, found)),
    ]
    if found.pipeline > 1:
        parts.append(("waiting for stages", found.bubble_us, _share(found.bubble_us, found)))
    parts.append(("messages hidden", found.hidden_us, "beside computing, or one another"))
    if healthy is not None:
        change = found.step_us / healthy.step_us if healthy.step_us > 0 else 1.0
        parts.append(("healthy step", healthy.step_us, f"this one takes x{change:.3f}"))
    table = aligned(
        ("", "time", "of it"),
        [(name, format_time(us * 1e-6), more) for name, us, more in parts],
        left=("", "of it"),
    )
    # The columns speak for themselves.
    lines += table.splitlines()[1:]
    if not found.rows:
        return "\n".join(lines)
    lines += ["", _table(found)]
    return "\n".join(lines)


def _table(found: Estimate) -> str:
    header = (
        "group", "of", "x", "collective", "carries", "calls", "size", "algorithm", "chunks",
        "channels", "alone us", "time us", "busbw", "total ms", "exposed ms", "hidden ms",
    )  # fmt: skip
    rows = [
        (
            row.kind, str(row.group), str(row.groups), row.collective, row.what,
            str(row.count), _size(found, row), row.algorithm, str(row.chunks),
            str(row.channels), format_us(row.alone_us), format_us(row.time_us),
            format_number(row.busbw), *(_ms(us) for us in (
                row.total_us, row.exposed_us, row.hidden_us)),
        )
        for row in found.rows
    ]  # fmt: skip
    return aligned(header, rows, left=("group", "collective", "carries", "algorithm"))


def _size(found: Estimate, row: EstimateRow) -> str:
    """Spell a size in as many digits as tell it from others that the same calls carry."""
    same = {
        other.size
        for other in found.rows
        if (other.kind, other.collective, other.what) == (row.kind, row.collective, row.what)
    }
    for digits in range(_DIGITS, _DIGITS + 6):
        text = format_size(row.size, digits)
        if sum(format_size(size, digits) == text for size in same) == 1:
            return text
    return format_size(row.size)


def _ms(microseconds: float) -> str:
    return format_number(microseconds / 1e3)


def _share(microseconds: float, found: Estimate) -> str:
    part = microseconds / found.step_us if found.step_us > 0 else 0.0
    return f"{100 * part:.1f} %"


def _rate(found: Estimate) -> str:
    if found.tokens_per_second is None:
        return ""
    each = found.tokens_per_second / found.ranks
    return f"{found.tokens_per_second:,.0f} tokens/s, {each:,.0f} a rank"
