"""Whatever the arguments, the program exits with 0, 1 or 2, and says why in one line."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from collsim.cli.main import main

COLLECTIVES = ["all_reduce", "broadcast", "alltoall", "gather", "sendrecv", "nonsense", ""]
ALGORITHMS = ["mst", "ring", "linear", "auto", "all", "direct", "rnig", "../ring", "__init__"]
JUNK = ["", "-1", "0", "1", "3", "9", "1e9", "nan", "inf", "x", "1K", "é", "\x00", "-", "--"]
SIZES = ["0", "1", "1000", "1K", "1MiB", "8G", "1TiB", "12XB", "-1", "1.5"]
VALUES = {
    "-s": SIZES,
    "-b": SIZES,
    "-e": ["8", "1K", "64K"],
    "-f": ["2", "7", "1"],
    "-i": ["1000", "0", "64K"],
    "-d": ["float", "half", "flot"],
    "--op": ["sum", "avg", "smu"],
    "-r": ["0", "1", "7", "99"],
    "--algorithm": ALGORITHMS,
    "--chunks": ["auto", "1", "2", "7"],
    "--model": ["auto", "event", "formula"],
    "-c": ["textbook-h100", "dgx-h100", "dgx-a100", "nope", "/", "configs", "x.toml"],
    "--nodes": ["1", "2", "3"],
    "--gpus-per-node": ["1", "2", "8"],
    "--ranks": ["1", "2", "3", "5", "8", "9", "1-3", "4,2"],
    "--alpha": ["0", "1us", "10us", "1e300s", "5"],
    "--bandwidth": ["1GB/s", "400Gb/s", "1B/s", "0GB/s", "1e300GB/s"],
    "--gamma": ["0", "1ns", "1GB/s"],
    "--launch": ["0", "5us"],
    "--alpha-busy": ["0", "1us", "9us"],
    "--profile": ["nope", "nope.toml", "configs/clusters/dgx-h100.toml"],
    "--sharing": ["fifo", "fair"],
    "--set": [
        "network.bandwidth=1GB/s",
        "node.gpus=4",
        "node.gpus=x",
        "nope=1",
        "cost.launch=1us",
    ],
    "--degrade": ["nic[3]=0.25", "gpu[1].up=0.5", "nci=1", "gpu[0]=2", "nic[1:3]=1"],
    "--fail": ["nic[3]", "gpu[0]", "switch[0]", "leaf[1]", "nic[1:3]", "nic[9999999]"],
    "--delay": ["rank[3]=500us", "rank[1:0]=1s", "rank[9]=1us", "nic[3]=1us", "rank[0]=0"],
    "--order": ["across", "inside", "0-7", "7,6,5,4,3,2,1,0", "0,0", "acros", "1-0"],
    "--where": ["size > 1K", "size", "ranks == 8", "foo == 1"],
    "--columns": ["both", "in-place", "no"],
    "--hold-out": ["sizes", "ranks", "no"],
    "--tolerance": ["0", "0.2", "-1", "nan"],
    "--root": ["0", "2"],
    "--routes": ["0"],
}
LOG = "examples/nccl_tests_all_reduce_8gpu.txt"
COMMANDS = [
    ["predict", "all_reduce"],
    ["simulate", "broadcast", "--algorithm", "ring", "-s", "1K"],
    ["crossover", "reduce", "mst", "ring"],
    ["choose", "all_reduce"],
    ["verify", "gather", "--ranks", "1-3"],
    ["explain", "scatter", "--ranks", "4"],
    ["list", "clusters"],
    ["show", "cluster", "dgx-h100"],
    ["calibrate", "fit", LOG],
    ["check", LOG],
    ["estimate", "examples/workloads/by_hand.toml"],
]


@st.composite
def lines(draw: st.DrawFn) -> list[str]:
    """Draw a good command line with some of it changed, or anything at all."""
    words = list(draw(st.sampled_from(COMMANDS)))
    for option in draw(st.lists(st.sampled_from(sorted(VALUES)), max_size=4)):
        words += [option, draw(st.sampled_from([*VALUES[option], *VALUES[option], *JUNK]))]
    words += draw(st.lists(st.sampled_from(["--json", "--csv", "--help"]), max_size=1))
    if draw(st.integers(0, 4)) == 0:
        place = draw(st.integers(0, len(words) - 1))
        other = [*COLLECTIVES, *ALGORITHMS, *JUNK]
        words[place] = draw(st.sampled_from(other) | st.text(max_size=6))
    return words


@settings(max_examples=400)
@given(words=lines())
def test_any_line(words: list[str]) -> None:
    """No exception but SystemExit; an error is the last line; JSON is JSON."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(__file__.removesuffix("tests/cli/test_fuzz.py"))
        result = CliRunner().invoke(main, words, prog_name="collsim")
    assert isinstance(result.exception, SystemExit | None), result.exception
    assert result.exit_code in {0, 1, 2}
    if result.exit_code:
        assert result.stderr.splitlines()[-1].startswith("Error: ")
    elif "--json" in words and "--help" not in words:
        json.loads(result.stdout, parse_constant=pytest.fail)
