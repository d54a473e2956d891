"""``collsim plot fit``: measurements, what was fitted to them, and what is left over."""

from typing import Unpack

from collsim.cli.measured.fitting import fit_logs, fit_options
from collsim.cli.options import LogChoice
from collsim.cli.options.asked import AskedFit
from collsim.cli.program.command import command as _command
from collsim.cli.runs.plotting import picture_option

__all__ = ["command"]


@_command(
    """Draw measured times, a fit to them, residuals, and the pieces of NCCL that ran.

    The title says how far off fits are on rows that they did not see. `calibrate fit --plot`
    draws the same beside the profile that it writes.

    \b
    Example:
      collsim plot fit examples/nccl_tests_all_reduce_8gpu.txt -c dgx-h100 -o fit.png
    """
)
@fit_options
@picture_option
def command(
    rows: LogChoice,
    ranks: int | None,
    gpus_per_node: int | None,
    machine: str | None,
    path: str,
    **how: Unpack[AskedFit],
) -> None:
    """Read, fit, draw and write."""
    found = fit_logs(rows, ranks, gpus_per_node, machine, how)
    from collsim.plot.fit import plot_fit

    plot_fit(found, path)
