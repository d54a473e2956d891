"""Text to SI numbers and back: the only place where units are spelled.

Inside collsim everything is bytes, seconds and bytes per second. Parsing is
exact: the result is the number that the text names, rounded once.
"""

from __future__ import annotations

import re
import sys
from decimal import Decimal
from fractions import Fraction

from collsim.errors import InputError

__all__ = [
    "MAX_RANKS",
    "MAX_SIZE",
    "format_bandwidth",
    "format_size",
    "format_time",
    "format_time_us",
    "parse_bandwidth",
    "parse_ranks",
    "parse_size",
    "parse_time",
]

MAX_SIZE = 2**63 - 1
MAX_RANKS = 2**20

_STEPS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_TIMES = {"s": 0, "ms": -3, "us": -6, "ns": -9, "\u00b5s": -6, "\u03bcs": -6}

# ASCII, because \d matches the digits of every script. The exponent is short,
# because an exact power of a long one would fill the memory.
_QUANTITY = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?)\s*(\D*)", re.ASCII)
_SIZE_UNIT = re.compile(r"([kKmMgGtT]?)B?|([kKmMgGtT])iB")
# `m` is milli and never mega here; `b` is bits and `B` is bytes.
_RATE_UNIT = re.compile(r"([kKMGT]?)(i?)(B|b|bit)(?:/s|ps)")
_LONGEST = 64

_SIZE = "a whole number of bytes such as 64MiB, 8G or 1MB"
_TIME = "a time such as 10us, 1.5ms or 0"
_RATE = "a bandwidth such as 900GB/s, 50GiB/s or 400Gb/s"
_RANKS = "rank counts such as 8 or 1-17,33"


def _refuse(what: str, text: object, expected: str, why: str = "") -> InputError:
    shown = repr(text)
    if len(shown) > _LONGEST:
        shown = f"{shown[:_LONGEST]}..."
    return InputError(f"{what} {shown}{why and f' {why}'}: expected {expected}")


def _split(what: str, text: object, expected: str) -> tuple[Fraction, str]:
    """Split `text` into its number and its unit; refuse what is no number >= 0."""
    # Callers pass values from files too, where a number may stand for text.
    if not isinstance(text, str):
        raise _refuse(what, text, expected, "is not text")
    found = _QUANTITY.fullmatch(text.strip()) if len(text) <= _LONGEST else None
    if found is None:
        raise _refuse(what, text, expected)
    number = Fraction(found[1])
    if number < 0:
        raise _refuse(what, text, expected, "is negative")
    return number, found[2]


def _finite(what: str, text: str, value: Fraction, expected: str) -> float:
    try:
        return float(value)
    except OverflowError:
        raise _refuse(what, text, expected, "is too large") from None


def parse_size(text: str) -> int:
    """Bytes that `text` names.

    ``K M G T`` and ``KiB MiB GiB TiB`` are binary, ``kB MB GB TB`` decimal; no
    unit and ``B`` are bytes. What a larger unit leaves of a byte is dropped, as
    nccl-tests does (src/common.cu, parsesize).

    Raises
    ------
    InputError
        If it is no whole number of bytes from 0 to 2**63 - 1, or less than one byte.

    Examples
    --------
    >>> parse_size("64MiB"), parse_size("8G"), parse_size("1MB"), parse_size("1.5KiB")
    (67108864, 8589934592, 1000000, 1536)
    >>> parse_size("287.4MiB")
    301360742
    """
    number, unit = _split("size", text, _SIZE)
    found = _SIZE_UNIT.fullmatch(unit)
    if found is None:
        why = "is in bits" if unit.endswith("b") else ""
        raise _refuse("size", text, _SIZE, why)
    prefix = found[2] or found[1] or ""
    decimal = bool(found[1]) and unit.endswith("B")
    nbytes = number * (1000 if decimal else 1024) ** _STEPS[prefix.lower()]
    if nbytes >= MAX_SIZE + 1:
        raise _refuse("size", text, _SIZE, "is over 2**63 - 1 bytes")
    if nbytes.denominator != 1 and (nbytes < 1 or not prefix):
        raise _refuse("size", text, _SIZE, "is a fraction of a byte")
    return int(nbytes)


def parse_time(text: str) -> float:
    """Seconds that `text` names; the unit may be missing only from 0.

    Raises
    ------
    InputError
        If it is no finite time from 0 up in s, ms, us or ns.

    Examples
    --------
    >>> parse_time("10us"), parse_time("1.5ms"), parse_time("0")
    (1e-05, 0.0015, 0.0)
    """
    number, unit = _split("time", text, _TIME)
    if not unit and number:
        raise _refuse("time", text, _TIME, "has no unit")
    if unit and unit not in _TIMES:
        raise _refuse("time", text, _TIME)
    return _finite("time", text, number * Fraction(10) ** _TIMES[unit or "s"], _TIME)


def parse_bandwidth(text: str) -> float:
    """Bytes per second that `text` names; ``b`` counts bits and ``B`` bytes.

    Raises
    ------
    InputError
        If it is no finite bandwidth above 0, or has no unit.

    Examples
    --------
    >>> parse_bandwidth("900GB/s"), parse_bandwidth("400Gbps"), parse_bandwidth("1GiB/s")
    (900000000000.0, 50000000000.0, 1073741824.0)
    """
    number, unit = _split("bandwidth", text, _RATE)
    found = _RATE_UNIT.fullmatch(unit)
    if found is None or (found[2] and not found[1]):
        raise _refuse("bandwidth", text, _RATE, "" if unit else "has no unit")
    step = 1024 if found[2] else 1000
    bits = Fraction(8) if found[3] == "B" else Fraction(1)
    rate = _finite(
        "bandwidth", text, number * step ** _STEPS[found[1].lower()] * bits / 8, _RATE
    )
    if rate == 0:
        raise _refuse("bandwidth", text, f"{_RATE}, above 0")
    return rate


def parse_ranks(text: str) -> tuple[int, ...]:
    """Rank counts that `text` lists, ascending and each once.

    Raises
    ------
    InputError
        If it is no list of counts from 1 to 2**20 and ranges of them.

    Examples
    --------
    >>> parse_ranks("1-4,33")
    (1, 2, 3, 4, 33)
    """
    ranks: set[int] = set()
    for part in text.split(","):
        found = re.fullmatch(r"\s*(\d{1,18})\s*(?:-\s*(\d{1,18})\s*)?", part, re.ASCII)
        if found is None:
            raise _refuse("ranks", text, _RANKS)
        first, last = int(found[1]), int(found[2] or found[1])
        if first < 1 or last < first:
            why = "has a count below 1" if first < 1 else "has a range that runs backwards"
            raise _refuse("ranks", text, _RANKS, why)
        if last > MAX_RANKS:
            raise _refuse("ranks", text, _RANKS, f"has a count above {MAX_RANKS}")
        ranks.update(range(first, last + 1))
    return tuple(sorted(ranks))


def _plain(value: Decimal, digits: int | None) -> str:
    """Write `value` with `digits` significant digits, never rounding left of the point."""
    # Decimal keeps 28 digits, a float has 17; what is that large has nothing right of the
    # point to round.
    if digits is not None:
        digits = min(digits, 17)
    if digits is not None and value and value.adjusted() < 20:
        value = value.quantize(Decimal(1).scaleb(min(0, value.adjusted() - digits + 1)))
    value = value.normalize()
    if value and not -6 <= value.adjusted() <= 20:
        return f"{value:e}"
    return f"{value:f}"


def _check(what: str, value: float) -> None:
    # Compared and not converted: Python's whole numbers may be larger than any float.
    if not 0 <= value <= sys.float_info.max:
        raise InputError(f"{what} {value!r}: expected a finite number from 0 up")


def _scaled(value: float, what: str, units: dict[str, int], digits: int | None) -> str:
    _check(what, value)
    exact = Decimal(repr(float(value)))
    names = sorted(units, key=units.__getitem__)
    text = ""
    for name in names:
        text = f"{_plain(exact.scaleb(-units[name]), digits)}{name}"
        # Judged after rounding, so that 999.99 of a unit becomes 1 of the next.
        if Decimal(text.removesuffix(name)) < 1000:
            break
    return text


def format_size(nbytes: float, digits: int | None = None) -> str:
    """Spell a size: whole multiples of a binary unit in it, other whole numbers in bytes.

    A size that is no whole number (a crossover may lie anywhere) is rounded to
    four digits in the largest binary unit that it reaches.

    Parameters
    ----------
    nbytes
        Finite and from 0 up.
    digits
        Round whole numbers too, to so many significant digits.

    Examples
    --------
    >>> format_size(1024), format_size(1000), format_size(0), format_size(1536.5)
    ('1KiB', '1000B', '0B', '1.5KiB')
    >>> format_size(79200000), format_size(79200000, digits=4), format_size(2**40 - 1, 4)
    ('79200000B', '75.53MiB', '1TiB')
    """
    _check("size", nbytes)
    units = ("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10), ("B", 1)
    if nbytes == int(nbytes) and digits is None:
        whole = int(nbytes)
        divides = (pair for pair in units if whole >= pair[1] and whole % pair[1] == 0)
        unit, step = next(divides, units[-1])
        return f"{whole // step}{unit}"
    text = ""
    for unit, step in reversed(units):
        text = f"{_plain(Decimal(nbytes / step), digits or 4)}{unit}"
        # Judged after rounding, so that 1023.99 of a unit becomes 1 of the next.
        if Decimal(text.removesuffix(unit)) < 1024:
            break
    return text


def format_time(seconds: float, digits: int | None = 4) -> str:
    """Spell a time in the largest of s, ms, us, ns that it reaches.

    Parameters
    ----------
    seconds
        Finite and from 0 up.
    digits
        Significant digits; None writes what `parse_time` reads back unchanged.

    Examples
    --------
    >>> format_time(1.2e-6), format_time(0.00113778), format_time(0)
    ('1.2us', '1.138ms', '0s')
    """
    if seconds == 0:
        return "0s"
    return _scaled(seconds, "time", {"s": 0, "ms": -3, "us": -6, "ns": -9}, digits)


def format_time_us(seconds: float) -> str:
    """Spell a time as a bare number of microseconds, as nccl-tests' tables do.

    Examples
    --------
    >>> format_time_us(1.2e-6), format_time_us(0.00113778), format_time_us(0.25)
    ('1.20', '1137.8', '250000')
    """
    _check("time", seconds)
    us = seconds * 1e6
    if 0 < us < 0.1:
        return f"{us:.2g}"
    return f"{us:.{0 if us >= 10000 else 1 if us >= 100 else 2}f}"


def format_bandwidth(rate: float, digits: int | None = 4) -> str:
    """Spell bytes per second in the largest of GB/s, MB/s, kB/s, B/s that they reach.

    Parameters
    ----------
    rate
        Finite and from 0 up.
    digits
        Significant digits; None writes what `parse_bandwidth` reads back unchanged.

    Examples
    --------
    >>> format_bandwidth(9e11), format_bandwidth(12.345678e9)
    ('900GB/s', '12.35GB/s')
    """
    # No TB/s: the busbw columns that it is compared with are in GB/s throughout.
    units = {"B/s": 0, "kB/s": 3, "MB/s": 6, "GB/s": 9}
    return _scaled(rate, "bandwidth", units, digits)
