"""Changes to what a cluster file says: read as strictly as the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from collsim.config.changes import EVERY_BUSY, parse_changes
from collsim.config.cluster import load
from collsim.core.cluster import Cluster
from collsim.errors import ConfigError, InputError

FILE = """schema = "collsim/cluster/1"
name = "mine"
[node]
shape = "switch"
gpus = 8
link = "nvlink4"
[network]
shape = "fat_tree"
nodes = 2
nics = 4
nodes_per_leaf = 2
link = {alpha = "5us", bandwidth = "50GB/s"}
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    """Return a cluster file."""
    path = tmp_path / "mine.toml"
    path.write_text(FILE)
    return str(path)


def bandwidths(cluster: Cluster) -> dict[str, float]:
    """Return GB/s by link class."""
    return {link.name: link.bandwidth / 1e9 for link in cluster.links.classes}


def test_values_are_read_as_toml_or_as_text() -> None:
    """Numbers, flags and lists as such; what is no TOML is text."""
    texts = ["a.b=4", "a.c=0.5", "a.d = true", "a.e=[1,2]", "a.f=ndr400", "a.g=1us", "a.b='x'"]
    assert parse_changes(texts) == {
        "a.b": "x", "a.c": 0.5, "a.d": True, "a.e": [1, 2], "a.f": "ndr400", "a.g": "1us",
    }  # fmt: skip


@pytest.mark.parametrize("text", ["", "a", "a=", "=1", " = "])
def test_a_change_has_a_key_and_a_value(text: str) -> None:
    """What was expected is said with an example."""
    with pytest.raises(InputError, match=r"expected KEY=VALUE such as network\.bandwidth="):
        parse_changes([text])


def test_a_number_of_a_preset_link() -> None:
    """The others stay what the preset says, and so does the name."""
    was = load("dgx-h100", nodes=2)
    now = load("dgx-h100", nodes=2, changes={"network.bandwidth": "100GB/s"})
    assert bandwidths(now) == bandwidths(was) | {"ndr400": 100}
    assert now.least_alpha == was.least_alpha
    assert now.links.classes[0] == was.links.classes[0]
    slow = load("dgx-h100", nodes=2, changes={"node.alpha": "9us", "network.alpha_busy": 0})
    assert slow.least_alpha == 9e-6
    assert slow.least_busy == 0


def test_a_number_of_a_link_that_is_given_by_numbers(file: str) -> None:
    """And the link of another key by its whole name."""
    assert bandwidths(load(file, changes={"network.bandwidth": "1GB/s"}))["nic"] == 1
    changes = {"network.trunk_link": "ndr400", "network.trunk_link.bandwidth": "7GB/s"}
    assert bandwidths(load(file, changes=changes))["ndr400 uplink"] >= 7


def test_keys_that_the_file_leaves_out(file: str) -> None:
    """Defaults can be changed, and whole links."""
    changes = {"network.oversubscription": 2, "node.link": "nvlink3", "cost.launch": "3us"}
    cluster = load(file, changes=changes)
    assert "oversubscribed 2:1" in cluster.shape
    assert "nvlink3" in bandwidths(cluster)
    assert cluster.launch == 3e-6


def test_sizes(file: str) -> None:
    """NICs go with the GPUs unless they are given; options win."""
    assert load(file, changes={"node.gpus": 4}).shape.startswith("2 nodes of 4 GPUs")
    assert "2 NICs for 4 GPUs" in load(file, changes={"node.gpus": 4}).shape
    both = {"node.gpus": 4, "network.nics": 4}
    assert "one NIC per GPU" in load(file, changes=both).shape
    assert load(file, changes={"network.nodes": 3}).nodes == 3
    assert load(file, nodes=5, changes={"network.nodes": 3}).nodes == 5
    assert load("dgx-h100", changes={"node.gpus": 4}, nodes=2).ranks == 8


def test_the_preset_itself_stays() -> None:
    """Nothing of a change is left behind."""
    load("dgx-h100", nodes=2, changes={"network.bandwidth": "100GB/s", "node.gpus": 2})
    assert bandwidths(load("dgx-h100", nodes=2))["ndr400"] == 50
    assert load("dgx-h100", nodes=2).ranks == 16


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        (
            "network.bandwith",
            "1GB/s",
            "network.bandwith: unknown key; did you mean 'bandwidth'",
        ),
        ("network.nisc", 4, "network.nisc: unknown key; did you mean 'nics'"),
        ("netwrok.nics", 4, "netwrok: unknown key; did you mean 'network'"),
        ("nics", 4, "nics: unknown key"),
        ("network", 4, "network: is a table, expected network.KEY"),
        ("network.link.bandwidht", "1GB/s", "bandwidht: unknown key; did you mean 'bandwidth'"),
        ("network.lnik.bandwidth", "1GB/s", "network.lnik: unknown key; did you mean 'link'"),
        ("network.nics.bandwidth", "1GB/s", "network.nics: got 4, expected a link"),
        ("network.bandwidth", "100", "bandwidth: got '100', expected a bandwidth"),
        ("network.bandwidth", 100, "bandwidth: got 100, expected a bandwidth"),
        (
            "network.oversubscription",
            "x",
            "oversubscription: got 'x', expected a finite number",
        ),
        ("node.gpus", 0, "node.gpus: got 0, expected a whole number"),
        ("node.link", "nvlnk4", "did you mean 'nvlink4'"),
        ("node.shape", "swich", "did you mean 'switch'"),
        ("cost.lunch", "1us", "cost.lunch: unknown key; did you mean 'launch'"),
        ("schema", "x", "schema: unknown key"),
    ],
)
def test_changes_are_strict(file: str, key: str, value: object, message: str) -> None:
    """The key, what was got, what was expected, the nearest name."""
    with pytest.raises(ConfigError, match=message):
        load(file, changes={key: value})


def test_a_table_that_is_not_there() -> None:
    """A machine without a network can't be given one by a number."""
    with pytest.raises(ConfigError, match=r"network.bandwidth: there is no \[network\] in it"):
        load("textbook-h100", changes={"network.bandwidth": "1GB/s"})


def test_sharing_can_be_set() -> None:
    """As a file says it, and as strictly; it is no table."""
    assert Cluster.load("dgx-h100", changes={"sharing": "fair"}).sharing == "fair"
    assert Cluster.load("dgx1-v100", changes={"sharing": "fifo"}).sharing == "fifo"
    with pytest.raises(ConfigError, match="sharing"):
        load("dgx-h100", changes={"sharing": "both"})
    with pytest.raises(ConfigError, match="unknown key"):
        load("dgx-h100", changes={"sharing.mode": "fair"})


def test_a_shape_makes_a_network(tmp_path: Path) -> None:
    """Where the file has none: with a link, whose numbers can be set in any order."""
    path = tmp_path / "one.toml"
    path.write_text(FILE.partition("[network]")[0])
    new: dict[str, object] = {"network.shape": "rails", "network.link": "hdr200"}
    faster = {"network.bandwidth": "30GB/s", **new}
    assert bandwidths(load(path, nodes=2, changes=new))["hdr200"] == 25
    assert bandwidths(load(path, nodes=2, changes=faster))["hdr200"] == 30
    with pytest.raises(ConfigError, match=r"network\.link: missing"):
        load(path, nodes=2, changes={"network.shape": "rails"})
    with pytest.raises(ConfigError, match="unknown key"):
        load(path, nodes=2, changes={**new, "network.nic": 4})
    with pytest.raises(ConfigError, match=r"set network\.shape and network\.link, too"):
        load(path, nodes=2, changes={"network.link": "hdr200"})


def busy(cluster: Cluster) -> dict[str, float]:
    """Return us by link class."""
    return {link.name: link.busy * 1e6 for link in cluster.links.classes}


def test_alpha_busy_of_every_link(file: str, tmp_path: Path) -> None:
    """Of a preset's name and of a table, and of links one by one; what names one link holds."""
    assert busy(load(file, changes={EVERY_BUSY: "1us"})) == {
        "nvlink4": 1.0, "nic": 1.0, "host": 0.0, "uplink": 0.0,
    }  # fmt: skip
    own = {"network.alpha_busy": "2us", EVERY_BUSY: "0us"}
    assert busy(load(file, changes=own)) == {
        "nvlink4": 0.0, "nic": 2.0, "host": 0.0, "uplink": 0.0,
    }  # fmt: skip
    listed = tmp_path / "listed.toml"
    listed.write_text(
        'schema = "collsim/cluster/1"\nname = "two"\n'
        '[[links]]\nname = "there"\nsrc = 0\ndst = 1\nlink = "pcie4"\n'
        '[[links]]\nname = "back"\nsrc = 1\ndst = 0\nalpha = "4us"\nbandwidth = "9GB/s"\n'
    )
    assert set(busy(load(listed, changes={EVERY_BUSY: "0.5us"})).values()) == {0.5}


def test_alpha_busy_of_every_link_is_at_most_its_alpha(file: str) -> None:
    """The error names the link, and its alpha."""
    with pytest.raises(ConfigError, match=r"node\.link\.alpha_busy: got '4us', .* 3\.4us"):
        load(file, changes={EVERY_BUSY: "4us"})


def test_alpha_busy_that_is_asked_for_is_no_datasheets() -> None:
    """Where the number is from is said of it alone; the others keep their sources."""
    (link,) = load("dgx-h100", changes={EVERY_BUSY: "0us"}).links.classes
    assert link.source.endswith(" | alpha_busy (assumption): given in dgx-h100")
    (alone,) = load("dgx-h100", changes={"node.alpha_busy": "0us"}).links.classes
    assert alone == link


def test_a_number_without_its_table(file: str) -> None:
    """`alpha_busy` alone is of no link: the error names those that there are."""
    with pytest.raises(ConfigError, match=r"expected node\.alpha_busy or network\.alpha_busy$"):
        load(file, changes={"alpha_busy": "0us"})
    with pytest.raises(ConfigError, match=r"expected node\.bandwidth$"):
        load("textbook-h100", changes={"bandwidth": "1GB/s"})


def test_errors_of_a_changed_preset_name_it() -> None:
    """And not where it is installed."""
    with pytest.raises(ConfigError, match=r"^dgx-h100: network\.lnk: unknown key"):
        load("dgx-h100", changes={"network.lnk": "ndr400"})


def test_a_link_of_the_rate_is_meant() -> None:
    """Names of cards are no names of presets, but have their rate in common."""
    with pytest.raises(ConfigError, match="did you mean 'edr100' or 'efa100' or 'roce100'"):
        load("dgx-h100", changes={"network.link": "100gbe"})


def test_a_missing_shape_names_those_there_are(tmp_path: Path) -> None:
    """Of a node or a network, whichever lacks it."""
    path = tmp_path / "my.toml"
    path.write_text('schema = "collsim/cluster/1"\nname = "my"\n[node]\ngpus = 2\n')
    with pytest.raises(ConfigError, match=r"node\.shape: missing, expected one of full_mesh, "):
        load(path)
