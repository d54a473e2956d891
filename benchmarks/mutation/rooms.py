"""What is mutated, and by which tests each room is held."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = ["LONGEST", "OF_ALL", "PATIENCE", "RECORDED", "ROOMS", "Room"]

# CPU seconds, compilation off and lines counted: a test that takes longer does not try
# mutants, and of slower ones no more than so many together try one.
LONGEST: Final = 1.0
PATIENCE: Final = 10.0


@dataclass(frozen=True)
class Room:
    """Sources that are mutated, and the tests that must notice; both may be patterns."""

    sources: tuple[str, ...]
    tests: tuple[str, ...]
    but: tuple[str, ...] = ()

    def files(self, root: Path) -> list[str]:
        """Return the files to mutate, by their paths from the root."""
        found = {path for pattern in self.sources for path in root.glob(pattern)}
        left_out = {path for pattern in self.but for path in root.glob(pattern)}
        return sorted(
            path.relative_to(root).as_posix()
            for path in found - left_out
            if path.name != "__init__.py"
        )

    def holds(self, test: str) -> bool:
        """Return whether a test, by its pytest name, is one of this room's."""
        return test.startswith(self.tests)


_VERIFY: Final = tuple(
    f"collsim/{name}.py"
    for name in ("engine/execute", "engine/happens_before", "engine/replay", "engine/verdict")
)

ROOMS: Final = {
    "engine": Room(
        ("collsim/engine/**/*.py",), ("tests/engine/", "collsim/engine/"), but=_VERIFY
    ),
    "verify": Room(
        (*_VERIFY, "collsim/choose/verify.py"),
        ("tests/engine/", "tests/choose/test_verify", *_VERIFY, "collsim/choose/verify.py"),
    ),
    "builder": Room(
        tuple(
            f"collsim/core/{name}.py"
            for name in (
                "_operands", "builder", "dependencies", "dependencies_kernel", "folded", "same",
                "schedule", "symmetry",
            )
        ),
        ("tests/core/", "collsim/core/"),
    ),
    "collectives": Room(
        ("collsim/core/collective.py", "collsim/algorithms/**/*.py"),
        (
            "tests/core/test_collective.py", "collsim/core/collective.py",
            "tests/algorithms/", "collsim/algorithms/",
        ),
    ),
    "fit": Room(
        tuple(
            f"collsim/calibrate/{name}.py"
            for name in (
                "fit/*", "formula", "nccl_model/*", "neighbours", "point_to_point/fit",
                "point_to_point/pair_fit", "rows", "select", "solve",
            )
        ),
        ("tests/calibrate/", "collsim/calibrate/"),
    ),
}  # fmt: skip

# Of all rooms: what these look at is there as soon as a file is imported.
OF_ALL: Final = "tests/test_frozen.py"

# Tests that are run once, to see which lines they reach: those of all rooms.
RECORDED: Final = (
    (OF_ALL,),
    ("tests/core", "collsim/core"),
    ("tests/algorithms", "collsim/algorithms"),
    ("tests/engine", "collsim/engine"),
    ("tests/choose/test_verify.py", "tests/choose/test_verify_cases.py"),
    ("collsim/choose/verify.py",),
    (
        "tests/calibrate",
        "collsim/calibrate",
        # They read logs and validate whole systems: minutes, and few lines of the fit.
        "--ignore=tests/calibrate/importers",
        "--ignore=tests/calibrate/validate",
    ),
)
