"""``collsim simulate``: one run, message by message."""

from typing import Unpack

import click

from collsim.cli.clusters.choice import ClusterChoice
from collsim.cli.clusters.what_if import as_folded, tell_folded
from collsim.cli.options import (
    algorithm_option,
    channels_option,
    chunks_option,
    cluster_options,
    fold_option,
    output_options,
    root_option,
    type_options,
)
from collsim.cli.options.asked import AskedSimulation
from collsim.cli.program.command import command as _command
from collsim.cli.program.output import Output
from collsim.cli.runs.schedules import optional_collective, schedule_option
from collsim.cli.runs.simulated import one_run, one_size_option

__all__ = ["command"]


@_command(
    """Simulate one run of a collective, message by message.

    Prints rounds, operations, makespan and the critical path, which the CSV leaves out.

    \b
    Examples:
      collsim simulate all_reduce --algorithm ring -s 64MiB
      collsim simulate broadcast --algorithm ring --chunks 4 -s 1MiB -c dgx-h100 --json
      collsim simulate all_reduce -s 64MiB -c dgx-h100 --nodes 2 --trace run.json.gz
      collsim simulate all_reduce --algorithm mst -s 1MiB --plot run.png
      collsim simulate --schedule examples/schedule_all_reduce_4.txt -s 1MiB
    """
)
@optional_collective
@one_size_option
@algorithm_option("auto", "NAME|auto|nccl")
@schedule_option
@chunks_option
@channels_option
@fold_option
@type_options
@root_option
@click.option(
    "--trace",
    metavar="FILE",
    help="Write a trace for Perfetto and chrome://tracing, too: .json or .json.gz.",
)
@click.option("--plot", "picture", metavar="FILE", help="Draw it, too, as PNG, SVG or PDF.")
@cluster_options
@output_options
def command(
    collective: str | None,
    sizes: tuple[int, ...],
    schedule: str | None,
    trace: str | None,
    picture: str | None,
    cluster: ClusterChoice,
    output: Output,
    **run: Unpack[AskedSimulation],
) -> None:
    """Simulate and print."""
    output.check()
    if trace is not None:
        from collsim.interop.chrome_trace.write import check_trace_path

        check_trace_path(trace)
    if picture is not None:
        from collsim.plot.style import check_path

        check_path(picture)
    if trace is not None or picture is not None:
        # What is drawn is every message, and not those that stand for the others.
        run["fold"] = False
    ran = one_run(collective, sizes, schedule, cluster, run)
    answer, network, timeline = ran.answer, ran.network, ran.timeline
    (row,) = answer.rows
    from collsim.report.simulation_text import (
        SIMULATION_KEYS,
        simulation_record,
        simulation_text,
    )

    if picture is not None:
        from collsim.plot.timeline import plot_timeline

        plot_timeline(timeline, network, picture, algorithm=row.algorithm)
    if trace is not None:
        from collsim.interop.chrome_trace.write import write_trace

        write_trace(timeline, network, trace)
    tell_folded(answer.folded)
    found = simulation_record(row, timeline, ran.folded)
    title = f"{answer.collective} on {answer.ranks} ranks of {network.name} ({network.shape})"
    title += f", sharing {network.sharing}"
    output.emit(
        "simulate",
        [found],
        SIMULATION_KEYS,
        lambda: simulation_text(row, timeline, title, ran.folded),
        cluster=answer.cluster,
        collective=answer.collective,
        ranks=answer.ranks,
        changes=list(cluster.said),
        head=as_folded(answer.folded),
    )
