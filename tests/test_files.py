"""Files: whole or not at all, links followed, devices written to as they are."""

from __future__ import annotations

import errno
import io
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from collsim.errors import FileError
from collsim.files import read_text, write_whole

WRITE = "import sys; from collsim.files import write_whole; write_whole(sys.argv[1], 'new\\n')"


def mode(path: Path) -> int:
    """Return the permission bits."""
    return stat.S_IMODE(path.stat().st_mode)


def run_shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run `command` in bash, where `w FILE` writes a line to FILE."""
    write = f'{sys.executable} -c "{WRITE}"'
    return subprocess.run(
        ["bash", "-ec", f"w() {{ {write} \"$1\"; }}; {command}"],
        cwd=folder, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("data", "raw"),
    [
        ("", b""),
        (b"", b""),
        ("1.2 \u00b5s\n", b"1.2 \xc2\xb5s\n"),
        ("a\r\nb\n", b"a\r\nb\n"),
        (b"\x89PNG\xff", b"\x89PNG\xff"),
        ("x" * 3_000_000, b"x" * 3_000_000),
    ],
)
def test_writes_text_as_utf8_and_bytes_as_they_are(
    tmp_path: Path, data: str | bytes, raw: bytes
) -> None:
    """What was handed over is in the file, and nothing else is in the folder."""
    write_whole(tmp_path / "out", data)
    assert (tmp_path / "out").read_bytes() == raw
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_new_file_has_the_mode_that_the_umask_leaves(tmp_path: Path) -> None:
    """A temporary file's private mode does not leak into the result."""
    (tmp_path / "plain").touch()
    write_whole(tmp_path / "out", "x")
    assert mode(tmp_path / "out") == mode(tmp_path / "plain")


def test_existing_file_keeps_its_mode(tmp_path: Path) -> None:
    """Replacing the content of a shared or private file leaves it so."""
    out = tmp_path / "out"
    for bits in (0o600, 0o664, 0o755):
        out.touch()
        out.chmod(bits)
        write_whole(out, "x")
        assert mode(out) == bits


def test_existing_file_is_replaced_and_not_rewritten(tmp_path: Path) -> None:
    """Who has the old file open goes on reading the old content."""
    out = tmp_path / "out"
    out.write_text("old")
    with out.open() as reader:
        write_whole(out, "new")
        assert reader.read() == "old"
    assert out.read_text() == "new"


def test_relative_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bare name is a file of the working directory."""
    monkeypatch.chdir(tmp_path)
    write_whole("out", "x")
    assert (tmp_path / "out").read_text() == "x"


def test_symlink_is_followed_and_stays(tmp_path: Path) -> None:
    """The file behind a chain of links changes; the links, one relative, stay."""
    (tmp_path / "data").mkdir()
    target = tmp_path / "data" / "real"
    target.write_text("old")
    target.chmod(0o640)
    (tmp_path / "middle").symlink_to("data/real")
    (tmp_path / "link").symlink_to(tmp_path / "middle")
    write_whole(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "middle").is_symlink()
    assert target.read_text() == "new"
    assert mode(target) == 0o640
    assert [p.name for p in (tmp_path / "data").iterdir()] == ["real"]


def test_dangling_symlink_creates_what_it_points_to(tmp_path: Path) -> None:
    """As the shell's redirection does."""
    (tmp_path / "link").symlink_to("real")
    write_whole(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_symlink_loop_is_an_error(tmp_path: Path) -> None:
    """Two links that point to each other hold no file."""
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(FileError, match="Too many levels of symbolic links"):
        write_whole(tmp_path / "a", "x")


def test_fifo_is_written_to_and_stays(tmp_path: Path) -> None:
    """A named pipe delivers to its reader."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append(fifo.read_text()))
    reader.start()
    write_whole(fifo, "through the pipe")
    reader.join(timeout=30)
    assert got == ["through the pipe"]
    assert fifo.is_fifo()


def test_dev_null_is_written_to_and_stays() -> None:
    """A device is never replaced, even by root."""
    before = os.stat(os.devnull)
    write_whole(os.devnull, "x")
    after = os.stat(os.devnull)
    assert stat.S_ISCHR(after.st_mode)
    assert (after.st_ino, after.st_mode) == (before.st_ino, before.st_mode)


def test_dash_is_stdout(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """After what was printed before, as UTF-8 or as raw bytes."""
    print("first")
    write_whole("-", "1 \u00b5s\n")
    write_whole("-", b"\xff")
    print("last")
    assert capfdbinary.readouterr().out == b"first\n1 \xc2\xb5s\n\xfflast\n"


def test_dash_works_on_a_stdout_without_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody may have put an io.StringIO in its place."""
    fake = io.StringIO()
    monkeypatch.setattr(sys, "stdout", fake)
    write_whole("-", "text")
    assert fake.getvalue() == "text"


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "-"])
def test_stdout_by_any_name_into_a_pipe(tmp_path: Path, name: str) -> None:
    """The next program of the pipeline gets it."""
    done = run_shell(f"w {name} | cat", tmp_path)
    assert (done.stdout, done.stderr) == ("new\n", "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "-"])
def test_stdout_by_any_name_into_a_file(tmp_path: Path, name: str) -> None:
    """The shell's redirection goes on working: nothing is truncated or cut off."""
    done = run_shell(f"{{ echo before; w {name}; echo after; }} >> log", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "log").read_text() == "before\nnew\nafter\n"
    assert [p.name for p in tmp_path.iterdir()] == ["log"]


def test_stderr_and_other_descriptors(tmp_path: Path) -> None:
    """Every open descriptor can be named; a link to one too."""
    (tmp_path / "link").symlink_to("/dev/stderr")
    done = run_shell("w /dev/stderr; w link; w /dev/fd/7 7>seven", tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "new\nnew\n")
    assert (tmp_path / "seven").read_text() == "new\n"


def test_closed_descriptor_is_an_error() -> None:
    """One line, as for any file."""
    with pytest.raises(FileError, match="/dev/fd/999999: Bad file descriptor"):
        write_whole("/dev/fd/999999", "x")


def test_reader_that_left_is_no_file_error(tmp_path: Path) -> None:
    """`collsim … | head -1` is the caller's business and stays recognisable."""
    done = run_shell("set -o pipefail; { sleep 0.5; w /dev/stdout; } | true", tmp_path)
    assert "BrokenPipeError" in done.stderr


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "an empty file name"),
        ("missing/out", "the folder .*/missing does not exist"),
        ("new/", "names a folder, expected a file"),
        (".", "Is a directory"),
        ("file/out", "Not a directory"),
        ("nul\0byte", "embedded null"),
        ("n" * 300, "File name too long"),
    ],
)
def test_unwritable_targets_are_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, reason: str
) -> None:
    """The error names the target as the user typed it, and why; nothing is left."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("old")
    with pytest.raises(FileError, match=reason) as caught:
        write_whole(name, "x")
    assert str(caught.value).isprintable()
    assert caught.value.path == name
    assert [p.name for p in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text() == "old"


def test_text_without_utf8_form_is_an_error(tmp_path: Path) -> None:
    """A lone surrogate cannot be stored; nothing is left behind."""
    with pytest.raises(FileError, match="surrogates not allowed"):
        write_whole(tmp_path / "out", "\ud800")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("step", ["fsync", "replace", "fchmod"])
@pytest.mark.parametrize(
    "failure", [OSError(errno.ENOSPC, "No space left"), KeyboardInterrupt()]
)
def test_failure_at_any_step_leaves_the_old_file_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, failure: BaseException
) -> None:
    """A full disk or Ctrl-C: the old content stays, and no temporary file."""

    def fail(*args: object) -> None:
        raise failure

    out = tmp_path / "out"
    out.write_text("old")
    monkeypatch.setattr(os, step, fail)
    expected = FileError if isinstance(failure, OSError) else KeyboardInterrupt
    with pytest.raises(expected):
        write_whole(out, "new")
    assert out.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_write_protected_file_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rename would get around the protection; the user meant it."""
    out = tmp_path / "out"
    out.write_text("old")
    # Not by chmod: the super-user, as whom tests often run, may write everything.
    monkeypatch.setattr(os, "access", lambda path, how: False)
    with pytest.raises(FileError, match="is write-protected"):
        write_whole(out, "new")
    assert out.read_text() == "old"


def test_owner_that_cannot_be_kept_does_not_stop_the_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the super-user may give files away."""

    def refuse(*args: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "fchown", refuse)
    (tmp_path / "out").write_text("old")
    write_whole(tmp_path / "out", "new")
    assert (tmp_path / "out").read_text() == "new"


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"", ""),
        (b"a\nb\n", "a\nb\n"),
        (b"a\r\nb\rc", "a\nb\nc"),
        (b"\xef\xbb\xbfa = 1\n", "a = 1\n"),
        (b"\xc2\xb5s", "\u00b5s"),
    ],
)
def test_read_text(tmp_path: Path, raw: bytes, text: str) -> None:
    """UTF-8 with any line end, and without the mark that Windows editors put first."""
    (tmp_path / "in").write_bytes(raw)
    assert read_text(tmp_path / "in") == text


def test_read_text_refuses_other_encodings_by_line(tmp_path: Path) -> None:
    """The line and the byte at fault are named."""
    (tmp_path / "in").write_bytes(b"fine\nfine\nno\xff\n")
    with pytest.raises(FileError, match=r"line 3 is not UTF-8 text \(byte 0xff\)"):
        read_text(tmp_path / "in")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "No such file"),
        ("missing", "No such file or directory"),
        (".", "Is a directory"),
        ("nul\0byte", "embedded null"),
    ],
)
def test_read_text_refuses_what_is_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, reason: str
) -> None:
    """One line that names the file as the user typed it."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileError, match=reason) as caught:
        read_text(name)
    assert str(caught.value).isprintable()


def test_a_file_without_end_is_refused() -> None:
    """It is read no further than a small text file could be long."""
    with pytest.raises(FileError, match=r"^/dev/zero: is larger than 16 MiB, expected a small"):
        read_text("/dev/zero")
