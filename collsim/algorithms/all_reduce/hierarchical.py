"""Inside every node, across the nodes, inside again."""

import numpy as np
from numpy.typing import NDArray

from collsim.algorithms._arrange import from_root
from collsim.algorithms._halving import halve_and_double
from collsim.core.algorithm import Algorithm, no_terms
from collsim.core.builder import Builder
from collsim.core.setting import Setting

__all__ = ["ALGORITHM"]

IntArray = NDArray[np.int64]


def build(b: Builder) -> None:
    """List the operations.

    GPU i of every node adds up part i of its node's arrays, adds it to that of the others
    along its rail, and hands the sum to its node. A chunk crosses nodes while the next one
    is added up inside.
    """
    grid = np.stack(b.setting.members)
    nodes, gpus = grid.shape
    for parts in np.reshape(b.pieces, (b.chunks, gpus, nodes, 1)):
        b.next_round()
        for step in range(1, gpus):
            owner = (np.arange(gpus) + step) % gpus
            for row in grid:
                b.reduce(row, row[owner], parts[owner, :, 0])
        for i in range(gpus):
            _across(b, grid[:, i], parts[i])
        b.next_round()
        for step in range(1, gpus):
            for row in grid:
                b.copy(row, np.roll(row, -step), parts[:, :, 0])


def _across(b: Builder, rail: IntArray, parts: IntArray) -> None:
    """List the all_reduce of one rail: halving and doubling, or a ring."""
    count = rail.size
    here = from_root(count, 0)
    if count & (count - 1) == 0:
        halve_and_double(b, rail, parts, lambda step: here ^ (count // 2) >> step)
        return
    for step in range(count - 1):
        b.next_round()
        b.reduce(rail, np.roll(rail, -1), parts[np.roll(here, 1 + step)])
    for step in range(count - 1):
        b.next_round()
        b.copy(rail, np.roll(rail, -1), parts[np.roll(here, step)])


def needs(setting: Setting) -> str | None:
    """Return why it can't run on ranks spread like this."""
    if setting.nodes == 1:
        return "needs at least two nodes, got one"
    if setting.fewest == 1 and setting.even:
        return "needs several ranks on a node, got one on each"
    if not setting.even:
        return "needs equally many ranks on every node"
    return None


def parts(ranks: int, chunks: int) -> int:
    """Cut every chunk into one part per rank."""
    return ranks * chunks


ALGORITHM = Algorithm(
    build=build,
    terms=no_terms,
    formula="none: as two_shot on a node's G ranks, then halving or ring on P/G nodes with n/G",
    summary="reduce_scatter inside each node, all_reduce along each rail, all_gather inside",
    paper="Cho et al. 2019, BlueConnect (SysML); NCCL's and Horovod's hierarchical all_reduce",
    chunked=True,
    parts=parts,
    needs=needs,
)
