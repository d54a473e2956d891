"""Compile a function with numba, with a cache on disk wherever one can be kept."""

import contextlib
import logging
import os
import stat
import tempfile
from collections.abc import Callable
from typing import Any

_numba: Any = None
# Where it can't be loaded (not installed, too old for this numpy, without its library), the
# same source runs as plain Python: the same numbers, later.
try:
    import numba.extending

    _numba = numba
except (ImportError, OSError) as error:
    logging.getLogger("collsim").warning(
        "note: numba can't be loaded (%s), so large simulations are not compiled: the same "
        "results, but slower; expected: pip install numba",
        error,
    )

__all__ = ["jit", "jitable"]

Function = Callable[..., Any]


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


def jit(function: Function) -> Function:
    """Compile with an on-disk cache, wherever one can be kept.

    numba keeps it beside the source or in the user's cache folder; where neither can be
    written (a read-only site-packages and no home), in the folder for temporary files;
    where even that fails, nowhere. Without numba the function is returned as it is.
    """
    if _numba is None:
        return function
    compiled: Function
    try:
        compiled = _numba.njit(cache=True)(function)
    except RuntimeError:
        before, folder = _numba.config.CACHE_DIR, _private_folder()
        try:
            _numba.config.CACHE_DIR = folder or before
            compiled = _numba.njit(cache=folder is not None)(function)
        finally:
            _numba.config.CACHE_DIR = before
    _forgive(compiled)
    return compiled


def _forgive(compiled: Any) -> None:
    """Let a cache that is damaged, as when power was lost, be as good as none.

    numba passes over one of another version or source, but fails at one that it can't read.
    """
    cache: Any = getattr(compiled, "_cache", None)  # none where compiling is switched off
    if not hasattr(cache, "flush"):
        return
    load, save = cache.load_overload, cache.save_overload

    def load_overload(*which: Any) -> Any:
        try:
            return load(*which)
        except Exception:  # noqa: BLE001 - whatever noise is taken for
            with contextlib.suppress(OSError):
                cache.flush()
            return None

    def save_overload(*what: Any) -> None:
        with contextlib.suppress(Exception):
            save(*what)

    cache.load_overload, cache.save_overload = load_overload, save_overload


def jitable(function: Function) -> None:
    """Let compiled functions call this one, which stays a plain one for others."""
    if _numba is not None:
        _numba.extending.register_jitable(function)
