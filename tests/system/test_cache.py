"""The folder of compiled code: damaged in any way, it is as good as empty."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

numba = pytest.importorskip("numba", reason="needs numba: pip install numba")

from collsim.engine.jit import jit  # noqa: E402 - after the skip


def cut(path: Path) -> None:
    """Leave a half."""
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def folder(path: Path) -> None:
    """Put a folder in its place."""
    path.unlink()
    path.mkdir()


DAMAGES: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "garbage": lambda path: path.write_bytes(b"garbage\n"),
    "noise": lambda path: path.write_bytes(bytes(range(256)) * 64),
    "cut": cut,
    "gone": Path.unlink,
    "folder": folder,
}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a function and its compiled code."""
    home = tmp_path_factory.mktemp("cache")
    (home / "twice.py").write_text("def twice(x):\n    return 2 * x\n")
    assert compiled(home)(21) == 42
    assert {path.suffix for path in (home / "kept").rglob("*.nb?")} == {".nbi", ".nbc"}
    return home


def compiled(home: Path) -> Any:
    """Return the function, loaded anew, with its cache in a folder beside it."""
    spec = importlib.util.spec_from_file_location("twice", home / "twice.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numba.config, "CACHE_DIR", str(home / "kept"))
        return jit(module.twice)


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"], ids=["index", "code"])
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_cache_is_no_error(
    filled: Path, damage: Callable[[Path], object], suffix: str
) -> None:
    """The function is compiled again."""
    shutil.copytree(filled / "kept", filled / "whole", dirs_exist_ok=True)
    try:
        for path in (filled / "kept").rglob(f"*{suffix}"):
            damage(path)
        assert compiled(filled)(21) == 42
        if damage is not folder:
            again = compiled(filled)
            assert again(21) == 42
            assert sum(again.stats.cache_hits.values()) == 1
    finally:
        shutil.rmtree(filled / "kept")
        (filled / "whole").rename(filled / "kept")
