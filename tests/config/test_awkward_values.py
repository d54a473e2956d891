"""Awkward values in every place of a cluster file: one clear line, and never a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from collsim.config.cluster import load
from collsim.config.presets import folder
from collsim.errors import CollsimError

TEXTS = [path.read_text() for path in sorted((folder() / "clusters").glob("*.toml"))]
TEXTS.append(
    'schema = "collsim/cluster/1"\nname = "x"\nnode = {shape = "switch", gpus = 2, '
    'link = {alpha = "1us", bandwidth = "1GB/s", alpha_busy = "0us"}}\n'
    'cost = {gamma = "1ns/B", launch = "1us"}\n'
    'network = {shape = "rails", nodes = 2, link = "ndr400"}\n'
)
TEXTS.append(
    'schema = "collsim/cluster/1"\nname = "x"\nsharing = "fair"\nnodes = [[0], [1]]\n'
    + "".join(
        f'[[links]]\nname = "{a}>{b}"\nsrc = {a!r}\ndst = {b!r}\nalpha = "1us"\n'
        'bandwidth = "1GB/s"\nlanes = 2\n'
        for a, b in ((0, "hub"), ("hub", 0), (1, "hub"), ("hub", 1), (0, 1))
    )
    + '[[routes]]\nsrc = 0\ndst = 1\nlinks = ["0>hub", "hub>1"]\n'
)
VALUES = [
    *("", "0", "-1", "1e400", "nan", "inf", "true", '""', '"x"', "[]", "{}", "[[1]]", "1e-9"),
    *("2024-01-01", "2024-99-99", "07:32:00", "0x" + "f" * 5000, "9" * 5000, "[" * 2000),
    *('"\\ud800"', '"\\u0000"', '"1e999us"', '"0GB/s"', '"1e-320B/s"', '"\u0661us"', "'''"),
    *('{value = "1us"}', "{a.b.c = 1}", '"a"\n', '"_shape"', '"ideal"', '"rails"', "1048576"),
]


def answer(file: Path, text: str) -> None:
    """Load a text, at its own size and at another."""
    # As Python reads it from a user's editor: whatever characters there are.
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    for nodes in (None, 2):
        said = "a cluster"
        try:
            load(file, nodes=nodes)
        except CollsimError as error:
            said = str(error)
        assert len(said.splitlines()) == 1


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
@pytest.mark.parametrize(
    "key", ["gpus", "nodes", "link", "multicast", "shape", "name", "schema"]
)
def test_every_value_at_every_key(tmp_path: Path, key: str, value: str) -> None:
    """Each of the awkward values in each place."""
    lines = TEXTS[1].splitlines()
    wrong = [f"{key} = {value}" if line.startswith(f"{key} =") else line for line in lines]
    assert wrong != lines
    answer(tmp_path / "x.toml", "\n".join(wrong))


def test_deep_tables(tmp_path: Path) -> None:
    """Dotted keys nest without brackets, deeper than Python can write out."""
    deep = ".".join(["a"] * 2000)
    answer(tmp_path / "x.toml", TEXTS[1].replace("gpus = 8", f"gpus.{deep} = 8"))
