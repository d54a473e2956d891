"""What all simulators are given, and how their memory is read."""

from __future__ import annotations

import argparse
import resource
import sys
from typing import Final

__all__ = ["ALPHA", "BANDWIDTH", "NBYTES", "makespan", "peak_kib", "ranks_asked"]

NBYTES: Final = 2**30
ALPHA: Final = 1e-6
BANDWIDTH: Final = 900e9


def makespan(ranks: int) -> float:
    """Return the seconds that the ring takes by its formula: 2 (P - 1) (alpha + n / P beta)."""
    return 2 * (ranks - 1) * (ALPHA + NBYTES / ranks / BANDWIDTH)


def peak_kib() -> int:
    """Return the most memory that this process has held, in KiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak // 1024 if sys.platform == "darwin" else peak


def ranks_asked() -> int:
    """Return the rank count that the command line asks for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--ranks", type=int, required=True)
    ranks: int = parser.parse_args().ranks
    return ranks
