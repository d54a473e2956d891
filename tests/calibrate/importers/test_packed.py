"""Logs that somebody packed."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
from pathlib import Path

import pytest

from collsim.calibrate.importers import read_logs
from collsim.errors import FileError

TEXT = b"8 2 float sum -1 21.08 0.00 0.00 0 21.53 0.00 0.00 0\n" * 99


def zipped() -> bytes:
    """Return an archive of one log."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.log", TEXT)
    return file.getvalue()


@pytest.mark.parametrize(
    ("packed", "words"),
    [
        (gzip.compress(TEXT), "gzip: unpack it first (gzip -d)"),
        (lzma.compress(TEXT), "xz: unpack it first (xz -d)"),
        (bz2.compress(TEXT), "bzip2: unpack it first (bzip2 -d)"),
        (zipped(), "zip: unpack it first (unzip)"),
        # A frame of zstd begins with 0xFD2FB528 (RFC 8878, 3.1.1).
        (b"\x28\xb5\x2f\xfd\x04\x00" + TEXT[:9], "zstd: unpack it first (zstd -d)"),
    ],
    ids=["gzip", "xz", "bzip2", "zip", "zstd"],
)
def test_a_packed_log_is_called_that(tmp_path: Path, packed: bytes, words: str) -> None:
    """With the command that unpacks it."""
    path = tmp_path / "a.log"
    path.write_bytes(packed)
    with pytest.raises(FileError) as caught:
        read_logs(path)
    assert str(caught.value) == f"{path}: is packed by {words}, expected a log"
