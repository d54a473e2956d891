"""Inside every node, across the nodes, inside again."""

from collsim.algorithms._catalogue import find
from collsim.algorithms._two_levels import (
    inner,
    inside_of,
    least_parts,
    needs_of,
    one_of,
    rail_of,
    varied,
)
from collsim.algorithms.compose import in_chunks, inside_across, play
from collsim.core.algorithm import Algorithm, no_terms
from collsim.core.builder import Builder
from collsim.core.option import Option
from collsim.core.setting import Setting
from collsim.core.symmetry import Symmetry

__all__ = ["ALGORITHM", "of"]

# The counterpart of an all_gather where it goes by another name.
_BACKWARDS = {"recursive_doubling": "recursive_halving"}
# Halving and doubling on a power of two of nodes, where it is the fastest at any size, and
# elsewhere a ring, as ranks beyond a power of two would have to hand in all that they have.
_AUTO = "auto"


# A collective, and the name of an algorithm.
Named = tuple[str, str]


def pairs() -> tuple[str, ...]:
    """Return the all_gathers that have a counterpart among the reduce_scatters."""
    scatters = inner("reduce_scatter")
    return tuple(n for n in inner("all_gather") if _BACKWARDS.get(n, n) in scatters)


def of(inside: str, across: str) -> Algorithm:
    """Return the algorithm with one choice of what is done inside and across."""

    def steps(setting: Setting) -> tuple[Named, Named, Named]:
        nodes, name = setting.nodes, across
        if across == _AUTO:
            name = "ring" if nodes & (nodes - 1) else "halving_doubling"
        scatter = "reduce_scatter", _BACKWARDS.get(inside, inside)
        return scatter, ("all_reduce", name), ("all_gather", inside)

    def where(setting: Setting) -> list[tuple[str, str, Setting]]:
        node, rail = inside_of(setting), rail_of(setting)
        return [
            (kind, str(name), at)
            for (kind, name), at in zip(steps(setting), (node, rail, node), strict=True)
        ]

    def symmetry(setting: Setting) -> Symmetry | None:
        # What the rails have, as all nodes are alike.
        rail, gpus = rail_of(setting), setting.fewest
        found = find(*steps(setting)[1])
        claim, cut = found.claim(rail), found.cut(rail, 1)
        if claim is None:
            return None
        per_rail, along = least_parts(where(setting)), claim.axes(rail, 1, 1) or ((cut, 0),)
        axes = (
            (gpus, 0),
            *((length, unit * gpus) for length, unit in along),
            (per_rail // cut, 0),
        )
        return Symmetry(
            claim.kind,
            lambda _setting, chunks, _channels: ((chunks, 0), *axes),
            lambda _setting, _channels: gpus * claim.step(rail, 1),
        )

    def build(b: Builder) -> None:
        # GPU i of every node adds up part i of its node's arrays, adds it to that of the
        # others along its rail, and hands the sum to its node. A chunk crosses nodes while
        # the next one is added up inside.
        chunks = b.pieces.reshape(b.chunks, -1)
        play(b, in_chunks(b, chunks, lambda one: inside_across(one, *steps(b.setting))))

    return Algorithm(
        build=build,
        terms=no_terms,
        formula="none: as two_shot on a node's G ranks, and halving or ring on P/G with n/G",
        summary="reduce_scatter inside each node, all_reduce along rails, all_gather inside",
        paper="Cho et al. 2019, BlueConnect (SysML); Horovod's hierarchical all_reduce",
        chunked=True,
        parts_on=lambda setting, chunks: chunks * setting.fewest * least_parts(where(setting)),
        needs=needs_of(where),
        options={
            "inside": Option(
                "direct",
                "an all_gather and its reduce_scatter",
                one_of("all_gather", pairs),
                lambda setting: ("bruck",) if setting.fewest > 2 else (),
            ),
            "across": Option(
                _AUTO,
                "an all_reduce, or auto",
                one_of("all_reduce", rails),
                worth,
            ),
        },
        vary=varied(of),
        symmetry=symmetry,
    )


def rails() -> tuple[str, ...]:
    """Return what can be done across nodes."""
    return (_AUTO, *inner("all_reduce"))


def worth(setting: Setting) -> tuple[str, ...]:
    """Return what may be faster across nodes: fewest messages, or chunks that follow."""
    return ("recursive_doubling",) if setting.nodes > 2 else ("one_shot",)


ALGORITHM = of("direct", _AUTO)
