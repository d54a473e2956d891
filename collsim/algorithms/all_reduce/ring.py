"""Ring reduce_scatter, then ring all_gather, on P parts of the array."""

from collsim.algorithms._arrange import one_part_per_rank
from collsim.algorithms._rings import gather_around, ring_of_parts_symmetry, scatter_around
from collsim.algorithms.all_gather import ring as all_gather
from collsim.algorithms.reduce_scatter import ring as reduce_scatter
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM"]


def build(b: Builder) -> None:
    """List the operations."""
    shares = b.pieces.reshape(b.channels, b.ranks)
    scatter_around(b, shares)
    gather_around(b, shares)


def terms(ranks: int, chunks: int) -> Terms:
    """Return the claimed cost."""
    return reduce_scatter.terms(ranks, chunks) + all_gather.terms(ranks, chunks)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="2(P-1)α + 2(P-1)/P·nβ + (P-1)/P·nγ",
    summary="ring reduce_scatter, then ring all_gather",
    paper="Patarasu, Yuan 2009; Chan, Heimlich, Purkayastha, van de Geijn 2007, section 5",
    parts=one_part_per_rank,
    channeled=True,
    rings=True,
    symmetry=ring_of_parts_symmetry,
)
