"""On what a row of live measurements was measured: rows of two setups are never mixed."""

from collections.abc import Mapping
from typing import Final

__all__ = ["OURS", "SETUP", "setup_of"]

OURS: Final = "collsim's schedules on "
"""How the library of a row begins that one of our schedules gave."""

SETUP: Final = ("library", "device", "ranks_per_gpu")
"""Fields of a row that say on what it was measured."""


def setup_of(row: Mapping[str, object]) -> tuple[object, ...]:
    """Return what a row says of the library and the machine that it was measured on.

    Without GPUs the cores are what does the work, so how many there were counts.

    Examples
    --------
    >>> setup_of({"library": "Gloo of torch 2.13.0", "cores": 2, "seconds": 1e-5})
    ('Gloo of torch 2.13.0', None, None, 2)
    >>> setup_of({"library": "NCCL 2.30.7", "device": "NVIDIA H200", "cores": 2})
    ('NCCL 2.30.7', 'NVIDIA H200', None, None)
    """
    library = row.get("library")
    name = None if library is None else str(library).removeprefix(OURS)
    cores = None if row.get("device") else row.get("cores")
    return (name, *(row.get(key) for key in SETUP[1:]), cores)
