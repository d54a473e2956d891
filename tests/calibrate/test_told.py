"""What is said of rows and profiles that do not fit each other, and refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from collsim.calibrate.fit.words import bound_notes
from collsim.calibrate.formula import terms_of
from collsim.calibrate.importer import LONGEST_LINE
from collsim.calibrate.importers import read_log
from collsim.calibrate.match import profile_notes
from collsim.calibrate.message import message_of
from collsim.calibrate.nccl_model import example_profile
from collsim.calibrate.scope import beyond, scope_notes
from collsim.calibrate.solve import Solution
from collsim.calibrate.truth import doubt
from collsim.core.cluster import Cluster
from collsim.core.measurements import Measurement
from collsim.core.profile import Parameter, Profile
from collsim.errors import FileError, InputError

ROW = Measurement("sendrecv", 2, 10**6, 1e-3)
LINE = {
    "link.alpha": Parameter(1e-6, None, None, "s"),
    "link.beta": Parameter(1e-9, None, None, "s/B"),
}
HEAD = '{"schema": "collsim/measurements/1"}\n'
WHOLE = '{"collective": "reduce", "ranks": 2, "size": 8, "seconds": 1e-6}\n'


@pytest.fixture(scope="module")
def nccl() -> Profile:
    """Return a profile of NCCL of one node of 8 GPUs."""
    known = {"collectives": ("all_reduce",), "ranks": (8,), "nodes": (2,)}
    return replace(example_profile(Cluster.load("dgx-h100", nodes=2)), **known)


def test_one_message_by_a_profile() -> None:
    """Alpha and beta of its one class of links: 1 us and 1 ms of bytes."""
    found = message_of(Profile("mine", LINE), ROW)
    assert not isinstance(found, str)
    assert found.seconds == pytest.approx(1.001e-3)
    several = {**LINE, "nic.alpha": LINE["link.alpha"], "nic.beta": LINE["link.beta"]}
    assert "several classes of links" in str(message_of(Profile("mine", several), ROW))


def test_one_message_where_a_node_has_one_rank() -> None:
    """None can go inside a node then."""
    cluster = Cluster.load("gh200-slingshot", nodes=2, gpus_per_node=1)
    assert "one rank in each" in str(message_of(cluster, replace(ROW, nodes=1)))


def test_scope_of_a_profile_of_nccl(nccl: Profile) -> None:
    """Nodes too, and fewer as well as more of them; one of lines has no such scope."""
    assert scope_notes(nccl, ["all_reduce"], 8, 1) == [
        "1 node: profile example was fitted to 2"
    ]
    assert scope_notes(Profile("mine", LINE), ["all_reduce"], 8, 1) == []
    assert beyond(nccl, "all_reduce", 8, 1) == "no row of the fit is of so few nodes as 1"
    (note,) = scope_notes(nccl, ["all_reduce"], 16, 4)[-1:]
    assert note.startswith(
        "4 nodes: profile example was fitted to 2; its times there are extra"
    )
    odd = replace(nccl, ranks=(4, 16), nccl={**nccl.nccl, "uniform": False})
    assert beyond(odd, "all_reduce", 8, 2) == (
        "no row of the fit is of 8 ranks, which have links of their own"
    )


def test_rows_of_other_collectives_than_the_fit(nccl: Profile) -> None:
    """Named beside what the profile was fitted to."""
    row = Measurement("broadcast", 8, 8, 1e-6, root=0)
    assert "rows of broadcast, but the profile was fitted to all_reduce" in profile_notes(
        [row], nccl
    )


def test_one_rank_costs_nothing() -> None:
    """And what has no formula says so."""
    assert terms_of("all_reduce", "ring", 1).alphas == 0
    with pytest.raises(InputError, match="has no formula"):
        terms_of("all_reduce", "hierarchical", 8)


def test_one_rank_in_place_is_no_work() -> None:
    """nccl-tests prints a time for it all the same."""
    assert "moves nothing" in str(doubt(replace(ROW, ranks=1, in_place=True)))


def test_launch_may_explain_all_of_alpha() -> None:
    """Then alpha is 0, and a note says why."""
    told = bound_notes(Solution((1e-6, 0.0, 1e-12), (0.0, 0.0, 0.0)))
    assert told[0] == "alpha came out as 0: launch alone explains the small sizes"


def test_a_line_without_end_is_left_out(tmp_path: Path) -> None:
    """And the rows after it are read."""
    path = tmp_path / "rows.jsonl"
    path.write_text(HEAD + "x" * (2 * LONGEST_LINE) + "\n" + WHOLE)
    found = read_log(path)
    assert len(found) == 1
    assert [(one.line, one.reason) for one in found.left_out] == [
        (2, f"a line of more than {LONGEST_LINE} characters")
    ]


def test_a_header_whose_library_is_no_text(tmp_path: Path) -> None:
    """Nothing after it can be trusted."""
    path = tmp_path / "rows.jsonl"
    path.write_text('{"schema": "collsim/measurements/1", "library": 3}\n' + WHOLE)
    with pytest.raises(FileError, match="line 1: library: got 3, expected text"):
        read_log(path)
