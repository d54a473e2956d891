"""Clusters link by link: routes as given or shortest, and every way to be wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from collsim.algorithms import algorithm_names, build, refusal
from collsim.config.cluster import load
from collsim.core.cluster import Cluster
from collsim.core.collective import COLLECTIVES
from collsim.engine.bound import lower_bound
from collsim.engine.simulate import simulate
from collsim.errors import ConfigError, InputError

HEAD = 'schema = "collsim/cluster/1"\nname = "mine"\n'


def link(name: str, src: object, dst: object, more: str = "", numbers: str = "") -> str:
    """Return a table [[links]]."""
    ends = [end if isinstance(end, int) else f'"{end}"' for end in (src, dst)]
    cost = numbers or 'alpha = "1us"\nbandwidth = "10GB/s"'
    return f'[[links]]\nname = "{name}"\nsrc = {ends[0]}\ndst = {ends[1]}\n{cost}\n{more}\n'


def both(a: object, b: object, **rest: str) -> str:
    """Return a cable as two links."""
    return link(f"{a}>{b}", a, b, **rest) + link(f"{b}>{a}", b, a, **rest)


# 0 and 1 on switch a, 2 and 3 on switch b, and two ways from a to b.
FAST = 'alpha = "1us"\nbandwidth = "40GB/s"\nclass = "fast"'
MACHINE = (
    "".join(both(rank, "ab"[rank // 2]) for rank in range(4))
    + both("a", "b")
    + both("a", "via", numbers=FAST)
    + both("via", "b", numbers=FAST)
)
ROUTE = '[[routes]]\nsrc = 0\ndst = 3\nlinks = ["0>a", "a>via", "via>b", "b>3"]\n'


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder; return the path of ``my.toml`` in it."""
    monkeypatch.chdir(tmp_path)
    return tmp_path / "my.toml"


def names(cluster: Cluster, src: int, dst: int) -> list[str]:
    """Return the links of a route."""
    return [cluster.links.names[i] for i in cluster.route(src, dst)]


def read(file: Path, text: str) -> Cluster:
    """Return the cluster of a text."""
    file.write_text(HEAD + text)
    return load("my.toml")


def test_routes_are_given_or_shortest(file: Path) -> None:
    """The given one holds for its pair and direction alone; others have fewest links."""
    cluster = read(file, MACHINE + ROUTE)
    assert names(cluster, 0, 3) == ["0>a", "a>via", "via>b", "b>3"]
    assert names(cluster, 0, 2) == ["0>a", "a>b", "b>2"]
    assert names(cluster, 3, 0) == ["3>b", "b>a", "a>0"]
    assert (cluster.ranks, cluster.devices) == (4, ("a", "b", "via"))
    assert cluster.shape == "4 ranks, 14 links given one by one"
    assert cluster.least_alpha == 2e-6


def test_of_equally_long_ways_the_wider_then_the_first(file: Path) -> None:
    """The narrowest link of a way counts."""
    slow, wide = ('alpha = 0\nbandwidth = "1GB/s"', 'alpha = 0\nbandwidth = "9GB/s"')
    first = both(0, "x", numbers=wide) + both("x", 1, numbers=slow)
    second = both(0, "y") + both("y", 1)
    assert names(read(file, first + second), 0, 1) == ["0>y", "y>1"]
    same = both(0, "x") + both("x", 1)
    assert names(read(file, same + second), 0, 1) == ["0>x", "x>1"]
    assert names(read(file, second + same), 0, 1) == ["0>y", "y>1"]


def test_a_message_pays_every_alpha_and_the_slowest_link(file: Path) -> None:
    """Three links of 1 us, then 1 MB over 10 GB/s: 103 us."""
    cluster = read(file, MACHINE)
    timeline = simulate(build("sendrecv", "direct", 4), cluster, 1e6)
    assert timeline.makespan == pytest.approx(103e-6)


def test_links_are_of_classes(file: Path) -> None:
    """By `class`, by preset, or by their own name without numbers in brackets."""
    text = (
        link("up[0]", 0, "hub") + link("up[1]", 1, "hub")
        + link("down[0]", "hub", 0, numbers='link = "nvlink4"')
        + link("down[1]", "hub", "gpu[1]", numbers=FAST, more="lanes = 2")
    )  # fmt: skip
    cluster = read(file, text)
    kinds = [cluster.links.classes[k].name for k in cluster.links.kind]
    assert kinds == ["up", "up", "nvlink4", "fast"]
    assert cluster.links.lanes.tolist() == [1, 1, 1, 2]
    assert cluster.ranks == 2


def test_nodes_are_said_or_one(file: Path) -> None:
    """Devices nearest to one node count as inside it when its way out is measured."""
    cluster = read(file, "nodes = [[0, 1], [2, 3]]\n" + MACHINE)
    assert cluster.node.tolist() == [0, 0, 1, 1]
    cuts = {cut.name: (cut.out_rate, cut.in_rate) for cut in cluster.cuts}
    assert cuts["rank"] == pytest.approx((10e9, 10e9))
    assert cuts["node"] == pytest.approx((20e9, 20e9))  # not 10 + 40: two ranks send 20
    assert cluster.shape == "4 ranks on 2 nodes, 14 links given one by one"
    assert load("my.toml", ranks=2).ranks == 2
    with pytest.raises(InputError, match="one node of mine has 2 GPUs"):
        load("my.toml", ranks=3)


@pytest.mark.parametrize("nbytes", [0.0, 1e6])
def test_nothing_beats_the_bound_on_them(file: Path, nbytes: float) -> None:
    """Every algorithm; with nodes, a given route and lanes."""
    cluster = read(file, "nodes = [[0, 1], [2, 3]]\n" + MACHINE + ROUTE)
    for kind in COLLECTIVES:
        for algorithm in algorithm_names(kind):
            if refusal(kind, algorithm, 4, cluster.node) is None:
                schedule = build(kind, algorithm, 4, node=cluster.node)
                least = lower_bound(schedule.collective, cluster, nbytes)
                assert simulate(schedule, cluster, nbytes).makespan >= least * (1 - 1e-9)


def test_two_ranks_with_one_cable_obey_the_formulas(file: Path) -> None:
    """Nothing else does, as far as is known."""
    assert read(file, both(0, 1)).uniform == (1e-6, 1e-10)
    assert read(file, MACHINE).uniform is None
    assert read(file, 'sharing = "fair"\n' + both(0, 1)).uniform is None


def test_memory_and_sharing_in_a_usual_file(file: Path) -> None:
    """`local` in [node] goes with it to all nodes; `sharing` is a word at the top."""
    text = (
        'sharing = "fair"\n[node]\nshape = "switch"\ngpus = 2\nlink = "nvlink4"\n'
        'local = "hbm3"\n[network]\nshape = "star"\nnodes = 2\nlink = "ndr400"\n'
    )
    cluster = read(file, text)
    assert cluster.sharing == "fair"
    assert [names(cluster, r, r) for r in (0, 3)] == [["memory[0]"], ["memory[3]"]]
    assert [c.name for c in cluster.links.classes] == ["nvlink4", "hbm3", "ndr400"]
    assert load("my.toml", ranks=1).route(0, 0) == (4,)


PAIR = both(0, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (both(0, 1) + link("0>2", 0, 2), "no links lead from rank 2 to rank 0"),
        (PAIR + link("0>1", 0, 1), "links[2].name: got '0>1', expected a name of its own"),
        (link("x", 0, 0), "links[0].dst: got 0, expected another end than src"),
        (both(0, 2), "links: none joins rank 1, expected ranks numbered from 0 on"),
        (both("a", "b"), "links: none has a rank at its end, expected ranks numbered from 0"),
        ("links = 3\n", "links: got 3, expected tables, each with the head [[links]]"),
        (PAIR + link("x", -1, 0), "links[2].src: got -1, expected the number of a rank"),
        (PAIR + link("x", 0, 1, "lanes = 0"), "links[2].lanes: got 0, expected a whole number"),
        (PAIR + link("x", 0, 1, "colour = 1"), "links[2].colour: unknown key"),
        (PAIR + link("x", 0, 1, numbers='alpha = 0'), "links[2].bandwidth: missing"),
        (
            PAIR + link("x", 0, 1, 'link = "nvlink4"'),
            "links[2].alpha: got '1us', expected no such key beside `link`",
        ),
        (
            PAIR + link("x", 0, 1, 'class = "fast"') + link("y", 0, 1, numbers=FAST),
            "links[3]: class 'fast' had other numbers before, expected another class",
        ),
        ("[node]\n" + PAIR, "node: got a table, expected no such table beside [[links]]"),
        ("nodes = [[0]]\n" + PAIR, "nodes: got a list, expected lists of ranks, each of the 2"),
        ("nodes = [[0, true]]\n" + PAIR, "nodes: got a list, expected lists of ranks"),
        ("nodes = 1\n" + PAIR, "nodes: got 1, expected lists of ranks"),
        (
            "nodes = [[0]]\n[node]\nshape = 'switch'\n",
            "nodes: got a list, expected no such key without [[links]]",
        ),
        ('sharing = "best"\n' + PAIR, "sharing: got 'best', expected one of fifo, fair"),
        (
            MACHINE + ROUTE.replace('"a>via"', '"a>vai"'),
            "routes[0].links: got 'a>vai', expected the name of a link; did you mean 'a>via'?",
        ),
        (
            MACHINE + ROUTE.replace('"a>via", ', ""),
            "routes[0].links: got 'via>b', expected a link that begins at a",
        ),
        (
            MACHINE + ROUTE.replace(', "b>3"', ""),
            "routes[0].links: got a list, expected a route that ends at rank 3, not at b",
        ),
        (
            MACHINE + ROUTE.replace('"a>via"', '"a>0", "0>a", "a>via"'),
            "routes[0].links: got '0>a', expected a link that was not crossed before",
        ),
        (MACHINE + ROUTE * 2, "routes[1].dst: got 3, expected a pair of its own"),
        (MACHINE + ROUTE.replace("dst = 3", "dst = 4"), "routes[0].dst: got 4, expected"),
        (MACHINE + "[[routes]]\nsrc = 0\ndst = 1\n", "routes[0].links: missing, expected"),
    ],
)  # fmt: skip
def test_what_is_wrong(file: Path, text: str, message: str) -> None:
    """One line that names file, key, what was got and what was expected."""
    file.write_text(HEAD + text)
    with pytest.raises(ConfigError) as error:
        load("my.toml")
    assert str(error.value).startswith(f"my.toml: {message}")


@pytest.mark.parametrize("size", [{"nodes": 2}, {"gpus_per_node": 2}])
def test_their_size_is_fixed(file: Path, size: dict[str, int]) -> None:
    """Nothing says how a second node would be joined."""
    file.write_text(HEAD + MACHINE)
    with pytest.raises(ConfigError, match="links given one by one fix the number"):
        load("my.toml", **size)
