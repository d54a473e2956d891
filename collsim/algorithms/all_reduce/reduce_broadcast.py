"""Pipelined ring reduce to rank 0, and pipelined ring broadcast of what is done."""

from collsim.algorithms.broadcast import ring as broadcast
from collsim.algorithms.compose import part, play, then
from collsim.algorithms.reduce import ring as reduce
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM"]


def build(b: Builder) -> None:
    """List the operations."""
    reduce, broadcast = (
        part(b, kind, "ring", chunks=b.chunks) for kind in ("reduce", "broadcast")
    )
    play(b, then(reduce, broadcast))


def terms(ranks: int, chunks: int) -> Terms:
    """Return the claimed cost: a bound, as finished chunks set off early."""
    total = reduce.terms(ranks, chunks) + broadcast.terms(ranks, chunks)
    exact = chunks == 1 or ranks == 1
    return Terms(
        total.alphas, total.betas, total.gammas, exact, exact and total.exact_with_gamma
    )


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="≤ 2(P-2+c)(α + nβ/c) + (P-2+c)/c·nγ",
    summary="reduce around the ring to rank 0, then broadcast around it, chunk by chunk",
    paper="composition; the chain all_reduce of Patarasu, Yuan 2009, section 2",
    chunked=True,
)
