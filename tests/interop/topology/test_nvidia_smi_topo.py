"""The text of nvidia-smi topo -m, in all its layouts."""

from __future__ import annotations

from typing import Any

import pytest

from collsim.errors import FileError
from collsim.interop.topology.nvidia_smi_topo import read


def rate(cluster: Any, src: int, dst: int) -> float:
    """Return GB/s of the slowest link of a route."""
    return float(min(round(1e-9 / cluster.links.beta[i], 3) for i in cluster.route(src, dst)))


def table(*rows: str) -> bytes:
    """Return rows as a text."""
    return "\n".join(rows).encode()


def test_raw_output_of_today(load: Any) -> None:
    """Tabs, an underlined header, a NIC legend; NV18 to three GPUs is NVSwitch."""
    found, cluster = load("smi_new_raw.txt")
    assert (found.shape, cluster.ranks, rate(cluster, 0, 3)) == ("switch", 4, 450.0)
    assert "2 network cards: mlx5_0, mlx5_bond_0" in found.read


def test_old_output(load: Any) -> None:
    """SOC is SYS; PIX and PXB are below one switch each, and each has a socket."""
    found, cluster = load("smi_old_soc.txt")
    assert (found.shape, cluster.ranks) == ("pcie_tree", 4)
    assert (rate(cluster, 0, 1), rate(cluster, 0, 2)) == (31.51, 16.0)
    assert found.read[0] == "4 GPUs; of their pairs 1 PIX, 1 PXB, 4 SYS"


def test_eight_v100(load: Any) -> None:
    """NV1 and NV2 wired as in a DGX-1, and no PCIe: pairs without go through a GPU."""
    found, cluster = load("smi_cube_mesh.txt")
    assert found.shape == "hybrid_cube_mesh"
    assert (rate(cluster, 0, 1), rate(cluster, 0, 3), rate(cluster, 0, 7)) == (25, 50, 50)


def test_glued_and_missing_cells(load: Any) -> None:
    """Cells stuck together or to an affinity, one missing between tabs, no first tab."""
    found, cluster = load("smi_glued.txt")
    assert found.read[0] == "4 GPUs; of their pairs 2 NV2, 4 PHB"
    assert "1 missing cell is as on the other side of the diagonal" in found.assumed
    assert (rate(cluster, 0, 1), rate(cluster, 1, 2)) == (50.0, 31.51)


@pytest.mark.parametrize("lost", range(1, 4))
def test_a_cell_lost_between_blanks(load: Any, lost: int) -> None:
    """Where a row is too short, only what the diagonal makes sure of is read."""
    cells = [["X", "PIX", "SYS", "SYS"], ["PIX", "X", "SYS", "SYS"],
             ["SYS", "SYS", "X", "PHB"], ["SYS", "SYS", "PHB", "X"]]  # fmt: skip
    del cells[2][lost]
    rows = [f"GPU{i} {' '.join(row)} 0-{i}" for i, row in enumerate(cells)]
    found, _ = load(table("GPU0 GPU1 GPU2 GPU3 CPU Affinity", *rows))
    assert found.read[0] == "4 GPUs; of their pairs 1 PHB, 1 PIX, 4 SYS"


def test_no_header_and_other_words_around(load: Any) -> None:
    """Rows alone are enough; prompts, legends and line ends of Windows do not matter."""
    found, _ = load(b"$ nvidia-smi topo -m\r\nGPU0 X NV4\r\nGPU1 NV4 X\r\nLegend:\r\n X = Self")
    assert (found.shape, found.ranks) == ("full_mesh", 2)


def test_utf16_as_some_editors_save_it(load: Any) -> None:
    """With its byte order mark."""
    found, _ = load("GPU0 GPU1\nGPU0 X SYS\nGPU1 SYS X\n".encode("utf-16"))
    assert found.ranks == 2


def test_only_the_first_of_two_tables(load: Any) -> None:
    """The second is told of."""
    one = ("GPU0 GPU1", "GPU0 X NV4", "GPU1 NV4 X")
    found, _ = load(table(*one, "", *one))
    assert "a second table" in found.left_out


def test_pairs_of_nvlink_stand_under_one_cpu(load: Any) -> None:
    """0-1 and 2-3 have NVLink and SYS to the others: two CPUs, not four."""
    rows = ["GPU0 X NV4 SYS SYS", "GPU1 NV4 X SYS SYS", "GPU2 SYS SYS X NV4",
            "GPU3 SYS SYS NV4 X"]  # fmt: skip
    _, cluster = load(table("GPU0 GPU1 GPU2 GPU3 CPU Affinity", *rows))
    assert sorted(cluster.devices) == ["cpu[0]", "cpu[1]"]
    assert (rate(cluster, 0, 1), rate(cluster, 0, 2)) == (100.0, 15.75)


def test_a_table_that_contradicts_itself(load: Any) -> None:
    """0 and 1 share a CPU, so do 1 and 2, and then 0 and 2 do, whatever it says."""
    rows = ["GPU0 X NODE SYS", "GPU1 NODE X NODE", "GPU2 SYS NODE X"]
    found, cluster = load(table("GPU0 GPU1 GPU2", *rows))
    assert "the table contradicts itself: 1 pairs are nearer than SYS" in found.assumed
    assert rate(cluster, 0, 2) == 31.51


def test_one_side_of_the_diagonal_is_enough(load: Any) -> None:
    """The last row is cut."""
    rows = ("GPU0 GPU1 GPU2", "GPU0 X SYS SYS", "GPU1 SYS X SYS", "GPU2 SYS X")
    assert load(table(*rows))[0].ranks == 3


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (("GPU0 NIC0", "GPU0 X PIX", "NIC0 PIX X"), "nvidia-smi topo -m of one GPU"),
        (("GPU0 GPU1", "GPU0 X SYS", "GPU1 PIX X"), "GPU0 to GPU1 is SYS and GPU1 to GPU0"),
        (("GPU0 GPU1 GPU2", "GPU0 X SYS SYS"), "has no cell for GPU1 and GPU2"),
    ],
)
def test_what_cannot_be_told_is_said(load: Any, rows: tuple[str, ...], message: str) -> None:
    """In a line."""
    with pytest.raises(FileError, match=message):
        load(table(*rows))


@pytest.mark.parametrize("cell", ["NV999", "NV0", "NV19"])
def test_more_nvlinks_than_a_gpu_has(cell: str) -> None:
    """No count that a GPU can't have becomes a bandwidth."""
    text = table("GPU0 GPU1", f"GPU0 X {cell}", f"GPU1 {cell} X")
    with pytest.raises(
        FileError, match=f"GPU0 to GPU1 is {cell}, expected NV1 to NV18: no GPU"
    ):
        read("two.txt", text)
