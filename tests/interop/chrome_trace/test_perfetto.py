"""Perfetto itself reads a trace: its own page, run by a browser, asked in its own SQL."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from collsim.core.cluster import Cluster
from collsim.core.timeline import Timeline
from collsim.engine.simulate import Together
from collsim.interop.chrome_trace.write import write_trace

Traced = tuple[Timeline | Together, Cluster, dict[str, Any]]
Ask = Callable[[str], list[list[str]]]


@pytest.fixture(params=["run.json", "run.json.gz"])
def ask(
    request: pytest.FixtureRequest, perfetto: Any, tmp_path: Path, traced: Traced
) -> Iterator[Ask]:
    """Return a function that asks Perfetto about a trace that it has opened."""
    path = tmp_path / request.param
    write_trace(*traced[:2], path)
    with perfetto(path) as asks:
        yield asks


@pytest.mark.parametrize(
    ("traced", "ask"),
    [("nodes", "run.json.gz"), ("together", "run.json")],
    indirect=True,
)
def test_perfetto_reads_it(ask: Ask, traced: Traced) -> None:
    """Without an error, and it finds the same slices, arrows, names and levels."""
    events = traced[2]["traceEvents"]
    wrong = "severity in ('error', 'data_loss') and value > 0"
    assert ask(f"select name, value from stats where {wrong}") == []
    assert ask("select value from stats where name = 'flow_no_enclosing_slice'") == [["0"]]

    where = "join thread_track k on s.track_id = k.id join thread using (utid)"
    read = ask(f"select tid, s.name, ts, dur from slice s {where}")
    written = Counter(
        (str(e["tid"]), e["name"], f"{e['ts'] * 1000:.0f}", f"{e['dur'] * 1000:.0f}")
        for e in events
        if e["ph"] == "X"
    )
    assert Counter(map(tuple, read)) == written

    # The tail may lie in the start-up, inside of its message.
    columns = ", ".join(
        f"ifnull(extract_arg(a.arg_set_id, 'args.{key}'), extract_arg(p.arg_set_id, "
        f"'args.{key}')), extract_arg(b.arg_set_id, 'args.{key}')"
        for key in ("operation", "bytes", "chunks")
    )
    joined = ask(
        f"select {columns} from flow f join slice a on f.slice_out = a.id "
        "left join slice p on a.parent_id = p.id join slice b on f.slice_in = b.id"
    )
    assert len(joined) == sum(e["ph"] == "s" for e in events) > 0
    for row in joined:
        assert row[::2] == row[1::2]
        assert "null" not in row

    names = ask("select pid, name from process where name is not null")
    names += ask("select tid, name from thread where name is not null")
    assert sorted(map(tuple, names)) == sorted(
        (str(e.get("tid", e["pid"])), e["args"]["name"])
        for e in events
        if e["ph"] == "M" and "name" in e["args"]
    )

    levels = ask(
        "select t.name, ts, value from counter c join process_counter_track t "
        "on c.track_id = t.id order by t.name, ts"
    )
    assert [(name, int(ts), float(value)) for name, ts, value in levels] == sorted(
        (f"{e['name']} GB/s", round(e["ts"] * 1000), e["args"]["GB/s"])
        for e in events
        if e["ph"] == "C"
    )
