"""MST scatter from the root, then ring all_gather."""

from collsim.algorithms._arrange import one_part_per_rank
from collsim.algorithms.all_gather import ring as all_gather
from collsim.algorithms.compose import part, play, then
from collsim.algorithms.scatter import mst as scatter
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM", "terms"]


def build(b: Builder) -> None:
    """List the operations."""
    play(b, then(part(b, "scatter", "mst"), part(b, "all_gather", "ring")))


def terms(ranks: int, chunks: int) -> Terms:
    """Return the claimed cost: the share that arrives last still goes all the way around."""
    return scatter.terms(ranks, chunks) + all_gather.terms(ranks, chunks)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="(⌈log P⌉+P-1)α + 2(P-1)/P·nβ",
    summary="the root scatters the message by MST, then the shares go around the ring",
    paper="Chan, Heimlich, Purkayastha, van de Geijn 2007, section 5 (long vectors)",
    parts=one_part_per_rank,
)
