"""``collsim show profile``: fitted numbers, where they come from, how far they hold."""

import click

from collsim.cli.options import output_options
from collsim.cli.program.command import command as _command
from collsim.cli.program.output import Output

__all__ = ["command"]


@_command(
    """Show what a profile says: parameters with intervals, what was measured, errors, notes.

    \b
    Examples:
      collsim show profile h100-nvswitch-8
      collsim show profile h100-ndr --json
    """
)
@click.argument("name", metavar="NAME|FILE")
@output_options
def command(name: str, output: Output) -> None:
    """Show and print."""
    output.check()
    from collsim.config.profile_file import load_profile
    from collsim.report.profile_text import profile_head, profile_rows, profile_text

    found = load_profile(name)
    rows = profile_rows(found)
    output.emit(
        "show profile",
        rows,
        tuple(rows[0]),
        lambda: profile_text(found),
        cluster=found.cluster,
        profile=profile_head(found),
    )
