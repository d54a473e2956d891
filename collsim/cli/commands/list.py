"""``collsim list``: what there is."""

import click

from collsim.cli.lazy import command as _command
from collsim.cli.options import output_options
from collsim.cli.output import Output

__all__ = ["command"]


@_command(
    """List what there is: algorithms, clusters, links, profiles or collectives.

    \b
    Examples:
      collsim list algorithms
      collsim list clusters --json
    """
)
@click.argument("what", metavar="algorithms|clusters|links|profiles|collectives")
@output_options
def command(what: str, output: Output) -> None:
    """List and print."""
    output.check()
    from collsim.report.inventory import inventory, inventory_text

    rows = inventory(what)
    output.emit(
        f"list {what}",
        rows,
        tuple(rows[0]) if rows else (what.removesuffix("s"),),
        lambda: inventory_text(what, rows),
    )
