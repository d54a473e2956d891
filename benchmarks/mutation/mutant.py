"""One change of one file."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Mutant"]


@dataclass(frozen=True)
class Mutant:
    """One change of one file.

    Attributes
    ----------
    room, file, operator : str
        Where, and cosmic-ray's name of the change.
    line : int
        Its first line, from 1.
    span : tuple of int
        First and last line of the statement around it, without the statements inside.
    before, after : str
        The lines that change, stripped.
    code : str
        The whole file, changed.
    of : int
        How many mutants cosmic-ray makes of the same place, of which this one was drawn.
    """

    room: str
    file: str
    operator: str
    line: int
    span: tuple[int, int]
    before: str
    after: str
    code: str
    of: int
