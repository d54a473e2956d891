"""`collsim list` and `collsim show`."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

KINDS = ["algorithms", "clusters", "links", "profiles", "collectives"]


@pytest.mark.parametrize("kind", KINDS)
def test_lists_every_kind(run: Any, answer: Any, kind: str) -> None:
    """As text, JSON and CSV, with the same rows."""
    found = answer(f"list {kind}")
    assert found["schema"] == f"collsim/list-{kind}/1"
    assert (found["cluster"], found["collective"], found["ranks"]) == (None, None, None)
    table = run(f"list {kind}").stdout.splitlines()
    assert len(table) == 1 + len(found["rows"])
    rows = list(csv.DictReader(io.StringIO(run(f"list {kind} --csv").stdout)))
    assert len(rows) == len(found["rows"])


def test_lists_the_presets(run: Any) -> None:
    """All three."""
    words = run("list clusters").stdout.split()
    assert {"textbook-h100", "dgx-h100", "dgx-a100"} <= set(words)


def test_lists_the_algorithms_of_one_collective(run: Any, answer: Any) -> None:
    """In any spelling."""
    found = answer("list algorithms allgather")
    assert (found["schema"], found["collective"]) == ("collsim/list-algorithms/1", "all_gather")
    assert [row["algorithm"] for row in found["rows"]][:2] == ["mst", "ring"]
    assert {row["collective"] for row in found["rows"]} == {"all_gather"}
    assert len(run("list algorithms allgather").stdout.splitlines()) == 1 + len(found["rows"])


def test_only_algorithms_are_of_a_collective(fails: Any) -> None:
    """Wrong usage; and a collective that there is not names the nearest."""
    message = fails("list links all_reduce", code=2)
    assert message == "list links all_reduce: only algorithms are of a collective"
    message = fails("list algorithms all_redcue", code=1)
    assert message.startswith("unknown collective 'all_redcue'; did you mean 'all_reduce'?")


def test_unknown_kind_names_the_nearest(fails: Any) -> None:
    """One line."""
    message = fails("list clutsers", code=1)
    assert message.startswith("unknown list 'clutsers'; did you mean 'clusters'?")


def test_shows_a_cluster(run: Any, answer: Any) -> None:
    """Two nodes of eight, and the links from a rank to another."""
    line = "show cluster dgx-h100 --nodes 2 --routes 0 8"
    found = answer(line)
    assert found["schema"] == "collsim/show-cluster/1"
    assert (found["cluster"], found["ranks"], found["collective"]) == ("dgx-h100", 16, None)
    (route,) = found["routes"]
    assert [link["name"] for link in route["links"]] == ["nic[0].up", "nic[8].down"]
    assert "nic[0].up" in run(line).stdout


def test_show_refuses_a_route_that_is_not_there(fails: Any) -> None:
    """A rank beyond the last."""
    message = fails("show cluster dgx-h100 --routes 0 8", code=1)
    assert message == "routes: got rank 8, expected ranks from 0 to 7"


def test_a_cluster_names_the_profiles_that_were_fitted_on_it(answer: Any, run: Any) -> None:
    """With their ranks and nodes; an ideal network has none."""
    found = answer("show cluster gh200-slingshot")
    (profile,) = found["profiles"]
    assert (profile["profile"], profile["nodes"]) == ("gh200-slingshot", [1, 2, 8, 32, 128])
    assert (
        "gh200-slingshot: 4, 8, 32, 128, 512 ranks of"
        in run("show cluster gh200-slingshot").stdout
    )
    assert answer("show cluster textbook-h100")["profiles"] == []


def test_profiles_say_what_is_fitted(answer: Any) -> None:
    """Fitted times of NCCL are of no algorithm in particular."""
    rows = {row["profile"]: row for row in answer("list profiles")["rows"]}
    assert (rows["b200-nvswitch-8"]["model"], rows["b200-nvswitch-8"]["algorithm"]) == (
        "nccl",
        None,
    )
