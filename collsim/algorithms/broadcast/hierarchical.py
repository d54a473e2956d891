"""Scatter inside the root's node, broadcast along the rails, all_gather inside every node."""

from dataclasses import replace

import numpy as np

from collsim.algorithms._rails import grid
from collsim.algorithms._two_levels import (
    TREES,
    inside_of,
    least_parts,
    needs_of,
    one_of,
    rail_of,
    varied,
)
from collsim.algorithms.compose import Recording, in_turns, part, play, then
from collsim.core.algorithm import Algorithm, no_terms
from collsim.core.builder import Builder
from collsim.core.option import Option
from collsim.core.setting import Setting

__all__ = ["ALGORITHM", "gather_without"]


def gather_without(b: Builder, inside: str) -> Recording:
    """Return the all_gather inside every node, in which nobody sends to the root.

    It has everything from the beginning.
    """
    ranks = grid(b.setting)
    shares = b.pieces.reshape(ranks.shape[1], -1)
    whole = part(b, "all_gather", inside, ranks=ranks, pieces=shares)
    rounds = []
    for calls in whole.rounds:
        wanted = [(call, call.dst != b.root) for call in calls]
        rounds.append(
            tuple(
                replace(
                    call,
                    src=call.src[to],
                    dst=call.dst[to],
                    pieces=call.pieces[to],
                    turn=None,
                    strict=False,
                )
                for call, to in wanted
            )
        )
    return replace(whole, rounds=tuple(rounds))


def of(inside: str, across: str) -> Algorithm:
    """Return the algorithm with one choice of what is done inside and across.

    Each of G equal shares goes straight to the rank of its rail: one that passed others'
    shares on would get them twice. Ranks take their messages in the order of the rounds, or
    the root's last ones, which are ready at once, would be promised the ports of the first.
    """

    def build(b: Builder) -> None:
        ranks = grid(b.setting)
        shares = b.pieces.reshape(ranks.shape[1], -1)
        home, place = (int(at[0]) for at in np.nonzero(ranks == b.root))
        out = part(b, "scatter", "linear", ranks=ranks[home], pieces=shares, root=place)
        far = part(b, "broadcast", across, ranks=ranks.T, pieces=shares[:, None], root=home)
        play(b, in_turns(then(out, far, gather_without(b, inside))))

    def where(setting: Setting) -> list[tuple[str, str, Setting]]:
        rail = "broadcast", across, rail_of(setting)
        return [rail, ("all_gather", inside, inside_of(setting))]

    return Algorithm(
        build=build,
        terms=no_terms,
        formula="on N nodes of G: (G-1+⌈log N⌉+⌈log G⌉)α + (2(G-1)+⌈log N⌉)/G·nβ",
        summary="scatter in the root's node, MST along each rail, all_gather inside every node",
        paper="composition: the broadcast of Barnett et al. 1994, a rail per rank of a node",
        parts_on=lambda setting, chunks: setting.fewest * least_parts(where(setting)),
        needs=needs_of(where),
        options={
            "inside": Option("bruck", "an all_gather", one_of("all_gather", lambda: TREES)),
            "across": Option("mst", "a broadcast", one_of("broadcast")),
        },
        vary=varied(of),
    )


ALGORITHM = of("bruck", "mst")
