"""Reading text files and writing files whole or not at all."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import signal
import stat
import sys
import threading
from collections.abc import Iterable, Iterator

from collsim.errors import CollsimError, FileError

__all__ = ["lock", "read_bytes", "read_text", "write_parts", "write_whole"]

_LINKS = 40  # as many as Linux follows before it says "too many levels"


# Nobody writes a configuration of this size; /dev/zero has no end.
_MOST = 16 << 20


def read_text(path: str | os.PathLike[str]) -> str:
    """Read a UTF-8 text file; every kind of line end becomes a line feed.

    Raises
    ------
    FileError
        If it is missing, a directory, unreadable, larger than 16 MiB or not UTF-8.
    """
    with _named(path), open(path, "rb") as file:
        data = file.read(_MOST + 1)
    if len(data) > _MOST:
        raise FileError(path, f"is larger than {_MOST >> 20} MiB, expected a small text file")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        reason = f"line {line} is not UTF-8 text (byte 0x{data[error.start]:02x})"
        raise FileError(path, reason) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_bytes(path: str | os.PathLike[str], most: int) -> bytes:
    """Read a file whose encoding is its own business.

    Raises
    ------
    FileError
        If it is missing, a directory, unreadable, or of more than `most` bytes.
    """
    with _named(path), open(path, "rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise FileError(path, f"too large, expected at most {most} bytes")
    return data


def write_whole(path: str | os.PathLike[str], data: str | bytes) -> None:
    """Write a file so that it holds all of `data`, or what it held before.

    A regular file is replaced by a finished temporary file of the same folder
    and keeps its mode. A symbolic link is followed and stays. What is no regular
    file (``-``, ``/dev/stdout``, ``/dev/null``, a named pipe) is written to as it
    is and never replaced. Text is encoded as UTF-8, line feeds untouched.

    Raises
    ------
    FileError
        If it cannot be written; then no temporary file stays behind.
    BrokenPipeError
        If the reader of a pipe has left, which is no failure of the file.
    """
    with _named(path):
        encoded = data if isinstance(data, bytes) else data.encode("utf-8", "surrogateescape")
        _write(os.fspath(path), (encoded,))


def write_parts(path: str | os.PathLike[str], parts: Iterable[bytes]) -> None:
    """Write a file part by part, as :func:`write_whole` does: all of them or nothing.

    A file that is too large to be held at once is so written as it is made. If making a part
    fails, the file holds what it held before.

    Raises
    ------
    FileError
        If it cannot be written; then no temporary file stays behind.
    BrokenPipeError
        If the reader of a pipe has left, which is no failure of the file.
    """
    with _named(path):
        _write(os.fspath(path), parts)


def lock(descriptor: int) -> bool:
    """Lock an open file until it is closed; False if another process has done so.

    Where there are no such locks, on this system or in this folder, it counts as locked.
    """
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        pass
    return True


@contextlib.contextmanager
def _named(path: str | os.PathLike[str]) -> Iterator[None]:
    """Let what the system says of a file name it, as FileError; our own errors pass."""
    try:
        yield
    except (BrokenPipeError, CollsimError):
        raise
    except (OSError, ValueError) as error:
        # ValueError: a NUL byte in the name, or text that has no UTF-8 form.
        raise FileError(path, error if isinstance(error, OSError) else str(error)) from error


def _write(path: str, parts: Iterable[bytes]) -> None:
    if not path:
        raise FileError(path, "an empty file name")
    if path == "-":
        _write_stdout(parts)
        return
    descriptor = _descriptor(path)
    if descriptor is not None:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        with open(os.dup(descriptor), "wb") as file:
            file.writelines(parts)
        return
    try:
        status = os.stat(path)
    except FileNotFoundError:
        status = None
    if status is None or stat.S_ISREG(status.st_mode):
        _replace(path, parts, status)
        return
    with open(path, "wb") as file:
        file.writelines(parts)


def _write_stdout(parts: Iterable[bytes]) -> None:
    # Python has none if the descriptor was closed before it began.
    if sys.stdout is None:
        raise FileError("-", "there is no standard output")
    sys.stdout.flush()
    # The bytes below the text layer, whatever encoding the terminal claims; a
    # stdout that somebody replaced by an io.StringIO has none.
    binary = getattr(sys.stdout, "buffer", None)
    if binary is None:
        sys.stdout.write(b"".join(parts).decode("utf-8", "surrogateescape"))
    else:
        # Not writelines: what stands for stdout may listen to write alone.
        for part in parts:
            binary.write(part)
    sys.stdout.flush()


def _descriptor(path: str) -> int | None:
    """Return the open descriptor that `path` stands for, such as 1 for /dev/stdout.

    With stdout sent to a file, /dev/stdout *is* a regular file. Replacing it
    would cut the shell's redirection off, and opening it would truncate what the
    shell appends to; so it is written through the descriptor.
    """
    for _ in range(_LINKS):
        path = os.path.abspath(path)
        found = re.fullmatch(r"(?:/dev|/proc/(self|\d+))/fd/(\d{1,9})", path)
        if found is not None and found[1] in {None, "self", str(os.getpid())}:
            return int(found[2])
        if not os.path.islink(path):
            return None
        path = os.path.join(os.path.dirname(path), os.readlink(path))
    return None


def _replace(path: str, parts: Iterable[bytes], status: os.stat_result | None) -> None:
    if path.endswith(os.sep):
        raise FileError(path, "names a folder, expected a file")
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    if not os.path.exists(folder):
        raise FileError(path, f"the folder {folder} does not exist")
    # A rename needs no right to the file that it replaces; a user who has
    # protected a file means it.
    if status is not None and not os.access(target, os.W_OK):
        raise FileError(path, "is write-protected")
    temporary = os.path.join(folder, f".collsim-{secrets.token_hex(8)}.tmp")
    # Mode 0666 here and not tempfile's 0600: the umask then applies as for any file.
    with _ended_in_order():
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        try:
            with open(descriptor, "wb") as file:
                if status is not None:
                    _take_over(descriptor, status)
                file.writelines(parts)
                file.flush()
                os.fsync(descriptor)
            os.replace(temporary, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise


@contextlib.contextmanager
def _ended_in_order() -> Iterator[None]:
    """Let a request to end unwind what is open, where nobody else looks after it.

    By default SIGTERM ends a process on the spot, and a temporary file would stay.
    """
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL
    ):
        yield
        return

    def stop(*_: object) -> None:
        raise SystemExit(128 + signal.SIGTERM)

    signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _take_over(descriptor: int, status: os.stat_result) -> None:
    """Give the file behind `descriptor` the owner and mode of the one it replaces."""
    with contextlib.suppress(PermissionError):
        os.fchown(descriptor, status.st_uid, status.st_gid)
    # After the owner, because changing it clears the set-user-id bits.
    os.fchmod(descriptor, stat.S_IMODE(status.st_mode))
