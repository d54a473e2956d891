"""Along the rails first, where a share crosses every wire once, then inside every node."""

from collsim.algorithms._rails import even_nodes, grid
from collsim.algorithms._two_levels import inside_of, least_parts, one_of, rail_of, refused
from collsim.algorithms.compose import part, play, then
from collsim.core.algorithm import Algorithm, no_terms
from collsim.core.builder import Builder
from collsim.core.option import Option
from collsim.core.setting import Setting

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

    def where(setting: Setting) -> list[tuple[str, str, Setting]]:
        steps = (inside, inside_of(setting)), (across, rail_of(setting))
        return [("all_gather", name, at) for name, at in steps]

    def needs(setting: Setting) -> str | None:
        return even_nodes(setting) or refused(where(setting))

    read = one_of("all_gather")
    return Algorithm(
        build=build,
        terms=no_terms,
        formula="on N nodes of G: (⌈log N⌉+⌈log G⌉)α + (P-1)/P·nβ, (N-1)/P·nβ of it across",
        summary="all_gather along each rail, then inside each node, by default Bruck's",
        paper="Träff 2006, all-gather for clusters of SMPs; MVAPICH2; NCCL, a NIC per GPU",
        parts_on=lambda setting, chunks: least_parts(where(setting)),
        needs=needs,
        options={
            "inside": Option("bruck", "an all_gather", read, direct_or_ring),
            "across": Option("bruck", "an all_gather", read),
        },
        vary=lambda values: of(str(values["inside"]), str(values["across"])),
    )


def direct_or_ring(setting: Setting) -> tuple[str, ...]:
    """Return what may be faster in a node where messages overlap, or where few are linked."""
    return ("direct", "ring") if setting.fewest > 2 else ()


ALGORITHM = of("bruck", "bruck")
