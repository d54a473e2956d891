"""Algorithms: `<collective>/<name>.py`, each with one constant `ALGORITHM`."""

from collsim.algorithms._catalogue import (
    algorithm_names,
    build,
    build_folded,
    canonical,
    find,
    refusal,
    unknown_algorithm,
    variants,
)

__all__ = [
    "algorithm_names",
    "build",
    "build_folded",
    "canonical",
    "find",
    "refusal",
    "unknown_algorithm",
    "variants",
]
