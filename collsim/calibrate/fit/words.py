"""What a fit cannot tell, in words."""

from collections.abc import Sequence

from collsim.calibrate.solve import Solution
from collsim.core.measurements import Measurement
from collsim.units import format_size

__all__ = ["bound_notes", "chunk_notes", "launch_notes", "untold"]


def untold(rows: Sequence[Measurement]) -> str:
    """Return why rows cannot tell alpha from beta.

    Examples
    --------
    >>> untold([Measurement("all_reduce", 8, 1024, 1e-5)])
    'one row of 1KiB cannot tell alpha from beta, expected rows of at least two sizes'
    """
    sizes = sorted({row.nbytes for row in rows})
    count = "one row" if len(rows) == 1 else f"{len(rows)} rows"
    if len(sizes) == 1:
        return (
            f"{count} of {format_size(sizes[0])} cannot tell alpha from beta, "
            "expected rows of at least two sizes"
        )
    return (
        f"{count} from {format_size(sizes[0])} to {format_size(sizes[-1])} cannot tell alpha "
        "from beta, expected sizes further apart"
    )


def launch_notes(
    rows: Sequence[Measurement], with_launch: bool, solution: Solution
) -> list[str]:
    """Return why launch is 0, if it is; its value comes first if it was fitted."""
    if with_launch:
        if solution.values[0] == 0 and solution.values[1] > 0:
            return ["launch came out as 0: alpha alone explains the small sizes"]
        return []
    ranks = sorted({row.ranks for row in rows})
    names = sorted({row.collective for row in rows})
    held = f"of {', '.join(names)} on {', '.join(map(str, ranks))} ranks"
    how = "only" if len(ranks) == len(names) == 1 else "and too few or too alike"
    why = "so it cannot be told from alpha, which contains it"
    return [f"launch is 0: the rows are {held} {how}, {why}"]


def bound_notes(solution: Solution) -> list[str]:
    """Return what it means if alpha or beta, the last two values, are 0 or may be.

    Examples
    --------
    >>> bound_notes(Solution((1e-6, 1e-12), (1e-7, 2e-12)))
    ['the interval of beta reaches 0: the rows do not tell by how much times rise with the
    size']
    """
    alpha, beta = solution.values[-2:]
    notes = []
    if alpha == 0 and sum(solution.values[:-1]) > 0:
        notes.append("alpha came out as 0: launch alone explains the small sizes")
    elif alpha == 0:
        notes.append(
            "alpha came out as 0: the times are proportional to the size, or rise faster"
        )
    if beta == 0:
        notes.append("beta came out as 0: the times do not rise with the size")
    widths = (0.0, 0.0) if solution.half_widths is None else solution.half_widths[-2:]
    if 0 < alpha <= widths[0]:
        notes.append(
            "the interval of alpha reaches 0: the rows do not tell how long a message "
            "takes to start"
        )
    if 0 < beta <= widths[1]:
        notes.append(
            "the interval of beta reaches 0: the rows do not tell by how much times rise "
            "with the size"
        )
    if solution.half_widths is None:
        notes.append("no intervals: as many parameters as rows")
    return notes


def chunk_notes(settled: bool) -> list[str]:
    """Return what it means if parameters and chunk counts led to each other in a circle."""
    if settled:
        return []
    what = "alpha and beta did not settle with the chunk counts that are best for them"
    return [f"{what}: of those found in turn the best are taken; --chunks N fixes the count"]
