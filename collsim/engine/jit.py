"""Compile a function with numba, with a cache on disk wherever one can be kept."""

import os
import stat
import tempfile
from collections.abc import Callable
from typing import Any

import numba

__all__ = ["jit"]

_numba_config: Any = numba.config


def _private_folder() -> str | None:
    """Return a cache folder among the temporary files that nobody else can write to.

    Compiled code is loaded from it, so a folder that someone else made is not used.
    """
    folder = os.path.join(tempfile.gettempdir(), f"collsim-numba-{os.getuid()}")
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        found = os.lstat(folder)
    except OSError:
        return None
    mine = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    return folder if mine and not found.st_mode & 0o022 else None


def jit(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile with an on-disk cache, wherever one can be kept.

    numba keeps it beside the source or in the user's cache folder; where neither can be
    written (a read-only site-packages and no home), in the folder for temporary files;
    where even that fails, nowhere.
    """
    compiled: Callable[..., Any]
    try:
        compiled = numba.njit(cache=True)(function)
    except RuntimeError:
        before, folder = _numba_config.CACHE_DIR, _private_folder()
        try:
            _numba_config.CACHE_DIR = folder or before
            compiled = numba.njit(cache=folder is not None)(function)
        finally:
            _numba_config.CACHE_DIR = before
    return compiled
