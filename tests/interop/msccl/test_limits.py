"""What the runtime would not take is told by name."""

from __future__ import annotations

from typing import Any

import pytest

from collsim.algorithms import build
from collsim.interop.schedule_file import written

PAIR = """<algo name='pair' proto='LL' nchannels='4' nchunksperloop='1' ngpus='2' \
coll='broadcast' inplace='1'>
<gpu id='0' i_chunks='1' o_chunks='1' s_chunks='0'>
<tb id='0' send='1' recv='-1' chan='0'>
<step s='0' type='s' srcbuf='i' srcoff='0' dstbuf='i' dstoff='0' cnt='1' depid='-1' deps='-1' \
hasdep='0'/>
</tb>
</gpu>
<gpu id='1' i_chunks='1' o_chunks='1' s_chunks='0'>
<tb id='0' send='-1' recv='0' chan='0'>
<step s='0' type='r' srcbuf='i' srcoff='0' dstbuf='i' dstoff='0' cnt='1' depid='-1' deps='-1' \
hasdep='0'/>
</tb>
</gpu>
</algo>
"""


def pair(spelled: Any, sends: list[str], receives: list[str], **options: Any) -> str:
    """Return a broadcast to one other rank."""
    found = spelled("broadcast", [[(1, -1, 0, sends)], [(-1, 0, 0, receives)]], **options)
    assert isinstance(found, str)
    return found


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        (PAIR.replace("chan='0'", "chan='40'"), "nchannels is 4, but channel 40 is used"),
        (PAIR.replace("chan='0'", "chan='40'"), "channels: 41, and the runtime has at most 32"),
        (PAIR.replace("nchannels='4'", "nchannels='33'"), "channels: 33, and the runtime has"),
        (
            lambda spelled: pair(spelled, ["s i0 x72"], ["r i0 x72"], chunks=72),
            "chunks, less than 72 a step (cnt): gpu 0 thread block 0 step 0 has 72, gpu 1",
        ),
        (
            lambda spelled: pair(spelled, ["s i0"] * 300, ["r i0"] * 300),
            "steps, at most 256 a thread block: gpu 0 thread block 0 has 300, gpu 1 thread",
        ),
        ("<?xml version='1.0'?>" + PAIR, "XML: an XML declaration, which its parser takes"),
        (PAIR.replace("\n", "\n\t"), "XML: tabs, which its parser does not take for blanks"),
        (
            lambda spelled: spelled(
                "broadcast", [[(1, -1, 0, ["s i0"]), (1, -1, 0, [])], [(-1, 0, 0, ["r i0"])]]
            ),
            "duplicate connections (a peer, a direction and a channel): gpu 0 has 2 that send",
        ),
        (
            lambda spelled: spelled(
                "broadcast",
                [[(1, -1, 0, ["s i0"])], [(-1, 0, 0, ["r i0"]), *[(-1, -1, 0, [])] * 216]],
            ),
            "thread blocks, at most 216 a GPU: gpu 1 has 217",
        ),
        (
            lambda spelled: spelled("custom", [[]], collective="scatter"),
            "",
        ),
        (
            lambda spelled: spelled(
                "broadcast",
                [
                    [(1, -1, 0, ["s i0"])],
                    [
                        (-1, 0, 0, ["r i0 !"]),
                        *[(-1, -1, 0, [])] * 127,
                        (-1, -1, 0, ["cpy i0 s0 <0.0 !"]),
                        (-1, -1, 0, ["cpy s0 s1 <128.0"]),
                    ],
                ],
                scratch=2,
            ),
            "depid, below 128 as it is kept in 8 bits: gpu 1 thread block 129 step 0 has 128",
        ),
        (
            lambda spelled: spelled(
                "reduce",
                [
                    [(2, -1, 0, ["s i0 x2"])],
                    [(2, -1, 0, ["s i0 x2"])],
                    [
                        (-1, 0, 0, ["r s0 x2 !"]),
                        (-1, 1, 0, ["r s2 x2 !"]),
                        (-1, -1, 0, ["nop <1.0", "re s0 i0 x2 <0.0", "re s2 i0", "re s3 i1"]),
                    ],
                ],
                chunks=2,
                scratch=4,
                root=2,
            ),
            "reductions into one chunk, one after the other, are run as one, of one length",
        ),
    ],
)  # fmt: skip
def test_a_limit_that_is_broken(read: Any, spelled: Any, text: Any, warning: str) -> None:
    """Which one, what there is and where; the file is read all the same."""
    file = read(text if isinstance(text, str) else text(spelled))
    assert file.verdict.ok, file.verdict.reason
    if not warning:
        assert file.warnings == ()
    else:
        assert any(f": {warning}" in found for found in file.warnings), file.warnings


def test_what_is_wrong_gets_no_advice_beside_it(read: Any, spelled: Any) -> None:
    """Its reason comes first."""
    file = read(pair(spelled, ["s i0"] * 300, ["r i1"] * 300, chunks=2))
    assert not file.verdict.ok
    assert file.warnings == ()


def test_more_messages_than_a_connection_holds(read: Any, spelled: Any) -> None:
    """Both send all before they receive: fine in theory, not with two slots of Simple."""

    def swap(messages: int) -> str:
        sends = [f"s i{c}" for c in range(messages)]
        receives = [f"rrc i{c}" for c in range(messages)]
        ends = [[(1 - r, 1 - r, 0, sends + receives)] for r in range(2)]
        return str(spelled("allreduce", ends, chunks=messages, proto="Simple"))

    assert read(swap(2)).warnings == ()
    (warning,) = read(swap(3)).warnings
    assert warning == (
        "breaks a limit of MSCCL's runtime: "
        "messages under way: a connection of protocol Simple holds 2, and with no more of "
        "them rank 0, thread block 0, step 2 (s) waits for ever until rank 1 has received one "
        "of the 2 messages under way on channel 0; rank 1, thread block 0, step 2 (s) waits "
        "until rank 0 has received one of the 2 messages under way on channel 0: they wait in "
        "a circle"
    )


def test_what_is_written_says_what_it_breaks() -> None:
    """A ring of many chunks has more steps than a thread block may."""
    _, warnings = written(build("broadcast", "ring", 3, chunks=300), "msccl", "ring")
    (warning,) = warnings
    assert warning == (
        "steps, at most 256 a thread block: gpu 0 thread block 0 has 300, gpu 1 thread block 0 "
        "has 300, gpu 1 thread block 1 has 300 and 1 more"
    )
