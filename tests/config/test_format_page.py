"""The page on the format: its examples load, and its tables name what can be written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from collsim import registry
from collsim.config.cluster import load
from collsim.config.presets import folder
from collsim.topology import NetworkShape, NodeShape

PAGE = (folder() / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def clusters(tmp_path: Path) -> list[Path]:
    """Write every example that is a whole file."""
    files = []
    for i, block in enumerate(block for block in BLOCKS if block.startswith("schema")):
        files.append(tmp_path / f"{i}.toml")
        files[-1].write_text(block, encoding="utf-8")
    return files


def test_the_examples(clusters: list[Path]) -> None:
    """A node, a fat tree, and links one by one."""
    one, tree, listed = (load(file) for file in clusters)
    assert one.shape == "one node, 8 GPUs on a switch"
    assert (tree.ranks, tree.sharing, len(tree.route(5, 5))) == (64, "fair", 1)
    assert [tree.links.names[i] for i in tree.route(0, 63)] == [
        *("gpu[0]>nic[0]", "nic[0].up", "leaf[0].up", "leaf[3].down", "nic[31].down"),
        "nic[31]>gpu[63]",
    ]
    assert tree.gamma == pytest.approx(1e-12)
    assert [listed.links.names[i] for i in listed.route(0, 1)] == ["up", "down"]
    assert [listed.links.names[i] for i in listed.route(1, 0)] == ["bridge 1 to 0"]


def test_a_link_as_a_table(tmp_path: Path) -> None:
    """The line of the page stands in [node]."""
    (line,) = [block for block in BLOCKS if block.startswith("link =")]
    file = tmp_path / "x.toml"
    file.write_text(BLOCKS[0].replace('link = "nvlink4"\n', line), encoding="utf-8")
    (link,) = load(file).links.classes
    assert (link.name, link.alpha, link.bandwidth, link.busy) == ("cable", 2e-6, 100e9, 0.0)


@pytest.mark.parametrize("name", registry.names("collsim.topology"))
def test_every_shape_has_a_row_with_its_keys(name: str) -> None:
    """In the table of its place; every key that it declares and no other."""
    shape = registry.member("collsim.topology", name, "SHAPE", "shape")
    assert isinstance(shape, NodeShape | NetworkShape)
    place = "node" if isinstance(shape, NodeShape) else "network"
    table = PAGE.split(f"### Shapes of a {place}")[1].split("\n#")[0]
    (row,) = [line for line in table.splitlines() if line.startswith(f"| `{name}` |")]
    named = re.findall(r"`([a-z_]+)`", row.split(" | ")[2])
    assert list(dict.fromkeys(named)) == list(shape.keys)
