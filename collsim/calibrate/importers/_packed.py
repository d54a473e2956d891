"""Files that hold a log packed, told by how they begin."""

from typing import Final

from collsim.errors import FileError

__all__ = ["refuse_packed"]

# Read as text a byte that is none is U+FFFD. RFC 1952 (gzip), RFC 8878 (zstd), the formats'
# own descriptions of xz and bzip2, and PKWARE's APPNOTE (zip).
_PACKED: Final = {
    "\x1f\ufffd": ("gzip", "gzip -d"),
    "(\ufffd/\ufffd": ("zstd", "zstd -d"),
    "\ufffd7zXZ\0": ("xz", "xz -d"),
    "BZh": ("bzip2", "bzip2 -d"),
    "PK\x03\x04": ("zip", "unzip"),
}


def refuse_packed(path: str, first: str) -> None:
    r"""Refuse a file whose first line begins as those of a packer do.

    Raises
    ------
    FileError
        With the command that unpacks it.

    Examples
    --------
    >>> refuse_packed("a.gz", "\x1f\ufffd\x08")
    Traceback (most recent call last):
        ...
    collsim.errors.FileError: a.gz: is packed by gzip: unpack it first (gzip -d), expected a log
    """
    for start, (kind, command) in _PACKED.items():
        if first.startswith(start):
            reason = f"is packed by {kind}: unpack it first ({command}), expected a log"
            raise FileError(path, reason)
