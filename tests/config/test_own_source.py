"""A number of a cluster file that has a source of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from collsim.core.cluster import Cluster
from collsim.errors import ConfigError

OWN = '{value = 0.5, kind = "fit", source = "a log"}'


def write(folder: Path, efficiency: str) -> Path:
    """Return the path of a cluster whose switch reaches part of its links' bandwidth."""
    path = folder / "mine.toml"
    path.write_text(
        'schema = "collsim/cluster/1"\nname = "mine"\n[node]\nshape = "switch"\ngpus = 4\n'
        f'link = "nvlink4"\nmulticast = true\nmulticast_efficiency = {efficiency}\n',
        encoding="utf-8",
    )
    return path


def efficiency(cluster: Cluster) -> float:
    """Return the part of a link's bandwidth that the switch reaches."""
    assert cluster.in_switch is not None
    return cluster.in_switch.efficiency


def test_it_counts_as_it_is(tmp_path: Path) -> None:
    """The value is that of the table, and a change takes its place."""
    path = write(tmp_path, OWN)
    assert efficiency(Cluster.load(path)) == 0.5
    changed = Cluster.load(path, changes={"node.multicast_efficiency": 0.25})
    assert efficiency(changed) == 0.25


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("{value = 2}", "node.multicast_efficiency.value"),
        ('{kind = "fit"}', "node.multicast_efficiency.value"),
        ('{value = 0.5, kind = "guess"}', "node.multicast_efficiency.kind"),
        ('{value = 0.5, sorce = "x"}', "did you mean 'source'"),
    ],
)
def test_it_is_read_strictly(tmp_path: Path, given: str, expected: str) -> None:
    """As links are."""
    with pytest.raises(ConfigError, match=expected):
        Cluster.load(write(tmp_path, given))
