"""Steps as traces: the format, kept strictly, and Perfetto's own reading of it."""

from __future__ import annotations

import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import fastjsonschema
import pytest

import collsim
from collsim.core.transformer import Transformer
from collsim.core.workload import Batch, Compute, Parallel, Workload
from collsim.errors import InputError
from collsim.interop.step_trace import write_step_trace

_NUMBER = {"type": "integer", "minimum": 1}
_TIME = {"type": "number", "minimum": 0}
_TEXT = {"type": "string", "minLength": 1}


def _object(**members: Any) -> dict[str, Any]:
    """Return the schema of an object that has these members, and no others."""
    return {
        "type": "object",
        "properties": members,
        "required": list(members),
        "additionalProperties": False,
    }


_ARGS = {"anyOf": [_object(), _object(collective=_TEXT, bytes=_TIME)]}
_SLICE = _object(
    ph={"const": "X"}, name=_TEXT, cat=_TEXT, pid=_NUMBER, tid=_NUMBER, ts=_TIME, dur=_TIME,
    args=_ARGS,
)  # fmt: skip
_PROCESS = _object(
    ph={"const": "M"}, name={"const": "process_name"}, pid=_NUMBER, args=_object(name=_TEXT)
)
_THREAD = _object(
    ph={"const": "M"}, name={"const": "thread_name"}, pid=_NUMBER, tid=_NUMBER,
    args=_object(name=_TEXT),
)  # fmt: skip
SCHEMA = _object(
    displayTimeUnit={"enum": ["ms", "ns"]},
    otherData=_object(schema=_TEXT, producer=_TEXT, workload=_TEXT, cluster=_TEXT),
    traceEvents={"type": "array", "items": {"anyOf": [_SLICE, _PROCESS, _THREAD]}},
)


@pytest.fixture(scope="module")
def step() -> Any:
    """Return a step of two stages with messages of every kind."""
    work = Workload(
        "small",
        Compute(forward=1e-4, backward=2.5e-4, layers=4),
        Parallel(tensor=2, pipeline=2, expert=2, sharding="full"),
        Batch(64, 1, 3),
        Transformer(4, 64, 8, 256, 512, experts=4, experts_per_token=2),
    )
    return collsim.estimate(work, collsim.Cluster.ideal(16, "5us", "10GB/s"))


@pytest.fixture
def document(step: Any, tmp_path: Path) -> dict[str, Any]:
    """Return its trace, read back."""
    write_step_trace(step, tmp_path / "step.json")
    found = json.loads((tmp_path / "step.json").read_text("utf-8"))
    assert isinstance(found, dict)
    return found


def test_it_keeps_the_schema(document: dict[str, Any]) -> None:
    """Strictly, and every thread that does something has a name."""
    fastjsonschema.compile(SCHEMA)(document)
    events = document["traceEvents"]
    named = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"}
    assert {(e["pid"], e["tid"]) for e in events if e["ph"] == "X"} == named


def test_slices_of_a_stream_follow_one_another(document: dict[str, Any]) -> None:
    """In whole nanoseconds; on a thread that overlaps, viewers nest what is not nested."""
    lanes = defaultdict(list)
    for event in document["traceEvents"]:
        if event["ph"] == "X":
            lanes[event["tid"]].append(
                (round(event["ts"] * 1000), round((event["ts"] + event["dur"]) * 1000))
            )
    for spans in lanes.values():
        spans.sort()
        assert all(a[1] <= b[0] for a, b in pairwise(spans))


def test_it_holds_all_events(step: Any, document: dict[str, Any]) -> None:
    """As many slices of each kind and stage; but for what takes no time."""
    written = Counter(
        (e["pid"] - 1, e["name"]) for e in document["traceEvents"] if e["ph"] == "X"
    )
    lasting = [event for event in step.events if event.end_us > event.start_us]
    assert 0 < len(lasting) < len(step.events)
    assert written == Counter((event.stage, event.name) for event in lasting)


def test_packed_it_is_the_same(step: Any, document: dict[str, Any], tmp_path: Path) -> None:
    """And the same step gives the same bytes."""
    paths = [tmp_path / name for name in ("a.json.gz", "b.json.gz")]
    for path in paths:
        write_step_trace(step, path)
    assert json.loads(gzip.decompress(paths[0].read_bytes())) == document
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_other_endings_are_refused(step: Any, tmp_path: Path) -> None:
    """Before anything is written."""
    with pytest.raises(InputError, match="ends in"):
        write_step_trace(step, tmp_path / "step.txt")
    assert list(tmp_path.iterdir()) == []


def test_perfetto_reads_it(
    perfetto: Callable[[Path], Any], step: Any, document: dict[str, Any], tmp_path: Path
) -> None:
    """Without an error; it finds the same slices on the same threads."""
    with perfetto(tmp_path / "step.json") as ask:
        wrong = "severity in ('error', 'data_loss') and value > 0"
        assert ask(f"select name, value from stats where {wrong}") == []
        where = "join thread_track k on s.track_id = k.id join thread using (utid)"
        read = ask(f"select tid, s.name, ts, dur from slice s {where}")
        written = Counter(
            (str(e["tid"]), e["name"], f"{e['ts'] * 1000:.0f}", f"{e['dur'] * 1000:.0f}")
            for e in document["traceEvents"]
            if e["ph"] == "X"
        )
        assert Counter(map(tuple, read)) == written
        ((deepest,),) = ask("select max(depth) from slice")
        assert deepest == "0"
