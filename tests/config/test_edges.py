"""Numbers and tables of files at the edge of what can be."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from collsim.config.changes import changed
from collsim.config.document import Table
from collsim.config.values import limited_time
from collsim.core.cluster import Cluster
from collsim.errors import CollsimError, ConfigError, InputError

HEAD = 'schema = "collsim/cluster/1"\nname = "mine"\n'
LINK = '{alpha = "1us", bandwidth = "10GB/s"}'


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            f'[node]\nshape = "torus"\nsides = 4\nlink = {LINK}',
            "node.sides: got 4, expected a li",
        ),
        (
            f'[node]\nshape = "torus"\nsides = []\nlink = {LINK}',
            "node.sides: got a list, expec",
        ),
        (f'[node]\nshape = "torus"\nsides = [2, 0]\nlink = {LINK}', "node.sides: got a list"),
        (
            '[[links]]\nname = "a"\ndst = 1\nalpha = "1us"\nbandwidth = "1GB/s"',
            "links[0].src: missing, expected the number of a rank",
        ),
    ],
)
def test_what_a_cluster_cannot_be(body: str, message: str, tmp_path: Path) -> None:
    """The key, what it has, and what it takes."""
    path = tmp_path / "mine.toml"
    path.write_text(HEAD + body + "\n")
    with pytest.raises(ConfigError, match=re.escape(message)):
        Cluster.load(str(path))


def test_zero_needs_no_unit(tmp_path: Path) -> None:
    """Of a time, and of a time per byte in two spellings."""
    for gamma in ("0", '"0"', '"0ns/B"'):
        path = tmp_path / "mine.toml"
        node = f'[node]\nshape = "switch"\ngpus = 2\nlink = {LINK}\n'
        path.write_text(f"{HEAD}{node}[cost]\ngamma = {gamma}\nlaunch = 0\n")
        cluster = Cluster.load(str(path))
        assert (cluster.gamma, cluster.launch) == (0.0, 0.0)


def test_times_that_no_machine_has() -> None:
    """The words are those of files."""
    with pytest.raises(InputError, match="got '1e30s', expected a time of at most 1e9s"):
        limited_time("1e30s")


def test_a_change_in_what_is_no_table() -> None:
    """The file's own fault is named, not that of the change."""
    with pytest.raises(ConfigError, match="node: got 3, expected a table"):
        changed(Table("my.toml", {"node": 3}), {"node.gpus": 4})


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('parameters."link.alpha" = 3', "got 3, expected a table with value and unit"),
        ('algorithm = "bruck:radix=0"', "radix"),
        (
            'errors.held_out = {kind = "sizes", median = 0.1, p90 = 0.2, n = 0}',
            "errors.held_out: n: got 0",
        ),
    ],
)
def test_profiles_that_say_what_cannot_be(line: str, message: str, tmp_path: Path) -> None:
    """Each by its key."""
    from collsim.config.profile import loads

    ab = 'parameters."link.beta" = {value = 1e-11, unit = "s/B"}\n'
    more = (
        "" if "link.alpha" in line else 'parameters."link.alpha" = {value = 1e-6, unit = "s"}\n'
    )
    text = f'schema = "collsim/profile/1"\nname = "p"\n{line}\n{ab}{more}'
    with pytest.raises(CollsimError, match=message):
        loads(text, "p.toml")
