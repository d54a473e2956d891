"""Algorithms: `<collective>/<name>.py`, each with one constant `ALGORITHM`."""

from collsim.algorithms._catalogue import (
    algorithm_names,
    build,
    find,
    refusal,
    unknown_algorithm,
)

__all__ = ["algorithm_names", "build", "find", "refusal", "unknown_algorithm"]
