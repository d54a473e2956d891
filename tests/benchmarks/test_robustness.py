"""The page of the campaign is what its numbers say."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_is_made_of_what_was_tried(by_path: Callable[[str], ModuleType]) -> None:
    """To the letter."""
    docs = ROOT / "docs"
    found = json.loads((docs / "robustness.json").read_text(encoding="utf-8"))
    page = by_path("benchmarks/fuzz_page.py").page(found)
    assert (docs / "robustness.md").read_text(encoding="utf-8") == page


def test_rounds_are_added_up(by_path: Callable[[str], ModuleType]) -> None:
    """Counts are sums, the slowest is the slowest, and failures are all there."""
    one = {
        "ended": {"a log": {"answered": 3, "failed": 1}}, "distinct": 4, "cpu_s": 1.5,
        "slowest_s": 1.0, "most_memory_mb": 7,
        "failures": [[["check", "x"], "cut", "slow: 9 s"]],
    }  # fmt: skip
    other = {
        "ended": {"a log": {"refused": 2}}, "distinct": 2, "cpu_s": 0.5, "slowest_s": 2.0,
        "most_memory_mb": 5, "failures": [],
    }  # fmt: skip
    module = by_path("benchmarks/fuzz_page.py")
    found = module.merged({
        "schema": "x", "version": "1", "python": "3", "rounds": {"10": one, "9": other},
        "processes": None,
    })  # fmt: skip
    page = module.page(found)
    assert (
        "6 cases, 6 of them distinct, in 2 s of processor time; the slowest took 2 s." in page
    )
    assert "| a log | 6 | 3 | 2 | 0 | 1 |" in page
    assert "- `check x`: slow: 9 s" in page
