"""Switches add up inside every node and multicast there; two binary trees lead across nodes."""

from collsim.algorithms._in_switch import switches, there_and_back
from collsim.algorithms._rails import even_nodes, grid
from collsim.algorithms.compose import part, play
from collsim.core.algorithm import Algorithm, no_terms
from collsim.core.builder import Builder
from collsim.core.setting import Setting

__all__ = ["ALGORITHM"]


def build(b: Builder) -> None:
    """List the operations.

    GPU i of every node has part i of every chunk added up in its switch, adds it to that of
    the others along its rail, over two binary trees, and has its switch multicast the sum.
    """
    rails = grid(b.setting).T
    chunks = b.pieces.reshape(b.chunks, len(rails), 2, -1)
    shares = chunks.transpose(1, 2, 0, 3).reshape(len(rails), 1, -1)
    trees = part(
        *(b, "all_reduce", "double_binary_tree"), ranks=rails, pieces=shares, chunks=b.chunks
    )
    there_and_back(b, chunks.reshape(b.chunks, len(rails), -1), lambda: play(b, trees))


def needs(setting: Setting) -> str | None:
    """Return why it can't run on ranks spread like this."""
    return even_nodes(setting) or switches(setting)


def parts_on(setting: Setting, chunks: int) -> int:
    """Cut every chunk into a part per rail for each of the two trees."""
    return 2 * setting.fewest * chunks


ALGORITHM = Algorithm(
    build=build,
    terms=no_terms,
    formula="none: as nvls on a node's G ranks, with double_binary_tree on P/G nodes with n/G",
    summary="reduce in each node's switch, two binary trees along each rail, multicast inside",
    paper="NCCL's NVLSTree; Sanders, Speck, Träff 2009, Two-tree algorithms",
    chunked=True,
    parts_on=parts_on,
    needs=needs,
)
