"""The page of pictures is executed: each command draws the picture that stands below it.

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
SHOWN = re.compile(r"^```sh\ncollsim (.*)\n```\n\n!\[(.*)\]\(images/(.*)\)$", re.MULTILINE)
LARGEST = 100 * 1024


def examples() -> list[tuple[str, str]]:
    """Return every command of the page with the name of its picture."""
    return [(found[1], found[3]) for found in SHOWN.finditer(PAGE.read_text("utf-8"))]


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


@pytest.mark.parametrize(("command", "name"), examples(), ids=lambda word: word.split(" -")[0])
def test_a_command_draws_the_picture_below_it(
    command: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stored one is that of the command: of its size, and alike but for rounding."""
    monkeypatch.chdir(ROOT)
    assert command.endswith(name)
    draw(command, tmp_path / name)
    stored = PAGE.parent / "images" / name
    assert stored.stat().st_size <= LARGEST
    with Image.open(stored) as there:
        here = reduced(tmp_path / name)
        assert (there.format, there.size) == ("PNG", here.size)
        small = [image.convert("L").resize((96, 96)) for image in (there, here)]
    assert ImageStat.Stat(ImageChops.difference(*small)).mean[0] < 4


def test_every_picture_is_on_the_page() -> None:
    """Each command of `plot`, and no stored picture that nothing shows."""
    commands = {command.split()[1] for command, _ in examples()}
    assert commands == {*names("collsim.cli.commands.plot"), "cluster"}
    stored = {path.name for path in (PAGE.parent / "images").iterdir()}
    assert stored == {name for _, name in examples()}


if __name__ == "__main__":
    for line, file in examples():
        path = PAGE.parent / "images" / file
        draw(line, path)
        reduced(path).save(path, optimize=True)
        sys.stdout.write(f"{file}: {path.stat().st_size} bytes\n")
