"""``collsim verify``: right data, and no race."""

import sys
from typing import TYPE_CHECKING, Any

import click

from collsim.cli.options import algorithm_option, output_options
from collsim.cli.options.types import RANK_LIST, Whole
from collsim.cli.program.command import command as _command
from collsim.cli.program.output import Output, note
from collsim.cli.runs.schedules import opened_schedule, refuse_beside_schedule, schedule_option
from collsim.cli.runs.several import names_alone
from collsim.errors import CollsimError

if TYPE_CHECKING:
    from collsim.choose.verify import Verification

__all__ = ["command"]


@_command(
    """Verify that the right data arrive, without a race.

    \b
    Examples:
      collsim verify all_reduce --algorithm ring --ranks 1-9,33
      collsim verify broadcast --ranks 6 --root 5 --json
      collsim verify --schedule examples/schedule_all_reduce_4.txt
    """
)
@click.argument("collective", required=False)
@algorithm_option("all", "NAME[,NAME]|all", several=True)
@schedule_option
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
    schedule: str | None,
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
    if schedule is not None:
        refuse_beside_schedule(["algorithm", "ranks"])
        found = _of_file(schedule, collective, root)
        counts = (found.rows[0].ranks,)
    else:
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


def _of_file(path: str, collective: str | None, root: int | None) -> "Verification":
    """Return the verification of a schedule from a file."""
    from collsim.choose.verify import Row, Verification
    from collsim.core.collective import collective as named

    file = opened_schedule(path, collective, root)
    rooted = named(file.collective).rooted
    row = Row(
        file.collective,
        file.name,
        file.ranks,
        file.root if rooted else None,
        file.verdict.ok,
        file.verdict.reason,
    )
    return Verification((row,), ())


def _progress(row: Any) -> None:
    text = f"{row.collective}/{row.algorithm} on {row.ranks} ranks"
    click.echo(f"\r\x1b[K{text}", nl=False, err=True)
