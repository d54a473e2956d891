"""Every rank sends each part straight to its owner, all at once."""

from collsim.algorithms._reverse import reverse
from collsim.algorithms.all_gather import direct as all_gather
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM", "terms"]


def build(b: Builder) -> None:
    """List the operations."""
    reverse(b, lambda recorder: all_gather.steps(recorder, recorder.pieces))


def terms(ranks: int, chunks: int = 1) -> Terms:
    """Return the claimed cost; with gamma an owner reduces while the next message comes."""
    share = (ranks - 1) / ranks
    return Terms(ranks - 1, share, share, exact_with_gamma=ranks <= 2)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="(P-1)α + (P-1)/P·n(β + γ)",
    summary="every rank sends each part straight to the rank that adds it up, all at once",
    paper="Thakur, Rabenseifner, Gropp 2005, section 4.3 (pairwise exchange)",
)
