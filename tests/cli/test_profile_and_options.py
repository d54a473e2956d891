"""Options that say something else than what a profile was fitted to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

P = "-c dgx-h100 --nodes 2 --profile h100-ndr"
Q = "-c dgx-h100 --profile h100-nvswitch-8"
SIMULATED = (
    "note: profile h100-ndr was fitted to the machine as it was: with what is changed, all "
    "times are simulated with its alpha and beta"
)


@pytest.mark.parametrize(
    "line",
    [
        f"predict all_reduce {P} -s 1M",
        f"choose all_reduce {P}",
        f"crossover all_reduce ring mst {P}",
        f"estimate examples/workloads/by_hand.toml {P}",
    ],
)
def test_a_number_that_is_set_is_never_lost(fails: Any, line: str) -> None:
    """One line names it, what the profile has, and what to do."""
    message = fails(f"{line} --set network.bandwidth=10GB/s", code=1)
    assert message == (
        "set: got network.bandwidth, but profile h100-ndr has a fitted bandwidth, which would "
        "replace it; expected one of them, --set or --profile (--degrade leaves a share of a "
        "fitted bandwidth)"
    )


@pytest.mark.parametrize("option", ["launch 1s", "gamma 1ns", "launch 0"])
@pytest.mark.parametrize(
    "line",
    [
        f"predict all_reduce {P} -s 8 --algorithm all",
        f"crossover all_reduce ring double_binary_tree {P}",
        f"choose all_reduce {Q}",
    ],
)
def test_launch_and_gamma_are_not_for_fitted_times(fails: Any, line: str, option: str) -> None:
    """Simulated rows of a table would hear of them, and the lower bound of fitted ones."""
    name = option.partition(" ")[0]
    profile = "h100-ndr" if P in line else "h100-nvswitch-8"
    assert fails(f"{line} --{option}", code=2) == (
        f"--{name} with --profile {profile}, whose fitted times hold what NCCL takes for it: "
        "expected one of them"
    )


@pytest.mark.parametrize("option", ["--sharing fair", "--order across"])
def test_other_places_and_sharing_are_simulated(run: Any, option: str) -> None:
    """All rows are, and a note says so."""
    said = run(f"predict all_reduce {P} -s 8 --algorithm ring,recursive_doubling {option}")
    assert SIMULATED in said.stderr.splitlines()
    rows = [line for line in said.stdout.splitlines() if "float" in line]
    assert ["event" in row for row in rows] == [True, True]


def test_auto_is_of_what_nccl_has_in_another_order(answer: Any) -> None:
    """Recursive doubling, which is faster there, is not NCCL's."""
    line = f"predict all_reduce {P} -s 8 --order across"
    (row,) = answer(line)["rows"]
    assert (row["model"], row["algorithm"]) == ("event", "nvls_tree")


def test_swaps_are_simulated_in_another_order(answer: Any) -> None:
    """As the times of `predict` are."""
    line = f"crossover all_reduce ring double_binary_tree {P} -b 64M -e 128M --chunks 4"
    found = [answer(f"{line} {words}")["fitted"] for words in ("", "--order across")]
    assert found == [True, False]


@pytest.mark.parametrize("option", ["--sharing fifo", "--order inside"])
def test_what_is_so_anyway_changes_nothing(run: Any, answer: Any, option: str) -> None:
    """Fitted times stay."""
    line = f"predict all_reduce {P} -s 1M"
    assert answer(f"{line} {option}")["rows"] == answer(line)["rows"]
    assert SIMULATED not in run(f"{line} {option}").stderr


def test_scaling_is_simulated_in_another_order(run: Any, tmp_path: Path) -> None:
    """On one node ranks sit as ever; the largest cluster counts."""
    line = f"plot scaling all_reduce -s 1M {P.replace('2', '1,2')} --algorithm ring -o"
    path = str(tmp_path / "a.png")
    assert SIMULATED not in run(line, path).stderr
    assert SIMULATED in run(line, path, "--order", "across").stderr.splitlines()


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--chunks 4", "--chunks 4"),
        ("--chunks 2,4 --channels 2", "--chunks 2,4 or --channels 2"),
        ("--chunks auto", None),
    ],
)
def test_fitted_rows_say_what_they_dont_take(run: Any, option: str, said: str | None) -> None:
    """NCCL cuts messages itself; a simulated row of the same table takes them."""
    notes = run(f"predict all_reduce {P} -s 1M --algorithm all {option}").stderr
    text = (
        f"note: fitted times (model fit) are of what NCCL does itself and don't take {said}; "
        "--model event simulates, and does"
    )
    assert (text in notes.splitlines()) == (said is not None)
    assert ("don't take" in notes) == (said is not None)
