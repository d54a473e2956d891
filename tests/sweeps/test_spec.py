"""Grids are read strictly, and tell one from another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from collsim.config.document import Table
from collsim.errors import CollsimError, ConfigError
from collsim.sweeps.point import Change, Place, run
from collsim.sweeps.spec import Grid, read_grid, table_grid

ROOT = Path(__file__).resolve().parents[2]
SMALL: dict[str, Any] = {
    "collectives": "all_reduce",
    "sizes": ["1KiB"],
    "clusters": [{"cluster": "dgx-h100"}],
}


def grid(**changed: Any) -> Grid:
    """Return a small grid with some keys changed."""
    return table_grid(Table("my.toml", SMALL | changed))


def test_a_family_is_asked_for_by_its_name() -> None:
    """As auto and all; whether a collective has some of it is no question."""
    kinds = ["all_reduce", "gather"]
    found = grid(algorithms=["nccl", "auto", "all"], collectives=kinds, sizes=["64MiB"])
    assert [p.algorithm for p in found.points] == ["nccl", "auto", "all"] * 2
    rows = {(p.collective, p.algorithm): run(p)[0] for p in found.points}
    assert rows["gather", "nccl"]["algorithm"] == "direct"
    assert rows["all_reduce", "nccl"]["time_us"] >= rows["all_reduce", "auto"]["time_us"]


def test_order_is_clusters_changes_collectives_algorithms() -> None:
    """The last of them goes fastest, and points are numbered."""
    found = grid(
        collectives=["allreduce", "broadcast"],
        algorithms=["ring", "mst"],
        clusters=[{"cluster": "dgx-h100", "nodes": [1, 2]}, {"cluster": "pcie-8"}],
        changes=[{"name": "a"}, {"name": "b", "fail": "nic[0]"}],
    )
    told = [
        (p.place.name, p.place.nodes, p.change.name, p.collective, p.algorithm)
        for p in found.points
    ]
    assert len(told) == 3 * 2 * 2 * 2
    assert told[:5] == [
        ("dgx-h100", 1, "a", "all_reduce", "ring"),
        ("dgx-h100", 1, "a", "all_reduce", "mst"),
        ("dgx-h100", 1, "a", "broadcast", "ring"),
        ("dgx-h100", 1, "a", "broadcast", "mst"),
        ("dgx-h100", 1, "b", "all_reduce", "ring"),
    ]
    assert told[-1] == ("pcie-8", None, "b", "broadcast", "mst")
    assert [p.number for p in found.points] == list(range(24))
    assert {p.sweep for p in found.points} == {found.name}


@pytest.mark.parametrize(
    ("given", "sizes"),
    [
        ("1MiB", (2**20,)),
        ([0, "1kB"], (0, 1000)),
        ({"from": 8, "to": "64"}, (8, 16, 32, 64)),
        ({"from": 0, "to": 9, "factor": 3}, (0, 1, 3, 9)),
        ({"from": "1KiB", "to": 4000, "step": "1KiB"}, (1024, 2048, 3072)),
    ],
)
def test_sizes_as_a_list_or_a_range(given: Any, sizes: tuple[int, ...]) -> None:
    """In bytes, or as text with a unit."""
    assert grid(sizes=given).points[0].sizes == sizes


def test_all_keys_of_a_change_and_of_a_cluster() -> None:
    """Shares are numbers, times have units, and what is not said stays open."""
    (point,) = grid(
        clusters=[{"alpha": "2us", "bandwidth": "50GB/s", "ranks": 4}],
        changes=[
            {
                "name": "hurt", "set": "sharing=fair", "degrade": {"nic[0]": 0.5},
                "fail": ["nic[1]"], "delay": {"rank[2]": "3us"},
            }
        ],
        root=3, dtype="half", op="max", model="event", chunks=[1, 2], channels=1,
    ).points  # fmt: skip
    assert point.place == Place(ranks=4, alpha=2e-6, bandwidth=50e9)
    assert point.change == Change(
        "hurt", ("sharing=fair",), (("nic[0]", 0.5),), ("nic[1]",), (("rank[2]", 3e-6),)
    )
    assert dict(point.run) == {
        "root": 3, "dtype": "half", "op": "max", "model": "event", "chunks": (1, 2),
        "channels": (1,),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"colectives": 1}, "colectives: unknown key; did you mean 'collectives'?"),
        ({"collectives": "all_reduze"}, "collectives: unknown collective 'all_reduze'"),
        ({"collectives": []}, "collectives: an empty list"),
        ({"collectives": ["allreduce", "all_reduce"]}, "collectives: all_reduce stands twice"),
        ({"algorithms": ["rong"]}, "algorithms: unknown algorithm 'rong'; did you mean 'ring'"),
        ({"algorithms": 3}, "algorithms: got 3, expected text"),
        ({"sizes": ["8 bananas"]}, "sizes: size '8 bananas': expected"),
        ({"sizes": {"form": 8}}, "sizes.form: unknown key; did you mean 'from'?"),
        ({"sizes": {"from": 8, "to": 4}}, "sizes: from 8 is above to 4"),
        ({"sizes": {"factor": 1}}, "sizes.factor: got 1, expected a whole number from 2 up"),
        ({"sizes": {"step": 0}}, "sizes.step: got 0, expected a size from 1 byte up"),
        ({"sizes": {"step": 8, "factor": 2}}, "sizes: has factor and step"),
        ({"sizes": {"to": "1TiB", "step": 1}}, "sizes: more than 5,000,000 of them"),
        ({"sizes": [True]}, "sizes: got true, expected a size"),
        ({"clusters": "dgx-h100"}, "clusters: got 'dgx-h100', expected tables"),
        ({"clusters": [3]}, "clusters[0]: got 3, expected a table"),
        ({"clusters": [{"cluster": "dgx"}]}, "clusters[0].cluster: unknown cluster 'dgx'"),
        ({"clusters": [{"cluster": "./no.toml"}]}, "clusters[0].cluster: ./no.toml: No such"),
        ({"clusters": [{"nods": 2}]}, "clusters[0].nods: unknown key; did you mean 'nodes'?"),
        ({"clusters": [{"nodes": 2}]}, "clusters[0].cluster: missing"),
        ({"clusters": [{"alpha": "1us"}]}, "clusters[0].bandwidth: missing"),
        (
            {"clusters": [{"alpha": "1us", "bandwidth": "1GB/s", "nodes": 2}]},
            "clusters[0].nodes: an ideal network has none",
        ),
        ({"clusters": [{"cluster": "dgx-h100", "nodes": 0}]}, "clusters[0].nodes: got 0"),
        (
            {"clusters": [{"cluster": "dgx-h100", "nodes": 2, "ranks": 2}]},
            "clusters[0]: ranks takes GPUs of one node",
        ),
        ({"changes": [{"set": "a=b"}]}, "changes[0].name: missing"),
        ({"changes": [{"name": "a", "set": "b"}]}, "changes[0].set: set: got 'b'"),
        (
            {"changes": [{"name": "a", "degrade": {"nic[0]": 2}}]},
            "changes[0].degrade.nic[0]: got 2, expected a number above 0 and at most 1",
        ),
        (
            {"changes": [{"name": "a", "delay": {"rank[0]": 3}}]},
            "changes[0].delay.rank[0]: got 3, expected a time",
        ),
        ({"changes": [{"name": "a"}, {"name": "a"}]}, "changes: 'a' is the name of two"),
        ({"root": -1}, "root: got -1, expected a rank from 0 up"),
        ({"dtype": "flaot"}, "dtype: unknown dtype 'flaot'"),
        ({"op": "plus"}, "op: got 'plus', expected one of sum"),
        ({"model": "guess"}, "model: got 'guess', expected one of event"),
        ({"chunks": [0]}, "chunks: got 0, expected a whole number"),
    ],
)
def test_what_can_not_be_is_refused(changed: dict[str, Any], message: str) -> None:
    """In one line, with the file, the key and what was expected."""
    with pytest.raises(ConfigError) as refused:
        grid(**changed)
    assert str(refused.value).startswith(f"my.toml: {message}")
    assert "\n" not in str(refused.value)


def test_what_is_missing_is_named() -> None:
    """There is no default for what runs, how much, and where."""
    for key in SMALL:
        left = {k: value for k, value in SMALL.items() if k != key}
        with pytest.raises(ConfigError, match=f"my.toml: {key}: missing"):
            table_grid(Table("my.toml", left))


def test_cluster_files_are_found_from_the_grid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever the program is started; their content is part of the grid's name."""
    home = tmp_path / "home"
    home.mkdir()
    cluster = home / "mine.toml"
    text = (ROOT / "configs" / "clusters" / "dgx-a100.toml").read_text()
    cluster.write_text(text)
    file = home / "grid.toml"
    file.write_text(
        'schema = "collsim/grid/1"\ncollectives = "all_reduce"\nsizes = [8]\n'
        '[[clusters]]\ncluster = "./mine.toml"\n'
    )
    names = []
    for folder, path in ((tmp_path, "home/grid.toml"), (home, "grid.toml"), (home, str(file))):
        monkeypatch.chdir(folder)
        found = read_grid(path)
        assert found.points[0].change.of(found.points[0].place).ranks == 8
        names.append(found.name)
    assert len(set(names)) == 1
    cluster.write_text(text + "# another\n")
    assert read_grid("grid.toml").name != names[0]
    cluster.write_text("schema = 3")
    with pytest.raises(CollsimError, match=r"clusters\[0\]\.cluster: .*mine.toml: schema"):
        read_grid("grid.toml")


def test_any_change_makes_another_grid() -> None:
    """Also one that changes no number of points."""
    names = {
        grid(**changed).name
        for changed in (
            {}, {"sizes": ["2KiB"]}, {"algorithms": "ring"}, {"root": 1},
            {"changes": [{"name": "a"}]}, {"clusters": [{"cluster": "dgx-h100", "nodes": 1}]},
        )
    }  # fmt: skip
    assert len(names) == 6
    assert grid().name == grid().name


def test_the_example_is_a_grid() -> None:
    """Two machines in two sizes, three changes, 2 x 2 questions."""
    found = read_grid(str(ROOT / "examples" / "sweep.toml"))
    assert len(found.points) == (2 * 2) * 3 * 2 * 2
    assert found.points[0].sizes == (2**10, 2**15, 2**20, 2**25, 2**30)
