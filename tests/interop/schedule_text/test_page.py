"""The page of schedules: every text that it shows is one, and right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from collsim.engine.verdict import verify_schedule
from collsim.interop.schedule_text.reader import read_text_schedule

PAGE = Path(__file__).resolve().parents[3] / "docs" / "schedules.md"
TEXTS = re.findall(r"^```text\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_of_the_page_is_right(text: str) -> None:
    """It reads, and does its collective."""
    _, schedule, _ = read_text_schedule("page", text)
    assert verify_schedule(schedule).ok


def test_the_first_is_the_example(root: Path) -> None:
    """The commands below it take that file."""
    example = (root / "examples" / "schedule_broadcast_4.txt").read_text("utf-8")
    assert TEXTS[0] == example
    assert len(TEXTS) >= 2
