"""Every page is found, and whatever it points at is there."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
SKIPPED = {".venv", "node_modules", "build", "dist"}
PAGES = sorted(
    page
    for page in ROOT.rglob("*.md")
    if not any(part in SKIPPED or part[0] == "." for part in page.relative_to(ROOT).parts[:-1])
)
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"\]\(([^)\s]+)\)")


@cache
def anchors(page: Path) -> frozenset[str]:
    """Return the anchors that GitHub gives the headings of a page."""
    text = FENCE.sub("", page.read_text("utf-8"))
    seen: Counter[str] = Counter()
    found = set()
    for title in re.findall(r"^#{1,6} (.+)$", text, re.MULTILINE):
        words = re.sub(r"\]\([^)]*\)", "", title).strip().lower()
        slug = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        found.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
        seen[slug] += 1
    return frozenset(found)


def links(page: Path) -> list[str]:
    """Return where a page leads to, inside of the project."""
    text = CODE.sub("", FENCE.sub("", page.read_text("utf-8")))
    return [link for link in LINK.findall(text) if not re.match(r"[a-z]+:", link)]


def broken(page: Path) -> list[str]:
    """Return the links of a page that lead nowhere."""
    found = []
    for link in links(page):
        name, _, anchor = unquote(link).partition("#")
        target = (page.parent / name).resolve() if name else page
        headed = not anchor or (target.suffix == ".md" and target.exists())
        if not target.exists() or not headed or (anchor and anchor not in anchors(target)):
            found.append(link)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    """Files and headings that a page points at are there."""
    assert broken(page) == []


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    """A missing file, a missing heading, but not the second of two alike, or code."""
    page = tmp_path / "page.md"
    page.write_text(
        "# A, b & `c`\n## A, b & `c`\n[1](#a-b--c) [2](#a-b--c-1) [3](#a-b--c-2) [4](no.md)\n"
        "`[5](no.md)` [6](https://x.invalid/y) [7](page.md#nowhere)\n```\n[8](no.md)\n```\n"
    )
    assert broken(page) == ["#a-b--c-2", "no.md", "page.md#nowhere"]


def test_the_index_has_every_page() -> None:
    """docs/README.md links each page of docs/, and the README the index."""
    index = {(DOCS / link.partition("#")[0]).resolve() for link in links(DOCS / "README.md")}
    assert set(DOCS.glob("*.md")) - {DOCS / "README.md"} <= index
    assert "docs/README.md" in links(ROOT / "README.md")


def test_pages_that_the_code_names_are_there() -> None:
    """Help and docstrings name pages of docs/ by their files."""
    named = {
        name
        for path in (ROOT / "collsim").rglob("*.py")
        for name in re.findall(r"docs/\w+\.md", path.read_text("utf-8"))
    }
    assert "docs/schedules.md" in named
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_no_two_pages_say_the_same() -> None:
    """No line of prose stands on two pages; generated pages, translations and tables may."""
    seen: dict[str, Path] = {}
    twice = []
    for page in [*DOCS.glob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]:
        for line in set(FENCE.sub("", page.read_text("utf-8")).splitlines()):
            if len(line) > 60 and not line.startswith(("|", "![")) and line in seen:
                twice.append(f"{page.name}, {seen[line].name}: {line}")
            seen[line] = page
    assert twice == []
