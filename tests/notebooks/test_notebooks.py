"""Notebooks run from top to bottom, and say what they show."""

from __future__ import annotations

import ast
import base64
import io
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from PIL import Image

import collsim

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def text_of(cell: Any) -> str:
    """Return what a cell printed and answered, without pictures."""
    parts = [
        output.text if output.output_type == "stream" else output.data.get("text/plain", "")
        for output in cell.outputs
        if output.output_type != "stream" or output.name == "stdout"
    ]
    return "".join(part for part in parts if not part.startswith("<Picture"))


def pictures_of(cell: Any) -> list[bytes]:
    """Return the PNG pictures that a cell shows."""
    return [
        base64.b64decode(output.data["image/png"])
        for output in cell.outputs
        if "image/png" in output.get("data", {})
    ]


@pytest.fixture(scope="module", params=NOTEBOOKS, ids=lambda path: path.stem)
def pair(request: pytest.FixtureRequest) -> tuple[Any, Any]:
    """Return a notebook as it is stored, and a copy that was just executed."""
    stored = nbformat.read(request.param, as_version=4)
    copy = nbformat.read(request.param, as_version=4)
    for cell in copy.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    # In their own folder, as Jupyter runs them: what they read lies beside it.
    beside = {"metadata": {"path": str(request.param.parent)}}
    NotebookClient(copy, timeout=300, kernel_name="python3", resources=beside).execute()
    return stored, copy


def test_notebooks_are_there() -> None:
    """An empty list would make the tests below pass without a look."""
    assert [path.stem for path in NOTEBOOKS] == [
        "01_alpha_beta_and_crossover",
        "02_calibrate_from_a_log",
        "03_choose_for_your_cluster",
        "04_write_your_own_algorithm",
    ]


def test_notebook_shows_what_it_computes(pair: tuple[Any, Any]) -> None:
    """No cell fails, and each prints what readers see in the stored file."""
    for stored, run in zip(*(nb.cells for nb in pair), strict=True):
        if run.cell_type == "code":
            assert not any(output.output_type == "error" for output in run.outputs)
            assert text_of(run) == text_of(stored), run.source


def test_notebook_shows_pictures(pair: tuple[Any, Any]) -> None:
    """As many as stored, and each is a picture."""
    for stored, run in zip(*(nb.cells for nb in pair), strict=True):
        if run.cell_type == "code":
            shown = pictures_of(run)
            assert len(shown) == len(pictures_of(stored)), run.source
            for data in shown:
                with Image.open(io.BytesIO(data)) as image:
                    assert image.width > 400
    assert any(pictures_of(cell) for cell in pair[1].cells if cell.cell_type == "code")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_uses_public_names_only(path: Path) -> None:
    """`import collsim` and what it offers; nothing from inside, nothing to install."""
    notebook = nbformat.read(path, as_version=4)
    tree = ast.parse("\n".join(c.source for c in notebook.cells if c.cell_type == "code"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            assert [alias.name for alias in node.names] in (["collsim"], ["pathlib"])
        assert not isinstance(node, ast.ImportFrom)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            assert node.value.id != "collsim" or node.attr in collsim.__all__


@pytest.mark.parametrize("number", [2, 3])
@pytest.mark.parametrize("folder", [ROOT, ROOT / "notebooks", ROOT / "docs" / "images"])
def test_files_are_found_from_other_folders(
    number: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the project, in which an editor may run a notebook."""
    monkeypatch.chdir(folder)
    notebook = nbformat.read(NOTEBOOKS[number - 1], as_version=4)
    lines = "\n".join(c.source for c in notebook.cells if c.cell_type == "code").splitlines()
    names: dict[str, Any] = {}
    exec("\n".join(x for x in lines if re.match("import |HERE = |ROOT = ", x)), names)
    assert names["ROOT"] == ROOT
    assert not any(".." + "/" in line for line in lines)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_stored_executed_and_small(path: Path) -> None:
    """Cells were run in order, without traces of the machine that ran them."""
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    counts = [c.execution_count for c in notebook.cells if c.cell_type == "code"]
    assert counts == list(range(1, len(counts) + 1))
    assert path.stat().st_size < 400_000
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"/(home|root|tmp|Users)/", text)


def test_first_notebook_says_the_numbers_that_it_computes() -> None:
    """10 us against 1.1 ms, equal at 9 MB, and the swap of all_reduce at 16.9 MB."""
    notebook = nbformat.read(NOTEBOOKS[0], as_version=4)
    words = "\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")
    gpus = collsim.Cluster.load("textbook-h100", ranks=8)
    (message,) = collsim.explain("broadcast", gpus).messages
    assert f"pays {message.alpha_us:.0f} µs" in words.replace("\n", " ")
    assert f"At {message.equal_bytes / 1e6:.0f} MB both are equal" in words
    (swap,) = collsim.crossover("all_reduce", "mst", "ring", gpus).rows
    assert f"= {swap.size / 1e6:.1f} MB" in words
    rounds = [story.rounds for story in collsim.explain("broadcast", gpus, chunks=1).algorithms]
    assert rounds == [3, 7]
    assert "Three rounds against seven" in words


def said_and_shown(number: int) -> tuple[str, str]:
    """Return the words of a notebook in one line, and what its cells print."""
    notebook = nbformat.read(NOTEBOOKS[number - 1], as_version=4)
    words = " ".join(c.source for c in notebook.cells if c.cell_type == "markdown")
    shown = "".join(text_of(c) for c in notebook.cells if c.cell_type == "code")
    return " ".join(words.split()), shown


def numbers(pattern: str, text: str) -> list[float]:
    """Return the numbers of the groups of a pattern that must be there."""
    found = re.search(pattern, text)
    assert found is not None, pattern
    return [float(group) for group in found.groups()]


def test_second_notebook_says_the_numbers_that_it_computes() -> None:
    """The truth is in the interval; of a short log nothing to twice the truth; a fifth less."""
    words, shown = said_and_shown(2)
    low, high = numbers(r"beta .* between ([\d.]+) and ([\d.]+)", shown)
    assert low < 2.7 < high
    assert "The truth was 1.5 µs and 2.7 ps per byte" in words
    low, high = numbers(r"link.beta: .* between (\S+) and (\S+)", shown)
    assert (low, round(high / 2.7e-12)) == (0, 2)
    assert "from nothing to twice the truth" in words
    (times,) = numbers(r"([\d.]+) times the predicted time", shown)
    assert 1.15 < times < 1.25
    assert "falls short by a fifth" in words


def test_third_notebook_says_the_numbers_that_it_computes() -> None:
    """All but 2 of 68 ms hide; with an ill card a step takes two thirds longer."""
    words, shown = said_and_shown(3)
    well, ill = (float(ms) for ms in re.findall(r"by-hand: ([\d.]+) ms", shown))
    assert ill / well == pytest.approx(5 / 3, rel=0.02)
    assert "two thirds longer" in words
    total, waited = numbers(r"gradients: +([\d.]+) ms, of which +([\d.]+) ms", shown)
    assert (round(waited), round(total)) == (2, 68)
    assert "all but 2 of the 68 ms" in words
    times = [float(x) for x in re.findall(r"256MiB .*x([\d.]+)", shown)]
    assert sorted(map(round, times)) == [2, 3, 3]
    assert "about three times as long" in words


def test_fourth_notebook_says_the_numbers_that_it_computes() -> None:
    """4.8 ms in one chunk, 2.9 in the best number of them, 1.8 of the ring.

    On cables in a ring ours wins at two sizes, and two rings take half as long at the third.
    """
    words, shown = said_and_shown(4)
    assert "From 4.8 ms to 2.9" in words
    times = [float(us) for us in re.findall(r"chunks: (\d+) us", shown)]
    assert (round(times[0], -2), round(min(times), -2)) == (4800, 2900)
    (ring,) = numbers(r"1 GiB: .*ring (\d+) us", shown)
    assert "the ring takes 1.8" in words
    assert round(ring, -2) == 1800
    pairs = re.findall(r"chunks ([\d.]+) us, the best other, .*, ([\d.]+) us", shown)
    assert len(pairs) == 3
    won = [float(other) / float(ours) for ours, other in pairs]
    assert won[0] > 1
    assert won[1] > 1
    assert won[2] == pytest.approx(1 / 2, rel=0.1)
    assert "for the two smaller sizes" in words
    assert "For the largest the ring is back" in words
    assert "*half* of the data" in words
