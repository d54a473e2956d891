"""Around the ring: in each step, every rank passes on the share that it received last."""

from collsim.algorithms._rings import gather_around, ring_symmetry
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM", "terms"]


def build(b: Builder) -> None:
    """List the operations: a ring in every channel, in an order of its own."""
    gather_around(b, b.pieces.T)


def terms(ranks: int, chunks: int) -> Terms:
    """Return the claimed cost."""
    return Terms(ranks - 1, (ranks - 1) / ranks)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="(P-1)α + (P-1)/P·nβ",
    summary="every rank passes on to the next the share that it received last",
    channeled=True,
    rings=True,
    symmetry=ring_symmetry,
    paper="Chan, Heimlich, Purkayastha, van de Geijn 2007, section 4 (bucket all_gather)",
)
