"""A recognised shape is the same machine as its links one by one."""

from __future__ import annotations

from pathlib import Path

import pytest

from collsim import algorithms
from collsim.core.cluster import Cluster
from collsim.engine.simulate import simulate
from collsim.interop import topology_file
from collsim.interop.topology._shapes import Shape, _even

DATA = Path(__file__).resolve().parent / "data"
SHAPED = [
    "ampere_mesh.xml", "cloud_pci_only.xml", "graph_ring_of_4.xml", "hopper_nvswitch.xml",
    "nccl_graph_dump_2_ranks_one_gpu.xml", "nccl_topology_dump_2_ranks_one_gpu.xml",
    "smi_cube_mesh.txt", "smi_new_raw.txt", "smi_old_soc.txt",
]  # fmt: skip


def times(cluster: Cluster) -> list[float]:
    """Return makespans of algorithms that use links in different ways, in us."""
    found: list[float] = []
    for collective, name in (
        ("all_reduce", "ring"),
        ("broadcast", "mst"),
        ("all_to_all", "linear"),
        ("all_gather", "linear"),
    ):
        schedule = algorithms.build(collective, name, cluster.ranks)
        spans = [simulate(schedule, cluster, n).makespan for n in (0, 1 << 20, 1e9)]
        found += [span * 1e6 for span in spans]
    return found


def costs(cluster: Cluster) -> list[tuple[float, float]]:
    """Return alpha and beta of a message between every two ranks."""
    links = cluster.links
    routes = [
        list(cluster.route(a, b))
        for a in range(cluster.ranks)
        for b in range(cluster.ranks)
        if a != b
    ]
    return [(float(links.alpha[r].sum()), float(links.beta[r].max())) for r in routes]


@pytest.mark.parametrize("name", SHAPED)
def test_same_times_as_link_by_link(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every message alone, and four algorithms at three sizes."""
    clusters = []
    for attempt in ("as it is", "listed"):
        found = topology_file.import_topology(DATA / name)
        path = tmp_path / f"{attempt}.toml"
        path.write_text(found.text, encoding="utf-8")
        clusters.append(Cluster.load(path))
        assert (found.shape == "links") == (attempt == "listed")
        monkeypatch.setattr(topology_file, "recognise", lambda *_: Shape("links"))
    shaped, listed = clusters
    for one, other in zip(costs(shaped), costs(listed), strict=True):
        assert one == pytest.approx(other, rel=1e-12)
    # Of several ways that are equally good, a shape may take another one.
    if found.name not in {"graph_ring_of_4", "smi_cube_mesh"}:
        assert times(shaped) == pytest.approx(times(listed), rel=1e-12)


def test_groups_must_follow_each_other() -> None:
    """The last may be smaller, and nothing else."""
    sizes = {g: _even(list(g)) for g in ("aabb", "aaba", "abab", "aabbc", "abb", "a")}
    assert sizes == {"aabb": 2, "aaba": 0, "abab": 0, "aabbc": 2, "abb": 0, "a": 1}
