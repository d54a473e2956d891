"""``collsim estimate``: a step of training, and what it waits for."""

import click

from collsim.cli.clusters.choice import ClusterChoice
from collsim.cli.clusters.what_if import opened, tell_large
from collsim.cli.clusters.workload import at_home
from collsim.cli.measured.fitted import tell_simulated
from collsim.cli.options import cluster_options, output_options
from collsim.cli.program.command import command as _command
from collsim.cli.program.output import Output, note
from collsim.errors import UsageError

__all__ = ["command"]


@_command(
    """Estimate how long a step of training takes, and how much of it waits for messages.

    FILE is a TOML file: the shape of a model and how ranks share it, or collectives as
    they are; docs/workloads.md has the format. It runs where the file says, as far as the
    options say nothing else: another preset is taken with as many nodes.

    \b
    Examples:
      collsim estimate examples/workloads/llama_70b_fsdp_tp.toml
      collsim estimate examples/workloads/by_hand.toml --nodes 4 --degrade "nic[3]=0.25"
    """
)
@click.argument("workload", metavar="FILE")
@click.option(
    "--trace",
    metavar="FILE",
    help="Write the step as a trace for Perfetto and chrome://tracing: .json or .json.gz.",
)
@cluster_options
@output_options
def command(workload: str, trace: str | None, cluster: ClusterChoice, output: Output) -> None:
    """Estimate and print."""
    output.check()
    if cluster.delay:
        raise UsageError("--delay: a rank that is late once in a step is not modelled here")
    if trace is not None:
        from collsim.interop.chrome_trace.write import check_trace_path

        check_trace_path(trace)
    from collsim.config.workload import load

    work = load(workload)
    choice = at_home(cluster, work.home)
    network, well = opened(choice), choice.healthy()
    from collsim.report.estimate_text import ESTIMATE_KEYS, estimate_head, estimate_text
    from collsim.report.records import records
    from collsim.workload.estimate import estimate
    from collsim.workload.timing import of_nccl

    profile = choice.load_profile()
    alone = "of each group as though it were a cluster of its own"
    if profile is not None and profile.model == "nccl":
        alone += ", and auto is the fastest of what NCCL has"
        work = of_nccl(work)
    tell_simulated(profile, alone)
    tell_large(network)
    found = estimate(work, network)
    for text in found.unused:
        note(text)
    healthy = None if well is None else estimate(work, well)
    if trace is not None:
        from collsim.interop.step_trace import write_step_trace

        write_step_trace(found, trace)
    output.emit(
        "estimate",
        records(found.rows),
        ESTIMATE_KEYS,
        lambda: estimate_text(found, f"{network.shape}, sharing {network.sharing}", healthy),
        cluster=found.cluster,
        ranks=found.ranks,
        head=estimate_head(found, healthy),
        changes=list(choice.said),
    )


# Of other commands a preset is the default.
for _option in command.params:
    if isinstance(_option, click.Option) and _option.name == "cluster":
        _option.help = "A preset, or a file: .toml, or with a slash.  [default: the workload's]"
