"""MST reduce to rank 0, then MST scatter."""

from collsim.algorithms.compose import part, play, then
from collsim.algorithms.reduce import mst as reduce
from collsim.algorithms.scatter import mst as scatter
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM"]


def build(b: Builder) -> None:
    """List the operations."""
    play(b, then(part(b, "reduce", "mst"), part(b, "scatter", "mst")))


def terms(ranks: int, chunks: int) -> Terms:
    """Return the claimed cost."""
    return reduce.terms(ranks, chunks) + scatter.terms(ranks, chunks)


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="2⌈log P⌉α + ⌈log P⌉n(β + γ) + (P-1)/P·nβ",
    summary="MST reduce to rank 0, then MST scatter",
    paper="Chan, Heimlich, Purkayastha, van de Geijn 2007, section 5 (short vectors)",
)
