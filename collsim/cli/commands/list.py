"""``collsim list``: what there is."""

import click

from collsim.cli.options import output_options
from collsim.cli.program.command import command as _command
from collsim.cli.program.output import Output
from collsim.errors import UsageError

__all__ = ["command"]


@_command(
    """List algorithms, clusters, links, profiles or collectives.

    COLLECTIVE: only the algorithms of this one.

    \b
    Examples:
      collsim list algorithms all_reduce
      collsim list clusters --json
    """
)
@click.argument("what", metavar="algorithms|clusters|links|profiles|collectives")
@click.argument("collective", metavar="[COLLECTIVE]", required=False)
@output_options
def command(what: str, collective: str | None, output: Output) -> None:
    """List and print."""
    output.check()
    if collective is not None and what != "algorithms":
        raise UsageError(f"list {what} {collective}: only algorithms are of a collective")
    from collsim.core.collective import collective as find
    from collsim.report.inventory import algorithm_rows, inventory, inventory_text

    kind = None if collective is None else find(collective).name
    rows = inventory(what) if kind is None else algorithm_rows(kind)
    output.emit(
        f"list {what}",
        rows,
        tuple(rows[0]) if rows else (what.removesuffix("s"),),
        lambda: inventory_text(what, rows),
        collective=kind,
    )
