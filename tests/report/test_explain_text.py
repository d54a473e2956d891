"""The explanation as text."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from collsim.choose.explain import explain
from collsim.core.cluster import Cluster
from collsim.core.collective import COLLECTIVES
from collsim.report.explain_rounds import in_lines, multiple, round_lines, size_text
from collsim.report.explain_text import explain_text

EIGHT = Cluster.load("textbook-h100", ranks=8)
SIX = Cluster.load("textbook-h100", ranks=6)


def section(text: str, start: str) -> list[str]:
    """Return the lines of the block that begins with `start`."""
    (block,) = (b for b in text.split("\n\n") if b.startswith(start))
    return block.splitlines()


def test_broadcast_shows_who_sends_to_whom() -> None:
    """MST's three rounds and the ring's five."""
    text = explain_text(explain("broadcast", SIX, chunks=1))
    mst, ring = section(text, "mst:"), section(text, "ring:")
    assert [line.strip() for line in mst if " round " in line] == [
        "round 1: 0 -> 3",
        "round 2: 0 -> 2, 3 -> 5",
        "round 3: 0 -> 1, 3 -> 4",
    ]
    assert [line.strip() for line in ring if " round " in line] == [
        f"round {i + 1}: {i} -> {i + 1}" for i in range(5)
    ]
    assert "  3 rounds, 5 messages" in mst


def test_reasoning_is_in_words_and_numbers() -> None:
    """Alpha against n beta of one message, and where the two are equal."""
    text = explain_text(explain("broadcast", SIX, chunks=1))
    lines = [line.strip() for line in section(text, "What one message costs")]
    assert "1KiB pays 10us of alpha and 1.138ns of n beta: alpha rules." in lines
    assert "1GB pays 10us of alpha and 1.111ms of n beta: n beta rules." in lines
    assert any(line.startswith("Both are equal at 9MB (8.583MiB): ") for line in lines)


def test_costs_are_products() -> None:
    """Rounds times alpha, multiples of n beta, the time, and which of the two rules."""
    text = explain_text(explain("all_reduce", Cluster.ideal(8, "10us", "900GB/s")))
    rows = [re.split(r"  +", line.strip()) for line in section(text, "ring:")[-3:]]
    assert rows == [
        ["size", "alpha", "n beta", "time", "rules", "equal at"],
        ["1KiB", "14 x 10us = 140us", "7/4 x 1.138ns = 1.991ns", "140us", "alpha", "68.66MiB"],
        [
            "1GB",
            "14 x 10us = 140us",
            "7/4 x 1.111ms = 1.944ms",
            "2.084ms",
            "n beta",
            "68.66MiB",
        ],
    ]


def test_last_block_says_which_is_faster_and_where_it_turns() -> None:
    """With the reason: fewer start-ups below, fewer bytes above."""
    text = explain_text(explain("all_reduce", Cluster.ideal(8, "10us", "900GB/s")))
    small, large, turn = section(text, "Which is faster")[1:]
    assert small.startswith("  At 1KiB mst: 60.01us against 140us of ring.")
    assert small.endswith(" It pays 6 alphas one after another, ring 14.")
    assert large.startswith("  At 1GB ring: 2.084ms against 6.727ms of mst.")
    assert large.endswith(" It sends 7/4 n one after another, mst 6 n.")
    assert turn == "  It turns at 16.16MiB (172.9us): below mst is faster, above ring."


def test_no_turn_is_said() -> None:
    """The ring in one chunk is slower at every size."""
    lines = section(explain_text(explain("broadcast", SIX, chunks=1)), "Which is faster")
    assert lines[-1] == "  mst is faster, or as fast, at every size from 1B to 1TiB."


def test_before_and_after_of_every_rank() -> None:
    """In letters and in numbers."""
    text = explain_text(explain("reduce_scatter", SIX))
    rows = [re.split(r"  +", line.strip()) for line in section(text, "What it does")[2:]]
    assert rows == [
        ["rank 0", "a0 a1 a2 a3", "[0 1 2 3]", "a0+b0+c0+d0", "[6]"],
        ["rank 1", "b0 b1 b2 b3", "[1 2 3 4]", "a1+b1+c1+d1", "[10]"],
        ["rank 2", "c0 c1 c2 c3", "[2 3 4 5]", "a2+b2+c2+d2", "[14]"],
        ["rank 3", "d0 d1 d2 d3", "[3 4 5 6]", "a3+b3+c3+d3", "[18]"],
    ]


@pytest.mark.parametrize(
    ("name", "algorithm", "line"),
    [
        ("scatter", "mst", "round 1: 0 -> 3 [3-5]  (n/2)"),
        ("all_gather", "ring", "round 2: 0 -> 1 [5], 1 -> 2 [0], 2 -> 3 [1], 3 -> 4 [2],"),
        ("all_to_all", "ring", "round 1: 0 -> 1 [0>1], 1 -> 2 [1>2], 2 -> 3 [2>3],"),
        (
            "all_reduce",
            "ring",
            "round  1 adds:   0 -> 1 [part 5], 1 -> 2 [part 0], 2 -> 3 [part 1],",
        ),
        ("broadcast", "ring", "round 2: 0 -> 1 [chunk 1], 1 -> 2 [chunk 0]  (each n/4)"),
    ],
)
def test_cargo_is_named(name: str, algorithm: str, line: str) -> None:
    """Shares, messages, parts or chunks, and how much each is."""
    lines = section(explain_text(explain(name, SIX, chunks=4)), f"{algorithm}:")
    assert any(one.strip().startswith(line) for one in lines), lines


def test_brackets_are_explained() -> None:
    """What a number in brackets is, depends on the collective."""
    assert "[3] is the share of rank 3" in explain_text(explain("scatter", SIX))
    assert "[0>3] is what rank 0 has for rank 3" in explain_text(explain("all_to_all", SIX))
    assert "is the share" not in explain_text(explain("broadcast", SIX))


def test_simulated_costs_are_said_to_be() -> None:
    """On two nodes, and where reductions overlap, formulas are not exact."""
    two = explain_text(explain("all_reduce", Cluster.load("dgx-h100", nodes=2)))
    assert "  No formula is exact on this network: the times below are simulated.\n" in two
    assert "From rank 0 to rank 8 over ndr400: alpha is " in two
    slow = Cluster.ideal(6, "10us", "900GB/s", gamma="0.001ns", launch="3us")
    text = explain_text(explain("reduce_scatter", slow))
    assert "  Reductions overlap with messages, so the formula is a bound: the times" in text
    assert re.search(r"size +alpha +n beta +gamma +launch +time", text)


def test_turn_from_adding_to_copying_is_seen() -> None:
    """All 14 rounds of the ring on 8 ranks; a broadcast only copies, and says nothing of it."""
    ring = section(explain_text(explain("all_reduce", EIGHT)), "ring:")
    heads = [line.split(":")[0].split() for line in ring if line.startswith("    round ")]
    assert heads == [["round", str(i), "adds" if i < 8 else "copies"] for i in range(1, 15)]
    assert "copies" not in explain_text(explain("broadcast", EIGHT))


def test_round_that_does_both_marks_what_it_adds() -> None:
    """Each adding message has its own plus."""
    story = explain("all_reduce", EIGHT, algorithms=["mst"]).algorithms[0]
    first, second = story.shown[2].sends[0], story.shown[3].sends[0]
    one = replace(story.shown[2], messages=2, does="both", sends=(first, second))
    lines = round_lines("all_reduce", 8, replace(story, rounds=1, shown=(one,)))
    assert lines[1:] == ["    round 3 adds (+) and copies: 4 -> 0 (+), 0 -> 4"]


def test_bound_is_called_a_bound() -> None:
    """Of a broadcast, which reduces nothing; a line of its own before the table."""
    answer = explain("broadcast", EIGHT, algorithms=["mst"])
    story = answer.algorithms[0]
    costs = tuple(
        replace(c, model="event", alphas=None, betas=None, equal_bytes=None)
        for c in story.costs
    )
    bound = replace(answer, algorithms=(replace(story, claim="bound", costs=costs),))
    lines = section(explain_text(bound), "mst:")
    assert lines[-4] == "  The formula is a bound: the times below are simulated."
    assert lines[-3].split() == ["size", "alpha", "n", "beta", "time", "rules"]
    mixed = replace(story, claim="overlap", costs=(story.costs[0], costs[1]))
    text = explain_text(replace(answer, algorithms=(mixed,)))
    assert "those times below that are no product" in text


def test_numbers_of_all_gather_are_explained() -> None:
    """They go on from those of reduce_scatter."""
    block = section(explain_text(explain("all_gather", EIGHT)), "What it does")
    assert block[-1].startswith("  such as: here the results of reduce_scatter's example")
    assert len(section(explain_text(explain("gather", EIGHT)), "What it does")) == 6


def test_large_schedules_are_summarised() -> None:
    """1,024 ranks: some rounds, three messages of each, and how many more."""
    text = explain_text(explain("all_reduce", Cluster.ideal(1024, "1us", "900GB/s")))
    assert len(text.splitlines()) < 60
    assert "round  1 adds:   1 -> 0, 3 -> 2, 5 -> 4, and 509 more" in text
    ring = section(text, "ring:")[4:-3]
    rounds = [line.split(":")[0].strip() for line in ring if line[4:9] in ("round", "... 1")]
    assert rounds == [
        "round    1 adds",
        "round    2 adds",
        "round    3 adds",
        "... 1019 more rounds ...",
        "round 1023 adds",
        "round 1024 copies",
        "... 1021 more rounds ...",
        "round 2046 copies",
    ]
    assert "2046 rounds, 2095104 messages" in text


def test_one_rank_needs_no_message() -> None:
    """It is said so, and no costs are listed."""
    text = explain_text(explain("all_reduce", Cluster.ideal(1, "1us", "1GB/s")))
    assert "There is one rank, so nothing is sent and nothing takes time." in text
    assert "round" not in text.replace("ring around", "").replace("around", "")


@pytest.mark.parametrize("ranks", [1, 2, 3, 7, 16, 40])
@pytest.mark.parametrize("name", COLLECTIVES)
def test_lines_are_short(name: str, ranks: int) -> None:
    """At most 100 columns, for every collective, with the longest numbers."""
    cluster = Cluster.ideal(
        ranks, "12.34us", "899.9GB/s", gamma="0.00123ns", launch="3.456us", name="a-cluster"
    )
    text = explain_text(explain(name, cluster, sizes=[1000, 12345678, 2**40 - 1], chunks=3))
    assert max(len(line) for line in text.splitlines()) <= 100
    assert text == text.strip()
    assert not any(line != line.rstrip() for line in text.splitlines())


def test_numbers_in_sentences() -> None:
    """Simple fractions as such, sizes as people write them, long lines wrapped."""
    assert [multiple(v) for v in (None, 0.0, 2.0, 2 / 3, 0.123456)] == [
        "?", "0", "2", "2/3", "0.1235",
    ]  # fmt: skip
    assert [size_text(n) for n in (0, 999, 1000, 1536, 2**40, 123456.7)] == [
        "0B", "999B", "1kB", "1536B", "1TiB", "120.6KiB",
    ]  # fmt: skip
    assert in_lines("word " * 30, 2)[1].startswith("    word")
