"""Around the ring: partial sums of a share travel until they reach its owner."""

from collsim.algorithms._rings import ring_symmetry, scatter_around
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM", "terms"]


def build(b: Builder) -> None:
    """List the operations: in every channel, around the way that an all_gather goes."""
    scatter_around(b, b.pieces.T)


def terms(ranks: int, chunks: int) -> Terms:
    """Return the claimed cost: each step waits for the reduction of the one before."""
    share = (ranks - 1) / ranks
    return Terms(ranks - 1, share, share)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="(P-1)α + (P-1)/P·n(β + γ)",
    summary="every rank adds its own to the partial sum that it received last and passes it on",
    channeled=True,
    rings=True,
    symmetry=ring_symmetry,
    paper="Chan, Heimlich, Purkayastha, van de Geijn 2007, section 4 (bucket reduce_scatter)",
)
