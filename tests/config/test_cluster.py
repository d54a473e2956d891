"""Cluster files: usual and unusual ones, sizes from outside, and every way to be wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from collsim.config.cluster import find_spec, load
from collsim.core.cluster import Cluster
from collsim.errors import ConfigError, InputError, UnknownNameError, UsageError

FIVE_LINES = """\
schema = "collsim/cluster/1"
name = "mine"
[node]
shape = "switch"
gpus = 4
link = "nvlink4"
"""
EXAMPLE = """\
schema = "collsim/cluster/1"
name = "four-node-example"
[node]
shape = "switch"
gpus = 8
link = "nvlink4"
multicast = true
[network]
shape = "rails"
nodes = 4
nics = 8
link = "ndr400"
oversubscription = 1.0
"""
INLINE = FIVE_LINES.replace(
    '"nvlink4"', '{alpha = "2us", bandwidth = "100GB/s", alpha_busy = "0us"}'
)
COUNT = "a whole number from 1 to 1048576"


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder; return the path of ``my.toml`` in it."""
    monkeypatch.chdir(tmp_path)
    return tmp_path / "my.toml"


def test_a_usual_machine_takes_a_few_lines(write: Path) -> None:
    """Name, shape, GPUs and a link of the presets."""
    write.write_text(FIVE_LINES)
    cluster = load("my.toml")
    assert (cluster.name, cluster.ranks, cluster.nodes) == ("mine", 4, 1)
    assert cluster.uniform == (3.4e-6, 1 / 450e9)
    assert len(cluster.links) == 8


def test_the_documented_example(write: Path) -> None:
    """A switch inside, rails between; four nodes unless overridden."""
    write.write_text(EXAMPLE)
    cluster = load(write)
    assert (cluster.ranks, cluster.nodes, cluster.multicast) == (32, 4, True)
    assert [c.name for c in cluster.links.classes] == ["nvlink4", "ndr400"]
    assert load(write, nodes=2, gpus_per_node=4).ranks == 8


def test_a_link_by_its_numbers(write: Path) -> None:
    """Numbers in place of a preset's name; the file is their source."""
    write.write_text(INLINE)
    (link,) = load("./my.toml").links.classes
    assert (link.name, link.alpha, link.bandwidth, link.busy) == ("link", 2e-6, 100e9, 0)
    assert (link.source, link.kind) == ("given in ./my.toml", "assumption")


def test_numbers_with_sources_of_their_own(write: Path) -> None:
    """The link says where each is from, and is no better than the weakest."""
    numbers = '{alpha = {value = "1us", source = "a guess"}, bandwidth = "1GB/s", \
source = "a paper", kind = "fit"}'
    write.write_text(FIVE_LINES.replace('"nvlink4"', numbers))
    (link,) = load("my.toml").links.classes
    assert link.source == "bandwidth (fit): a paper | alpha (fit): a guess"
    assert link.kind == "fit"


def test_costs_beside_links(write: Path) -> None:
    """Time per byte reduced and per collective; 0 without."""
    write.write_text(f'{FIVE_LINES}[cost]\ngamma = "0.002ns/B"\nlaunch = "5us"\n')
    cluster = load("my.toml")
    assert (cluster.gamma, cluster.launch) == (2e-12, 5e-6)
    assert load("dgx-h100").gamma == load("dgx-h100").launch == 0


@pytest.mark.parametrize("text", ["0", '"0"', '"0us"', "0.0"])
def test_an_alpha_of_zero_is_legal(write: Path, text: str) -> None:
    """Zero needs no unit."""
    link = f'{{alpha = {text}, bandwidth = "1GB/s"}}'
    write.write_text(FIVE_LINES.replace('"nvlink4"', link))
    assert load("my.toml").uniform == (0.0, 1e-9)


def test_one_node_has_no_network() -> None:
    """`--nodes 1` is the node alone, though its file knows how to join more."""
    assert load("dgx-h100", nodes=1).links.names == load("dgx-h100").links.names
    assert load("dgx-h100").uniform is not None
    assert load("dgx-h100", nodes=2).uniform is None


def test_more_nodes_are_rails() -> None:
    """NIC i of every node on leaf i: one up and one down link per GPU more."""
    cluster = load("dgx-a100", nodes=3)
    assert (cluster.ranks, cluster.nodes, len(cluster.links)) == (24, 3, 96)
    names = [cluster.links.names[i] for i in cluster.route(1, 17)]
    assert names == ["nic[1].up", "nic[17].down"]


def test_fewer_gpus_per_node_have_fewer_nics() -> None:
    """One NIC per GPU stays one per GPU."""
    cluster = load("dgx-h100", nodes=2, gpus_per_node=4)
    assert [cut.out_rate for cut in cluster.cuts if cut.name == "node"] == [4 * 50e9]


def test_ranks_are_gpus_of_one_node() -> None:
    """The first P of them; the file's own number of nodes plays no part."""
    cluster = load("dgx-h100", ranks=3)
    assert (cluster.ranks, cluster.nodes, cluster.uniform) == (3, 1, (3.4e-6, 1 / 450e9))
    assert cluster.cuts[0].group.tolist() == [0, 1, 2]
    assert load("dgx-h100", ranks=8).shape == "one node, 8 GPUs on a switch"
    assert load("dgx-h100", ranks=16, gpus_per_node=16).ranks == 16


def test_ranks_of_a_file_with_several_nodes(write: Path) -> None:
    """They are taken from one of its nodes."""
    write.write_text(EXAMPLE)
    assert load("my.toml", ranks=2).nodes == 1
    with pytest.raises(InputError, match=r"one node of four-node-example has 8 GPUs"):
        load("my.toml", ranks=9)


@pytest.mark.parametrize("ranks", [1, 2, 7, 128])
def test_an_ideal_network_takes_any_number_of_ranks(ranks: int) -> None:
    """There is no node that could be full."""
    cluster = load("textbook-h100", ranks=ranks)
    assert (cluster.ranks, cluster.shape) == (ranks, "ideal one-port network")
    assert load("textbook-h100", gpus_per_node=ranks).ranks == ranks


def test_core_finds_the_reader() -> None:
    """`Cluster.load` is this function."""
    assert Cluster.load("dgx-h100", nodes=2).ranks == load("dgx-h100", nodes=2).ranks


def test_what_a_file_says_can_be_read_without_building() -> None:
    """Lists need name and summary only."""
    spec = find_spec("textbook-h100")
    assert (spec.name, spec.elastic, spec.network) == ("textbook-h100", True, None)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"ranks": 16},
            (
                "ranks: got 16, but one node of dgx-h100 has 8 GPUs; take more "
                "nodes with nodes, --nodes"
            ),
        ),
        ({"ranks": 0}, f"ranks: got 0, expected {COUNT}"),
        ({"nodes": -1}, f"nodes: got -1, expected {COUNT}"),
        ({"nodes": True}, f"nodes: got True, expected {COUNT}"),
        ({"gpus_per_node": 2.0}, f"gpus_per_node: got 2.0, expected {COUNT}"),
        (
            {"nodes": 2**18},
            "nodes: 262144 of 8 GPUs in dgx-h100 are 2097152 ranks, expected at most 1048576",
        ),
    ],
)
def test_sizes_that_a_cluster_does_not_have(arguments: dict[str, int], message: str) -> None:
    """The error names the argument, and what to do instead."""
    with pytest.raises(InputError) as error:
        load("dgx-h100", **arguments)
    assert str(error.value) == message


def test_ranks_and_nodes_contradict_each_other() -> None:
    """Wrong usage, exit 2: ranks are GPUs of one node."""
    with pytest.raises(
        UsageError, match=r"^ranks \(--ranks\) takes .* with nodes \(--nodes\)$"
    ):
        load("dgx-h100", ranks=2, nodes=2)


def test_an_ideal_network_has_no_nodes() -> None:
    """The error says how it is sized."""
    with pytest.raises(InputError, match=r"textbook-h100 is an ideal network .* --ranks$"):
        load("textbook-h100", nodes=2)


def test_nodes_need_a_network(write: Path) -> None:
    """A file without [network] is one node."""
    write.write_text(FIVE_LINES)
    expected = (
        r"^my.toml: nodes: got 2, but there is no \[network\] that joins nodes; e.g. --set "
        r"network.shape=star --set network.link=roce100 --set network.nics=1$"
    )
    with pytest.raises(ConfigError, match=expected):
        load("my.toml", nodes=2)


def test_an_unknown_preset_names_the_nearest() -> None:
    """And lists what there is."""
    with pytest.raises(
        UnknownNameError, match=r"^unknown cluster 'dgxh100'; did you mean 'dgx-h100'\? "
    ):
        load("dgxh100")


def test_a_switch_that_multicasts_at_a_part_of_the_bandwidth(write: Path) -> None:
    """All of it unless the file says otherwise; of no use where the switch can't."""
    found = []
    for more in ("", "multicast_efficiency = 0.5"):
        write.write_text(EXAMPLE.replace("multicast = true", f"multicast = true\n{more}"))
        inside = load(write).in_switch
        assert inside is not None
        found.append((inside.efficiency, inside.up.size))
    assert found == [(1.0, 32), (0.5, 32)]
    assert load(write, changes={"node.multicast": False}).in_switch is None
    changed = load(write, ranks=4, changes={"node.multicast_efficiency": 0.25}).in_switch
    assert changed is not None
    assert (changed.efficiency, changed.up.size) == (0.25, 4)
