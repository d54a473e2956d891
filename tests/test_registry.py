"""The path of a file is the name of what it holds."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from collsim.errors import UnknownNameError
from collsim.registry import member, names


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a package with two members, a helper, and a sub-package."""
    package = tmp_path / "corner_shop"
    (package / "bread").mkdir(parents=True)
    for name, text in {
        "__init__.py": "",
        "apple.py": "PRICE = 3",
        "broken.py": "raise RuntimeError('imported')",
        "_till.py": "PRICE = 0",
        "bread/__init__.py": "PRICE = 5",
        "notes.txt": "",
    }.items():
        (package / name).write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    return "corner_shop"


def test_names_are_files_and_folders_without_helpers(shop: str) -> None:
    """Sorted, and nothing is imported for it."""
    assert names(shop) == ("apple", "bread", "broken")
    assert f"{shop}.broken" not in sys.modules


def test_member_is_an_attribute_of_the_file_of_its_name(shop: str) -> None:
    """A file, or a package."""
    assert member(shop, "apple", "PRICE", "fruit") == 3
    assert member(shop, "bread", "PRICE", "fruit") == 5


@pytest.mark.parametrize("name", ["aple", "_till", "notes", "../apple", ""])
def test_unknown_member_is_answered_with_the_nearest(shop: str, name: str) -> None:
    """Helpers are not for the public."""
    with pytest.raises(UnknownNameError) as raised:
        member(shop, name, "PRICE", "fruit")
    assert "fruit" in str(raised.value)
    assert "apple" in str(raised.value)
    assert "\n" not in str(raised.value)
