"""Every attribute of an MSCCL file is checked, and the line is named."""

from __future__ import annotations

from typing import Any

import pytest

from collsim.errors import FileError

PAIR = """<algo name='pair' proto='LL' nchannels='1' nchunksperloop='1' ngpus='2' \
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


def refused(read: Any, text: str, **options: object) -> str:
    """Return why a file is refused, without its path."""
    with pytest.raises(FileError) as caught:
        read(text, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message.partition("given.xml: ")[2]


def test_what_a_file_says(read: Any) -> None:
    """Collective, ranks, name, root and sizes."""
    text = PAIR.replace("coll=", "minBytes='64' maxBytes='1024' coll=")
    file = read(text)
    assert (file.format, file.name, file.collective) == ("msccl", "pair", "broadcast")
    assert (file.ranks, file.root, file.sizes) == (2, 0, (64, 1024))
    assert file.verdict.ok


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ("<algo", "<graph", "broken XML: mismatched tag"),
        ("ngpus='2'", "ngpus='0'", "algo: ngpus is '0', expected a whole number from 1"),
        ("ngpus='2'", "ngpus='3'", "algo: has no gpu 2, expected 3 of them"),
        ("ngpus='2'", "ngpu='2'", "algo: has no ngpus, expected one; did you mean 'ngpu'"),
        ("proto='LL'", "proto='ll'", "algo: proto is 'll', expected one of Simple"),
        ("coll='broadcast'", "coll='gossip'", "algo: coll is 'gossip', expected one of"),
        ("coll='broadcast'", "coll='custom'", "algo: coll is 'custom', which does not"),
        ("inplace='1'", "inplace='2'", "algo: inplace is '2', expected a whole"),
        ("inplace='1'", "inplace='0' outofplace='0'", "inplace and outofplace are both 0"),
        ("coll=", "nthreads='33' coll=", "algo: nthreads is '33', expected a multiple of 32"),
        ("coll=", "minBytes='9' maxBytes='8' coll=", "algo: minBytes is 9, expected at most"),
        ("id='1' i_", "id='0' i_", "gpu: id is 0, which another gpu has too"),
        ("i_chunks='1'", "i_chunks='2'", "gpu: i_chunks is '2', expected 0 or 1, as nchunks"),
        ("s_chunks='0'", "s_chunks='-1'", "gpu: s_chunks is '-1', expected a whole number"),
        ("<tb id='0' send='1'", "<tb id='1' send='1'", "tb: id is 1, expected 0 to 0, each"),
        ("send='1'", "send='0'", "tb: a peer of gpu 0 is 0, expected another one or -1"),
        ("send='1'", "send='2'", "tb: send is '2', expected a whole number from -1 to 1"),
        ("send='1'", "send='-1'", "step: type is 's', but the tb has no send peer"),
        ("chan='0'", "chan='-1'", "tb: chan is '-1', expected a whole number from 0"),
        ("<step s='0'", "<step s='1'", "step: s is '1', expected 0, as steps are numbered"),
        ("type='s'", "type='snd'", "step: type is 'snd', expected one of s, r, rcs"),
        ("type='s'", "type='ra'", "step: type is 'ra', which the runtime"),
        ("srcbuf='i'", "srcbuf='x'", "step: srcbuf is 'x', expected one of i, o, s"),
        ("srcoff='0'", "srcoff='1'", "step: reads i[1] to i[1], but i has 1 chunks"),
        ("cnt='1'", "cnt='0'", "step: cnt is '0', expected a whole number from 1"),
        ("depid='-1'", "depid='3'", "step: deps is '-1', expected a step, as depid names"),
        ("depid='-1' deps='-1'", "depid='3' deps='0'", "step: depid is '3', expected a thread"),
        ("depid='-1' deps='-1'", "depid='0' deps='1'", "step: deps is '1', expected a step of"),
        ("hasdep='0'", "hasdep='yes'", "step: hasdep is 'yes', expected a whole"),
        ("type='s'", "type='nop'", "step: is a nop that waits for nothing"),
        ("<step s=", "<op s=", "op: got op inside of tb, expected a step (op: the new"),
        ("<gpu id='0'", "<cpu/><gpu id='0'", "cpu: expected gpu elements inside of algo"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(read: Any, before: str, after: str, reason: str) -> None:
    """The attribute, what it is, and what was expected."""
    assert before in PAIR
    message = refused(read, PAIR.replace(before, after, 1))
    assert message.startswith("line ")
    assert reason in message


def test_a_nop_is_followed_by_a_step_that_waits(read: Any, spelled: Any) -> None:
    """As the runtime hands the waits of nops to the next step only if that one has some."""
    steps = ["r i0 !"], ["nop <0.0", "cpy i0 o0"]
    text = spelled(
        "broadcast",
        [[(1, -1, 0, ["s i0"])], [(-1, 0, 0, steps[0]), (-1, -1, 0, steps[1])]],
        in_place=False,
    )
    assert "follows a nop, so the runtime expects it to wait" in refused(read, text)


def test_a_custom_collective_is_named(read: Any) -> None:
    """By whoever reads it, or by the file."""
    text = PAIR.replace("coll='broadcast'", "coll='custom'")
    assert read(text, collective="broadcast").verdict.ok
    assert read(text.replace("coll=", "collective='Broadcast' coll=")).verdict.ok
    message = refused(read, text.replace("coll=", "collective='gossip' coll="))
    assert "collective: unknown collective 'gossip'" in message


def test_another_collective_than_expected(read: Any) -> None:
    """What the file says counts, and who expects another one is told."""
    message = refused(read, PAIR, collective="reduce")
    assert message == "is a schedule of broadcast, expected one of reduce"


def test_the_root_is_given_or_written(read: Any, spelled: Any) -> None:
    """The format has no word for it."""
    back = spelled("broadcast", [[(-1, 1, 0, ["r i0"])], [(0, -1, 0, ["s i0"])]])
    assert not read(back).verdict.ok
    assert read(back, root=1).verdict.ok
    assert read(back.replace("coll=", "root='1' coll=")).root == 1
    assert "root 2, expected a rank from 0 to 1" in refused(read, back, root=2)


def test_what_nobody_reads_is_told(read: Any) -> None:
    """An attribute that is misspelled, or that only others know."""
    text = PAIR.replace("coll=", "minbytes='4' coll=").replace("cnt=", "colour='red' cnt=")
    assert read(text.replace("'", '"')).warnings == (
        "has attributes that nobody reads: minbytes of algo, colour of step",
    )


def test_a_file_for_one_buffer_and_for_two(read: Any) -> None:
    """It has to be right for both."""
    both = PAIR.replace("inplace='1'", "inplace='1' outofplace='1'")
    assert read(both).verdict.reason == (
        "out of place: rank 0: o[0] must hold a result, but no step writes it"
    )
    copy = (
        "<tb id='1' send='-1' recv='-1' chan='0'><step s='0' type='cpy' srcbuf='i' srcoff='0' "
        "dstbuf='o' dstoff='0' cnt='1' depid='-1' deps='-1' hasdep='0'/></tb>"
    )
    text = both.replace("</tb>", "</tb>" + copy, 1)
    first, _, last = text.rpartition("dstbuf='i'")
    assert read(f"{first}dstbuf='o'{last}").verdict.ok


def test_more_steps_than_are_read(read: Any) -> None:
    """Before any of them is looked at."""
    assert "has 60,001 steps, expected at most 60,000" in refused(
        read, "<algo>" + "<step/>" * 60_001 + "</algo>"
    )


def test_entities_are_refused(read: Any) -> None:
    """A bomb is not unpacked, and nothing outside of the file is read."""
    bomb = '<!DOCTYPE algo [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><algo name="&b;"/>'
    assert refused(read, bomb) == "line 1: has a DOCTYPE, expected none"


def test_more_memory_than_anybody_has(read: Any) -> None:
    """Chunks of all ranks together are bounded before any is laid out."""
    text = PAIR.replace("nchunksperloop='1'", "nchunksperloop='1000000'")
    assert "2 ranks of 1000000 chunks, expected at most 1,048,576" in refused(read, text)
    text = PAIR.replace("ngpus='2'", "ngpus='4096'")
    assert "ngpus is '4096', expected a whole number from 1 to 2048" in refused(read, text)


@pytest.mark.parametrize("cnt", ["9", "1000000"])
def test_scratch_chunks_that_are_not_there(read: Any, cnt: str) -> None:
    """Places are said of the scratch chunks of a GPU, once; a line can't ask for more."""
    scratch = f"<scratch chunk='0' place='0' cnt='{cnt}'/>"
    text = PAIR.replace("s_chunks='0'>", f"s_chunks='1'>{scratch}", 1)
    assert f"scratch: chunks 0 to {int(cnt) - 1}, expected some of the 1" in refused(read, text)
    twice = PAIR.replace("s_chunks='0'>", "s_chunks='9'>" + 2 * scratch.replace(cnt, "9"), 1)
    assert "chunks 0 to 8, expected some of the 9 of s_chunks" in refused(read, twice)
