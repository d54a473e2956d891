"""The version of the package, apart so that every room can name it."""

from typing import Final

__all__ = ["__version__"]

__version__: Final = "0.1.0"
