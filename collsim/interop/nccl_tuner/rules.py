"""What the tuner is told of one collective: ranges of sizes, the first that fits wins."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from collsim.choose.against import Comparison
from collsim.interop.nccl_tuner.ranges import TOP, Own
from collsim.nccl import ChoiceRange, Tuning

__all__ = ["Rule", "rules"]

# The plugin reads sizes by strtoull: 64 bits without a sign.
_ALL_SIZES: Final = 2**64 - 1
# From below the one and from above the other, the nearest range goes on to all sizes.
_TINY: Final = 8
_HUGE: Final = 2**33


@dataclass(frozen=True)
class Rule:
    """A line of the tuner's file: sizes, and what to run there.

    Parameters
    ----------
    collective : str
        Our name.
    min_bytes, max_bytes : int
        Both inclusive.
    algorithm, protocol : str
        NCCL's words.
    channels : int
        From 1 up.
    nodes, ranks : int
        Of the communicators that it is for.
    """

    collective: str
    min_bytes: int
    max_bytes: int
    algorithm: str
    protocol: str
    channels: int
    nodes: int
    ranks: int


def rules(table: Tuning, found: Comparison) -> tuple[Rule, ...]:
    """Return what to run at every size from 0 up.

    Where another of NCCL's algorithms gains enough, it is taken, in the protocol and
    channels that NCCL's model has for it; the protocol is the fitted one where times tell.
    Everywhere else NCCL's own choice is repeated, with its channels, also beyond the range
    that was compared; but a range that begins at 8 B or ends at 8 GiB goes on to the smallest
    and largest. In-switch reduction is not there for every type and operation: if some rule
    takes it, NCCL's choice without it follows for its sizes, which the others find first.
    A communicator of one rank has nothing to choose: one line.

    Parameters
    ----------
    table : Tuning
        NCCL's model.
    found : Comparison
        Where its choice loses, over some range of sizes.

    Examples
    --------
    >>> from collsim.core.cluster import Cluster
    >>> from collsim.nccl import communicator, tuning
    >>> from collsim.interop.nccl_tuner.against import against
    >>> cluster = Cluster.load("dgx-a100")
    >>> table = tuning(communicator(cluster))
    >>> made = rules(table, against("broadcast", cluster, table))
    >>> made[0].min_bytes, made[-1].max_bytes == _ALL_SIZES, made[-1].algorithm
    (0, True, 'ring')
    """
    if table.comm.ranks == 1:
        return (Rule(found.collective, 0, _ALL_SIZES, "ring", "simple", 1, 1, 1),)
    own = Own(table, found.collective)
    low, high = found.rows[0].min_bytes, found.rows[-1].max_bytes
    # What is tiny or huge is as its neighbours are; of what lies between nothing is known.
    low, high = (0 if low <= _TINY else low), (TOP if high >= _HUGE else high)
    parts = list(_clipped(own.choice, 0, low - 1))
    for row in found.rows:
        source = own.choice
        if row.gained:
            told = row.best_protocol if found.fitted else None
            source = own.among([row.best_algorithm], told)
        first = low if row is found.rows[0] else row.min_bytes
        last = high if row is found.rows[-1] else row.max_bytes
        parts += _clipped(source, first, last)
    parts += _clipped(own.choice, high + 1, TOP)
    made = list(_rules(parts, table, found.collective))
    switched = [rule for rule in made if rule.algorithm.startswith("nvls")]
    without = [
        part
        for rule in switched
        for part in _clipped(own.without_switch, rule.min_bytes, min(rule.max_bytes, TOP))
    ]
    return (*made, *_rules(without, table, found.collective))


def _clipped(ranges: Iterable[ChoiceRange], low: int, high: int) -> Iterator[ChoiceRange]:
    for r in ranges:
        if r.max_bytes >= low and r.min_bytes <= high:
            yield replace(r, min_bytes=max(low, r.min_bytes), max_bytes=min(high, r.max_bytes))


def _rules(parts: Sequence[ChoiceRange], table: Tuning, collective: str) -> Iterator[Rule]:
    """Yield rules without neighbours that say the same; the last one is for all above."""
    comm = table.comm
    waiting: Rule | None = None
    for part in parts:
        new = Rule(
            collective,
            part.min_bytes,
            part.max_bytes,
            part.algorithm,
            part.protocol,
            part.channels,
            comm.nodes,
            comm.ranks,
        )
        if waiting is not None:
            joined = replace(waiting, max_bytes=new.max_bytes)
            if joined == replace(new, min_bytes=waiting.min_bytes):
                waiting = joined
                continue
            yield waiting
        waiting = new
    if waiting is not None:
        yield replace(waiting, max_bytes=_ALL_SIZES)
