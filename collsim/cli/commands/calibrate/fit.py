"""``collsim calibrate fit``: measurements to a profile."""

import os
from typing import Any

import click

from collsim.cli.lazy import command as _command
from collsim.cli.logs import tell
from collsim.cli.measured_on import check_size, described, given, placed
from collsim.cli.options import (
    LogChoice,
    algorithm_option,
    chunks_option,
    log_options,
    output_options,
)
from collsim.cli.output import Output
from collsim.cli.types import Whole
from collsim.errors import FileError, UsageError
from collsim.files import write_whole

__all__ = ["command"]

_STDOUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


@_command(
    """Fit a model to measured times, and write it as a profile.

    LOG is the output of nccl-tests, or - for standard input. The profile is TOML and goes
    to stdout, or with -o to a file; then, and with --json or --csv, a summary is printed.

    \b
    --model nccl  times of NCCL's algorithms and protocols, of which its own table tells which
                  one runs; other sizes, collectives, rank and node counts follow
            line  one latency and one bandwidth: alpha, beta and launch of --algorithm, on
                  one node of -c, whose links must be of one class, or an ideal network
            auto  nccl, where the rows are of NCCL and -c or the name of the GPU tells the
                  system; else line, and why

    \b
    Examples:
      collsim calibrate fit examples/nccl_tests_all_reduce_8gpu.txt
      collsim calibrate fit examples/nccl_tests_all_reduce_8gpu.txt -o mine.toml --json
      collsim calibrate fit examples/nccl_tests_all_reduce_8gpu.txt -c dgx-h100 -o mine.toml
      collsim calibrate fit examples/nccl_tests_all_reduce_8gpu.txt -c dgx-h100 --plot fit.png
    """
)
@log_options
@click.option("--ranks", type=Whole(name="P"), help="Of logs that do not say it.")
@click.option("--gpus-per-node", type=Whole(), help="Of logs that do not say it.")
@click.option(
    "--model",
    type=click.Choice(["auto", "nccl", "line"]),
    default="auto",
    show_default=True,
    help="What is fitted.",
)
@algorithm_option("ring", "NAME")
@chunks_option
@click.option(
    "--hold-out",
    type=click.Choice(["sizes", "collectives", "ranks", "nodes"]),
    default="sizes",
    show_default=True,
    help="Errors are of rows that the fit did not see: every second size, or each collective, "
    "rank count or node count in turn. The profile is of all rows.",
)
@click.option("-c", "--cluster", "machine", metavar="NAME|FILE", help="What was measured.")
@click.option("--nodes", type=Whole(), hidden=True)
@click.option("--plot", "picture", metavar="FILE", help="Draw data, fit, residuals and pieces.")
@click.option("--name", default="fitted", help="Name of the profile.  [default: fitted]")
@output_options
def command(
    rows: LogChoice,
    ranks: int | None,
    gpus_per_node: int | None,
    machine: str | None,
    nodes: int | None,
    picture: str | None,
    output: Output,
    **how: Any,
) -> None:
    """Read, fit and write."""
    output.check()
    if nodes is not None:
        raise UsageError(
            "--nodes: the logs say how many nodes; choose with --where 'nodes == N'"
        )
    if picture is not None:
        from collsim.plot.paper import check_path

        check_path(picture)
    folder = os.path.dirname(output.path)
    if folder and not os.path.isdir(folder):
        raise FileError(output.path, f"there is no folder {folder}")
    from collsim.calibrate.fit import fit
    from collsim.calibrate.importers import read_logs
    from collsim.config.links import fastest_link
    from collsim.config.profile import dumps
    from collsim.report.fit_text import fit_head, fit_rows, fit_text, parameter_rows

    for name in ("algorithm", "chunks"):
        if not given(name):
            how[name] = None
    measured = read_logs(rows.logs, rows.collective, ranks, gpus_per_node)
    fastest = fastest_link()
    if machine is not None:
        measured = placed(measured, machine)
        how |= described(machine, measured, how)
    found = fit(
        measured,
        columns=rows.columns,
        where=rows.where,
        fastest=(fastest.name, fastest.bandwidth),
        **how,
    )
    if machine is not None:
        check_size(found.profile, machine)
    tell(measured, found.profile.notes)
    if picture is not None:
        from collsim.plot.fit import plot_fit

        plot_fit(found, picture)
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
