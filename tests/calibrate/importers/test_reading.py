"""Files as such: without an end, no text, named twice, read once only."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from collsim.calibrate import importers
from collsim.calibrate.fit import fit
from collsim.calibrate.importers import read_log, read_logs
from collsim.errors import FileError

LOG = Path(__file__).resolve().parents[3] / "examples" / "nccl_tests_all_reduce_8gpu.txt"
SECONDS = 20  # far more than is needed, far less than for ever


def test_zeros_without_an_end_are_an_error() -> None:
    """In no time."""
    start = time.monotonic()
    with pytest.raises(FileError) as caught:
        read_log("/dev/zero")
    assert str(caught.value) == (
        "/dev/zero: is no text up to line 1, expected a log of measurements"
    )
    assert time.monotonic() - start < SECONDS


@pytest.mark.parametrize("letter", ["x", "\0"])
def test_a_line_without_an_end_is_an_error(write: Callable[..., str], letter: str) -> None:
    """It is named, also after good rows."""
    path = write(LOG.read_text("utf-8") + letter * (17 << 20))
    last = LOG.read_text("utf-8").count("\n") + 1
    with pytest.raises(FileError, match=rf"line {last} is longer than 16 MiB"):
        read_log(path)


def test_a_file_of_noise_ends_soon() -> None:
    """/dev/urandom has line ends."""
    start = time.monotonic()
    with pytest.raises(FileError, match=r"is no text up to line \d+, expected"):
        read_log("/dev/urandom")
    assert time.monotonic() - start < SECONDS


def test_lines_that_nobody_knows_are_not_read_to_their_end(
    write: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error says how far it looked; what NCCL says of itself does not count."""
    monkeypatch.setattr(importers, "_MOST_UNKNOWN", 1 << 20)
    log, times = LOG.read_text("utf-8"), 16000
    strange = write(
        "Epoch 3: loss 0.25, 1200 samples/s, nothing else to be told of it\n" * times + log
    )
    with pytest.raises(
        FileError, match=r"in a known format up to line 15888 \(1 MiB\), expected"
    ):
        read_log(strange)
    said = write(
        "node-1:77:90 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM, and so on\n"
        * times
        + log
    )
    assert len(read_log(said)) == len(read_log(str(LOG)))


def test_a_hole_in_a_log_costs_nothing(write: Callable[..., str]) -> None:
    """Two MiB of NUL bytes, as file systems leave them; lines are counted right."""
    text = LOG.read_text("utf-8")
    rows = read_log(write("\n".join((text.rstrip("\n"), "\0" * (2 << 20), text))))
    whole = read_log(str(LOG))
    assert len(rows) == 2 * len(whole)
    assert rows.rows[-1].source.line == text.count("\n") + 1 + whole.rows[-1].source.line


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    """As `<(zcat log.gz)` gives one."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(LOG.read_bytes(),))
    writer.start()
    rows = read_log(str(path))
    writer.join()
    assert len(rows) == len(read_log(str(LOG)))


def test_a_file_given_twice_counts_once(tmp_path: Path) -> None:
    """By its name, a link to it, or as a copy; that is noted."""
    link, copy = tmp_path / "link.txt", tmp_path / "copy.txt"
    link.symlink_to(LOG)
    copy.write_text("# a copy\n" + LOG.read_text("utf-8"), "utf-8")
    once = read_log(str(LOG))
    rows = read_logs([LOG, LOG, link, copy])
    assert rows.rows == once.rows
    assert rows.notes == (
        f"{LOG}: is given twice and counts once",
        f"{link}: is given twice and counts once",
        f"{copy}: has the same rows as {LOG} and counts once",
    )
    twice = fit([str(LOG), str(copy)])
    assert twice.parameters == fit(str(LOG)).parameters
    assert twice.profile.notes[0].endswith(f"has the same rows as {LOG} and counts once")


def test_another_run_is_no_copy(write: Callable[..., str]) -> None:
    """One number that differs is enough."""
    other = write(LOG.read_text("utf-8").replace("   21.08", "   21.09", 1))
    assert len(read_logs([LOG, other])) == 2 * len(read_log(str(LOG)))


@pytest.mark.parametrize("order", ["utf-16-le", "utf-16-be"])
def test_utf_16_is_read(tmp_path: Path, order: str) -> None:
    """As PowerShell writes what is sent to a file; its first bytes tell."""
    path = tmp_path / "a.txt"
    path.write_bytes(("\ufeff" + LOG.read_text("utf-8")).encode(order))
    assert [row.seconds for row in read_log(path)] == [row.seconds for row in read_log(LOG)]


def test_a_name_with_a_nul_byte_is_no_file() -> None:
    """No path can hold one; the error says so."""
    with pytest.raises(FileError, match="embedded null byte"):
        read_logs(["a\0b"])
