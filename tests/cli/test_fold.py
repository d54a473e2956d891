"""What the command line says of folded runs."""

import json

import pytest
from click.testing import CliRunner

from collsim.cli.main import main

WHERE = ["-c", "dgx-h100", "--nodes", "128"]
SAID = "8 of 1,024 ranks simulated; the others are the same by XOR with multiples of 8"


def run(*words: str) -> tuple[str, str]:
    """Run a command; return what it prints and what it notes."""
    result = CliRunner().invoke(main, [*words, *WHERE], prog_name="collsim")
    assert result.exit_code == 0, result.output
    return result.stdout, result.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("predict", "all_reduce", "--algorithm", "recursive_doubling", "-s", "1M"),
        ("simulate", "all_reduce", "--algorithm", "recursive_doubling", "-s", "1M"),
        ("choose", "all_reduce", "--algorithm", "recursive_doubling", "-b", "1K", "-e", "1M"),
    ],
    ids=lambda words: words[0],
)
def test_folding_is_said_and_can_be_turned_off(words: tuple[str, ...]) -> None:
    """A note and a key of the JSON object; without it every number is the same."""
    out, notes = run(*words, "--json")
    assert f"note: folded: recursive_doubling: {SAID}" in notes
    folded = json.loads(out)
    assert folded.pop("folded") == {"recursive_doubling": SAID}
    out, notes = run(*words, "--json", "--no-fold")
    assert "folded" not in notes
    whole = json.loads(out)
    assert "folded" not in whole
    # Notes say what was folded, and how long all would take.
    assert folded.pop("notes") != whole.pop("notes")
    for one in (*folded["rows"], *whole["rows"]):
        # Operations of the path are numbered among those that were simulated.
        one.pop("critical_path", None)
    assert folded == whole


def test_a_crossover_says_what_was_folded() -> None:
    """Of both algorithms."""
    out, notes = run(
        "crossover", "all_reduce", "recursive_doubling", "halving_doubling", "-b", "1K",
        "-e", "1G", "--json",
    )  # fmt: skip
    assert f"note: folded: recursive_doubling, halving_doubling: {SAID}" in notes
    answer = json.loads(out)
    assert set(answer["folded"]) == {"recursive_doubling", "halving_doubling"}
    assert len(answer["rows"]) == 1
