"""Ranks that were told different things say so, and none hangs."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from collsim.errors import UsageError
from collsim.measure.agree import agree
from collsim.measure.job import Job
from collsim.measure.run import measure
from collsim.measure.sampling import How
from collsim.measure.watch import Watch

JOB = Job("gloo", ("broadcast",), (64,), ("ring",), how=How(0, 5))


def told(memory: ModuleType, change: dict[str, Any], local_ranks: int = 3) -> list[str]:
    """Return what each of three ranks says, of which the last was started otherwise."""

    def work(rank: Any) -> str:
        other = rank.rank == 2
        job = replace(JOB, **change) if other else JOB
        try:
            agree(job, local_ranks if other else 3, rank)
        except UsageError as error:
            return str(error)
        return ""

    return [str(text) for text in memory.on_ranks(3, work)]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"sizes": (64, 128)}, "sizes (-s, -b, -e, -f, -i)"),
        ({"dtype": "double"}, "element type (-d)"),
        ({"op": "max", "root": 1}, "reduction (--op), root (-r)"),
        ({"how": How(0, 6)}, "-n, -w, --target or --budget"),
    ],
)
def test_what_differs_is_named_on_every_rank(
    memory: ModuleType, change: dict[str, Any], said: str
) -> None:
    """With the rank that is not as rank 0, in one line."""
    text = f"rank 2 was started with other options than rank 0: {said}; expected the same on "
    assert told(memory, change) == [f"{text}all ranks"] * 3


def test_ranks_of_a_node_are_counted_alike(memory: ModuleType) -> None:
    """Or they would measure between other pairs."""
    assert "number of ranks on its node" in told(memory, {}, local_ranks=1)[0]


def test_the_file_is_rank_zeros_business(memory: ModuleType) -> None:
    """And every other field of a job is compared."""
    assert told(memory, {"path": "other.jsonl", "resume": True, "timeout": 1.0}) == [""] * 3
    changed: dict[str, Any] = {
        "what": ("reduce",), "sizes": (8,), "algorithms": ("mst",), "forced": (("ring", ""),),
        "every_pair": True, "dtype": "half", "op": "max", "root": 1, "chunks": 2,
        "how": How(1), "graph": 3, "ranks_per_gpu": 2, "realtime": True,
    }  # fmt: skip
    own = {"path", "resume", "timeout", "backend"}
    assert set(changed) | own == {field.name for field in fields(Job)}
    for key, value in changed.items():
        assert told(memory, {key: value})[0] != ""


def test_nothing_is_measured_by_ranks_that_differ(memory: ModuleType, tmp_path: Path) -> None:
    """They end before the file is made."""
    path = tmp_path / "m.jsonl"

    def work(rank: Any) -> None:
        job = replace(JOB, path=str(path), dtype=("float", "double")[rank.rank])
        watch = Watch(60.0, print, lambda: None)
        with pytest.raises(UsageError, match="rank 1 was started with other options"):
            measure(job, rank, 2, watch)
        watch.stop()

    memory.on_ranks(2, work)
    assert not path.exists()
