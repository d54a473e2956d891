"""The switch adds up part j for GPU j, and multicasts the sum that GPU j returns."""

from collsim.algorithms._in_switch import one_switch, there_and_back
from collsim.core.algorithm import Algorithm, Terms
from collsim.core.builder import Builder

__all__ = ["ALGORITHM"]


def build(b: Builder) -> None:
    """List the operations: sums go back to the switch while the next chunk is added up."""
    there_and_back(b, b.pieces.reshape(b.chunks, b.ranks, 1))


def terms(ranks: int, chunks: int) -> Terms:
    """Return the claimed cost: of several chunks a bound, at most a message more than it takes.

    Up go the chunks, and after each but the first the sums of the parts of the one before.
    Then two chunks are left to come down, where start-ups don't rule.
    """
    if ranks == 1:
        return Terms(0, 0)
    if chunks == 1:
        return Terms(2, 2 * (ranks + 1) / ranks)
    betas = 1 + 2 / chunks + (chunks - 1) / (ranks * chunks)
    return Terms(2 * chunks, betas, exact=False)


def parts(ranks: int, chunks: int) -> int:
    """Cut every chunk into one part per rank."""
    return ranks * chunks


ALGORITHM = Algorithm(
    build=build,
    terms=terms,
    formula="2α + 2(P+1)/P·nβ, in c > 1 chunks ≤ 2cα + (1 + 2/c + (c-1)/(Pc))nβ",
    summary="the switch adds up a part of every chunk for each rank and multicasts the sums",
    paper="Klenk et al. 2020, An in-network architecture (ISCA); NCCL's NVLS",
    chunked=True,
    parts=parts,
    needs=one_switch,
    in_switch=True,
)
