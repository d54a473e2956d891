"""A group whose commands are files, loaded when one is called or asked for help."""

import importlib
import re
from collections.abc import Callable
from types import ModuleType

import click

from collsim.cli.program.overwriting import refuse_overwriting
from collsim.cli.program.waiting import tell_waiting
from collsim.errors import UnknownNameError, UsageError
from collsim.registry import names

__all__ = ["Command", "Commands", "command", "examples"]

HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class Command(click.Command):
    """A command that reports contradictory arguments as wrong usage."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse; an error knows its command, also where click forgets to say it."""
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            meant = self._meant(error)
            if meant:
                said = error.format_message().rstrip(".")
                raise click.UsageError(f"{said}{meant}", error.ctx) from error
            raise

    def _meant(self, error: click.UsageError) -> str:
        """Return what to write in place of an option that is wrong."""
        if isinstance(error, click.NoSuchOption) and error.option_name in ("-s", "--size"):
            ranged = any("-b" in param.opts for param in self.params)
            return "; sizes are a range here, from -b to -e" * ranged
        if isinstance(error, click.BadOptionUsage):
            for param in self.params:
                if error.option_name in param.opts and param.nargs > 1:
                    return f", with a blank between them: {error.option_name} {param.metavar}"
        return ""

    def invoke(self, ctx: click.Context) -> object:
        """Run it; arguments that exclude each other exit with 2 and the usage."""
        try:
            refuse_overwriting(ctx)
            tell_waiting(ctx)
            return super().invoke(ctx)
        except UsageError as error:
            raise click.UsageError(str(error), ctx) from error

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Say where the files of the examples are: a wheel has none."""
        super().format_epilog(ctx, formatter)
        if " examples/" in (self.help or ""):
            formatter.write_paragraph()
            with formatter.indentation():
                formatter.write_text("The folder examples/ is in collsim's repository.")

    def get_short_help_str(self, limit: int = 45) -> str:  # noqa: ARG002 - click's
        """Return the first sentence whole: a list of commands wraps what is long."""
        return " ".join((self.help or "").split("\n\n")[0].split())


def command(help_text: str) -> Callable[[Callable[..., object]], Command]:
    """Return the decorator that makes a function the command of its file."""
    return click.command(cls=Command, help=help_text, context_settings=HELP)


def examples(help_text: str | None) -> list[str]:
    """Return the command lines of a help, without the comments behind them."""
    lines = re.findall(r"^ *(collsim .*)$", help_text or "", re.MULTILINE)
    return [line.partition("  #")[0].rstrip() for line in lines]


class Commands(click.Group):
    """The commands of a package: ``predict.py`` is `predict`, a folder is a group.

    Parameters
    ----------
    name : str
        Name of the group.
    package : str
        Dotted name of the package. Each module has one attribute `command`; a
        sub-package is a group whose help is its `HELP`.
    help : str
        What the group is for.
    """

    def __init__(self, name: str, package: str, help: str) -> None:  # noqa: A002
        super().__init__(name, help=help, context_settings=HELP, no_args_is_help=False)
        self.package = package

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse; without any argument print the help."""
        if not args and not ctx.resilient_parsing:
            click.echo(ctx.get_help())
            ctx.exit()
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's
        """Return the names of the files and folders."""
        return list(names(self.package))

    def get_command(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's
        cmd_name: str,
    ) -> click.Command | None:
        """Load the command of that name."""
        if cmd_name not in names(self.package):
            return None
        module = importlib.import_module(f"{self.package}.{cmd_name}")
        return _command_of(cmd_name, module)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Name the nearest command where there is none of that name."""
        name = args[0]
        known = names(self.package)
        if name not in known and not name.startswith("-"):
            option = f"--{name}"
            meant = option if any(option in p.opts for p in self.get_params(ctx)) else None
            error = str(UnknownNameError("command", name, known, meant))
            if ctx.parent is None:
                error += _if_collective(name)
            elif name.startswith("algorithm"):
                error += "; for algorithms: collsim list algorithms, collsim explain COLLECTIVE"
            raise click.UsageError(error, ctx)
        return super().resolve_command(ctx, args)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Say how to go on."""
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(
                f"'{ctx.command_path} COMMAND --help' has options and examples."
            )


def _if_collective(name: str) -> str:
    """Return what was meant by ``collsim all_reduce``."""
    from collsim.core.collective import collective

    try:
        return f"; for example: collsim predict {collective(name).name}"
    except UnknownNameError:
        return ""


def _command_of(name: str, module: ModuleType) -> click.Command:
    if hasattr(module, "__path__"):
        return Commands(name, module.__name__, module.HELP)
    found = module.command
    if not isinstance(found, click.Command):
        raise TypeError(f"{module.__name__}: command must be a click command")
    found.name = name
    return found
