"""``collsim calibrate fit``: measurements to a profile."""

import os
from typing import Unpack

import click

from collsim.cli.measured.fitting import fit_logs, fit_options
from collsim.cli.options import LogChoice, output_options
from collsim.cli.options.asked import AskedFit
from collsim.cli.program.command import command as _command
from collsim.cli.program.output import Output
from collsim.errors import FileError
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

    --algorithm is whose formula a line has. With --model nccl, and for rows over nodes, it is
    what ran (NCCL_ALGO=Ring) where the log does not say it, in place of what NCCL would choose.

    \b
    Examples:
      collsim calibrate fit examples/nccl_tests_all_reduce_8gpu.txt
      collsim calibrate fit examples/nccl_tests_all_reduce_8gpu.txt -o mine.toml --json
      collsim calibrate fit examples/nccl_tests_all_reduce_8gpu.txt -c dgx-h100 -o mine.toml
      collsim calibrate fit examples/nccl_tests_all_reduce_8gpu.txt -c dgx-h100 --plot fit.png
    """
)
@fit_options
@click.option("--plot", "picture", metavar="FILE", help="Draw data, fit, residuals and pieces.")
@click.option("--name", default="fitted", help="Name of the profile.  [default: fitted]")
@output_options
def command(
    rows: LogChoice,
    ranks: int | None,
    gpus_per_node: int | None,
    machine: str | None,
    picture: str | None,
    output: Output,
    name: str,
    **how: Unpack[AskedFit],
) -> None:
    """Read, fit and write."""
    output.check()
    if picture is not None:
        from collsim.plot.style import check_path

        check_path(picture)
    folder = os.path.dirname(output.path)
    if folder and not os.path.isdir(folder):
        raise FileError(output.path, f"there is no folder {folder}")
    from collsim.config.profile import dumps
    from collsim.report.fit_text import fit_head, fit_rows, fit_text, parameter_rows

    found = fit_logs(rows, ranks, gpus_per_node, machine, how, name)
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
        head=fit_head(found),
    )
