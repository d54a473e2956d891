"""Real logs with every quirk, where they are to be had."""

from __future__ import annotations

from pathlib import Path

import pytest

from collsim.calibrate.importers import read_log
from collsim.errors import FileError

# Rows kept and left out of some real logs, counted by hand.
REAL = {
    "001_h100_p5_efa_2n_ar_2-20-3-1.txt": ("all_reduce", (16,), 64, 0),
    "004_h100_1n_g8_5coll.txt": (None, (8,), 100, 0),
    "028_mi300x_1n_ag_ring_LL128_1_1.txt": ("all_gather", (8,), 60, 0),
    "049_gh200_8n_ar.txt": ("all_reduce", (32,), 59, 1),
    "053_gh200_128n_ar.txt": ("all_reduce", (512,), 60, 0),
    "068_a100_2n_alltoall_2_18.txt": ("all_to_all", (8,), 58, 0),
    "107_a100_8n_g8_allreduce_nccl.txt": ("all_reduce", (64,), 48, 0),
    "117_a100_2n_g8_bcast_nccl.txt": ("broadcast", (16,), 48, 0),
    "134_a100pcie_2n_sendrecv_medium.txt": ("sendrecv", (2,), 206, 0),
    "142_a100_p4de_2n_ar_readme.txt": ("all_reduce", (16,), 58, 0),
    "144_aws_readme_2.txt": ("all_reduce", (16,), 14, 0),
    "159_a100_ndv4_1n_all_reduce_nccl.txt": ("all_reduce", (8,), 38, 0),
    "162_a100_ndv4_64n_alltoall_msccl.txt": ("all_to_all", (512,), 13, 13),
    "179_a100_1n_all_gather.txt": ("all_gather", (8,), 68, 0),
    "192_h100_1n_ar_scaling_246.txt": ("all_reduce", (2, 4, 6), 36, 0),
    "193_h100_1n_g2_ar_Ring_tuninglog.txt": ("all_reduce", (2,), 12, 0),
    "236_h100_multi_ar_broken.txt": ("all_reduce", (24,), 20, 2),
    "250_b200_1n_ar_symm_graph.txt": ("all_reduce", (8,), 62, 0),
}


@pytest.mark.parametrize("name", REAL)
def test_real_logs(shared_data: Path, name: str) -> None:
    """Collective, ranks, rows kept and left out of logs with every quirk."""
    collective, ranks, kept, left_out = REAL[name]
    rows = read_log(str(shared_data / "public" / name))
    if collective is not None:
        assert rows.values("collective") == (collective,)
    assert rows.values("ranks") == ranks
    assert (len(rows), len(rows.left_out)) == (kept, left_out)


def test_no_real_file_gives_a_traceback(shared_data: Path) -> None:
    """Every text file is read, or refused in one line."""
    refused = []
    for path in sorted(shared_data.glob("*/*.txt")):
        try:
            read_log(str(path))
        except FileError:
            refused.append(path.name[:3])
    # A failed run, OSU tables that name no rank count, a tuning dump, tables in prose.
    assert refused == ["096", "124", "125", "174", "177", "226"]
