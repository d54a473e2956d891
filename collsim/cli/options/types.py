"""Types of option values: text with units, read by the units module only."""

import re
from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar

import click

from collsim.config.values import limited_bandwidth, limited_time
from collsim.errors import InputError
from collsim.units import parse_ranks, parse_size

__all__ = [
    "BANDWIDTH",
    "COUNTS",
    "DELAY",
    "GAIN",
    "GAMMA",
    "LEFT",
    "ORDER",
    "RANK_LIST",
    "SIZE",
    "SPEC",
    "SPECS",
    "STEP",
    "TIME",
    "TOLERANCE",
    "Whole",
]

T = TypeVar("T")

_MOST: Final = 2**20
_MOST_TOLERANCE: Final = 10


# More counts than that are nobody's list.
_MOST_COUNTS: Final = 4096


class Parsed(click.ParamType, Generic[T]):  # type: ignore[type-arg]  # not in click 8.2
    """A type whose values a function reads from text."""

    def __init__(self, name: str, parse: Callable[[str], T]) -> None:
        self.name = name
        self.parse = parse

    def get_metavar(
        self,
        param: click.Parameter,  # noqa: ARG002 - click's
        ctx: click.Context | None = None,  # noqa: ARG002 - click's, from 8.2 on
    ) -> str:
        """Return the name as it is: what stands in it in small letters is typed like that."""
        return self.name

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Any:
        """Return the value, or fail with a message that names the option."""
        # Defaults come as they are to be.
        if not isinstance(value, str):
            return value
        try:
            return self.parse(value)
        except InputError as error:
            self.fail(str(error), param, ctx)


class Whole(Parsed[int]):
    """A whole number from `least` up, to 2**20 at most."""

    def __init__(self, least: int = 1, name: str = "N") -> None:
        super().__init__(name, self._read)
        self.least = least

    def _read(self, text: str) -> int:
        found = re.fullmatch(r"\+?\d{1,18}", text.strip(), re.ASCII)
        if found is None or not self.least <= int(found[0]) <= _MOST:
            raise InputError(
                f"got {_shown(text)}, expected a whole number from {self.least} to {_MOST}"
            )
        return int(found[0])


def _number(text: str) -> float:
    number = r"\+?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,2})?"
    found = re.fullmatch(number, text.strip(), re.ASCII)
    if found is None or len(text) > 64:
        raise InputError(f"got {_shown(text)}, expected a finite number from 0 up")
    return float(text)


def _share(text: str) -> float:
    bare = text.strip()
    return _number(bare[:-1]) / 100 if bare.endswith("%") else _number(bare)


def _tolerance(text: str) -> float:
    """Return a share such as 0.2, from that or from ``20%``."""
    bare = text.strip()
    try:
        share = _share(bare)
    except InputError:
        raise InputError(f"got {_shown(text)}, expected a share such as 0.2 or 20%") from None
    if share > _MOST_TOLERANCE:
        percent = not bare.endswith("%") and share / 100 <= _MOST_TOLERANCE
        meant = f"; did you mean {bare}%?" if percent else ""
        raise InputError(f"got {_shown(text)}, expected at most {_MOST_TOLERANCE}{meant}")
    return share


def _gain(text: str) -> float:
    """Return a share up to 1, which is twice as fast."""
    share = _tolerance(text)
    if share > 1:
        raise InputError(
            f"got {_shown(text)}, which is {100 * share:g} %, expected at most 100 %, "
            "e.g. 0.05 or 5%"
        )
    return share


def _counts(text: str) -> int | str | tuple[int, ...]:
    """Return one number, auto, or several of a list such as ``1,3,5-8``."""
    if text == "auto":
        return text
    found: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.partition("-")
        try:
            low = Whole().parse(first)
            high = Whole().parse(last) if dash else low
        except InputError as error:
            raise InputError(f"{error}, or auto, or a list such as 1,3,5-8") from None
        if high < low or high - low >= _MOST_COUNTS:
            raise InputError(
                f"got {_shown(text)}, expected a rising range of at most {_MOST_COUNTS}"
            )
        found |= set(range(low, high + 1))
    return found.pop() if len(found) == 1 else tuple(sorted(found))


def _size(text: str) -> int:
    """Return bytes."""
    try:
        return parse_size(text)
    except InputError as error:
        parts = text.split(",")
        if len(parts) == 1 or not all(re.fullmatch(r"\s*\d+\s*[A-Za-z]+\s*", p) for p in parts):
            raise
        raise InputError(
            f"got {_shown(text)}, expected one size here; several as -s {parts[0].strip()} -s "
            f"{parts[1].strip()}"
        ) from error


def _step(text: str) -> int:
    step = parse_size(text)
    if step == 0:
        raise InputError(f"got {_shown(text)}, expected a size above 0")
    return step


def _gamma(text: str) -> float:
    """Seconds per byte, from a time or from the rate at which bytes are reduced."""
    if text.strip().endswith("/s"):
        return 1.0 / limited_bandwidth(text)
    try:
        return limited_time(text)
    except InputError:
        raise InputError(
            f"got {_shown(text)}, expected a time per byte such as 0.0005ns, "
            "or a rate such as 2000GB/s"
        ) from None


def _assigned(text: str, parse: Callable[[str], float], words: str) -> tuple[str, float]:
    """Return the two sides of ``PART=VALUE``."""
    part, equals, value = text.rpartition("=")
    if not (equals and part.strip() and value.strip()):
        raise InputError(f"got {_shown(text)}, expected {words}")
    return part.strip(), parse(value)


def _left(text: str) -> tuple[str, float]:
    part, left = _assigned(text, _share, "a part and what is left of it, as in nic[3]=0.25")
    if not 0 < left <= 1:
        raise InputError(
            f"got {_shown(text)}, expected the part that is left, above 0 and at most 1"
        )
    return part, left


def _delay(text: str) -> tuple[str, float]:
    rank, late = _assigned(text, limited_time, "a rank and a time, as in rank[3]=500us")
    return (f"rank[{rank}]" if rank.isascii() and rank.isdigit() else rank), late


def _specs(text: str) -> tuple[str, ...]:
    """Return algorithms, each with its options."""
    from collsim.choose.specs import split_specs

    # All names are in small letters.
    return split_specs(text.lower())


def _spec(text: str) -> str:
    """Return one algorithm with its options."""
    found = _specs(text)
    if len(found) > 1:
        raise InputError(f"got {_shown(text)}, expected one algorithm here, e.g. {found[0]}")
    return found[0]


def _order(text: str) -> tuple[int, ...] | str:
    """Return a name as it is, or ranks and ranges of them in their order."""
    if re.fullmatch(r"[A-Za-z_-]{1,40}", text):
        return text
    ranks: list[int] = []
    for part in text.split(","):
        found = re.fullmatch(r"\s*(\d{1,7})(?:\s*-\s*(\d{1,7}))?\s*", part, re.ASCII)
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
        if last < first or last >= _MOST:
            raise InputError(
                f"got {_shown(text)}, expected ranks such as 0,8,1,9 or 4-7,0-3, or across"
            )
        ranks += range(first, last + 1)
    return tuple(ranks)


def _shown(text: str) -> str:
    return repr(text) if len(text) <= 40 else f"{text[:40]!r}..."


SIZE: Final = Parsed("SIZE", _size)
STEP: Final = Parsed("SIZE", _step)
TIME: Final = Parsed("TIME", limited_time)
BANDWIDTH: Final = Parsed("RATE", limited_bandwidth)
GAMMA: Final = Parsed("TIME", _gamma)
RANK_LIST: Final = Parsed("LIST", parse_ranks)
COUNTS: Final = Parsed("N|auto|LIST", _counts)
LEFT: Final = Parsed("PART=LEFT", _left)
DELAY: Final = Parsed("RANK=TIME", _delay)
SPEC: Final = Parsed("NAME[:KEY=VALUE,...]", _spec)
SPECS: Final = Parsed("NAME[:KEY=VALUE,...][,NAME...]", _specs)
ORDER: Final = Parsed("LIST|inside|across", _order)
TOLERANCE: Final = Parsed("SHARE", _tolerance)
GAIN: Final = Parsed("SHARE", _gain)
