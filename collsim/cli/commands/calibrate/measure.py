"""``collsim calibrate measure``: time real ranks."""

from typing import Unpack

import click

from collsim.cli.measured.measuring import measured, tell_measured
from collsim.cli.options import SizeChoice
from collsim.cli.options.asked import AskedElement
from collsim.cli.options.measure import MeasureChoice, measure_options
from collsim.cli.program.command import command as _command
from collsim.cli.program.output import Output

__all__ = ["command"]


@_command(
    """Time messages, a library's collectives and our own schedules on real ranks.

    WHAT is a collective, or ping_pong, relay, pairs, exchange, shift, start, self or add, all
    of which p2p stands for. Without any: p2p and all_reduce. Under torchrun, srun or mpirun
    each rank calls this; alone it starts --ranks of its own. Every result is compared with
    what the collective must give before it is timed. Each finished row is in the file at
    once; Ctrl-C or a dead rank loses none, and --resume goes on.

    \b
    Examples:
      collsim calibrate measure all_reduce --ranks 2 -b 1K -e 1M -f 32 --budget 100ms
      collsim calibrate measure broadcast --algorithm mst --ranks 4 -s 64K -o mine.jsonl
      torchrun --nproc-per-node 8 -m collsim calibrate measure all_reduce -b 8 -e 1G -G 5
      srun --ntasks-per-node 8 collsim calibrate measure -o h100.jsonl
    """
)
@measure_options
@click.option("-o", "--output", "file", metavar="FILE", default="measurements.jsonl",
    show_default=True, help="Rows are appended there as they come, as JSON lines.")  # fmt: skip
@click.option("--resume", is_flag=True, help="Go on with the file, measuring what it lacks.")
@click.option("--json", "as_json", is_flag=True, help="Print the rows as JSON.")
@click.option("--csv", "as_csv", is_flag=True, help="Print the rows as CSV.")
def command(
    file: str,
    resume: bool,
    as_json: bool,
    as_csv: bool,
    choice: MeasureChoice,
    sizes: SizeChoice,
    **how: Unpack[AskedElement],
) -> None:
    """Measure and print."""
    output = Output(as_json, as_csv, "-")
    output.check()
    if measured(file, resume, choice, sizes, **how):
        tell_measured(file, output, "calibrate measure")
