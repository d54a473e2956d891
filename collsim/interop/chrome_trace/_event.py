"""Events as lines of JSON."""

import json
from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "CALLS",
    "NODES",
    "Ticks",
    "arrow",
    "counter",
    "members",
    "named",
    "slice_",
    "ticks",
]

Ticks = NDArray[np.int64]

# Processes: the calls, then nodes from there on, then the links. 0 is nobody's: readers
# take it for the idle process.
CALLS: Final = 1
NODES: Final = 2


def ticks(seconds: NDArray[np.float64]) -> Ticks:
    """Return times in whole nanoseconds: Perfetto keeps no finer ones.

    Ends and starts are rounded, and never durations, so that what follows without a gap
    does so in the trace, too, and nothing overlaps that did not.
    """
    found: Ticks = np.rint(seconds * 1e9).astype(np.int64)
    return found


def _micro(nanoseconds: int) -> str:
    """Return nanoseconds as a number of microseconds, exactly.

    Examples
    --------
    >>> _micro(1234567), _micro(5)
    ('1234.567', '0.005')
    """
    whole, part = divmod(nanoseconds, 1000)
    return f"{whole}.{part:03d}" if part else str(whole)


def named(kind: str, pid: int, tid: int | None, name: str, sort: int) -> list[str]:
    """Return the events that name and place a ``"process"`` or a ``"thread"``."""
    where = f'"pid":{pid}' + ("" if tid is None else f',"tid":{tid}')
    return [
        f'{{"ph":"M","name":"{kind}_name",{where},"args":{{"name":{_text(name)}}}}}',
        f'{{"ph":"M","name":"{kind}_sort_index",{where},"args":{{"sort_index":{sort}}}}}',
    ]


def slice_(
    where: str, name: str, begin: int, end: int, args: str = "", cat: str = "message"
) -> str:
    """Return a slice of a thread, with the text of its arguments.

    Parameters
    ----------
    where : str
        ``"pid":…,"tid":…``.
    name : str
        Without what JSON would escape.
    begin, end : int
        Nanoseconds.
    args : str
        Members of a JSON object.
    cat : str
        Categories, with commas.
    """
    more = f',"args":{{{args}}}' if args else ""
    return (
        f'{{"ph":"X","name":"{name}","cat":"{cat}",{where},"ts":{_micro(begin)},'
        f'"dur":{_micro(end - begin)}{more}}}'
    )


def arrow(where: str, begins: bool, number: int, at: int) -> str:
    """Return one end of an arrow, in the slice that begins at a time.

    It lies a quarter of a nanosecond inside: chrome://tracing takes a slice that ends at a
    time for one that is open then, and Perfetto takes whole nanoseconds.
    """
    kind = '"ph":"s"' if begins else '"ph":"f","bp":"e"'
    inside = f"{at // 1000}.{at % 1000:03d}25"
    return f'{{{kind},"name":"message","cat":"flow","id":{number},{where},"ts":{inside}}}'


def counter(pid: int, name: str, at: int, rate: float) -> str:
    """Return a value of a counter: bytes per second from a time on."""
    return (
        f'{{"ph":"C","name":{_text(name)},"pid":{pid},"ts":{_micro(at)},'
        f'"args":{{"GB/s":{rate / 1e9:.9g}}}}}'
    )


def _text(text: str) -> str:
    return json.dumps(text)


def members(values: Mapping[str, object]) -> str:
    """Return the members of a JSON object, without its braces."""
    return json.dumps(values, separators=(",", ":"))[1:-1]
