"""Every rank sends each part straight to its owner, then ring all_gather."""

from collsim.algorithms._arrange import one_part_per_rank
from collsim.algorithms.all_gather import ring as all_gather
from collsim.algorithms.compose import part, play, then
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM"]


def build(b: Builder) -> None:
    """List the operations."""
    play(b, then(part(b, "reduce_scatter", "direct"), part(b, "all_gather", "ring")))


def terms(ranks: int, chunks: int) -> Terms:
    """Return the claimed cost; with gamma an owner reduces while the next message comes."""
    share = (ranks - 1) / ranks
    direct = Terms(ranks - 1, share, share, exact_with_gamma=ranks <= 2)
    return direct + all_gather.terms(ranks, chunks)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="2(P-1)α + 2(P-1)/P·nβ + (P-1)/P·nγ",
    summary="each part goes straight to the rank that adds it up, then ring all_gather",
    paper="composition; Thakur, Rabenseifner, Gropp 2005, section 4.5 (pairwise exchange)",
    parts=one_part_per_rank,
)
