"""What the runtime would not take is told by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from collsim.algorithms import build
from collsim.interop.msccl.limits import limits_broken
from collsim.interop.msccl.reader import read_program
from collsim.interop.schedule_file import read_schedule, written

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


@pytest.mark.parametrize(
    ("before", "after", "warning"),
    [
        ('type="s"', "type='s'", "single quotes, where its parser reads on to a double one"),
        ('type="s" ', 'type="s"\n', "a line end inside of a tag, where its parser expects"),
        ('type="s"', 'type = "s"', "a blank beside an equals sign"),
        ("</gpu>", "</gpu>and", "text between elements"),
        ("</gpu>", "</gpu >", "a blank in a closing tag (</gpu >)"),
        ('type="s"', 'type="&#115;"', "references such as &#115;, which its parser does not"),
        ("<tb", "<?pi?><tb", "a processing instruction, which its parser takes for an element"),
        ("</gpu>", "</gpu><![CDATA[ ]]>", "CDATA, which its parser takes for an element"),
        ("<algo", "\ufeff<algo", "a byte order mark before the first element"),
        ('type="s"', 'type="s" ' + " ".join(f'a{i}="1"' for i in range(9)), "more than 16 "),
        ('type="s"', f'type="s" a="{"1" * 256}"', "values of more than 255 characters"),
        ('type="s"', 'type="s"  ', ""),
        ("</gpu>", "</gpu>\n<!-- it's <old> & 'odd'\n -->\n", ""),
    ],
)  # fmt: skip
def test_what_its_parser_can_not_read(read: Any, before: str, after: str, warning: str) -> None:
    """XML that is right, and right for us."""
    text = PAIR.replace("'", '"').replace(before, after)
    file = read(text)
    assert file.verdict.ok, file.verdict.reason
    told = [found for found in file.warnings if found.startswith("breaks")]
    head = "breaks a limit of MSCCL's runtime: XML: "
    assert len(told) == bool(warning), told
    assert all(found.startswith(head + warning) for found in told), told


def test_utf_16_is_nothing_that_its_parser_reads(tmp_path: Path) -> None:
    """We do."""
    path = tmp_path / "wide.xml"
    path.write_text(PAIR.replace("'", '"'), encoding="utf-16")
    (warning,) = read_schedule(path).warnings
    assert warning.endswith("XML: UTF-16, of which its parser knows nothing")


def test_a_step_of_several_chunks_takes_as_many_slots(read: Any, spelled: Any) -> None:
    """At large sizes the runtime cuts it into single ones, and the rest waits."""

    def swap(chunks: int, proto: str, apart: bool = False) -> tuple[str, ...]:
        sends, receives = f"s i0 x{chunks}", f"rrc i0 x{chunks}"
        one = [[(1 - r, 1 - r, 0, [sends, receives])] for r in range(2)]
        two = [
            [(1 - r, -1, 0, [f"{sends} !"]), (-1, 1 - r, 0, [f"r s0 x{chunks}", add])]
            for r in range(2)
            for add in [f"re s0 i0 x{chunks} <0.0"]
        ]
        gpus = two if apart else one
        found = read(
            spelled("allreduce", gpus, chunks=chunks, scratch=chunks * apart, proto=proto)
        )
        assert found.verdict.ok, found.verdict.reason
        warnings: tuple[str, ...] = found.warnings
        return warnings

    assert swap(2, "Simple") == swap(8, "LL") == swap(70, "LL", apart=True) == ()
    for chunks, proto in ((3, "Simple"), (9, "LL")):
        (warning,) = swap(chunks, proto)
        assert "rank 0, thread block 0, step 0 (s) waits for ever until rank 1" in warning


def test_a_connection_that_one_end_has(read: Any, spelled: Any) -> None:
    """It is set up, though no step uses it, and waits for the other end."""
    ends = [[(1, -1, 0, ["s i0"]), (1, -1, 2, [])], [(-1, 0, 0, ["r i0"]), (-1, 0, 1, [])]]
    (warning,) = read(spelled("broadcast", ends)).warnings
    assert warning == (
        "breaks a limit of MSCCL's runtime: connections that the other end does not have: "
        "gpu 1 receives from gpu 0 on channel 1, gpu 0 sends to gpu 1 on channel 2"
    )


def test_a_call_out_of_place_that_overwrites_its_input(read: Any, spelled: Any) -> None:
    """Right once; the next call on the same buffer adds up what the first has left."""
    steps = ["s i0", "rrc i0", "cpy i0 o0"]
    ends = [[(1 - r, 1 - r, 0, steps)] for r in range(2)]
    (warning,) = read(spelled("allreduce", ends, in_place=False)).warnings
    assert warning == (
        "overwrites its input, which a call out of place leaves as it is: "
        "gpu 0 thread block 0 step 1, gpu 1 thread block 0 step 1"
    )
    assert read(spelled("allreduce", ends)).warnings == ()


@pytest.mark.parametrize(("first", "second", "told"), [(15, 15, 0), (17, 15, 0), (21, 21, 1)])
def test_reductions_that_are_run_as_one(
    read: Any, spelled: Any, first: int, second: int, told: int
) -> None:
    """Number 16 of a thread block ends a chain, and no other does."""
    others = range(1, 1 + max(first, second))
    adding = [f"re s{r - 1} i0" for r in others[:first]]
    adding += [f"re s{r - 1} i1" for r in others[:second]]
    most = len(others)
    copies = [f"cpy i{2 + r} s{r}" for r in range(most)]
    gpu = [(-1, -1, 0, [*copies, *adding])]
    program = read_program(
        "f.xml", spelled("allreduce", [gpu], chunks=2 + most, scratch=most).encode()
    )
    found = [text for text in limits_broken(program) if "run as one, at most 16" in text]
    assert len(found) == told
    if told:
        assert "gpu 0 thread block 0 from step 42 on" in found[0]


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
        "messages under way: a connection of protocol Simple holds 2, at large sizes of one "
        "chunk each, and with no more of "
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
