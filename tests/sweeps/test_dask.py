"""The same rows from a Dask cluster; a local one here, by TCP as any other."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import collsim
from collsim.errors import InputError, MissingExtraError
from collsim.sweeps import dask

GRID: dict[str, Any] = {
    "collectives": ["all_reduce", "broadcast"],
    "algorithms": ["auto", "swing"],
    "sizes": ["1KiB", "1MiB"],
    "clusters": [{"cluster": "dgx-h100", "nodes": [1, 2], "gpus_per_node": [2, 3]}],
}


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """Return the address of a Dask scheduler with one worker."""
    if importlib.util.find_spec("distributed") is None:
        pytest.skip("needs Dask: pip install 'collsim[dask]'")
    with warnings.catch_warnings():
        # Its own, of how it was installed and of ports that are taken.
        warnings.simplefilter("ignore")
        from distributed import LocalCluster

        cluster = LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, protocol="tcp",
            dashboard_address=None, host="127.0.0.1",
        )  # fmt: skip
    with cluster:
        yield cluster.scheduler_address


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_rows_are_those_of_this_machine(scheduler: str, tmp_path: Path) -> None:
    """To the byte, in the same order, with the reasons of what can't be."""
    collsim.sweep(GRID, tmp_path / "here.csv")
    collsim.sweep(GRID, tmp_path / "there.csv", scheduler=scheduler)
    here = (tmp_path / "here.csv").read_bytes()
    assert (tmp_path / "there.csv").read_bytes() == here
    assert here.count(b"\n") == 1 + 4 * 2 * 2 * 2
    assert b"there is no" in here or b"unknown algorithm" in here


def test_where_nobody_answers(scheduler: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line that names the address, and soon."""
    assert scheduler.startswith("tcp://")
    monkeypatch.setattr(dask, "_PATIENCE", 0.2)
    for address in ("tcp://127.0.0.1:1", "nonsense://x"):
        with pytest.raises(InputError, match=f"scheduler: no answer from '{address}'"):
            collsim.sweep(GRID, scheduler=address)


def test_without_dask_its_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """And how to install it."""
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"collsim\[dask\]"):
        collsim.sweep(GRID, scheduler="tcp://127.0.0.1:1")
