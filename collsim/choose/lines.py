"""A time as a straight line over whole sizes."""

from dataclasses import dataclass

__all__ = ["Line", "Stretch"]


@dataclass(frozen=True)
class Line:
    """A straight line through two points, exact in both."""

    left: int
    right: int
    first: float
    last: float

    def at(self, nbytes: float) -> float:
        """Return the time at a size.

        Examples
        --------
        >>> Line(0, 10, 1.0, 2.0).at(5)
        1.5
        """
        if self.right == self.left:
            return self.first
        share = (nbytes - self.left) / (self.right - self.left)
        return self.first + share * (self.last - self.first)

    def holds(self, nbytes: float, seconds: float, noise: float) -> bool:
        """Return whether a point lies on it, but for noise."""
        return abs(self.at(nbytes) - seconds) <= noise * seconds


@dataclass(frozen=True)
class Stretch:
    """A line from one whole size to another, both inclusive, and whose it is."""

    low: int
    high: int
    line: Line
    owner: int = 0
