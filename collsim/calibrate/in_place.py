"""Rows of the columns that were not chosen: which have no other, and which are slower."""

from collections.abc import Sequence
from statistics import median

from collsim.core.measurements import Measurement

__all__ = ["in_place_notes", "only_there_notes"]


def only_there_notes(chosen: Sequence[Measurement], others: Sequence[Measurement]) -> list[str]:
    """Return of which collectives there are rows in the other columns only.

    Parameters
    ----------
    chosen, others : sequence of Measurement
        Of the columns that were chosen, and of the others.

    Examples
    --------
    >>> row = Measurement("all_reduce", 8, 1024, 1e-5, in_place=True)
    >>> only_there_notes([], [row])
    ['1 row of all_reduce is left out, measured in-place only: --columns in-place takes it']
    """
    here = {_test(row) for row in chosen}
    missing = [row for row in others if _test(row) not in here]
    if not missing:
        return []
    names = ", ".join(sorted({row.collective for row in missing}))
    column = "in-place" if missing[0].in_place else "out-of-place"
    one = len(missing) == 1
    are, them = ("is", "it") if one else ("are", "them")
    count = "1 row" if one else f"{len(missing)} rows"
    left = f"{count} of {names} {are} left out, measured {column} only"
    return [f"{left}: --columns {column} takes {them}"]


def _test(row: Measurement) -> tuple[object, ...]:
    return row.source.file, row.collective, row.ranks, row.nodes


def in_place_notes(rows: Sequence[Measurement], tolerance: float) -> list[str]:
    """Return where the same takes longer in place than out of place.

    Parameters
    ----------
    rows : sequence of Measurement
        Of both columns.
    tolerance : float
        So much longer says nothing.

    Examples
    --------
    >>> rows = [Measurement("all_reduce", 8, n, s, in_place=s > 1)
    ...         for n in (8, 16) for s in (1.0, 5.0)]
    >>> in_place_notes(rows, 0.2)
    ['all_reduce on 8 ranks takes 5 times as long in place, median of 2 sizes: --columns both
    checks these times, too']
    """
    series: dict[tuple[object, ...], dict[int, dict[bool, list[float]]]] = {}
    for row in rows:
        sizes = series.setdefault(_test(row), {})
        halves = sizes.setdefault(row.nbytes, {})
        halves.setdefault(row.in_place, []).append(row.seconds)
    notes = []
    for (_, name, ranks, _), sizes in series.items():
        ratios = [
            median(halves[True]) / median(halves[False])
            for halves in sizes.values()
            if len(halves) == len((True, False)) and median(halves[False]) > 0
        ]
        if ratios and median(ratios) > 1 + tolerance:
            many = "1 size" if len(ratios) == 1 else f"median of {len(ratios)} sizes"
            notes.append(
                f"{name} on {ranks} ranks takes {median(ratios):.3g} times as long in place, "
                f"{many}: --columns both checks these times, too"
            )
    return notes
