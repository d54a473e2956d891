"""How large a schedule may be that is read from a file: a line can ask for gigabytes."""

from typing import Final

from collsim.interop.msccl.layout import chunks_of

__all__ = ["MOST_RANKS", "too_many_chunks"]

# It is verified on a network on which every pair of ranks has a link of its own: 0.2 GB.
MOST_RANKS: Final = 2048
# Chunks that ranks hold before or after the call: an all_to_all of so many takes 0.5 GB.
_MOST_HELD: Final = 2**20


def _held_by_all(kind: str, ranks: int, parts: int) -> int:
    """Return the chunks of the whole buffer, at all ranks together.

    Examples
    --------
    >>> _held_by_all("all_gather", 8, 1), _held_by_all("broadcast", 8, 1)
    (64, 8)
    """
    return ranks * chunks_of(kind, ranks, parts)


def too_many_chunks(kind: str, ranks: int, parts: int) -> str | None:
    """Return what is wrong with the size of a schedule, or None.

    Examples
    --------
    >>> too_many_chunks("all_gather", 1024, 1) is None
    True
    >>> too_many_chunks("all_gather", 1024, 2)
    '1024 ranks of 2048 chunks, expected at most 1,048,576 chunks in all'
    """
    if _held_by_all(kind, ranks, parts) <= _MOST_HELD:
        return None
    chunks = chunks_of(kind, ranks, parts)
    return f"{ranks} ranks of {chunks} chunks, expected at most {_MOST_HELD:,} chunks in all"
