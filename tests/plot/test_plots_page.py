"""The pictures of docs/ are executed: each command draws the one that stands below it.

Run as a script, this file draws the pictures anew: ``python tests/plot/test_plots_page.py``.
"""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from PIL import Image, ImageChops, ImageStat

from collsim.registry import names

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "plots.md"
PAGES = sorted(ROOT.glob("docs/*.md"))
IMAGES = ROOT / "docs" / "images"
SHOWN = re.compile(r"^```sh\ncollsim (.*)\n```\n\n!\[(.*)\]\(images/(.*)\)$", re.MULTILINE)
LARGEST = 100 * 1024


def examples(*pages: Path) -> list[tuple[str, str]]:
    """Return every command of some pages with the name of its picture."""
    texts = [page.read_text("utf-8") for page in pages or PAGES]
    return [(found[1], found[3]) for text in texts for found in SHOWN.finditer(text)]


def draw(command: str, path: Path) -> None:
    """Run a command, with its picture at another place."""
    from collsim.cli.main import main

    words = shlex.split(command)
    at = max(i for i, word in enumerate(words) if word in {"-o", "--plot"}) + 1
    words[at] = str(path)
    result = CliRunner().invoke(main, words, prog_name="collsim")
    assert result.exit_code == 0, result.output


def reduced(path: Path) -> Image.Image:
    """Return a picture in as few colours as a page needs."""
    with Image.open(path) as image:
        return image.convert("RGB").quantize(64, dither=Image.Dither.NONE)


@pytest.mark.parametrize(("command", "name"), examples(), ids=lambda word: word[-24:])
def test_a_command_draws_the_picture_below_it(
    command: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stored one is that of the command: of its size, and alike but for rounding."""
    monkeypatch.chdir(ROOT)
    assert command.endswith(name)
    draw(command, tmp_path / name)
    stored = IMAGES / name
    assert stored.stat().st_size <= LARGEST
    with Image.open(stored) as there:
        here = reduced(tmp_path / name)
        assert (there.format, there.size) == ("PNG", here.size)
        small = [image.convert("L").resize((96, 96)) for image in (there, here)]
    assert ImageStat.Stat(ImageChops.difference(*small)).mean[0] < 4


def test_every_picture_is_on_the_page() -> None:
    """Each command of `plot` is on the page of pictures."""
    commands = {command.split()[1] for command, _ in examples(PAGE)}
    assert commands == {*names("collsim.cli.commands.plot"), "cluster"}


def test_every_picture_is_drawn_once() -> None:
    """No stored picture that no command draws, no name for two, none shown that isn't there."""
    drawn = [name for _, name in examples()]
    assert len(drawn) == len(set(drawn))
    assert {path.name for path in IMAGES.iterdir()} == set(drawn)
    for page in [*PAGES, *ROOT.glob("README*.md")]:
        shown = re.findall(r"\]\((?:docs/)?images/(.*?)\)", page.read_text("utf-8"))
        assert set(shown) <= set(drawn)


if __name__ == "__main__":
    for line, file in examples():
        path = IMAGES / file
        draw(line, path)
        reduced(path).save(path, optimize=True)
        sys.stdout.write(f"{file}: {path.stat().st_size} bytes\n")
