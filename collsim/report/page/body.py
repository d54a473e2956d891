"""The page: sections of text, tables and figures, all that comes from outside made safe."""

import json
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Final

from collsim.core.cluster import Cluster
from collsim.core.profile import Profile
from collsim.report.page.answer import Answer, Run
from collsim.report.page.assumed import (
    Fact,
    cost_facts,
    error_rows,
    link_facts,
    model_facts,
    parameter_rows,
)
from collsim.report.page.breakdown_chart import breakdown_chart
from collsim.report.page.chart import library
from collsim.report.page.crossover_chart import crossover_chart, legend
from collsim.report.page.style import CSS, SCRIPT
from collsim.report.page.timeline_chart import drawn_as, timeline_chart
from collsim.report.page.words import ranks_of, sentence, size_words, table, time_words
from collsim.report.records import records

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = ["page"]

_POLICY: Final = (
    "up to", "algorithm", "from (B)", "to (B)", "chunks", "channels", "at", "time", "gain",
    "over", "efficiency",
)  # fmt: skip
# Ratios of times that are no nearer to 1 than sums of floats come.
_TIE: Final = 1e-9
_FACTS: Final = ("number", "value", "kind", "source")


def page(
    found: Answer,
    facts: Sequence[Fact] = (),
    profile: Profile | None = None,
    changes: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> str:
    """Return the page as HTML.

    Parameters
    ----------
    found : Answer
        What it tells.
    facts : sequence of Fact
        Numbers of the cluster's file beside its links.
    profile : Profile, optional
        What its numbers were fitted by.
    changes : sequence of str
        What is changed or wrong in the cluster.
    notes : sequence of str
        What of the question the profile's fit has not shown.
    """
    policy, cluster = found.policy, found.cluster
    fitted = None if profile is None else profile.name
    title = f"{policy.collective} on {ranks_of(policy, fitted)}"
    sections = [
        f"<h1>{escape(title)}</h1>",
        f"<p>{escape(_where(cluster, changes))}</p>",
        f'<p class="answer" id="answer">{escape(sentence(policy, fitted))}</p>',
        *(f'<p class="note">Note: {escape(text)}.</p>' for text in notes),
        "<h2>Which algorithm at every size</h2>",
        _policy(found),
        "<h2>Time against size</h2>",
        f"<p>{_crossed(found)}</p>",
        _figure("crossover", crossover_chart(found), "Time of every contender against size"),
        legend(found),
        *_runs(found),
        "<h2>What it rests on</h2>",
        *_rests(found, facts, profile),
        "<h2>What was left out, and why</h2>",
        _left_out(found),
        '<p class="note">Written by collsim; all of it is in this file.</p>',
    ]
    data = {
        "schema": "collsim/choose/1",
        "cluster": cluster.name,
        "collective": policy.collective,
        "ranks": policy.ranks,
        "rows": records(policy.rows),
    }
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        # Whatever a name in a file tries, the page loads nothing and sends nothing.
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:\">\n"
        f"<title>{escape(title)}</title>\n<style>{CSS}</style></head>\n<body>\n"
        + "\n".join(sections)
        + _data("policy-data", json.dumps(data))
        + f"\n<script>{library()}</script>\n<script>{SCRIPT}</script>\n</body></html>\n"
    )


def _data(name: str, text: str) -> str:
    """Return JSON as an element, which nothing in it can end."""
    safe = text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
    return f'<script type="application/json" id="{name}">{safe}</script>'


def _where(cluster: Cluster, changes: Sequence[str]) -> str:
    parts = [cluster.shape, f"sharing {cluster.sharing}", *changes]
    return ", ".join(part for part in parts if part)


def _policy(found: Answer) -> str:
    rows = [
        (
            size_words(row.max_bytes),
            row.algorithm,
            row.min_bytes,
            row.max_bytes,
            str(row.chunks_from)
            if row.chunks_from == row.chunks_to
            else f"{row.chunks_from}-{row.chunks_to}",
            row.channels,
            size_words(row.size),
            time_words(row.time_us * 1e-6),
            _gain(row.gain),
            row.runner_up or "-",
            "-" if row.efficiency is None else f"{row.efficiency:.1%}",
        )
        for row in found.policy.rows
    ]
    tie = any("a tie" in row for row in rows)
    tied = " A tie: the next best is as fast." if tie else ""
    return table("policy", _POLICY, rows) + (
        '<p class="note">Both ends of a range are in it. At: the geometric middle of the '
        "range, where time, gain and efficiency hold. Gain: the time of the next best "
        "algorithm over that of the fastest. Efficiency: the lower bound over the time."
        f"{tied}</p>"
    )


def _gain(gain: float | None) -> str:
    if gain is None:
        return "-"
    return f"x{gain:.4g}" if gain > 1 + _TIE else "a tie"


def _crossed(found: Answer) -> str:
    if not found.crossings:
        return escape(f"{found.policy.rows[0].algorithm} is the fastest throughout.")
    told = [
        f"{c.below} and {c.above} cross at {size_words(c.size)} ({time_words(c.seconds)})"
        for c in found.crossings
    ]
    return escape("; ".join(told)) + (
        ". Hover over a line for its time, chunks and channels; drag to zoom, double-click to "
        "zoom out; untick a name to hide its line."
    )


def _figure(name: str, figure: "Figure", label: str) -> str:
    return (
        f'<div class="plot" id="{name}" role="img" aria-label="{escape(label)}"></div>'
        + _data(f"{name}-figure", figure.to_json())
        + "<noscript><p>This figure needs JavaScript; tables hold its numbers.</p></noscript>"
    )


def _runs(found: Answer) -> list[str]:
    options = "".join(
        f'<option value="run-{i}">{escape(_headline(run))}</option>'
        for i, run in enumerate(found.runs)
    )
    return [
        "<h2>The fastest, message by message</h2>",
        f'<p class="controls"><label>At <select id="size">{options}</select></label></p>',
        *(_run(i, run, found.cluster) for i, run in enumerate(found.runs)),
    ]


def _headline(run: Run) -> str:
    return f"{size_words(run.size)}: {run.algorithm}"


def _run(i: int, run: Run, cluster: Cluster) -> str:
    timeline, parts = run.timeline, run.time.breakdown
    shares = [
        f"{name} {time_words(getattr(parts, name))}"
        for name in ("launch", "alpha", "beta", "gamma", "waiting")
        if getattr(parts, name) > 0
    ]
    told = (
        f"{run.algorithm} takes {time_words(run.time.seconds)} for {size_words(run.size)}"
        + (f" = {' + '.join(shares)}" if shares else "")
        + f", in {run.time.chunks} chunk{'s' * (run.time.chunks != 1)}: "
        f"{timeline.operations} messages in {timeline.rounds} rounds. "
        + drawn_as(timeline, cluster)
    )
    where = f"{run.algorithm} at {size_words(run.size)}"
    rows = [
        (name, *(time_words(getattr(t.breakdown, p)) for p in _PARTS), time_words(t.seconds))
        for name, t in run.others.items()
    ]
    return (
        f'<section class="run" id="run-{i}"><h3>{escape(_headline(run))}</h3>'
        f"<p>{escape(told)}</p>"
        + _figure(f"timeline-{i}", timeline_chart(timeline, cluster), f"Messages of {where}")
        + f"<h3>Where the time goes at {escape(size_words(run.size))}</h3>"
        + _figure(f"breakdown-{i}", breakdown_chart(run), f"Parts of times at {where}")
        + f"<details><summary>As a table, all {len(rows)}</summary>"
        + table(f"parts-{i}", ("algorithm", *_PARTS, "time"), rows)
        + "</details></section>"
    )


_PARTS: Final = ("launch", "alpha", "beta", "gamma", "waiting")


def _rests(found: Answer, facts: Sequence[Fact], profile: Profile | None) -> list[str]:
    cluster, policy = found.cluster, found.policy
    told = [
        "<h3>The model</h3>",
        table("model", ("what", "how"), model_facts(cluster, policy.chunks, policy.channels)),
        "<h3>Numbers of the cluster</h3>",
        table(
            "numbers",
            _FACTS,
            [*link_facts(cluster, profile), *facts, *cost_facts(cluster, facts, profile)],
        ),
    ]
    if profile is None:
        why = (
            "No profile: these numbers were fitted to no measurement of this machine, so how "
            "far off the times are is not known."
        )
        return [*told, f'<p class="note">{why}</p>']
    titles = ("parameter", "value", "95 % interval", "kind", "source")
    errors = error_rows(profile)
    told += [
        f"<h3>Profile {escape(profile.name)}</h3>",
        table("parameters", titles, parameter_rows(profile)),
        table("errors", ("how far off", "median", "90th percentile", "rows"), errors)
        if errors
        else "<p>It does not say how far off it is.</p>",
    ]
    told += [f'<p class="note">{escape(note)}</p>' for note in profile.notes]
    if profile.model == "nccl":
        told.append(
            '<p class="note">Times here are simulated with the alpha and beta of the best of '
            "NCCL's protocols in it; the errors above are those of its own fitted times.</p>"
        )
    return told


def _left_out(found: Answer) -> str:
    if not found.left_out:
        return '<p id="left-out">Nothing: every algorithm was compared.</p>'
    rows: list[Sequence[object]] = [(name, reason) for name, reason in found.left_out.items()]
    return (
        "<p>What can't run here, and what a lower bound shows to be too slow to be compared at "
        "every size; of the latter, all that can be simulated are drawn above.</p>"
        + table("left-out", ("algorithm", "why"), rows)
    )
