"""What the numbers of nccl-tests' rows imply: rank count and collective."""

import math
import re
from collections import Counter
from collections.abc import Sequence

from collsim.calibrate.importers._nccl_rows import DTYPES, Half, Row
from collsim.core.collective import collective

__all__ = [
    "collectives_implied",
    "contradiction",
    "factor_range",
    "half_unit",
    "most_even",
    "named_in",
    "ranks_counted",
    "ranks_implied",
]

_WHOLE = ("all_reduce", "broadcast", "reduce", "sendrecv")
_ROOTED = ("broadcast", "reduce", "gather", "scatter")
_SUMMED = ("all_reduce", "reduce_scatter", "reduce", "sendrecv")  # sendrecv prints its op
_COPIED = ("broadcast", "all_gather", "all_to_all", "gather", "scatter", "sendrecv")
MOST_RANKS = 1 << 20
_ROUNDED = 16  # bytes: nccl-tests makes every rank's share a multiple of it


def half_unit(number: str) -> float:
    """Return half a unit in the last printed place.

    Examples
    --------
    >>> half_unit("1.25"), half_unit("11785"), half_unit("5e+06")
    (0.005, 0.5, 500000.0)
    """
    if "e" not in number and "E" not in number:
        return 0.5 * 10.0 ** -(len(number) - 1 - number.find(".") if "." in number else 0)
    mantissa, _, exponent = number.lower().partition("e")
    places = len(mantissa.partition(".")[2])
    return 0.5 * 10.0 ** (int(exponent or 0) - places)


def factor_range(half: Half) -> tuple[float, float] | None:
    """Return the range of busbw / algbw that the printed digits allow, if they tell any."""
    if not half.readable:
        return None
    algbw, busbw = float(half.algbw), float(half.busbw)
    a, b = half_unit(half.algbw), half_unit(half.busbw)
    if not algbw > 4 * a:
        return None
    return max(0.0, busbw - b) / (algbw + a), (busbw + b) / (algbw - a)


def ranks_implied(name: str, ranges: Sequence[tuple[float, float]]) -> tuple[int, int] | None:
    """Return the least and the largest rank count that most rows allow.

    Parameters
    ----------
    name : str
        Collective; its bus-bandwidth factor must depend on the rank count.
    ranges : sequence of (float, float)
        Range of busbw / algbw of each row.

    Examples
    --------
    >>> ranks_implied("all_reduce", [(1.7, 1.8), (1.749, 1.751), (1.2, 1.3)])
    (8, 8)
    """
    slope = {"all_reduce": 2.0}.get(name, 1.0)
    if collective(name).bus_factor(2) == collective(name).bus_factor(3):
        return None
    spans = []
    for low, high in ranges:
        # factor = slope * (P - 1) / P, so P = slope / (slope - factor).
        if low >= slope:
            continue
        most = slope / (slope - high) if high < slope else MOST_RANKS
        first = max(1, math.ceil(slope / (slope - low) - 1e-9))
        last = math.floor(min(most, MOST_RANKS) + 1e-9)
        if first <= last:
            spans.append((first, last))
    if not spans:
        return None
    # Every best place begins where some span begins; it ends where the first one ends.
    best = max({low for low, _ in spans}, key=lambda at: (_covering(spans, at), -at))
    return best, min(high for low, high in spans if low <= best <= high)


def _covering(spans: Sequence[tuple[int, int]], at: int) -> int:
    return sum(low <= at <= high for low, high in spans)


def ranks_counted(name: str, rows: Sequence[Row]) -> int | None:
    """Return the rank count by which most rows' sizes are larger than their counts.

    Only where a count is of one rank's share of the size.

    Examples
    --------
    >>> ranks_counted("all_gather", [Row(1, 2**20, 2**20 // 4 // 12, "float", None, ())])
    12
    """
    if name in _WHOLE:
        return None
    votes = Counter(
        round(row.nbytes / (row.count * DTYPES[row.dtype]))
        for row in rows
        if row.count and row.nbytes
    )
    return votes.most_common(1)[0][0] if votes else None


def contradiction(row: Row, name: str, ranks: int) -> str | None:
    """Return how a row's count contradicts its size and type, or None.

    The count is of the whole size, or of one rank's share of it, which nccl-tests rounds
    down to a multiple of 16 bytes.

    Examples
    --------
    >>> contradiction(Row(1, 1024, 128, "float", "sum", ()), "all_reduce", 8)
    '128 elements of float are 512 bytes, expected 1024'
    >>> contradiction(Row(1, 1000, 80, "float", None, ()), "all_gather", 3)
    """
    found = row.count * DTYPES[row.dtype]
    shares = 1 if name in _WHOLE else ranks
    below = row.nbytes - found * shares
    if below == 0 or (shares > 1 and 0 < below < _ROUNDED * shares):
        return None
    part = "" if shares == 1 else f", one rank's part of {row.nbytes}"
    return (
        f"{row.count} elements of {row.dtype} are {found} bytes, "
        f"expected {row.nbytes // shares}{part}"
    )


def most_even(low: int, high: int) -> int:
    """Return the number from `low` to `high` with the highest power of two in it.

    Examples
    --------
    >>> most_even(505, 520), most_even(8, 8)
    (512, 8)
    """
    step = 1
    while low + (-low % (2 * step)) <= high:
        step *= 2
    return low + (-low % step)


def collectives_implied(
    rows: Sequence[tuple[Row, int | None, tuple[Half, Half]]], ranks: int | None
) -> tuple[str, ...]:
    """Return the collectives that columns and numbers of a table allow.

    Parameters
    ----------
    rows : sequence of (row, root, halves)
        Whole rows of one table.
    ranks : int, optional
        The rank count, if it is known.
    """
    votes = Counter[str]()
    for row, root, halves in rows:
        if row.nbytes and row.count:
            votes.update(_allowed(row, root, halves, ranks))
    # The most and not all, because one mangled row must not spoil a table.
    most = max(votes.values(), default=0)
    return tuple(sorted(name for name, count in votes.items() if count == most))


def _allowed(
    row: Row, root: int | None, halves: tuple[Half, Half], ranks: int | None
) -> set[str]:
    summed = row.op not in (None, "none")
    allowed = set(_SUMMED if summed else _COPIED)
    allowed &= set(_ROOTED) if root is not None and root >= 0 else allowed - set(_ROOTED)
    if ranks != 1:
        whole = row.count * DTYPES[row.dtype] == row.nbytes
        allowed &= set(_WHOLE) if whole else allowed - set(_WHOLE)
    allowed = {name for name in allowed if _fits(name, halves[0], ranks)}
    out_of_place, in_place = (half.wrong for half in halves)
    if out_of_place.isdigit():
        # Exchanges have no in-place form, so nothing is checked there.
        exchanges = {"all_to_all", "sendrecv"}
        if in_place == "N/A":
            allowed &= exchanges
        elif in_place.isdigit():
            allowed -= exchanges
    return allowed


def _fits(name: str, half: Half, ranks: int | None) -> bool:
    found = factor_range(half)
    if found is None:
        return True
    low, high = found
    if ranks is not None:
        factor = collective(name).bus_factor(ranks)
        return low <= factor <= high
    bounds = collective(name).bus_factor(2), collective(name).bus_factor(MOST_RANKS)
    return low <= bounds[1] and high >= bounds[0]


def named_in(path: str, allowed: Sequence[str]) -> str | None:
    """Return the one of the allowed collectives that a file's name spells out.

    Examples
    --------
    >>> named_in("logs/a100_alltoall_8.txt", ["all_gather", "all_to_all"])
    'all_to_all'
    """
    plain = re.sub(r"[^a-z]", "", re.split(r"[/\\]", path)[-1].lower())
    found = [name for name in allowed if name.replace("_", "") in plain]
    # "reduce" is part of "allreduce": the longest name is the one that is meant.
    found.sort(key=len, reverse=True)
    rest = [n for n in found[1:] if n.replace("_", "") not in found[0].replace("_", "")]
    return found[0] if found and not rest else None
