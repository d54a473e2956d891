"""The program: ``collsim``, and ``python -m collsim``, which is the same."""

import contextlib
import os
import signal

__all__ = ["main"]


def main() -> None:
    """Run the program; see :mod:`collsim.cli.main`."""
    # Where Ctrl-C is ignored, as behind `nohup`, it stays so.
    heard = callable(signal.getsignal(signal.SIGINT))
    if heard:
        signal.signal(signal.SIGINT, _end)
    try:
        from collsim.cli.main import main as program

        program(prog_name="collsim")
    finally:
        # All has been said, and Python has no more than its own things to put away.
        if heard:
            signal.signal(signal.SIGINT, signal.SIG_IGN)


def _end(*_: object) -> None:
    """End on the spot: outside of a command there is nothing to undo."""
    with contextlib.suppress(OSError):
        os.write(2, b"Error: interrupted\n")
    os._exit(130)


if __name__ == "__main__":
    main()
