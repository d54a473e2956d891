"""Whether large simulations are compiled on this machine, told without loading the compiler."""

import importlib.metadata as packages
import importlib.util
import os
import re
from typing import Final

__all__ = ["compilation"]

_BOUND: Final = re.compile(r"numpy\b.*?<(=?)\s*(\d+(?:\.\d+)*)", re.IGNORECASE)


def compilation() -> tuple[str | None, str]:
    """Return the version of the compiler in use, or None, and why there is none.

    Loading numba takes as long as all else that ``--version`` does, so this asks what is
    installed. numba refuses to be loaded beside a numpy that is too new for it, which its
    requirements name.

    Examples
    --------
    >>> version, why_not = compilation()
    >>> (version is None) == bool(why_not)
    True
    """
    for name in ("numba", "llvmlite", "numpy"):
        if importlib.util.find_spec(name) is None:
            return None, f"{name} is not installed"
    try:
        version, numpy = packages.version("numba"), packages.version("numpy")
        needs = packages.requires("numba") or ()
    except packages.PackageNotFoundError as error:
        return None, f"{error.name} is not installed as a package"
    for bound in filter(None, map(_BOUND.match, needs)):
        most = _parts(bound[2])
        got = _parts(numpy)[: len(most)] if bound[1] else _parts(numpy)
        if got > most or (got == most and not bound[1]):
            return None, f"numba {version} is not for numpy {numpy}"
    if _disabled(os.environ.get("NUMBA_DISABLE_JIT", "")):
        return None, "NUMBA_DISABLE_JIT is set"
    return version, ""


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def _disabled(value: str) -> bool:
    """Read a variable as numba does: a whole number, and what is none counts as 0."""
    try:
        return int(value) != 0
    except ValueError:
        return False
