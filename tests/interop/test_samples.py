"""Real files: each imports and simulates, or says in one line why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from collsim import algorithms
from collsim.core.cluster import Cluster
from collsim.engine.simulate import simulate
from collsim.errors import FileError
from collsim.interop.topology_file import import_topology

DATA = Path(__file__).resolve().parent / "data"
OURS = sorted(path.name for path in DATA.iterdir() if path.suffix in {".xml", ".txt"})

# What comes out of the public files: shape and GPUs, or the reason.
SHAPES = {
    "aws-p4d-24xl-topo.xml": ("pcie_tree", 8),
    "constructed-small-sample.xml": ("switch", 1),
    "ibm-gx3d-8h100-dump.xml": ("switch", 8),
    "nc48v4-topo.xml": ("full_mesh", 2),
    "ndv4-topo.xml": ("pcie_tree", 8),
    "ndv5-topo.xml": ("pcie_tree", 8),
    "a100_8gpu_8nic_nv12_pxb.txt": ("switch", 8),
    "gpu1_6nic_container.txt": "of one GPU tells no speed of any link",
    "l40s_4gpu_pix_node.txt": ("pcie_tree", 4),
    "pcie_4gpu_pix_phb.txt": ("pcie_tree", 4),
    "pcie_6gpu_pix_node_sys.txt": ("pcie_tree", 6),
    "v100_sxm2_8gpu_hybridcube_dlperf.txt": ("hybrid_cube_mesh", 8),
    "nccl_topology_dump_2_ranks_one_gpu.xml": ("switch", 2),
    "nccl_graph_dump_2_ranks_one_gpu.xml": ("full_mesh", 2),
}


def try_out(path: Path, folder: Path) -> tuple[str, int] | str:
    """Import, load and simulate a file; return shape and GPUs, or the reason why not."""
    try:
        found = import_topology(path)
    except FileError as error:
        message = str(error)
        assert message.startswith(str(path))
        assert "\n" not in message
        return message
    file = folder / "cluster.toml"
    file.write_text(found.text, encoding="utf-8")
    cluster = Cluster.load(file)
    assert cluster.ranks == found.ranks
    schedule = algorithms.build("all_reduce", "ring", cluster.ranks)
    makespan = simulate(schedule, cluster, 1 << 20).makespan
    assert makespan > 0 or cluster.ranks == 1
    return found.shape, found.ranks


def public(shared_data: Path) -> list[Path]:
    """Return the files of others, and what was measured for this project."""
    folders = [shared_data / "public" / "topology", shared_data / "public" / "topo_m"]
    paths = [path for folder in folders for path in sorted(folder.iterdir())]
    ours = shared_data / "ours"
    return [*paths, *sorted(ours.glob("nccl_topology*")), *sorted(ours.glob("nccl_graph*"))]


def test_the_folder_has_its_samples(shared_data: Path) -> None:
    """A folder without them would make the next test say nothing."""
    assert len(public(shared_data)) >= 14
    assert {path.name for path in public(shared_data)} >= SHAPES.keys()


def test_every_sample_imports_or_says_why_not(shared_data: Path, tmp_path: Path) -> None:
    """Twelve public files and two of ours; one is of a single GPU without any speed."""
    for path in public(shared_data):
        got = try_out(path, tmp_path)
        wanted = SHAPES.get(path.name, got)
        if isinstance(wanted, str):
            assert isinstance(got, str)
            assert wanted in got
        else:
            assert got == wanted, path.name


@pytest.mark.parametrize("name", OURS)
def test_our_samples_import(name: str, tmp_path: Path) -> None:
    """All of them, and what comes out can be simulated."""
    assert isinstance(try_out(DATA / name, tmp_path), tuple)


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"<", b"<!--", b"<!-- <system> -->", b"\x00" * 99]
)
def test_what_is_of_no_format(data: bytes, tmp_path: Path) -> None:
    """The message lists the formats."""
    path = tmp_path / "a.xml"
    path.write_bytes(data)
    message = "of no format that collsim imports (NCCL graph XML, NCCL topology XML, nvidia"
    assert message in str(try_out(path, tmp_path))


def test_a_huge_file_is_refused_unread(tmp_path: Path) -> None:
    """More than 16 MiB describe no machine."""
    path = tmp_path / "a.xml"
    path.write_bytes(b" " * (16 * 2**20 + 1))
    assert str(try_out(path, tmp_path)).endswith("too large, expected at most 16777216 bytes")


@pytest.mark.parametrize(
    "prefix",
    [b"", b"\xef\xbb\xbf", b"<?xml version='1.0'?>", b"<!-- <graphs> -->", b"\n\n  "],
)
def test_formats_are_told_by_content(prefix: bytes, tmp_path: Path) -> None:
    """Not by the name, and past what may stand before the first tag."""
    path = tmp_path / "a.txt"
    path.write_bytes(prefix + (DATA / "ampere_mesh.xml").read_bytes())
    if prefix.isspace():
        path.write_bytes(path.read_bytes().replace(b"<?xml version='1.0'?>", b""))
    assert try_out(path, tmp_path) == ("full_mesh", 4)
