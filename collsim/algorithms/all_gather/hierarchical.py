"""Along the rails first, where a share crosses every wire once, then inside every node."""

from collsim.algorithms._rails import grid
from collsim.algorithms._two_levels import (
    both,
    direct_or_ring,
    least_parts,
    needs_of,
    one_of,
    varied,
)
from collsim.algorithms.compose import part, play, then
from collsim.core.algorithm import Algorithm, no_terms
from collsim.core.builder import Builder
from collsim.core.option import Option

__all__ = ["ALGORITHM"]


def of(inside: str, across: str) -> Algorithm:
    """Return the algorithm with one choice of what is done inside and across."""

    def build(b: Builder) -> None:
        ranks = grid(b.setting)
        rails = b.pieces[ranks.T]
        # After the first step a rank holds what its whole rail had.
        held = rails.reshape(1, len(rails), -1)
        along = part(b, "all_gather", across, ranks=ranks.T, pieces=rails)
        play(b, then(along, part(b, "all_gather", inside, ranks=ranks, pieces=held)))

    where = both("all_gather", inside, across)
    read = one_of("all_gather")
    return Algorithm(
        build=build,
        terms=no_terms,
        formula="on N nodes of G: (⌈log N⌉+⌈log G⌉)α + (P-1)/P·nβ, (N-1)/P·nβ of it across",
        summary="all_gather along each rail, then inside each node, by default Bruck's",
        paper="Träff 2006, all-gather for clusters of SMPs; MVAPICH2; NCCL, a NIC per GPU",
        parts_on=lambda setting, chunks: least_parts(where(setting)),
        needs=needs_of(where),
        options={
            "inside": Option("bruck", "an all_gather", read, direct_or_ring),
            "across": Option("bruck", "an all_gather", read),
        },
        vary=varied(of),
    )


ALGORITHM = of("bruck", "bruck")
