"""Tables for people: aligned columns, numbers of three or four digits."""

from collections.abc import Sequence

from collsim.units import format_time_us

__all__ = ["aligned", "format_number", "format_us"]


def format_number(value: float) -> str:
    """Spell a number from 0 up with two decimals, or more where that shows too little.

    Examples
    --------
    >>> [format_number(v) for v in (0, 843.4567, 1.5, 0.12345, 0.00012345)]
    ['0.00', '843.46', '1.50', '0.123', '1.23e-04']
    """
    if value == 0 or value >= 0.995:
        return f"{value:.2f}" if value < 1e7 else f"{value:.3g}"
    if value >= 0.1:
        return f"{value:.3f}"
    if value >= 0.01:
        return f"{value:.4f}"
    return f"{value:.2e}"


def format_us(microseconds: float) -> str:
    """Spell a time in microseconds as nccl-tests' tables do.

    Examples
    --------
    >>> format_us(60.0091), format_us(1e9)
    ('60.01', '1000000000')
    """
    # Digits by the hundred are no help to anyone.
    return format_time_us(microseconds * 1e-6) if microseconds < 1e15 else f"{microseconds:.4g}"


def aligned(
    header: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[str] = ()
) -> str:
    """Return a table whose columns are as wide as they must be.

    Parameters
    ----------
    header : sequence of str
        Titles.
    rows : sequence of sequence of str
        Cells.
    left : sequence of str
        Titles of the columns that are set to the left; numbers are set to the right.

    Examples
    --------
    >>> print(aligned(["size", "name"], [["8", "mst"], ["1024", "ring"]], left=["name"]))
    size  name
       8  mst
    1024  ring
    """
    table = [list(header), *(list(row) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    ways = ["<" if title in left else ">" for title in header]
    lines = (
        "  ".join(
            f"{cell:{way}{width}}" for cell, way, width in zip(row, ways, widths, strict=True)
        )
        for row in table
    )
    return "\n".join(line.rstrip() for line in lines)
