"""A policy for the reader: a line for each range of sizes."""

from collections.abc import Sequence

from collsim.choose.ranges import Policy
from collsim.report.counts import counts_text
from collsim.report.table import aligned, format_us
from collsim.units import format_size

__all__ = ["policy_text"]


def policy_text(found: Policy, sharing: str = "fifo", changes: Sequence[str] = ()) -> str:
    """Return a policy as text.

    Parameters
    ----------
    found : Policy
        The policy.
    sharing : str
        How messages share the links of its cluster.
    changes : sequence of str
        What was changed or wrong in it.

    Examples
    --------
    >>> from collsim.choose.policy import choose
    >>> from collsim.core.cluster import Cluster
    >>> cluster = Cluster.ideal(8, alpha="10us", bandwidth="900GB/s")
    >>> print(policy_text(choose("sendrecv", cluster)).splitlines()[0][:79], "...")
    sendrecv on 8 ranks of ideal, sharing fifo: the fastest algorithm at every size ...
    """
    ranks = f"{found.ranks} rank{'s' * (found.ranks != 1)}"
    span = f"{format_size(found.min_bytes)} to {format_size(found.max_bytes)}"
    where = f"{found.cluster} ({', '.join(changes)})" if changes else found.cluster
    head = (
        f"{found.collective} on {ranks} of {where}, sharing {sharing}: the fastest algorithm "
        "at every size"
    )
    rows = [
        (
            str(row.min_bytes),
            str(row.max_bytes),
            f"to {format_size(row.max_bytes, 4)}",
            row.algorithm,
            _span(row.chunks_from, row.chunks_to),
            str(row.channels),
            format_size(row.size, 4),
            format_us(row.time_us),
            "-" if row.gain is None else f"x{row.gain:.4g} over {row.runner_up}",
            "-" if row.efficiency is None else f"{row.efficiency:.1%}",
        )
        for row in found.rows
    ]
    titles = ("from (B)", "to (B)", "", "algorithm", "chunks", "channels", "at", "time (us)")
    table = aligned((*titles, "gain", "efficiency"), rows, left=("", "algorithm", "gain"))
    note = (
        "at: the geometric middle of each range, where time, gain and efficiency hold; the "
        f"best of {counts_text(found.chunks)} chunks and {counts_text(found.channels)} channels"
    )
    return "\n".join([f"{head} from {span}", table, note])


def _span(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"
