"""How much memory this process may use, and so how large a schedule may be."""

import os
from pathlib import Path
from typing import Final

__all__ = ["allowed", "limit_of"]

# Of all memory that there is, the part that a schedule may take.
_PART: Final = 0.8
# Where nobody tells.
_UNTOLD: Final = 8 * 2**30
_GROUP: Final = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)


def limit_of(files: tuple[Path, ...] = _GROUP) -> int:
    """Return the bytes of memory that there are: of the machine, or of a container on it.

    Parameters
    ----------
    files : tuple of Path
        Where a container's limit may stand.

    Examples
    --------
    >>> limit_of() > 2**20
    True
    """
    limits = []
    try:
        limits.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        limits.append(_UNTOLD)
    for file in files:
        try:
            limits.append(int(file.read_text(encoding="ascii")))
        except (OSError, ValueError):
            continue
    return min(limit for limit in limits if limit > 0)


def allowed(each: int, limit: int | None = None) -> int:
    """Return how many things of so many bytes each a schedule may have.

    Examples
    --------
    >>> allowed(64, 24 * 2**30)
    322122547
    """
    return int(_PART * (limit_of() if limit is None else limit)) // each
