"""MST gather to rank 0, then MST broadcast of everything."""

from collsim.algorithms.broadcast import mst as broadcast
from collsim.algorithms.compose import part, play, then
from collsim.algorithms.gather import mst as gather
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM"]


def build(b: Builder) -> None:
    """List the operations."""
    play(b, then(part(b, "gather", "mst"), part(b, "broadcast", "mst")))


def terms(ranks: int, chunks: int) -> Terms:
    """Return the claimed cost."""
    return gather.terms(ranks, chunks) + broadcast.terms(ranks, chunks)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="2⌈log P⌉α + ⌈log P⌉nβ + (P-1)/P·nβ",
    summary="MST gather to rank 0, then MST broadcast",
    paper="Chan, Heimlich, Purkayastha, van de Geijn 2007, section 5 (short vectors)",
)
