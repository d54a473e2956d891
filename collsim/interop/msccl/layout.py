"""Which piece of a collective lies in which chunk of the input and output buffers.

The runtime counts chunks of the buffer of n bytes; a piece is one of the equal parts of a block
of the collective. Custom collectives, as `scatter` and `gather` are to the runtime, work on a
full buffer at every rank.
"""

from functools import lru_cache
from typing import Final

from collsim.core.collective import collective
from collsim.errors import InputError

__all__ = ["NOWHERE", "alias", "chunks_of", "declared", "inputs", "outputs", "parts_of"]

# A chunk that holds no piece.
NOWHERE: Final = -1

# Collectives whose buffer is shared out: as many chunks as ranks times parts.
_SHARED: Final = frozenset({"all_gather", "reduce_scatter", "all_to_all", "scatter", "gather"})


def parts_of(kind: str, ranks: int, chunks: int) -> int:
    """Return the parts of a block, from the chunks of the whole buffer.

    Raises
    ------
    InputError
        If the ranks can't share so many chunks.

    Examples
    --------
    >>> parts_of("all_gather", 4, 16), parts_of("all_reduce", 4, 16)
    (4, 16)
    """
    if kind not in _SHARED:
        return chunks
    if chunks % ranks:
        raise InputError(f"{chunks} chunks, expected a multiple of {ranks} ranks")
    return chunks // ranks


def chunks_of(kind: str, ranks: int, parts: int) -> int:
    """Return the chunks of the whole buffer: the reverse of :func:`parts_of`."""
    return ranks * parts if kind in _SHARED else parts


def declared(kind: str, ranks: int, chunks: int) -> tuple[int, int]:
    """Return the chunks of input and output that the runtime expects where it is given any."""
    return (
        chunks // ranks if kind == "all_gather" else chunks,
        chunks // ranks if kind == "reduce_scatter" else chunks,
    )


def _of(kind: str, rank: int, ranks: int, parts: int, which: str, root: int) -> list[int]:
    """Return the pieces of all chunks of a full-size buffer, or of a rank's share."""
    mine = _blocks(kind, ranks, root, which).get(rank, ())
    return [block * parts + part for block in mine for part in range(parts)]


@lru_cache(maxsize=8)
def _blocks(kind: str, ranks: int, root: int, which: str) -> dict[int, list[int]]:
    """Return the blocks that every rank holds before or after the call."""
    found = collective(kind)
    holders, blocks = (found.before if which == "before" else found.after)(ranks, root)
    held: dict[int, list[int]] = {}
    for rank, block in sorted(zip(holders.tolist(), blocks.tolist(), strict=True)):
        held.setdefault(rank, []).append(block)
    return held


def inputs(kind: str, rank: int, ranks: int, root: int, parts: int) -> list[int]:
    """Return, of every chunk of the input buffer, the piece that it holds before the call.

    Examples
    --------
    >>> inputs("all_gather", 1, 3, 0, 2), inputs("gather", 1, 3, 0, 1)
    ([2, 3], [-1, 1, -1])
    """
    return _laid_out(kind, rank, ranks, root, parts, "before")


def outputs(kind: str, rank: int, ranks: int, root: int, parts: int) -> list[int]:
    """Return, of every chunk of the output buffer, the piece that it must hold afterwards.

    Examples
    --------
    >>> outputs("all_to_all", 1, 3, 0, 1), outputs("reduce", 1, 3, 0, 2)
    ([1, 4, 7], [-1, -1])
    """
    return _laid_out(kind, rank, ranks, root, parts, "after")


def _laid_out(kind: str, rank: int, ranks: int, root: int, parts: int, which: str) -> list[int]:
    pieces = _of(kind, rank, ranks, parts, which, root)
    if kind in ("scatter", "gather"):
        held = set(pieces)
        return [piece if piece in held else NOWHERE for piece in range(ranks * parts)]
    if not pieces:
        # A buffer that takes no part: of a rank that is not the root.
        return [NOWHERE] * chunks_of(kind, ranks, parts)
    return pieces


def alias(
    kind: str, rank: int, parts: int, buffer: str, chunk: int, in_place: bool
) -> tuple[str, int]:
    """Return the one name of a chunk: in place, input and output are the same memory.

    Examples
    --------
    >>> alias("all_gather", 2, 4, "i", 1, True), alias("all_reduce", 2, 4, "o", 1, True)
    (('o', 9), ('i', 1))
    """
    if not in_place or buffer == "s":
        return buffer, chunk
    if kind == "all_gather":
        return "o", chunk + (rank * parts if buffer == "i" else 0)
    if kind == "reduce_scatter":
        return "i", chunk + (rank * parts if buffer == "o" else 0)
    return "i", chunk
