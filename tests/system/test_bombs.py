"""Small files that are made to take all memory or time: refused in one line."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from collsim.calibrate import importer
from collsim.calibrate.importers import read_logs
from collsim.config.toml import parse_toml
from collsim.errors import CollsimError, ConfigError, FileError
from collsim.interop.schedule_file import read_schedule
from collsim.interop.topology_file import import_topology

ENTITIES = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12))
TYPES = {
    "laughs": f'[<!ENTITY a0 "lol">{ENTITIES}]',
    "quadratic": f'[<!ENTITY a11 "{"x" * 99_999}">]',
    "external": '[<!ENTITY a11 SYSTEM "file:///etc/passwd">]',
    "parameter": '[<!ENTITY % p SYSTEM "file:///dev/zero"> %p;]',
    "of a file": 'SYSTEM "file:///dev/zero"',
}


@pytest.mark.parametrize("root", ["system", "graphs", "algo"])
@pytest.mark.parametrize("doctype", TYPES.values(), ids=TYPES)
def test_no_document_type_is_read(tmp_path: Path, root: str, doctype: str) -> None:
    """So that no entity is made, looked up or fetched."""
    path = tmp_path / "bomb.xml"
    path.write_text(f'<!DOCTYPE {root} {doctype}><{root} name="&a11;">&a11;</{root}>')
    read = read_schedule if root == "algo" else import_topology
    with pytest.raises(FileError, match=r"line 1: has a DOCTYPE, expected none$"):
        read(path)


def keys(form: str) -> str:
    """Return 16 MB of lines with different keys."""
    size = 16_000_000 // (len(form) + 2)
    return "".join(map(form.format, (f"{n:x}" for n in range(size))))


BOMBS = {
    "key": lambda: "a" + ".a" * 100_000 + " = 1",
    "header": lambda: "[a" + ".a" * 100_000 + "]",
    "quoted": lambda: "[" + '"a,b" . ' * 100_000 + "a]",
    "digits": lambda: "1" + ".1" * 100_000 + " = 1",
    "long keys": lambda: keys("{}" + ".a" * 1000 + "=1\n"),
    "keys": lambda: keys("{}.a=1\n"),
    "tables": lambda: keys("[{}]\n"),
    "inline": lambda: "a = [" + "{a=1}," * 2_600_000 + "]",
}


@pytest.mark.parametrize("text", BOMBS.values(), ids=BOMBS)
def test_toml_that_would_take_gigabytes(text: Callable[[], str]) -> None:
    """200 KB of dots take the parser 40 GB, as it keeps all beginnings of a key."""
    with pytest.raises(ConfigError, match=r"^a.toml: would take more than 256 MiB of memory"):
        parse_toml("a.toml", text())


def test_large_files_of_a_usual_kind_are_read() -> None:
    """20,000 links, a list of 100,000 numbers in one line, and words with many dots."""
    link = '[[links]]\nname = "gpu{}.up"\nsrc = "gpu.{}"\nalpha = "1.5us"\n'
    links = "".join(link.format(n, n) for n in range(20_000))
    text = f"numbers = [{'1.25, ' * 100_000}]\nwords = '{'...' * 1000}'\n{links}"
    found = parse_toml("a.toml", text)
    assert (len(found["links"]), sum(found["numbers"])) == (20_000, 125_000)


HEADS = {
    "a.json": '{"schema": "collsim/calibrate-measure/1", "rows": [{"collective": ',
    "a.jsonl": '{"schema": "collsim/measurements/1", "clock": "host"}\n{"collective": ',
    "b.json": '[{"numCycle": 0, "name": "AllReduce", "ranks": 2, "size": ',
}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *itertools.product(HEADS, ["[" * 100_000, '{"a":' * 100_000, "9" * 1_000_000]),
    ],
    ids=[f"{name}-{what}" for name in HEADS for what in ("lists", "objects", "digits")],
)
def test_json_without_an_end(tmp_path: Path, name: str, value: str) -> None:
    """Brackets in brackets and numbers of a million digits are rows that are left out."""
    path = tmp_path / name
    path.write_text(f"{HEADS[name]}{value}\n")
    with pytest.raises(CollsimError) as caught:
        read_logs([path])
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("line", ["all_reduce,2,8,1e-6\n", "x\n"], ids=["rows", "none"])
def test_rows_without_an_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    """Whether they are rows or left out, so many are not held."""
    monkeypatch.setattr(importer, "_MOST_ROWS", 1000)
    path = tmp_path / "a.csv"
    path.write_text("collective,ranks,size,seconds\n" + line * 1001)
    with pytest.raises(FileError, match="more than 1000 rows, or lines that look like some"):
        read_logs([path])


def test_what_a_message_repeats_has_an_end() -> None:
    """A key of five megabytes is named by its beginning, and what was expected stays."""
    error = ConfigError.unknown_key("a.toml", "k" * 5_000_000, ["name"])
    assert len(str(error)) < 2010
    assert str(error).startswith("a.toml: kkkk")
    assert str(error).endswith("kkk: unknown key (known: name)")
