"""Values of configuration files: what each kind looks like, and how it is read."""

import math
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from collsim.errors import InputError
from collsim.units import MAX_RANKS, MAX_SIZE, parse_bandwidth, parse_size, parse_time

__all__ = [
    "FAMILIES",
    "KINDS",
    "PROVENANCE",
    "RefusedError",
    "limited_bandwidth",
    "limited_time",
    "one_line",
    "outside",
    "shown",
]

PROVENANCE: Final = ("datasheet", "fit", "assumption")
_SHARING: Final = ("fifo", "fair")
# Kinds of links, from the memory of one GPU out to other machines.
FAMILIES: Final = ("HBM", "NVLink", "PCIe", "InfiniBand", "Ethernet")

# Sums and quotients of what lies beyond would come out as infinities: of 0 or from the
# first to the last, in words. Options, files and profiles have the same limits.
_TIMES: Final = 1e-30, 1e9, "a time of at most 1e9s"
_RATES: Final = 1e-3, 1e30, "a bandwidth from 0.001B/s to 1e21GB/s"
_PER_BYTE: Final = 1 / _RATES[1], 1 / _RATES[0], "a time per byte of at most 1000s/B"
_NUMBERS: Final = 1e-30, 1e30, "a number of at most 1e30"
_LIMITS: Final = {
    "s": _TIMES,
    "B/s": _RATES,
    "s/B": _PER_BYTE,
    "B": _NUMBERS,
    "1": _NUMBERS,
}

# What a terminal would obey, and what would begin another line.
_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_LONGEST = 400  # bits of an integer that a message repeats


def one_line(text: str) -> bool:
    """Return whether a text is one line, without what a terminal would obey.

    Examples
    --------
    >>> one_line("h100"), one_line("h100" + chr(27) + "[31m")
    (True, False)
    """
    return _CONTROL.search(text) is None


class RefusedError(Exception):
    """A value is not of its kind; whoever knows the file and the key says so.

    Its text, if it has one, is what was expected.
    """


class _Plain(str):
    """Text that stands for itself where a value is repeated in a message."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def shown(value: object) -> object:
    """Return what a message can repeat of a value that a file may hold.

    Python refuses to write out integers of thousands of digits, and hexadecimal
    ones and nested tables of that kind can be read from a file.
    """
    if isinstance(value, bool):
        return _Plain(str(value).lower())
    if isinstance(value, int) and value.bit_length() > _LONGEST:
        return _Plain("a huge number")
    if isinstance(value, dict):
        return _Plain("a table")
    if isinstance(value, list):
        return _Plain("a list")
    return value


def outside(value: float, unit: str) -> str | None:
    """Return what is expected in place of a number that no machine has, or None.

    Parameters
    ----------
    value : float
        From 0 up, in SI units.
    unit : str
        ``"s"``, ``"B/s"``, ``"s/B"``, ``"B"`` or ``"1"``.

    Examples
    --------
    >>> outside(1e300, "s"), outside(10e-6, "s")
    ('a time of at most 1e9s', None)
    """
    least, most, words = _LIMITS[unit]
    return None if value == 0 or least <= value <= most else words


def limited_time(text: str) -> float:
    """Return the seconds that a text names; InputError for those that no machine has.

    Examples
    --------
    >>> limited_time("10us")
    1e-05
    """
    return _limited(text, parse_time, "s")


def limited_bandwidth(text: str) -> float:
    """Return the bytes per second of a text; InputError for those that no machine has.

    Examples
    --------
    >>> limited_bandwidth("900GB/s")
    900000000000.0
    """
    return _limited(text, parse_bandwidth, "B/s")


def _limited(text: str, parse: Callable[[str], float], unit: str) -> float:
    value = parse(text)
    expected = outside(value, unit)
    if expected is not None:
        raise InputError(f"got {text!r}, expected {expected}")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise RefusedError
    if not one_line(value):
        raise RefusedError("text of one line, without control characters")
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise RefusedError
    return value


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_RANKS:
        raise RefusedError
    return value


def _counts(value: object) -> tuple[int, ...]:
    if not isinstance(value, list) or not value:
        raise RefusedError
    return tuple(_count(part) for part in value)


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise RefusedError
    try:
        number = float(value)
    except OverflowError:
        raise RefusedError from None
    if not (math.isfinite(number) and number >= 0):
        raise RefusedError
    return number


def _part(value: object) -> float:
    number = _number(value)
    if not 0 < number <= 1:
        raise RefusedError
    return number


def _zero(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == 0


def _quantity(parse: Callable[[str], float], value: object, unit: str) -> float:
    try:
        found = parse(_text(value))
    except InputError:
        raise RefusedError from None
    expected = outside(found, unit)
    if expected is not None:
        raise RefusedError(expected)
    return found


def _time(value: object) -> float:
    return 0.0 if _zero(value) else _quantity(parse_time, value, "s")


def _bandwidth(value: object) -> float:
    return _quantity(parse_bandwidth, value, "B/s")


def _size(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_SIZE:
        return value
    try:
        return parse_size(_text(value))
    except InputError:
        raise RefusedError from None


def _time_per_byte(value: object) -> float:
    if _zero(value):
        return 0.0
    time, slash, byte = _text(value).partition("/")
    if not slash and time.strip() == "0":
        return 0.0
    if byte.strip() != "B":
        raise RefusedError
    return _quantity(parse_time, time, "s/B")


def _one_of(known: tuple[str, ...], value: object) -> str:
    if value not in known:
        raise RefusedError
    return str(value)


KINDS: Final[Mapping[str, tuple[Callable[[object], object], str]]] = {
    "text": (_text, "text"),
    "flag": (_flag, "true or false"),
    "count": (_count, f"a whole number from 1 to {MAX_RANKS}"),
    "counts": (_counts, f"a list of whole numbers from 1 to {MAX_RANKS}"),
    "number": (_number, "a finite number from 0 up"),
    "part": (_part, "a number above 0 and at most 1"),
    "time": (_time, 'a time from 0 up with its unit, such as "10us" or "1.5ms"'),
    "bandwidth": (
        _bandwidth,
        'a bandwidth above 0 with its unit, such as "450GB/s" or "400Gb/s"',
    ),
    "time per byte": (_time_per_byte, 'a time per byte from 0 up, such as "0.001ns/B"'),
    "size": (_size, 'a size in bytes, such as 1024 or "25MiB"'),
    "sharing": (partial(_one_of, _SHARING), f"one of {', '.join(_SHARING)}"),
    "family": (partial(_one_of, FAMILIES), f"one of {', '.join(FAMILIES)}"),
    "kind": (partial(_one_of, PROVENANCE), f"one of {', '.join(PROVENANCE)}"),
}
