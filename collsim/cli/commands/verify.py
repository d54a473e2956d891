"""``collsim verify``: right data, and no race."""

import sys
from typing import Any

import click

from collsim.cli.lazy import command as _command
from collsim.cli.options import algorithm_option, output_options
from collsim.cli.output import Output, note
from collsim.cli.several import names_alone
from collsim.cli.types import RANK_LIST, Whole
from collsim.errors import CollsimError

__all__ = ["command"]


@_command(
    """Verify that the right data arrive, without a race.

    \b
    Examples:
      collsim verify all_reduce --algorithm ring --ranks 1-9,33
      collsim verify broadcast --ranks 6 --root 5 --json
    """
)
@click.argument("collective", required=False)
@algorithm_option("all", "NAME[,NAME]|all", several=True)
@click.option(
    "--ranks", type=RANK_LIST, help="Rank counts such as 1-17,33.  [default: 1-9,13,16-17,33]"
)
@click.option(
    "-r", "--root", type=Whole(0, "R"), help="Root rank.  [default: all up to 9 ranks, then 3]"
)
@output_options
def command(
    collective: str | None,
    algorithm: tuple[str, ...],
    ranks: tuple[int, ...] | None,
    root: int | None,
    output: Output,
) -> None:
    """Verify and print; fail if anything is wrong."""
    output.check()
    names_alone(algorithm)
    from collsim.choose.verify import RANKS, Row, verify
    from collsim.report.records import keys_of, records
    from collsim.report.verify_text import left_out_notes, verify_text

    counts = RANKS if ranks is None else ranks
    told = sys.stderr is not None and sys.stderr.isatty()
    found = verify(
        collective,
        algorithm,
        counts,
        None if root is None else [root],
        progress=_progress if told else None,
    )
    if told:
        click.echo("\r\x1b[K", nl=False, err=True)
    for text in left_out_notes(found):
        note(text)
    kinds = {row.collective for row in found.rows}
    output.emit(
        "verify",
        records(found.rows),
        keys_of(Row),
        lambda: verify_text(found),
        collective=kinds.pop() if len(kinds) == 1 else None,
        ranks=counts[0] if len(counts) == 1 else None,
    )
    wrong = [row for row in found.rows if not row.ok]
    if wrong:
        raise CollsimError(
            f"verify: {len(wrong)} of {len(found.rows)} cases are wrong, the first is "
            f"{wrong[0].collective}/{wrong[0].algorithm} on {wrong[0].ranks} ranks: "
            f"{wrong[0].reason}"
        )
    if not found.rows:
        raise CollsimError("verify: no case applies, expected other ranks, or another root")


def _progress(row: Any) -> None:
    text = f"{row.collective}/{row.algorithm} on {row.ranks} ranks"
    click.echo(f"\r\x1b[K{text}", nl=False, err=True)
