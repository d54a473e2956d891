"""The report as a browser shows it: what it says is what the commands answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from collsim.report.page.words import size_words, time_words

Run = Callable[..., str]

ROWS = """[...document.querySelectorAll('#%s tbody tr')].map(
  (row) => [...row.cells].map((cell) => cell.textContent))"""
# Where a point of a line of the first figure is, in pixels of the window.
POINT = """(() => {
  const plot = document.getElementById('crossover');
  plot.scrollIntoView();
  const {xaxis, yaxis} = plot._fullLayout, trace = plot._fullData[%d], box =
    plot.querySelector('.nsewdrag').getBoundingClientRect();
  return [box.x + xaxis.d2p(trace.x[%d]), box.y + yaxis.d2p(trace.y[%d]), trace.name];
})()"""
# The middle of a bar of a figure.
BAR = """(() => {
  const bar = document.querySelectorAll('#%s .point path')[%d];
  bar.scrollIntoView({block: 'center'});
  const box = bar.getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2];
})()"""
HOVER = "[...document.querySelectorAll('#%s .hovertext')].map((h) => h.textContent).join(' ')"


def hover(page: Any, figure: str, x: float, y: float) -> str:
    """Return what is shown where the mouse rests on a figure."""
    page.move(1, 1)
    page.wait(f"!({HOVER % figure})")
    page.move(x, y)
    text = page.wait(HOVER % figure)
    assert isinstance(text, str)
    return text


def test_asks_for_nothing_and_says_nothing(opened: Any, report: Path) -> None:
    """One request, that of the file itself; no word on the console; all in less than 6 MB."""
    assert opened.requests() == [f"file://{report}"]
    assert opened.complaints() == []
    assert report.stat().st_size < 6_000_000


def test_names_stay_text(opened: Any, chosen: dict[str, Any]) -> None:
    """A name of a cluster or a source makes no element and runs nothing, and is shown whole."""
    name = chosen["cluster"]
    assert "<script>" in name
    assert opened.run("document.querySelector('h1').textContent") == (
        f"all_reduce on 4 ranks of {name}"
    )
    assert opened.run("document.title") == f"all_reduce on 4 ranks of {name}"
    assert opened.run("document.querySelectorAll('b, body img').length") == 0
    cells = [cell for row in opened.run(ROWS % "numbers") for cell in row]
    assert any(name in cell for cell in cells)
    assert opened.seen("Page.javascriptDialogOpening") == []


def test_answer_is_that_of_choose(opened: Any, chosen: dict[str, Any]) -> None:
    """The sentence, the table, and the data for programs."""
    rows = chosen["rows"]
    assert len(rows) > 1
    sentence = opened.run("document.getElementById('answer').textContent")
    at = 0
    for row in rows:
        at = sentence.index(f"{row['algorithm']} ", at)
    for row in rows[:-1]:
        assert f"{row['algorithm']} up to {size_words(row['max_bytes'])}" in sentence
    assert opened.run(ROWS % "policy") == [
        [
            size_words(row["max_bytes"]),
            row["algorithm"],
            str(row["min_bytes"]),
            str(row["max_bytes"]),
            str(row["chunks_from"])
            if row["chunks_from"] == row["chunks_to"]
            else f"{row['chunks_from']}-{row['chunks_to']}",
            str(row["channels"]),
            size_words(row["size"]),
            time_words(row["time_us"] * 1e-6),
            f"x{row['gain']:.4g}",
            row["runner_up"],
            f"{row['efficiency']:.1%}",
        ]
        for row in rows
    ]
    data = json.loads(opened.run("document.getElementById('policy-data').textContent"))
    keys = ("schema", "cluster", "collective", "ranks", "rows")
    assert data == {key: chosen[key] for key in keys}


def test_what_was_left_out_is_told(opened: Any, chosen: dict[str, Any]) -> None:
    """With the reasons that `choose` gives."""
    told = dict(opened.run(ROWS % "left-out"))
    assert told == chosen["left_out"]


def test_every_number_has_a_kind_and_a_source(opened: Any) -> None:
    """Those of links, of the rest of the file, and what was asked for."""
    rows = opened.run(ROWS % "numbers")
    told = {row[0]: row[1:] for row in rows}
    assert all(row[2] in {"datasheet", "assumption", "fit", "given"} and row[3] for row in rows)
    assert told["wire bandwidth, one direction"][0] == "100GB/s"
    assert told["ndr400 bandwidth, one direction"][0] == "25GB/s"
    assert told["node.gpus"][:2] == ["2", "datasheet"]
    # Its own table says no source.
    assert told["network.nodes"][:2] == ["2", "assumption"]


def test_lines_are_all_contenders(opened: Any, chosen: dict[str, Any], run: Run) -> None:
    """Those that apply, the bound, and the crossings where the policy has its borders."""
    names = opened.run("document.getElementById('crossover').data.map((t) => t.name)")
    best = list(dict.fromkeys(row["algorithm"] for row in chosen["rows"]))
    assert names[: len(best)] == best
    assert names[-2:] == ["lower bound", "crossings"]
    legend = opened.run(
        "[...document.querySelectorAll('.legend li')].map((l) => l.textContent.trim())"
    )
    assert [text.lstrip("●■▲◆✕★○") for text in legend[:-2]] == names[:-2]
    borders = opened.run("document.getElementById('crossover').data.at(-1).x")
    assert borders == [row["max_bytes"] for row in chosen["rows"][:-1]]


def test_hover_on_a_line_tells_size_and_time(opened: Any) -> None:
    """And in how many chunks, and how far behind the fastest it is."""
    x, y, name = opened.run(POINT % (0, 3, 3))
    text = hover(opened, "crossover", x, y)
    assert name in text
    size, micro = opened.run("(({x, y}) => [x[3], y[3]])(crossover.data[0])")
    assert f"{size_words(size)}: {time_words(micro * 1e-6)}, x1 of the fastest" in text
    assert "1 chunk, 1 channel" in text


def test_hover_on_a_message_tells_all_about_it(
    opened: Any, chosen: dict[str, Any], cluster_file: Path, run: Run
) -> None:
    """Ranks, bytes, chunk, round, start and end, as `simulate` has them."""
    row = chosen["rows"][0]
    words = f"simulate all_reduce --algorithm {row['algorithm']} -s {row['size']} --json"
    asked = ["--set", "network.bandwidth=25GB/s", "-c", str(cluster_file)]
    (simulated,) = json.loads(run(*words.split(), *asked))["rows"]
    step = simulated["critical_path"][0]
    bars = opened.run("document.querySelectorAll('#timeline-0 .point path').length")
    assert bars == simulated["operations"]
    data = opened.run("document.getElementById('timeline-0').data.map((t) => t.hovertext)")
    texts = [text for trace in data for text in trace]
    told = f"<b>rank {step['src']} to rank {step['dst']}</b>"
    number = next(
        i for i, text in enumerate(texts) if text.startswith(told) and "critical" in text
    )
    text = hover(opened, "timeline-0", *opened.run(BAR % ("timeline-0", number)))
    for part in (
        f"rank {step['src']} to rank {step['dst']}",
        f"round {step['round']}",
        f"{step['bytes']:.12g} bytes",
        "chunk ",
        f"from {time_words(step['start_us'] * 1e-6)} to {time_words(step['finish_us'] * 1e-6)}",
        "on the critical path",
    ):
        assert part in text


def test_one_size_at_a_time(opened: Any, chosen: dict[str, Any]) -> None:
    """Chosen from a list; its figures are drawn when they are seen, and its parts add up."""
    options = opened.run("[...document.querySelectorAll('#size option')].map((o) => o.value)")
    assert len(options) == len(chosen["rows"])
    try:
        opened.run(f"choice.value = '{options[-1]}', choose().then(() => 0)")
        shown = (
            "[...document.querySelectorAll('.run')].filter((r) => !r.hidden).map((r) => r.id)"
        )
        assert opened.run(shown) == [options[-1]]
        last = len(options) - 1
        parts = opened.run(f"document.getElementById('breakdown-{last}').data.map((t) => t.x)")
        unit = opened.run(
            f"document.getElementById('breakdown-{last}').layout.xaxis.ticksuffix"
        )
        scale = {" ms": 1e-3, " µs": 1e-6}[unit]
        fastest = sum(part[0] for part in parts) * scale
        assert fastest == pytest.approx(chosen["rows"][-1]["time_us"] * 1e-6, rel=1e-6)
    finally:
        opened.run(f"choice.value = '{options[0]}', choose().then(() => 0)")


def test_a_name_can_be_unticked(opened: Any) -> None:
    """Its line goes, and comes back."""
    visible = "document.getElementById('crossover').data[1].visible"
    click = "document.querySelectorAll('.legend input')[1].click()"
    for expected in (False, True):
        opened.run(click)
        assert opened.wait(f"{visible} === {str(expected).lower()}")


def test_dragging_zooms(opened: Any) -> None:
    """To what lies between the two ends."""
    before = opened.run("document.getElementById('crossover')._fullLayout.xaxis.range")
    x, y, _ = opened.run(POINT % (0, 3, 3))
    for kind, at in (("mousePressed", x), ("mouseMoved", x + 90), ("mouseReleased", x + 90)):
        opened.send(
            "Input.dispatchMouseEvent", type=kind, x=at, y=y, button="left", buttons=1,
            clickCount=1,
        )  # fmt: skip
    after = "document.getElementById('crossover')._fullLayout.xaxis.range"
    assert opened.wait(f"{after}[1] < {before[1]} - 0.1 && {after}")[0] > before[0]
    opened.run("Plotly.relayout('crossover', {'xaxis.autorange': true}).then(() => 0)")


@pytest.mark.parametrize("width", [360, 1600])
def test_fits_its_window(opened: Any, width: int) -> None:
    """Nothing but wide tables, which scroll by themselves, is wider than the window."""
    opened.resize(width, 800)
    try:
        fits = "document.documentElement.scrollWidth <= window.innerWidth"
        assert opened.wait(fits)
        plot = "document.querySelector('#crossover .main-svg').getBoundingClientRect()"
        assert opened.wait(f"{plot}.right <= window.innerWidth && {plot}.width > {width // 2}")
    finally:
        opened.resize(1280, 900)
