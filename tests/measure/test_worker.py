"""What a rank says that can't join the others."""

from __future__ import annotations

import pytest

from collsim.errors import MeasureError
from collsim.measure import worker
from collsim.measure.job import Job
from collsim.measure.library_errors import said_by
from collsim.measure.place import Place

TRACE = "The client socket has failed\nException raised from ping at /w/TCPStore.cpp:427\n#0 x"


@pytest.mark.parametrize(
    ("meeting", "where"),
    [
        ("tcp://n07:29519", " of 2, which meet at n07:29519 (MASTER_ADDR, MASTER_PORT)"),
        ("file:///tmp/x/meeting", ""),
    ],
)
def test_who_finds_nobody_says_where_it_looked(
    monkeypatch: pytest.MonkeyPatch, meeting: str, where: str
) -> None:
    """In one line, without the frames of the library."""

    def connect(*_: object) -> None:
        raise RuntimeError(TRACE)

    monkeypatch.setattr(worker, "member", lambda *_: connect)
    place = Place(1, 2, 1, 2, meeting, "torchrun")
    with pytest.raises(MeasureError) as raised:
        worker.on_this_rank(Job("gloo", ("shift",), (8,)), place, print)
    assert str(raised.value) == f"start, rank 1{where}: The client socket has failed"


def test_places_in_the_librarys_source_are_left_out() -> None:
    """They say nothing to a reader, and hide what does."""
    place = "[/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:78] "
    found = said_by(RuntimeError(f"{place}Timed out waiting 3000ms for recv operation"))
    assert found == "another rank did not come: Timed out waiting 3000ms for recv operation"
    assert said_by(OSError("a [1] b")) == "a [1] b"
