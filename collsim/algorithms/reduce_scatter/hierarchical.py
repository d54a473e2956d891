"""Inside every node first, then along the rails: the all_gather backwards."""

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
        held = rails.reshape(1, len(rails), -1)
        first = part(b, "reduce_scatter", inside, ranks=ranks, pieces=held)
        play(b, then(first, part(b, "reduce_scatter", across, ranks=ranks.T, pieces=rails)))

    where = both("reduce_scatter", inside, across)
    read = one_of("reduce_scatter")
    return Algorithm(
        build=build,
        terms=no_terms,
        formula="on N nodes of G: (⌈log N⌉+⌈log G⌉)α + (P-1)/P·n(β+γ), (N-1)/P·nβ of it across",
        summary="reduce_scatter inside each node, then along each rail, by default Bruck's",
        paper="the reverse of Träff 2006, all-gather for clusters of SMPs",
        parts_on=lambda setting, chunks: least_parts(where(setting)),
        needs=needs_of(where),
        options={
            "inside": Option("bruck", "a reduce_scatter", read, direct_or_ring),
            "across": Option("bruck", "a reduce_scatter", read),
        },
        vary=varied(of),
    )


ALGORITHM = of("bruck", "bruck")
