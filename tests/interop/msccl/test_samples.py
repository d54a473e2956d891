"""Real files: each verifies and simulates, or is refused with the reason in one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from collsim.core.cluster import Cluster
from collsim.engine.simulate import simulate
from collsim.errors import FileError
from collsim.interop.schedule_file import read_schedule

# Collective, ranks and messages, or the reason.
KNOWN = {
    "ag_hier_4_LL.xml": ("all_gather", 4, 48),
    "ar_hier_12_Simple.xml": ("all_reduce", 4, 192),
    "ndv5-a2a2ll.xml": ("all_to_all", 8, 112),
    "ndv5-ag-16m.xml": ("all_gather", 8, 224),
    "ndv5-ag-2m.xml": ("all_gather", 8, 224),
    "ndv5-r48ll.xml": ("all_reduce", 8, 896),
    "rccl-alltoall-8n-0-9kb.xml": ("all_to_all", 8, 56),
    "rccl-alltoall-8n-9kb-190kb.xml": ("all_to_all", 8, 112),
}


def samples(shared_data: Path) -> list[Path]:
    """Return the files of others."""
    return sorted((shared_data / "public" / "msccl").iterdir())


def test_there_are_samples(shared_data: Path) -> None:
    """Where the folder is, it is not empty."""
    files = samples(shared_data)
    assert {path.suffix for path in files} == {".xml", ".json"}
    assert {path.name for path in files if path.suffix == ".xml"} >= KNOWN.keys()


def test_every_sample_is_read_or_refused(shared_data: Path, outcomes: Any, depth: Any) -> None:
    """XML verifies, as a run on memory does, breaks no limit and simulates; JSON is refused."""
    for path in samples(shared_data):
        if path.suffix == ".json":
            with pytest.raises(
                FileError, match="is JSON, as execution plans of MSCCL"
            ) as error:
                read_schedule(path)
            assert "\n" not in str(error.value)
            continue
        file = read_schedule(path)
        assert file.verdict.ok, path
        assert file.warnings == (), path
        schedule = file.right()
        if path.name in KNOWN:
            assert (file.collective, file.ranks, len(schedule)) == KNOWN[path.name]
        timeline = simulate(schedule, Cluster.load("dgx-h100", ranks=file.ranks), 2**20)
        assert 0 < timeline.makespan < 1e-2
        text = path.read_text("utf-8")
        assert outcomes(text, 1) == {"right"}
        late = Cluster.ideal(file.ranks, 1.0, 1e9, alpha_busy=0.0)
        assert simulate(schedule, late, 0).makespan == depth(text)


def test_a_ring_of_others_takes_as_long_as_theory_says(shared_data: Path) -> None:
    """Eight rings, each of 2 (P - 1) steps, on links that latency does not hold up.

    Every rank sends 2 (P - 1) / P n through its one port without a pause: as the chunks of one
    ring are on their way, those of the others follow. Only the last one's alpha is seen.
    """
    file = read_schedule(shared_data / "public" / "msccl" / "ndv5-r48ll.xml")
    alpha, beta, n = 1e-6, 1e-9, 64 * 2**20
    cluster = Cluster.ideal(8, alpha, 1 / beta, alpha_busy=0.0)
    makespan = simulate(file.right(), cluster, n).makespan
    assert makespan == pytest.approx(alpha + 14 / 8 * n * beta, rel=1e-9)
