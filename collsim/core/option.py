"""Options of an algorithm: what its user may set, and which values are worth a try."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from collsim.core.setting import Setting
from collsim.errors import InputError

__all__ = ["Option", "Options", "Value", "whole_from"]

Value = str | int
Options = Mapping[str, Value]


def _none_tried(_setting: Setting) -> tuple[Value, ...]:
    """Return no values: the default is the one to take."""
    return ()


@dataclass(frozen=True)
class Option:
    """Something that an algorithm leaves open.

    Parameters
    ----------
    default : str or int
        Its value where nothing is said.
    meaning : str
        What it sets, and which values it takes.
    read : callable
        ``text -> value``, or raises an InputError that says what was expected.
    tried : callable
        ``setting -> values``: which others may be faster on ranks spread like this.

    Examples
    --------
    >>> radix = Option(4, "base of the digits", whole_from(2))
    >>> radix.read("8")
    8
    """

    default: Value
    meaning: str
    read: Callable[[str], Value]
    tried: Callable[[Setting], tuple[Value, ...]] = _none_tried


def whole_from(least: int, most: int = 2**20) -> Callable[[str], int]:
    """Return how to read a whole number from `least` up.

    Examples
    --------
    >>> whole_from(2)("1")
    Traceback (most recent call last):
    collsim.errors.InputError: got '1', expected a whole number from 2 up
    """

    def read(text: str) -> int:
        digits = text.isascii() and text.isdigit() and len(text) <= len(str(most))
        if not digits or not least <= int(text) <= most:
            shown = text if len(text) <= 40 else f"{text[:40]}..."
            raise InputError(f"got {shown!r}, expected a whole number from {least} up")
        return int(text)

    return read
