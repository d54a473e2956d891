"""The report: what it finds, what it refuses, and what it draws of large runs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import collsim
from collsim.algorithms import build
from collsim.cli.main import main
from collsim.core.cluster import Cluster
from collsim.engine.simulate import simulate
from collsim.errors import InputError, MissingExtraError
from collsim.report.page.answer import answer
from collsim.report.page.assumed import file_facts, link_facts
from collsim.report.page.breakdown_chart import breakdown_chart
from collsim.report.page.crossover_chart import legend
from collsim.report.page.timeline_chart import drawn_as, timeline_chart
from collsim.units import format_bandwidth, format_time

Run = Callable[..., str]


def fail(*words: str, code: int = 1) -> str:
    """Return the last line of a command that has to fail, without a traceback."""
    done = CliRunner().invoke(main, list(words))
    assert done.exit_code == code, done.output
    assert done.stdout == ""
    last: str = done.stderr.splitlines()[-1]
    return last


def test_curves_cross_where_the_policy_changes() -> None:
    """At a border the one above is slower or as fast, and one byte later it is the fastest."""
    cluster = Cluster.load("dgx-h100", nodes=2, gpus_per_node=2)
    found = answer("all_reduce", cluster, min_bytes=1024, max_bytes="256MiB")
    lines = {line.algorithm: dict(zip(line.sizes, line.times, strict=True)) for line in
             found.lines}  # fmt: skip
    assert len(found.crossings) == len(found.policy.rows) - 1 > 0
    for crossing in found.crossings:
        below, above = lines[crossing.below], lines[crossing.above]
        assert crossing.seconds == below[crossing.size].seconds
        assert below[crossing.size].seconds <= above[crossing.size].seconds * (1 + 1e-9)
        after = crossing.size + 1
        assert above[after].seconds <= below[after].seconds * (1 + 1e-9)
        fastest = min(times[after].seconds for times in lines.values())
        assert above[after].seconds <= fastest * (1 + 1e-9)


def test_every_run_is_that_of_the_policy() -> None:
    """In the middle of each range, with its time, and nobody is faster there."""
    found = answer("broadcast", Cluster.ideal(8, "10us", "900GB/s"))
    assert [(run.size, run.algorithm) for run in found.runs] == [
        (row.size, row.algorithm) for row in found.policy.rows
    ]
    for run, row in zip(found.runs, found.policy.rows, strict=True):
        assert run.time.seconds * 1e6 == pytest.approx(row.time_us)
        assert run.timeline.makespan == pytest.approx(run.time.seconds)
        assert next(iter(run.others)) == run.algorithm
        assert min(t.seconds for t in run.others.values()) == run.others[run.algorithm].seconds


def test_no_line_is_below_the_bound() -> None:
    """At any size that is drawn."""
    found = answer("all_gather", Cluster.load("dgx-h100"), min_bytes=1, max_bytes=2**26)
    least = dict(found.bound)
    for line in found.lines:
        for n, time in zip(line.sizes, line.times, strict=True):
            assert time.seconds >= least[n] * (1 - 1e-9)


@pytest.mark.parametrize(
    ("name", "algorithm", "nodes", "bar"),
    [
        ("all_gather", "ring", 2, "Each bar is a message, in the lane of its sender."),
        ("all_to_all", "direct", 8, "Each bar is all that a rank sends in one round."),
        ("all_gather", "ring", 12, "Each bar is all that a node sends in one round."),
        ("all_gather", "ring", 80, "Each bar is all that 2 nodes send in 18 rounds."),
    ],
)
def test_large_runs_are_drawn_in_few_bars(
    name: str, algorithm: str, nodes: int, bar: str
) -> None:
    """As the page says; no message and no byte is lost."""
    cluster = Cluster.load("dgx-h100", nodes=nodes)
    timeline = simulate(build(name, algorithm, cluster.ranks), cluster, 2**20)
    assert drawn_as(timeline, cluster) == bar
    figure = timeline_chart(timeline, cluster)
    texts = [text for trace in figure.data for text in trace.hovertext]
    assert len(texts) <= 3000
    ends = [b + x for trace in figure.data for b, x in zip(trace.base, trace.x, strict=True)]
    unit = {" ms": 1e-3, " µs": 1e-6}[figure.layout.xaxis.ticksuffix]
    assert max(ends) * unit == pytest.approx(timeline.makespan, rel=1e-6)
    if "a message" in bar:
        assert len(texts) == timeline.operations
    else:
        counts = [text.split("<br>")[1].split(" messages, ") for text in texts]
        assert sum(int(count) for count, _ in counts) == timeline.operations
        sent = sum(float(text.removesuffix(" bytes")) for _, text in counts)
        assert sent == pytest.approx(timeline.schedule.fraction.sum() * 2**20)


def test_parts_of_a_bar_sum_to_its_time() -> None:
    """Of every contender, in the unit of the axis."""
    cluster = Cluster.ideal(8, "10us", "900GB/s", gamma="0.001ns", launch="3us")
    (run, *_) = answer("all_reduce", cluster, sizes=[2**20]).runs
    figure = breakdown_chart(run)
    assert {trace.name for trace in figure.data} >= {"launch", "α: start-ups"}
    assert figure.layout.xaxis.ticksuffix == " µs"
    for i, time in enumerate(list(run.others.values())[:8]):
        total = sum(trace.x[i] for trace in figure.data)
        assert total == pytest.approx(time.seconds * 1e6, rel=1e-6)


def test_a_profile_brings_its_numbers_and_errors(tmp_path: Path, run: Run) -> None:
    """Its parameters with intervals, how far off it is on what was held out, and its notes."""
    path = tmp_path / "report.html"
    words = "report all_reduce --profile h100-nvswitch-8 -c dgx-h100 -b 64K -e 16M -o"
    run(*words.split(), str(path))
    text = path.read_text("utf-8")
    from collsim.config.presets import preset_path
    from collsim.config.profile import load

    profile = load(str(preset_path("profiles", "h100-nvswitch-8")))
    held_out = profile.error(["sizes"])
    assert held_out is not None
    assert f'held out: sizes</td><td class="s">{held_out.median:.1%}</td>' in text
    for key in profile.parameters:
        assert f">{key}</td>" in text
    assert "profile h100-nvswitch-8" in text


def test_links_have_the_numbers_that_a_profile_gave_them() -> None:
    """Those that times were found with, and not those of the datasheets below them."""
    from collsim.config.fitted import with_profile
    from collsim.config.presets import preset_path
    from collsim.config.profile import load

    profile = load(str(preset_path("profiles", "h100-ndr")))
    plain = Cluster.load("dgx-h100", nodes=2)
    fitted = with_profile(plain, profile)
    told = {name: rest for name, *rest in link_facts(fitted, profile)}
    assert told.keys() == {name for name, *_ in link_facts(plain)}
    for link, start in (("nvlink4", "gpu[0]"), ("ndr400", "nic[0]")):
        i = fitted.links.names.index(f"{start}.up")
        assert told[f"{link} alpha, the start-up of a message"] == [
            format_time(fitted.links.alpha[i]), "fit", "profile h100-ndr"
        ]  # fmt: skip
        assert told[f"{link} bandwidth, one direction"] == [
            format_bandwidth(1 / fitted.links.beta[i]), "fit", "profile h100-ndr"
        ]  # fmt: skip


def test_the_page_names_the_profile_and_what_it_has_not_shown(tmp_path: Path, run: Run) -> None:
    """In the title, in the answer, and beside it what the terminal notes."""
    path = tmp_path / "report.html"
    words = (
        "report all_reduce --profile h100-ndr -c dgx-h100 --nodes 2 -e 4M --algorithm ring -o"
    )
    done = CliRunner().invoke(main, [*words.split(), str(path)])
    text = path.read_text("utf-8")
    where = "16 ranks of dgx-h100 by profile h100-ndr"
    assert f"<title>all_reduce on {where}</title>" in text
    assert f"The fastest all_reduce on {where} is ring at every size" in text
    note = "8B is extrapolated: profile h100-ndr was fitted from 1MiB on"
    assert f"note: {note}" in done.stderr
    assert f">Note: {note}.</p>" in text


def test_lanes_and_links_without_a_limit() -> None:
    """As `show cluster` tells them."""
    tree = link_facts(Cluster.load("dgx-h100-fat-tree-2to1", nodes=2))
    assert ("uplink bandwidth, one direction of each of 16 lanes", "50GB/s") in [
        fact[:2] for fact in tree
    ]
    host = link_facts(Cluster.load("pcie-2", nodes=2))
    assert ("host bandwidth, one direction", "without limit") in [fact[:2] for fact in host]


def test_what_differs_from_the_file_is_said() -> None:
    """Sizes and changes are given, all else has the file's kind and source."""
    cluster = Cluster.load("dgx-h100", nodes=4, changes={"network.nics": 4})
    told = {name: rest for name, *rest in file_facts("dgx-h100", cluster, {"network.nics": 4})}
    assert told["network.nodes"] == ["4", "given", "asked for"]
    assert told["network.nics"] == ["4", "given", "asked for"]
    assert told["node.gpus"][:2] == ["8", "datasheet"]
    assert told["node.multicast_efficiency"][:2] == ["0.85", "assumption"]
    assert "nvlsEfficiency" in told["node.multicast_efficiency"][2]
    assert file_facts("a name of no file", cluster) == []


def test_same_bytes_every_time(tmp_path: Path) -> None:
    """No dates, no random names."""
    cluster = Cluster.ideal(4, "10us", "900GB/s")
    paths = [tmp_path / "a.html", tmp_path / "b.html"]
    for path in paths:
        sentence = collsim.write_report("gather", cluster, path)
        assert sentence.startswith("The fastest gather on 4 ranks of ideal is mst")
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_without_plotly_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one line, before anything is computed or written."""
    for name in ("plotly", "plotly.graph_objects", "plotly.offline"):
        monkeypatch.setitem(sys.modules, name, None)
    path = tmp_path / "report.html"
    expected = "needs plotly, which is not installed; expected: pip install 'collsim[report]'"
    assert fail("report", "reduce", "-o", str(path)) == f"Error: {expected}"
    with pytest.raises(MissingExtraError):
        collsim.write_report("reduce", Cluster.ideal(2, "1us", "1GB/s"), path)
    assert not path.exists()


@pytest.mark.parametrize(
    ("words", "code", "expected"),
    [
        ("report reduce", 2, "Missing option '-o'"),
        ("report reduce -o r.pdf", 1, "expected a name that ends in .html"),
        ("report nothing -o r.html", 1, "unknown collective 'nothing'"),
        ("report reduce -b 1M -e 1K -o r.html", 2, "-b 1048576 is above -e 1024"),
        ("report reduce -e 1K -s 1M -o r.html", 1, "size: got 1MiB, expected it from 8B to"),
        ("report reduce --algorithm nope -o r.html", 1, "unknown algorithm of reduce 'nope'"),
        ("report reduce -c dgx-h100 -o no/r.html", 1, "does not exist"),
    ],
)
def test_wrong_words_are_one_line(
    words: str, code: int, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And no file is made."""
    monkeypatch.chdir(tmp_path)
    assert expected in fail(*words.split(), code=code)
    assert list(tmp_path.iterdir()) == []


def test_many_ranks_are_drawn_sparingly() -> None:
    """Where all times are simulated on 128 ranks and more, only the fastest two are drawn."""
    cluster = Cluster.load("dgx-h100", nodes=16)
    found = answer("all_gather", cluster, min_bytes=2**20, max_bytes=2**22)
    names = {line.algorithm for line in found.lines}
    row = found.policy.rows[0]
    assert {row.algorithm, row.runner_up} <= names
    assert any("only the fastest two" in why for why in found.left_out.values())


def test_an_empty_sentence_is_not_needed_for_one_rank(tmp_path: Path) -> None:
    """One rank takes no time: there is a page all the same."""
    path = tmp_path / "r.html"
    sentence = collsim.write_report("all_reduce", Cluster.ideal(1, "1us", "1GB/s"), path)
    assert sentence == (
        "all_reduce on 1 rank of ideal takes no time at every size from 8 B to 8 GiB."
    )
    assert path.stat().st_size > 1_000_000


def test_where_nothing_changes_no_mark_is_explained() -> None:
    """The legend has what the figure has."""
    one = answer("all_reduce", Cluster.ideal(8, "10us", "900GB/s"), algorithms=["ring"])
    two = answer("all_reduce", Cluster.ideal(8, "10us", "900GB/s"))
    assert "where the fastest changes" not in legend(one)
    assert "where the fastest changes" in legend(two)


def test_a_tie_is_no_gain(tmp_path: Path) -> None:
    """Two that send the same messages are as fast."""
    path = tmp_path / "r.html"
    pair = Cluster.ideal(2, "1us", "1GB/s")
    collsim.write_report("broadcast", pair, path, algorithms=["mst", "linear"])
    text = path.read_text("utf-8")
    assert '<td class="s">a tie</td>' in text
    assert "A tie: the next best is as fast." in text
    assert ">x1</td>" not in text


def test_a_bar_names_its_chunks() -> None:
    """One, or several, parted by commas."""
    cluster = Cluster.ideal(4, "1us", "1GB/s")
    timeline = simulate(build("all_gather", "recursive_doubling", 4), cluster, 4096)
    texts = [t for trace in timeline_chart(timeline, cluster).data for t in trace.hovertext]
    assert any("bytes, chunk 0<br>" in text for text in texts)
    assert any("bytes, chunks 0, 1<br>" in text for text in texts)


def test_a_long_simulation_is_announced(tmp_path: Path) -> None:
    """Before it begins."""
    words = "report broadcast -c dgx-h100 --nodes 4 -b 1M -e 1M --algorithm mst -o"
    done = CliRunner().invoke(main, [*words.split(), str(tmp_path / "r.html")])
    note = "note: simulating all contenders on 32 ranks, which can take a minute"
    assert done.stderr.splitlines()[0] == note


def test_size_outside_is_refused() -> None:
    """From Python, too."""
    wrong: Any = [2**40]
    with pytest.raises(InputError, match="size: got 1TiB"):
        answer("reduce", Cluster.ideal(2, "1us", "1GB/s"), sizes=wrong)
