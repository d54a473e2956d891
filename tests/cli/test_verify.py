"""`collsim verify`."""

from __future__ import annotations

from typing import Any

import pytest

from collsim.choose import verify as engine


def test_json_conforms(answer: Any, conforms: Any) -> None:
    """A row for each rank count and root."""
    found = answer("verify reduce --algorithm ring --ranks 1-2")
    conforms(found, "verify")
    assert [(row["ranks"], row["root"], row["ok"]) for row in found["rows"]] == [
        (1, 0, True),
        (2, 0, True),
        (2, 1, True),
    ]
    assert (found["collective"], found["ranks"]) == ("reduce", None)


def test_table_has_a_line_for_each_algorithm(run: Any) -> None:
    """With the rank counts as they are typed."""
    lines = run("verify all_reduce --algorithm ring --ranks 1-4,13").stdout.splitlines()
    assert lines[0].split() == ["collective", "algorithm", "ranks", "cases", "result"]
    assert [line.split() for line in lines[1:]] == [["all_reduce", "ring", "1-4,13", "5", "ok"]]


def test_root_chooses_one(answer: Any) -> None:
    """One row, with that root."""
    (row,) = answer("verify scatter --algorithm mst --ranks 6 --root 5")["rows"]
    assert (row["root"], row["ok"]) == (5, True)


def test_what_is_wrong_is_printed_and_fails(
    run: Any, answer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table with the reason on stdout, the error on stderr, exit 1."""
    row = engine.Row("reduce", "ring", 3, 1, False, "rank 1 gets nothing")
    wrong = engine.Verification((row,), ())
    monkeypatch.setattr(engine, "verify", lambda *args, **options: wrong)
    result = run("verify reduce")
    assert result.exit_code == 1
    table = result.stdout.splitlines()
    assert table[1].split() == ["reduce", "ring", "3", "1", "1", "wrong"]
    assert table[2] == "wrong: reduce/ring on 3 ranks, root 1: rank 1 gets nothing"
    assert result.stderr == (
        "Error: verify: 1 of 1 cases are wrong, the first is reduce/ring on 3 ranks: "
        "rank 1 gets nothing\n"
    )
    assert answer("verify reduce", code=1)["rows"][0]["ok"] is False


def test_nothing_to_verify_is_a_failure(fails: Any) -> None:
    """A root that is none of the ranks is no success."""
    message = fails("verify broadcast --ranks 4 --root 5", code=1)
    assert message == "root: got 5, expected a rank from 0 to 3"


def test_no_progress_into_a_file(run: Any) -> None:
    """Stderr is empty unless it is a terminal."""
    assert run("verify gather --algorithm mst --ranks 1-3").stderr == ""


def test_what_is_left_out_is_said_once_for_an_algorithm(run: Any) -> None:
    """Not once for every rank count, where the reason names the count."""
    notes = run("verify all_to_all --algorithm pairwise --ranks 1-9").stderr
    assert len(notes.splitlines()) == 1
    assert "pairwise on 3,5-7,9 ranks" in notes
    assert "not so many ranks" in notes
    one = run("verify all_to_all --algorithm pairwise --ranks 3").stderr
    assert "not 3 ranks" in one


def test_nodes_are_named_where_they_are_needed(run: Any) -> None:
    """In a line below the table, once for all that were verified on the same."""
    lines = run("verify all_reduce --algorithm ring,nvls_tree,hierarchical --ranks 4,6").stdout
    (last,) = lines.splitlines()[4:]
    assert last == (
        "on two nodes; nodes of 2, rank by rank in turn: "
        "all_reduce/nvls_tree, all_reduce/hierarchical"
    )


def test_several_algorithms_are_verified(answer: Any, fails: Any) -> None:
    """In the order in which they are named; all stands alone."""
    rows = answer("verify gather --algorithm ring,mst --ranks 1")["rows"]
    assert [row["algorithm"] for row in rows] == ["ring", "mst"]
    assert "or all alone" in fails("verify gather --algorithm ring,all", code=2)
