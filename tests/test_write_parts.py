"""Files that are written part by part: whole or not at all, too."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from collsim.errors import CollsimError, FileError, InputError
from collsim.files import write_parts


def test_parts_follow_each_other(tmp_path: Path) -> None:
    """In their order; of none the file is empty."""
    write_parts(tmp_path / "out", (bytes([n]) for n in b"abc"))
    assert (tmp_path / "out").read_bytes() == b"abc"
    write_parts(tmp_path / "out", [])
    assert (tmp_path / "out").read_bytes() == b""


def test_dash_and_devices(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """They are written to as they are."""
    write_parts("-", [b"a", b"b"])
    write_parts("/dev/null", [b"c"])
    assert capfdbinary.readouterr().out == b"ab"


@pytest.mark.parametrize("error", [InputError("no more"), MemoryError(), KeyboardInterrupt()])
def test_a_part_that_fails_leaves_the_old_file_alone(
    tmp_path: Path, error: BaseException
) -> None:
    """What was there stays, nothing else does, and the reason comes through."""

    def parts() -> Iterator[bytes]:
        yield b"new"
        raise error

    (tmp_path / "out").write_bytes(b"old")
    with pytest.raises(type(error)) as caught:
        write_parts(tmp_path / "out", parts())
    assert caught.value is error
    assert (tmp_path / "out").read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_folder_that_is_not_there_makes_no_part(tmp_path: Path) -> None:
    """What takes long is not begun."""
    made: list[bytes] = []

    def parts() -> Iterator[bytes]:
        made.append(b"x")
        yield b"x"

    with pytest.raises(FileError, match="does not exist") as caught:
        write_parts(tmp_path / "no" / "out", parts())
    assert isinstance(caught.value, CollsimError)
    assert made == []


def test_a_request_to_end_leaves_nothing_behind(tmp_path: Path) -> None:
    """SIGTERM amid the parts: the old content stays, and no temporary file."""
    path = tmp_path / "out"
    path.write_bytes(b"old")
    script = (
        "import os, signal, sys\n"
        "from collsim.files import write_parts\n"
        "def parts():\n"
        "    yield b'new'\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "    yield b'more'\n"
        "write_parts(sys.argv[1], parts())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)], check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (143, "")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["out"]
