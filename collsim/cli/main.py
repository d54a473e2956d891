"""The program: commands found by their files, and the one boundary of errors."""

import contextlib
import errno
import logging
import sys
from collections.abc import Sequence
from typing import Any

import click

from collsim.cli.program.command import Commands, examples
from collsim.cli.program.interrupts import exit_code, interruptible
from collsim.cli.program.output import drop_stdout
from collsim.errors import CollsimError, one_line

__all__ = ["Program", "main"]


# What can be wrong with a file that is open; else it is none's, as "Too many open files" is.
_OF_OUTPUT = (errno.ENOSPC, errno.EIO, errno.EFBIG, errno.EDQUOT, errno.EBADF)


class Program(Commands):
    """The group of all commands; whatever it is given, it exits without a traceback."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run the program as click does, with collsim's errors and exit codes."""
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, standalone_mode, **extra)
        extra.pop("windows_expand_args", None)
        name = "collsim" if prog_name is None else prog_name
        self._main_shell_completion(extra, name, complete_var)
        given = sys.argv[1:] if args is None else list(args)
        try:
            with interruptible():
                code = self._guarded(name, given, extra)
        except KeyboardInterrupt as stop:
            code = _fail(str(stop) or "interrupted", exit_code(stop))
        sys.exit(_last_words(code))

    def _guarded(self, name: str, args: list[str], extra: dict[str, Any]) -> int:
        """Run and return the exit code: 0 fine, 1 failure, 2 wrong usage."""
        # It tells stderr where its cache is when there is no home to write to.
        logging.getLogger("matplotlib").setLevel(logging.ERROR)
        try:
            with self.make_context(name, args, **extra) as context:
                self.invoke(context)
        except click.exceptions.Exit as done:
            return done.exit_code
        except BrokenPipeError:
            # Whoever read our output has seen enough (`| head`).
            drop_stdout()
        except click.UsageError as error:
            if error.ctx is not None:
                _say(error.ctx.get_usage())
                _say(f"Try '{error.ctx.command_path} --help' for help.\n")
            return _fail(_wrong_usage(error), error.exit_code)
        except (click.ClickException, CollsimError, MemoryError, OSError) as error:
            return _fail(_message(error))
        return 0


def _wrong_usage(error: click.UsageError) -> str:
    """Return what is wrong; of a command that lacks something, with an example that has it."""
    message = error.format_message()
    if isinstance(error, click.MissingParameter) and error.ctx is not None:
        example = examples(error.ctx.command.help)[0]
        return f"{message.rstrip('.')}; for example: {example}"
    return message


def _message(error: Exception) -> str:
    if isinstance(error, click.ClickException):
        return error.format_message()
    if isinstance(error, CollsimError):
        return str(error)
    if isinstance(error, OSError):
        where = "standard output" if error.errno in _OF_OUTPUT else "the system"
        return f"{error.filename or where}: {error.strerror or error}"
    return "out of memory; expected fewer ranks, chunks or sizes"


def _fail(message: str, code: int = 1) -> int:
    _say(f"Error: {one_line(message)}")
    return code


def _say(text: str) -> None:
    # Without a stderr there is nobody to tell.
    with contextlib.suppress(OSError, ValueError):
        click.echo(text, err=True)


def _last_words(code: int) -> int:
    """Write out what stdout still holds, here where a failure can be reported."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        drop_stdout()
    except (OSError, ValueError) as error:
        drop_stdout()
        # A failure that has been told already has the same cause.
        if code == 0:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            return _fail(f"standard output: {reason}")
    return code


main = Program(
    "collsim",
    package="collsim.cli.commands",
    help="""How long a collective takes on your GPUs, which algorithm is best, and why.

    \b
    Examples:
      collsim predict all_reduce                   # how long, at every size
      collsim choose all_reduce -c dgx-h100        # the fastest algorithm at every size
      collsim explain broadcast --ranks 6          # what it does, what it costs, why
      collsim list clusters                        # what -c takes, besides a file
    """,
)


def _show_versions(context: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked and not context.resilient_parsing:
        from collsim.cli.program.versions import versions

        click.echo(versions())
        context.exit()


click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_versions,
    help="Show the version, Python's, numpy's and the compiler's, and exit.",
)(main)
