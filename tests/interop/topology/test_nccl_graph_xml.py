"""NCCL graph XML: rings and trees as NCCL found them."""

from __future__ import annotations

from typing import Any

import pytest

from collsim.errors import FileError


def hops(cluster: Any) -> dict[str, float]:
    """Return GB/s of every link."""
    links = cluster.links
    return {
        name: round(1e-9 / beta, 6) for name, beta in zip(links.names, links.beta, strict=True)
    }


def graph(channels: list[list[int]], **more: object) -> bytes:
    """Return a graph of rings of 10 GB/s."""
    given = {"pattern": 4, "speedintra": 10, "typeintra": "NVL", **more}
    head = " ".join(f'{key}="{value}"' for key, value in given.items())
    body = "".join(
        "<channel>" + "".join(f'<gpu dev="{g:x}"/>' for g in c) + "</channel>" for c in channels
    )
    return f"<graphs><graph {head}>{body}</graph></graphs>".encode()


def test_channels_of_a_hop_add_up(load: Any) -> None:
    """Two rings forward and two back: each hop has two channels of 20 GB/s, each way."""
    found, cluster = load("graph_ring_of_4.xml")
    assert found.shape == "ring"
    assert hops(cluster) == {
        f"gpu[{a}]>gpu[{b}]": 40.0
        for r in range(4)
        for a, b in ((r, (r + 1) % 4), ((r + 1) % 4, r))
    }
    assert "order of ranks in 2 of 4 channels: 3 2 1 0" in found.read
    assert found.left_out[0] == "the balanced tree, which uses the same cables in turn"


def test_the_dump_of_two_ranks(load: Any) -> None:
    """32 ring channels of 60 GB/s."""
    found, cluster = load("nccl_graph_dump_2_ranks_one_gpu.xml")
    assert (found.shape, cluster.uniform) == ("full_mesh", (5.7e-6, 1 / 1.92e12))


def test_rings_that_leave_the_node_stay_open(load: Any) -> None:
    """A chain of 0 to 3: the far ends talk through those between."""
    found, cluster = load("graph_two_nodes.xml")
    assert found.shape == "links"
    assert len(cluster.route(0, 3)) == 3
    assert hops(cluster)["gpu[0]>gpu[1]"] == 22.0
    assert any(said.startswith("2 network cards") for said in found.left_out)


def test_a_way_that_no_ring_takes_is_as_fast_as_back(load: Any) -> None:
    """Rings one way round only."""
    found, cluster = load(graph([[0, 1, 2, 3]] * 3))
    assert set(hops(cluster).values()) == {30.0}
    assert "a link is as fast in the direction that no channel uses" in found.assumed


def test_devices_are_hexadecimal(load: Any) -> None:
    """Twelve GPUs, the last of them b."""
    found, cluster = load(graph([list(range(12))]))
    assert cluster.ranks == 12
    assert "11 is GPU 11" in found.text


def test_a_tree_alone_will_do(load: Any) -> None:
    """Its channels are chains."""
    _, cluster = load(graph([[0, 1, 2]], pattern=1))
    assert sorted(hops(cluster)) == [
        "gpu[0]>gpu[1]", "gpu[1]>gpu[0]", "gpu[1]>gpu[2]", "gpu[2]>gpu[1]",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"<graphs/>", "NCCL graph XML without a ring or tree that has channels"),
        (graph([[0, 1]], pattern=5), "NCCL graph XML without a ring or tree that has channels"),
        (graph([[0, 0]]), "line 1: channel: lists a GPU twice, expected each once"),
        (graph([[0, 1]], speedintra="fast"), "speedintra is 'fast', expected GB/s"),
        (graph([[0]]), "NCCL graph XML of one GPU without a link"),
        (graph([[0, 1], [2, 3]]), "nothing in it joins GPU 0 to GPU 2"),
        (
            b'<graph pattern="4"><channel><gpu dev="zz"/></channel></graph>',
            "dev is 'zz', expected a hexadecimal number",
        ),
    ],
)
def test_bad_files_are_refused_in_a_line(load: Any, data: bytes, message: str) -> None:
    """With the place, where there is one."""
    with pytest.raises(FileError) as error:
        load(data)
    assert str(error.value).endswith(message)
