"""Crossovers for the reader: a line for each swap, or a sentence where there is none."""

from collections.abc import Sequence

from collsim.choose.crossover import Crossover, Swap
from collsim.report.table import aligned, format_us
from collsim.units import format_size

__all__ = ["crossover_text"]


def crossover_text(found: Crossover, sharing: str = "fifo", changes: Sequence[str] = ()) -> str:
    """Return a crossover as text.

    Parameters
    ----------
    found : Crossover
        What was found.
    sharing : str
        How messages share a link there.
    changes : sequence of str
        What was changed of the cluster, for the title.

    Examples
    --------
    >>> from collsim.choose.crossover import crossover
    >>> from collsim.core.cluster import Cluster
    >>> cluster = Cluster.ideal(8, alpha="10us", bandwidth="900GB/s")
    >>> print(crossover_text(crossover("broadcast", "mst", "linear", cluster)))
    broadcast on 8 ranks of ideal, sharing fifo: mst and linear, 1B to 1TiB
    no swap: mst is faster wherever they differ
    """
    ranks = f"{found.ranks} rank{'s' * (found.ranks != 1)}"
    span = f"{format_size(found.min_bytes)} to {format_size(found.max_bytes)}"
    where = f"{found.cluster} ({', '.join(changes)})" if changes else found.cluster
    head = (
        f"{found.collective} on {ranks} of {where}, sharing {sharing}: "
        f"{found.a} and {found.b}, {span}{', fitted times' if found.fitted else ''}"
    )
    if found.identical:
        return f"{head}\nidentical: both take the same time at every size"
    if not found.rows:
        return f"{head}\nno swap: {found.faster} is faster wherever they differ"
    table = aligned(
        ("size (B)", "", "time (us)", "faster below", "faster above"),
        [
            (
                f"{swap.size:.9g}",
                f"= {format_size(swap.size, 4)}",
                format_us(swap.time_us),
                swap.below,
                swap.above,
            )
            for swap in found.rows
        ],
        left=("", "faster below", "faster above"),
    )
    jumps = [_jump(found, swap) for swap in found.rows if swap.jump is not None]
    return "\n".join([head, table, *jumps])


def _jump(found: Crossover, swap: Swap) -> str:
    jump = swap.jump
    if jump is None:
        return ""
    parts = [
        f"{name} from {format_us(below)} to {format_us(above)} us"
        for name, below, above in (
            (found.a, jump.a_below_us, jump.a_above_us),
            (found.b, jump.b_below_us, jump.b_above_us),
        )
    ]
    return f"a jump at {format_size(swap.size, 4)}: {', '.join(parts)}"
