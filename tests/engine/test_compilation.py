"""What is said of the compiler is what happens."""

from __future__ import annotations

import importlib.metadata as packages
import importlib.util
import os
import subprocess
import sys
from typing import Any

import pytest

from collsim.engine.compilation import compilation


def test_a_version_where_there_is_one() -> None:
    """That of the package, which the engine compiles with."""
    code = (
        "from collsim.engine.compilation import compilation\n"
        "said, _ = compilation()\n"
        "import sys\n"
        "assert not {'numba', 'numpy'} & sys.modules.keys()\n"
        "from collsim.engine import jit\n"
        "import numba\n"
        "from collsim.core.dependencies_kernel import derive\n"
        "compiles = hasattr(jit.jit(derive), 'py_func')\n"
        "assert (said == numba.__version__, said is None) == (compiles, not compiles)\n"
    )
    for off in ("0", "2", "yes"):
        environment = os.environ | {"NUMBA_DISABLE_JIT": off}
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code],
            env=environment,
            check=True,
            timeout=60,
        )


@pytest.mark.parametrize("name", ["numba", "llvmlite", "numpy"])
def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Numba brings llvmlite, and stands on numpy."""
    real = importlib.util.find_spec

    def find(asked: str) -> Any:
        return None if asked == name else real(asked)

    monkeypatch.setattr(importlib.util, "find_spec", find)
    assert compilation() == (None, f"{name} is not installed")


@pytest.mark.parametrize(
    ("needs", "numpy", "fits"),
    [
        ("numpy<1.27,>=1.22", "1.26.4", True),
        ("numpy<1.27,>=1.22", "1.27.0", False),
        ("numpy<1.27,>=1.22", "2.4.6", False),
        ("numpy>=1.22,<2.6", "2.5.5", True),
        ("numpy>=1.22,<2.6", "2.6.0rc1", False),
        ("numpy <=2.4", "2.4.6", True),
        ("numpy <=2.4", "2.5.0", False),
        ("numpy>=1.22", "9.0", True),
        ("llvmlite<0.51", "2.4.6", True),
    ],
)
def test_a_numpy_that_is_too_new(
    monkeypatch: pytest.MonkeyPatch, needs: str, numpy: str, fits: bool
) -> None:
    """Numba refuses to be loaded beside one; its requirements say so."""
    monkeypatch.delenv("NUMBA_DISABLE_JIT", raising=False)
    monkeypatch.setattr(packages, "requires", lambda name: [needs])
    monkeypatch.setattr(packages, "version", {"numba": "0.9", "numpy": numpy}.__getitem__)
    found = ("0.9", "") if fits else (None, f"numba 0.9 is not for numpy {numpy}")
    assert compilation() == found


def test_a_folder_that_is_no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Something called numba, of which nothing is known."""

    def unknown(name: str) -> str:
        raise packages.PackageNotFoundError(name)

    monkeypatch.setattr(packages, "version", unknown)
    assert compilation() == (None, "numba is not installed as a package")
