"""What `--version` says: the numbers that a report of a problem needs."""

import importlib.metadata
import platform

from collsim import __version__

__all__ = ["versions"]


def versions() -> str:
    """Return lines: collsim, what it runs on, and whether large simulations are compiled."""
    from collsim.engine.compilation import compilation

    compiler, why_not = compilation()
    says = f"numba {compiler}" if compiler else f"not available, {why_not}"
    return (
        f"collsim {__version__}\n"
        f"Python {platform.python_version()}, numpy {_installed('numpy')}\n"
        f"compilation of large simulations: {says}"
    )


def _installed(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"
