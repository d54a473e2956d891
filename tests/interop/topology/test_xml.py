"""XML from strangers: nothing is fetched or expanded, and nothing takes long."""

from __future__ import annotations

import time

import pytest

from collsim.errors import FileError
from collsim.xml_file import parse_xml

BOMB = b"""<!DOCTYPE lolz [<!ENTITY lol "lol"><!ENTITY lol2 "&lol;&lol;&lol;">]>
<system>&lol2;</system>"""
OUTSIDE = b'<!DOCTYPE s [<!ENTITY x SYSTEM "file:///etc/passwd">]><system a="1">&x;</system>'


@pytest.mark.parametrize("data", [BOMB, OUTSIDE, b"<!DOCTYPE s SYSTEM 'a.dtd'><s/>"])
def test_document_types_are_refused(data: bytes) -> None:
    """Entities can't even be declared."""
    with pytest.raises(FileError, match="has a DOCTYPE, expected none"):
        parse_xml("a.xml", data)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "broken XML: no element found"),
        (b"<a>", "broken XML: no element found"),
        (b"<a></b>", "broken XML: mismatched tag"),
        (b'<a b="1" b="2"/>', "broken XML: duplicate attribute"),
        (b"<a>&gone;</a>", "broken XML: undefined entity"),
        (b"<a>\x00</a>", "broken XML: not well-formed"),
        (b"<a>\xff\xfe</a>", "broken XML: not well-formed"),
        (b"<?xml version='1.0' encoding='klingon'?><a/>", "broken XML: unknown encoding"),
        (b"<?xml version='1.0' encoding='utf-7'?><a/>", "broken XML"),
        (b"<a>" * 100, "nested too deeply, expected at most 64 levels"),
        (b"<a>" + b"<b/>" * 100_001 + b"</a>", "too many elements, expected at most 100000"),
    ],
)
def test_what_is_broken_is_said_in_a_line(data: bytes, message: str) -> None:
    """With the line."""
    with pytest.raises(FileError, match=message) as error:
        parse_xml("a.xml", data)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1", "cp1252"])
def test_encodings_that_a_file_declares(encoding: str) -> None:
    """Those of expat and those of Python."""
    text = f"<?xml version='1.0' encoding='{encoding}'?><system name='é'/>"
    assert parse_xml("a.xml", text.encode(encoding)).text("name") == "é"


def test_large_tokens_take_time_by_their_size() -> None:
    """An attribute and a comment of 4 MiB each: quadratic time would be minutes."""
    data = b"<a b='" + b"x" * (1 << 22) + b"'><!--" + b"-x" * (1 << 21) + b"--></a>"
    before = time.perf_counter()
    assert len(parse_xml("a.xml", data).text("b")) == 1 << 22
    assert time.perf_counter() - before < 10


def test_numbers_are_read_as_c_reads_them() -> None:
    """No underscores, no digits of other scripts, nothing endless."""
    element = parse_xml(
        "a.xml", '<a b="1_0" c="٣" d="7" e="" f="99999999999999999999"/>'.encode()
    )
    assert element.whole("d", 0, 9) == 7
    assert element.whole("e", 0, 9, 4) == element.whole("gone", 0, 9, 4) == 4
    for name in "bcf":
        with pytest.raises(FileError, match=f"line 1: a: {name} is "):
            element.whole(name, 0, 10**17)
