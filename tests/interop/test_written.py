"""What the import answers and what it writes are the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from collsim.core.cluster import Cluster
from collsim.interop.topology_file import import_topology

DATA = Path(__file__).resolve().parent / "data"


@pytest.mark.parametrize("name", sorted(path.name for path in DATA.glob("*.[tx][xm][tl]")))
def test_links_are_those_of_the_file(name: str, tmp_path: Path) -> None:
    """Class by class: name, numbers, and how many there are in one node."""
    found = import_topology(DATA / name)
    path = tmp_path / "mine.toml"
    path.write_text(found.text)
    links = Cluster.load(path).links
    counts = np.bincount(links.kind).tolist()
    written = {
        (c.name, c.alpha, c.bandwidth, n) for c, n in zip(links.classes, counts, strict=True)
    }
    said = {(c.name, c.alpha, c.bandwidth, n) for c, n in found.links}
    assert written <= said
    assert all(name.startswith("net") for name, *_ in said - written)


def test_bandwidths_are_rounded() -> None:
    """Four digits say all that a line rate less its coding says."""
    assert '"31.51GB/s"' in import_topology(DATA / "cloud_pci_only.xml").text


def test_what_to_write_for_nvswitch_is_said() -> None:
    """A file of PCI classes alone holds no NVLink."""
    (note,) = [
        n for n in import_topology(DATA / "cloud_pci_only.xml").left_out if "NVLink" in n
    ]
    assert 'shape = "switch"' in note
    assert 'link = "nvlink4"' in note
