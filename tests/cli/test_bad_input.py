"""Bad input gives one clear line, never a traceback."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

SIZE = "expected a whole number of bytes such as 64MiB, 8G or 1MB"
TIME = "expected a time such as 10us, 1.5ms or 0"
RATE = "expected a bandwidth such as 900GB/s, 50GiB/s or 400Gb/s"
GAMMA = "expected a time per byte such as 0.0005ns, or a rate such as 2000GB/s"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("-s -1", f"'-s' / '--size': size '-1' is negative: {SIZE}"),
        ("-s 12XB", f"'-s' / '--size': size '12XB': {SIZE}"),
        ("-s nan", f"'-s' / '--size': size 'nan': {SIZE}"),
        ("-s inf", f"'-s' / '--size': size 'inf': {SIZE}"),
        ("-s 0.5", f"'-s' / '--size': size '0.5' is a fraction of a byte: {SIZE}"),
        ("-b -8", f"'-b': size '-8' is negative: {SIZE}"),
        ("-i 0", "'-i': got '0', expected a size above 0"),
        ("-f 1", "'-f': got '1', expected a whole number from 2 to 1048576"),
        ("-f 1.5", "'-f': got '1.5', expected a whole number from 2 to 1048576"),
        ("--bandwidth 0GB/s", f"'--bandwidth': bandwidth '0GB/s': {RATE}, above 0"),
        ("--bandwidth infGB/s", f"'--bandwidth': bandwidth 'infGB/s': {RATE}"),
        ("--bandwidth nan", f"'--bandwidth': bandwidth 'nan': {RATE}"),
        ("--bandwidth 9", f"'--bandwidth': bandwidth '9' has no unit: {RATE}"),
        ("--alpha -1us", f"'--alpha': time '-1us' is negative: {TIME}"),
        ("--alpha inf", f"'--alpha': time 'inf': {TIME}"),
        ("--alpha nan", f"'--alpha': time 'nan': {TIME}"),
        ("--alpha 5", f"'--alpha': time '5' has no unit: {TIME}"),
        ("--alpha 1e10s", "'--alpha': got '1e10s', expected a time of at most 1e9s"),
        ("--gamma 5", f"'--gamma': got '5', {GAMMA}"),
        ("--ranks 0", "'--ranks': got '0', expected a whole number from 1 to 1048576"),
        ("--ranks two", "'--ranks': got 'two', expected a whole number from 1 to 1048576"),
        ("--nodes -1", "'--nodes': got '-1', expected a whole number from 1 to 1048576"),
        ("-r -1", "'-r' / '--root': got '-1', expected a whole number from 0 to 1048576"),
        (
            "--chunks 0",
            (
                "'--chunks': got '0', expected a whole number from 1 to 1048576, or auto, "
                "or a list such as 1,3,5-8"
            ),
        ),
        ("--sharing fare", "'--sharing': 'fare' is not one of 'fifo', 'fair'."),
        ("--model even", "'--model': 'even' is not one of 'event', 'formula', 'auto'."),
    ],
)
def test_value_that_is_none_is_wrong_usage(fails: Any, line: str, message: str) -> None:
    """The line names the option, what was got and what was expected."""
    assert fails(f"predict all_reduce {line}", code=2) == f"Invalid value for {message}"


KNOWN = "(known: mst, ring, bidirectional_ring, double_binary_tree, halving_doubling, "


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("predict all_redcue", "unknown collective 'all_redcue'; did you mean 'all_reduce'?"),
        (
            "predict all_reduce --algorithm rong",
            f"unknown algorithm of all_reduce 'rong'; did you mean 'ring'? {KNOWN}",
        ),
        (
            "predict all_reduce -c dgx-h10",
            "unknown cluster 'dgx-h10'; did you mean 'dgx-h100'?",
        ),
        ("predict all_reduce -d floot", "unknown dtype 'floot'; did you mean 'float'?"),
        ("predict all_reduce --op smu", "unknown op 'smu'; did you mean 'sum'?"),
        ("predict all_reduce --profile mine", "unknown profile 'mine'"),
        ("predict broadcast -r 8", "root: got 8, expected a rank from 0 to 7"),
        ("crossover all_reduce mst rign", "unknown algorithm of all_reduce 'rign'; did you"),
        ("verify all_reduce --algorithm rign", "unknown algorithm of all_reduce 'rign'; did"),
        (
            "predict all_reduce --algorithm collnet_chain",
            f"unknown algorithm of all_reduce 'collnet_chain' {KNOWN}",
        ),
        (
            "explain all_gather --algorithm reduce_broadcast",
            "unknown algorithm of all_gather 'reduce_broadcast' (known: ",
        ),
        ("verify --algorithm collnet_chain", "unknown algorithm 'collnet_chain' (known: "),
        ("show cluster dgx-h20", "unknown cluster 'dgx-h20'"),
        ("predict all_reduce -c nowhere.toml", "nowhere.toml: No such file or directory"),
        ("predict all_reduce -c configs/", "configs/: Is a directory"),
        ("predict all_reduce --profile configs/", "configs/: Is a directory"),
        (
            "predict broadcast --algorithm mst --chunks 2",
            "chunks: broadcast/mst sends each message whole, got 2",
        ),
        (
            "predict all_reduce --alpha 1us --alpha-busy 2us --bandwidth 1GB/s",
            "link link: alpha_busy is 2e-06, expected seconds from 0 to alpha",
        ),
        ("calibrate fit /dev/null", "/dev/null: no measurements in a known format"),
        (
            "check examples/nccl_tests_all_reduce_8gpu.txt --where size",
            "condition 'size': expected FIELD OP VALUE such as 'ranks == 8'",
        ),
    ],
)
def test_name_or_value_that_does_not_fit_is_a_failure(
    fails: Any, line: str, message: str
) -> None:
    """Exit 1; names bring the nearest."""
    assert fails(line, code=1).startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            'schema = "collsim/cluster/1"\nname = "x"\nnod = 1\n',
            "nod: unknown key; did you mean",
        ),
        ('schema = "collsim/cluster/1"\nname = 3\n', "name: got 3, expected text"),
        ("schema = [", "line 1, column 11, the end of the file: broken TOML: Invalid value"),
        ("", 'schema: missing, expected schema = "collsim/cluster/1"'),
    ],
)
def test_broken_file_names_file_and_key(
    fails: Any, tmp_path: Path, text: str, message: str
) -> None:
    """Also what was got and expected."""
    path = tmp_path / "x.toml"
    path.write_text(text)
    assert fails("predict all_reduce -c", str(path), code=1).startswith(f"{path}: {message}")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("predcit", "unknown command 'predcit'; did you mean 'predict'?"),
        (
            "calibrate fti",
            "unknown command 'fti'; did you mean 'fit'? (known: fit, measure, report, run)",
        ),
        ("predict", "Missing argument 'COLLECTIVE'; for example: "),
        ("predict all_reduce extra", "Got unexpected extra argument"),
        ("predict all_reduce --bogus", "No such option"),
        ("predict all_reduce --ranks", "Option '--ranks' requires an argument."),
    ],
)
def test_wrong_words_are_wrong_usage(fails: Any, line: str, message: str) -> None:
    """Exit 2, with the nearest command."""
    assert fails(line, code=2).startswith(message)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("choose all_reduce -s 2M", "'-s'; sizes are a range here, from -b to -e"),
        ("predict all_reduce -s 1M,1G", "expected one size here; several as -s 1M -s 1G"),
        ("show cluster dgx-h100 --routes 0,5", ", with a blank between them: --routes A B"),
        ("show algorithm ring", "collsim list algorithms, collsim explain COLLECTIVE"),
    ],
)
def test_what_is_meant_is_said(fails: Any, line: str, message: str) -> None:
    """What newcomers try first leads on."""
    assert fails(line, code=2).endswith(message)


def test_small_and_capital_letters(run: Any) -> None:
    """Names of algorithms and presets are known in either."""
    for line in (
        "predict all_reduce -s 1K -c {} --algorithm {}",
        "crossover all_reduce -c {} {} mst",
        "explain all_reduce -s 1K -c {} --algorithm {},mst",
    ):
        found = run(line.format("DGX-H100", "RING"))
        assert found.exit_code == 0, found.stderr
        assert found.stdout == run(line.format("dgx-h100", "ring")).stdout
