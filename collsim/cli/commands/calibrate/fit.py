"""``collsim calibrate fit``: measurements to a profile."""

from typing import Any

import click

from collsim.cli.lazy import command as _command
from collsim.cli.options import LogChoice, algorithm_option, log_options, output_options
from collsim.cli.output import Output, note
from collsim.cli.types import Whole
from collsim.files import write_whole

__all__ = ["command"]

_STDOUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


@_command(
    """Fit alpha, beta and launch to measured times, and write them as a profile.

    LOG is the output of nccl-tests. The profile is TOML and goes to stdout, or with -o to
    a file; then, and with --json or --csv, a summary is printed.

    \b
    Examples:
      collsim calibrate fit examples/nccl_tests_all_reduce_8gpu.txt
      collsim calibrate fit examples/nccl_tests_all_reduce_8gpu.txt -o mine.toml --json
    """
)
@log_options
@click.option("--ranks", type=Whole(name="P"), help="Of logs that do not say it.")
@click.option("--gpus-per-node", type=Whole(), help="Of logs that do not say it.")
@algorithm_option("ring", "NAME")
@click.option("--chunks", type=Whole(), default=1, help="Of that algorithm.  [default: 1]")
@click.option(
    "--hold-out",
    type=click.Choice(["sizes", "collectives", "ranks", "nodes"]),
    default="sizes",
    show_default=True,
    help="What the errors are of: rows that the fits did not see.",
)
@click.option("--name", default="fitted", help="Name of the profile.  [default: fitted]")
@output_options
def command(
    rows: LogChoice,
    ranks: int | None,
    gpus_per_node: int | None,
    output: Output,
    **how: Any,
) -> None:
    """Read, fit and write."""
    output.check()
    from collsim.calibrate.fit import fit
    from collsim.calibrate.importers import read_logs
    from collsim.config.profile import dumps
    from collsim.report.fit_text import fit_head, fit_rows, fit_text, parameter_rows

    measured = read_logs(rows.logs, rows.collective, ranks, gpus_per_node)
    found = fit(measured, columns=rows.columns, where=rows.where, **how)
    for text in (*measured.notes, *map(str, measured.left_out), *found.profile.notes):
        note(text)
    profile = dumps(found.profile)
    summary = output.as_json or output.as_csv
    if not summary or output.path != "-":
        write_whole(output.path, profile)
    if not summary and output.path in _STDOUT:
        return
    collectives, counts = found.profile.collectives, found.profile.ranks
    shown = parameter_rows(found) if output.as_csv else fit_rows(found)
    Output(output.as_json, output.as_csv, "-").emit(
        "calibrate fit",
        shown,
        tuple(shown[0]),
        lambda: fit_text(found),
        cluster=found.profile.cluster,
        collective=collectives[0] if len(collectives) == 1 else None,
        ranks=counts[0] if len(counts) == 1 else None,
        **fit_head(found),
    )
