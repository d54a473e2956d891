"""MST gather to rank 0, then a pipelined pass of everything around the ring."""

from collsim.algorithms.broadcast import ring as broadcast
from collsim.algorithms.compose import part, play, then
from collsim.algorithms.gather import mst as gather
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM"]


def build(b: Builder) -> None:
    """List the operations."""
    broadcast = part(b, "broadcast", "ring", chunks=b.chunks)
    play(b, then(part(b, "gather", "mst"), broadcast))


def terms(ranks: int, chunks: int) -> Terms:
    """Return the claimed cost."""
    return gather.terms(ranks, chunks) + broadcast.terms(ranks, chunks)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="⌈log P⌉α + (P-1)/P·nβ + (P-2+c)(α + nβ/c)",
    summary="gather to rank 0 by MST, then broadcast around the ring, chunk by chunk",
    paper="composition; Chan, Heimlich, Purkayastha, van de Geijn 2007, section 5",
    chunked=True,
)
