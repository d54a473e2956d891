"""The tuner's file, read as NCCL's example plugin reads it."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from collsim.choose.against import Comparison
from collsim.choose.curve import Curve
from collsim.core.cluster import Cluster
from collsim.errors import InputError
from collsim.interop.nccl_tuner import against, allowed, rules, to_csv
from collsim.interop.nccl_tuner.names import FUNCTIONS
from collsim.interop.nccl_tuner.pair import Pair
from collsim.interop.nccl_tuner.ranges import Own, at
from collsim.interop.nccl_tuner.rules import Rule
from collsim.nccl import Tuning, communicator, tuning
from collsim.report.against_text import summary

TOP = 2**63 - 1


class Made:
    """A file for all collectives of a cluster, and what it was made from."""

    def __init__(self, reader: ModuleType, name: str, **sizes: int) -> None:
        self.cluster = Cluster.load(name, **sizes)
        self.table: Tuning = tuning(communicator(self.cluster))
        self.found: list[Comparison] = [
            against(kind, self.cluster, self.table) for kind in FUNCTIONS
        ]
        rows = [rule for one in self.found for rule in rules(self.table, one)]
        self.text = to_csv(rows, self.found, ["made in a test"])
        self.plugin = reader.Plugin(self.text, self.cluster.ranks, self.cluster.nodes)

    def costs(self, kind: str, *without: str) -> dict[tuple[str, str], float]:
        """Return NCCL's table of costs, less algorithms that a call can't use."""
        times = self.table.times_us(kind, np.array([2**20]))
        return {key: float(t[0]) for key, t in times.items() if key[0] not in without}


@pytest.fixture(
    scope="module", params=[("dgx-h100", 2, 4), ("dgx-a100", 4, 2), ("dgx-h100", 1, 8)]
)
def made(request: pytest.FixtureRequest, reader: ModuleType) -> Made:
    """Return files for three machines."""
    name, nodes, gpus = request.param
    return Made(reader, name, nodes=nodes, gpus_per_node=gpus)


def sizes(count: int, seed: int = 1) -> list[int]:
    """Return random sizes, as many in each doubling, and the ends."""
    draw = random.Random(seed)
    return [
        0,
        1,
        7,
        8,
        2**33,
        2**33 + 1,
        TOP,
        *(round(2 ** draw.uniform(0, 40)) for _ in range(count)),
    ]


def test_plugin_picks_what_the_policy_says(made: Made) -> None:
    """Where another one gains enough it is that, and elsewhere NCCL's own choice."""
    for one in made.found:
        kind = one.collective
        for n in sizes(400):
            picked, channels = made.plugin.call(FUNCTIONS[kind], n, made.costs(kind))
            inside = min(max(n, one.rows[0].min_bytes), one.rows[-1].max_bytes)
            row = next(r for r in one.rows if inside <= r.max_bytes)
            own = made.table.choice(kind, min(n, 2**62))
            assert picked is not None
            if row.gained:
                assert picked[0] == row.best_algorithm
            elif not _near_a_border(made, kind, n):
                assert (*picked, channels) == (own.algorithm, own.protocol, own.channels)
            assert channels == made.table.channels(kind, *picked, min(n, 2**62))


def _near_a_border(made: Made, kind: str, n: int) -> bool:
    """Return whether 32-bit rounding decides NCCL's choice there."""
    beside = {n, max(0, n - n // 2**15), min(2**62, n + n // 2**15)}
    return len({made.table.choice(kind, min(m, 2**62)).protocol for m in beside}) > 1


def test_protocol_is_the_one_that_the_model_has_for_the_algorithm(made: Made) -> None:
    """The fastest of its protocols at that size by NCCL's own times."""
    for one in made.found:
        for n in sizes(100, seed=2):
            picked, _ = made.plugin.call(
                FUNCTIONS[one.collective], n, made.costs(one.collective)
            )
            assert picked is not None
            times = {
                protocol: seconds
                for protocol in ("ll", "ll128", "simple")
                if (
                    seconds := made.table.seconds(
                        one.collective, picked[0], protocol, min(n, 2**62)
                    )
                )
            }
            assert times[picked[1]] <= min(times.values()) * (1 + 2**-14)


def test_every_size_of_every_collective_has_a_line(made: Made, reader: ModuleType) -> None:
    """Also of calls that switches can't reduce, so that nothing falls to one channel."""
    for kind in FUNCTIONS:
        for without in ((), ("nvls", "nvls_tree")):
            for n in sizes(100, seed=3):
                picked, _ = made.plugin.call(FUNCTIONS[kind], n, made.costs(kind, *without))
                assert picked is not None
    assert set(FUNCTIONS.values()) == set(reader.COLLECTIVES)


def test_only_words_that_the_plugin_knows_and_explicit_channels(made: Made) -> None:
    """Unknown words would silently become allreduce, ring or simple."""
    lines = [line for line in made.text.splitlines() if not line.startswith("#")]
    pattern = (
        r"(broadcast|reduce|allgather|reducescatter|allreduce),\d+,\d+,"
        r"(tree|ring|nvls|nvls_tree|pat),(ll|ll128|simple),[1-9]\d*,\d+,\d+,-1,-1"
    )
    assert lines
    assert all(re.fullmatch(pattern, line) for line in lines)
    assert max(map(len, made.text.splitlines())) < 256


def test_head_names_the_trap(made: Made, reader: ModuleType) -> None:
    """Other communicators and collectives fall to one channel with NVIDIA's plugin."""
    head = " ".join(line[2:] for line in made.text.splitlines() if line.startswith("#"))
    assert "falls to one channel with NVIDIA's example plugin up to 2.30.7" in head
    picked, channels = reader.Plugin(made.text, 7, 1).call(
        "allreduce", 1024, {("ring", "ll"): 1.0}
    )
    assert (picked, channels) == (None, 1)


@pytest.mark.parametrize(
    "wrong", [{"algorithm": "double_binary_tree"}, {"protocol": "LL"}, {"channels": -1}]
)
def test_rule_that_the_plugin_would_misread_is_refused(wrong: dict[str, Any]) -> None:
    """Our own names, capitals, and the -1 that the README promises too much of."""
    good = {"algorithm": "ring", "protocol": "ll", "channels": 4}
    rule = Rule("all_reduce", 0, 8, nodes=1, ranks=8, **(good | wrong))
    with pytest.raises(InputError, match="nothing that NCCL's plugin can read"):
        to_csv([rule], [], [])


def test_gain_below_the_least_changes_nothing() -> None:
    """Asked for a gain of 1000 %, the file repeats NCCL's choice."""
    cluster = Cluster.load("dgx-h100", nodes=2, gpus_per_node=2)
    table = tuning(communicator(cluster))
    found = against("all_reduce", cluster, table, min_gain=10.0)
    assert not any(row.gained for row in found.rows)
    made = rules(table, found)
    own = {(r.algorithm, r.protocol) for r in table.ranges("all_reduce", 0, 2**62)}
    assert {(rule.algorithm, rule.protocol) for rule in made if rule.min_bytes} <= own


def test_without_a_profile_latency_changes_nothing() -> None:
    """In-switch reduction looks 7 times as fast at 1 KiB: that is doubtful, and not written.

    NCCL's takes 25 us there, which no cluster file knows.
    """
    cluster = Cluster.load("dgx-h100")
    table = tuning(communicator(cluster))
    found = against("all_reduce", cluster, table, bytes_only=True)
    assert not any(row.gained for row in found.rows)
    small = found.rows[0]
    assert small.doubtful
    assert (small.nccl_algorithm, small.best_algorithm) == ("ring", "nvls")
    assert (small.most or 0) > 5
    assert "that only a profile tells" in summary(found)
    assert rules(table, found)[0].algorithm == "ring"
    assert against("all_reduce", cluster, table).rows[0].gained


@pytest.mark.parametrize(("nbytes", "verdict"), [(2**10, "doubtful"), (2**33, "gained")])
def test_what_bytes_decide_counts_without_a_profile(nbytes: int, verdict: str) -> None:
    """At 8 GiB the ring's bytes alone, 7/4 n, take longer than NVLS with NCCL's 25 us."""
    cluster = Cluster.load("dgx-h100")
    own = Own(tuning(communicator(cluster)), "all_reduce")
    curves = {name: Curve("all_reduce", name, cluster) for name in ("ring", "nvls")}
    assert Pair(own, curves, 0.03, bytes_only=True).verdict("ring", "nvls", nbytes) == verdict


def test_long_commands_are_wrapped_in_comments() -> None:
    """A line of more than 255 characters would be read as two."""
    rule = Rule("all_reduce", 0, 2**64 - 1, "ring", "ll", 4, 1, 8)
    text = to_csv(
        [rule], [], ["made by: collsim " + "x" * 600 + "\nallreduce,0,9,tree,ll,1,1,8"]
    )
    assert max(map(len, text.splitlines())) < 256
    assert sum(not line.startswith("#") for line in text.splitlines()) == 1


def test_rows_are_of_one_protocol_and_cover_the_range(made: Made) -> None:
    """What NCCL runs at either end of a row is what the row says."""
    for one in made.found:
        own = Own(made.table, one.collective)
        for row in one.rows:
            for n in (row.min_bytes, row.size, row.max_bytes):
                picked = at(own.choice, n)
                assert (picked.algorithm, picked.protocol) == (
                    row.nccl_algorithm,
                    row.nccl_protocol,
                )
            ends = [at(own.choice, n).channels for n in (row.min_bytes, row.max_bytes)]
            assert [row.nccl_channels_from, row.nccl_channels_to] == ends


def test_rows_have_the_times_of_nccls_model(made: Made) -> None:
    """Of both, in the protocol that is named; nothing is faster by it than its choice."""
    for one in made.found:
        for row in one.rows:
            model = made.table.time_us(
                one.collective, row.nccl_algorithm, row.nccl_protocol, row.size
            )
            assert row.nccl_model_us == model
            assert row.model_gain is not None
            assert row.model_gain <= 1 + 2**-14


def test_without_a_profile_a_gain_counts_from_thirty_percent_on() -> None:
    """Datasheets are off by as much; who asks for less gets it."""
    cluster = Cluster.load("dgx-h100", nodes=2, gpus_per_node=2)
    table = tuning(communicator(cluster))
    found = {
        given: against("all_reduce", cluster, table, bytes_only=only, min_gain=given)
        for given, only in ((None, True), (0.05, True))
    }
    assert (found[None].min_gain, found[0.05].min_gain) == (0.30, 0.05)
    assert against("all_reduce", cluster, table).min_gain == 0.03


def test_nccls_choice_that_is_the_best_is_never_a_gain() -> None:
    """Nor doubtful, though no gain at all is asked for."""
    cluster = Cluster.load("dgx-h100", nodes=2, gpus_per_node=2)
    table = tuning(communicator(cluster))
    for only in (False, True):
        found = against("all_reduce", cluster, table, min_gain=0.0, bytes_only=only)
        same = [r for r in found.rows if r.nccl_algorithm == r.best_algorithm]
        assert same
        assert not any(row.gained or row.doubtful for row in same)
        assert summary(found).count("hinges on latencies") == only
        assert "is the best that it has" in summary(found)


def test_file_says_of_every_change_what_nccls_model_thinks() -> None:
    """And, where nothing was measured, how to measure it first."""
    cluster = Cluster.load("dgx-h100")
    table = tuning(communicator(cluster))
    found = against("all_reduce", cluster, table, min_gain=0.0)
    assert found.changes()
    for one in (found, replace(found, measured=False)):
        text = to_csv(rules(table, one), [one], [])
        assert text.count("; NCCL's model says x0.") == len(found.changes())
        assert text.count("measure with NCCL_ALGO=allreduce:") == (
            0 if one.measured else len(found.changes())
        )


def test_setting_that_is_none_says_what_it_would_lose() -> None:
    """The next best, over all sizes and where it is worst."""
    cluster = Cluster.load("dgx-a100", nodes=4, gpus_per_node=2)
    setting = allowed("all_reduce", cluster, tuning(communicator(cluster)), min_gain=1.0)
    assert setting.algorithms == ()
    assert setting.other in {("ring",), ("tree",)}
    assert setting.other_gain < 2
    assert setting.worst > 1
    assert setting.worst_size > 0


@pytest.mark.parametrize(("nodes", "gpus"), [(1, 8), (2, 8)])
def test_lines_without_switches_stand_where_those_with_them_are_passed_over(
    nodes: int, gpus: int
) -> None:
    """Each is reached by some message, at sizes of NVLS; a comment says what they are for."""
    cluster = Cluster.load("dgx-h100", nodes=nodes, gpus_per_node=gpus)
    table = tuning(communicator(cluster))
    found = against("all_reduce", cluster, table)
    made = rules(table, found)
    again = next(i for i in range(1, len(made)) if made[i].min_bytes <= made[i - 1].max_bytes)
    first, later = made[:again], made[again:]
    switched = [rule for rule in first if rule.algorithm.startswith("nvls")]
    assert later[0].min_bytes == switched[0].min_bytes
    for rule in later:
        assert not rule.algorithm.startswith("nvls")
        assert any(
            rule.min_bytes <= one.max_bytes and one.min_bytes <= rule.max_bytes
            for one in switched
        )
    lines = to_csv(made, [found], []).splitlines()
    at_first = len(lines) - len(later)
    assert lines[at_first - 1].endswith("and these fit:")
