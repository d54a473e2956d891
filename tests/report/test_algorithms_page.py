"""The page of all algorithms is what they say of themselves, now.

Run as a script, this file writes the page: ``python tests/report/test_algorithms_page.py``.
"""

import re
import sys
from pathlib import Path

import pytest

from collsim.algorithms import algorithm_names, find
from collsim.choose.predict import predict
from collsim.core.cluster import Cluster
from collsim.core.collective import COLLECTIVES
from collsim.report.algorithms_page import algorithms_page, collective_section, winners_table

PAGE = Path(__file__).parent.parent.parent / "docs" / "algorithms.md"


@pytest.mark.slow
def test_the_page_is_up_to_date() -> None:
    """docs/algorithms.md equals what is generated from the algorithms."""
    assert PAGE.read_text("utf-8") == algorithms_page()


@pytest.mark.parametrize("kind", COLLECTIVES)
def test_every_algorithm_has_its_row_and_its_source(kind: str) -> None:
    """The table of a collective names each algorithm once, with formula and paper."""
    text = collective_section(kind)
    table, sources = text.split("### Where from")
    rows = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)
    assert rows == list(algorithm_names(kind))
    for name in rows:
        assert find(kind, name).formula in table
        assert f"- `{name}`: {find(kind, name).paper}" in sources


def test_counts_are_those_of_the_schedule() -> None:
    """Ring all_reduce on 8 ranks: 14 rounds of 8 messages, 2 * 7/8 n sent and received."""
    text = collective_section("all_reduce")
    assert re.search(
        r"^\| `ring` \| `ring` \| 14 \| 112 \| 14/8 n \| 14/8 n \|", text, re.MULTILINE
    )


def test_a_star_says_that_adding_up_overlaps() -> None:
    """Four ranks, worked by hand: one_shot adds while it sends; a tree of 8 does not."""
    table = collective_section("all_reduce")
    assert f"{find('all_reduce', 'one_shot').formula}* |" in table
    assert f"{find('all_reduce', 'ring').formula} |" in table
    slow = Cluster.ideal(4, alpha=0.0, bandwidth=1.0, gamma=1.0)
    (row,) = predict("all_reduce", slow, [100], "one_shot").rows
    claim = find("all_reduce", "one_shot").terms(4, 1)
    assert claim is not None
    assert row.time_us < claim.seconds(100, 0.0, 1.0, 1.0) * 1e6 * (1 - 1e-9)


def test_no_algorithm_is_without_counts() -> None:
    """Each has an arrangement of 8 ranks on which it runs."""
    assert "| - | - |" not in "".join(collective_section(kind) for kind in COLLECTIVES)


def test_what_nccl_has_is_named_as_nccl_names_it() -> None:
    """Its tree is the double binary tree; it has no halving and doubling."""
    text = collective_section("all_reduce")
    assert "| `double_binary_tree` | `tree` |" in text
    assert "| `halving_doubling` | - |" in text
    assert "| `double_binary_tree` | - |" in collective_section("broadcast")


def test_winners_cover_every_size() -> None:
    """Ranges follow one another; the table says what choose says."""
    cluster = Cluster.ideal(8, "10us", "1.0001GB/s")
    rows = winners_table("all_reduce", {"ideal": cluster}).splitlines()[4:]
    assert [row.split(" | ")[1:3] for row in rows] == [
        ["8B to 23.44KiB", "`recursive_doubling`"],
        ["23.44KiB to 8GiB", "`halving_doubling`"],
    ]


if __name__ == "__main__":
    sys.stdout.write(f"rewriting {PAGE.name}\n")
    PAGE.write_text(algorithms_page(), "utf-8")
