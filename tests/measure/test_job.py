"""Jobs, their points, and what is left out of them."""

from __future__ import annotations

import pytest

from collsim.errors import InputError, UnknownNameError
from collsim.measure.cases import cases, check_job, key_of
from collsim.measure.job import Job
from collsim.measure.launch import check_installed
from collsim.measure.patterns import pairs_of
from collsim.measure.sampling import How


def test_a_job_survives_its_text() -> None:
    """Ranks get it as a file."""
    job = Job(
        "nccl", ("shift", "broadcast"), (8, 64), ("mst", "library"),
        (("ring", "ll"), ("tree", "")), True, "half", "max", 3, 4, How(1, 2, 0.5, 3.0), 9.0, 5,
        2, True, "x.jsonl", True,
    )  # fmt: skip
    assert Job.from_json(job.to_json()) == job


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"what": ("all_reduse",)}, UnknownNameError),
        ({"what": ()}, InputError),
        ({"sizes": ()}, InputError),
        ({"op": "smu"}, UnknownNameError),
        ({"dtype": "flot"}, UnknownNameError),
        ({"timeout": 0.0}, InputError),
    ],
)
def test_what_makes_no_sense_is_refused(given: dict[str, object], error: type) -> None:
    """Before a rank is started."""
    whole = {"backend": "gloo", "what": ("shift",), "sizes": (8,), **given}
    with pytest.raises(error):
        Job(**whole)  # type: ignore[arg-type]


def test_a_library_cuts_into_equal_shares() -> None:
    """1,000 bytes are 250 floats, 248 of which 4 ranks can share; our own need not."""
    job = Job("gloo", ("all_gather",), (1000,), ("library", "ring"))
    points, notes = cases(job, 4, 4)
    assert [(point.algorithm, point.nbytes) for point in points] == [
        ("library", 992),
        ("ring", 1000),
    ]
    assert notes == []


def test_what_does_not_apply_is_left_out_with_its_reason() -> None:
    """Too few ranks, too few bytes, or no such algorithm there."""
    names = ("hierarchical", "bidirectional_ring")
    job = Job("gloo", ("pairs", "all_reduce", "broadcast"), (2, 8), names)
    points, notes = cases(job, 3, 3)
    assert [point.label for point in points] == ["all_reduce/bidirectional_ring, 8B"]
    assert len(notes) == 5
    assert notes[0].startswith("left out all_reduce/hierarchical: ")
    assert notes[1].startswith("left out broadcast/hierarchical: ")
    assert notes[2] == "left out broadcast/bidirectional_ring: there is no such algorithm"
    assert notes[3] == "left out all_reduce/bidirectional_ring at 2B: no whole element"
    assert notes[4] == "left out pairs at 2B to 8B: needs 4 ranks or more"
    with pytest.raises(UnknownNameError):
        cases(Job("gloo", ("broadcast",), (8,), ("rign",)), 2, 2)


def test_whole_numbers_are_not_averaged_by_gloo() -> None:
    """Torch's own call fails on them, in words of its own; our schedules divide themselves."""
    job = Job(
        "gloo", ("reduce", "broadcast"), (8,), ("library", "ring"), dtype="int8", op="avg"
    )
    points, notes = cases(job, 2, 2)
    assert [point.label for point in points] == [
        "reduce/ring, 8B", "broadcast/library, 8B", "broadcast/ring, 8B",
    ]  # fmt: skip
    assert notes == ["left out reduce/library: Gloo averages no whole numbers, which int8 are"]


def test_every_forced_pair_is_a_point_of_its_own() -> None:
    """For the library only: our schedules take no order from NCCL's variables."""
    forced = (("ring", "ll"), ("tree", "simple"))
    job = Job("nccl", ("all_reduce",), (8,), ("library", "mst"), forced)
    points, _ = cases(job, 2, 2)
    rows = [point.fields(job, 2) for point in points]
    assert [(r["runs"], r["algorithm"], r["protocol"]) for r in rows] == [
        ("library", "ring", "ll"),
        ("library", "tree", "simple"),
        ("schedule", "mst", None),
    ]
    assert len({key_of(row) for row in rows}) == 3


@pytest.mark.parametrize(
    "change",
    [
        {"library": "b"},
        {"device": "H100"},
        {"ranks_per_gpu": 2},
        {"nodes": 2},
        {"graph": 5},
        {"device": None, "cores": 64},
    ],
)
def test_what_was_measured_elsewhere_is_another_point(change: dict[str, object]) -> None:
    """So that --resume measures it, and does not take the other's for it."""
    (case,), _ = cases(Job("nccl", ("all_reduce",), (8,)), 2, 2)
    row = {
        **case.fields(Job("nccl", ("all_reduce",), (8,)), 2), "library": "a", "device": "H200",
        "ranks_per_gpu": 1, "nodes": 1, "graph": None,
    }  # fmt: skip
    assert key_of(row) != key_of({**row, **change})


def test_pairs_inside_a_node_and_across() -> None:
    """One per class of link; all of them if asked for; at once so that they meet."""
    assert pairs_of("ping_pong", 8, 4, every=False) == [((0, 1),), ((0, 4),)]
    assert len(pairs_of("ping_pong", 8, 4, every=True)) == 28
    across = ((0, 4), (1, 5), (2, 6), (3, 7))
    inside = ((0, 1), (2, 3), (4, 5), (6, 7))
    assert pairs_of("pairs", 8, 4, every=False) == [across, inside]
    node = ((0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3))
    assert pairs_of("shift", 6, 3, every=False)[2] == node
    assert pairs_of("exchange", 8, 4, every=False) == [((0, 1),), ((0, 4),)]
    assert pairs_of("shift", 3, 3, every=False) == [((0, 1), (1, 2), (2, 0))]
    assert pairs_of("exchange", 1, 1, every=False) == []
    assert pairs_of("self", 1, 1, every=False) == [()]


def test_a_dtype_that_no_backend_moves_is_refused_before_ranks_start() -> None:
    """NCCL knows unsigned words, torch does not."""
    with pytest.raises(InputError, match="dtype: got uint32, expected one that backends move"):
        check_job(Job("gloo", ("broadcast",), (8,), dtype="uint32"), 2, 2)


def test_a_missing_library_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the name of the extra."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"pip install 'collsim\[measure\]'"):
        check_installed("gloo")
    with pytest.raises(ImportError, match=r"pip install 'collsim\[nccl4py\]'"):
        check_installed("nccl4py")
