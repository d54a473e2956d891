"""``collsim explain``: the reasoning, in words and numbers."""

from typing import Any, Unpack

import click

from collsim.cli.clusters.choice import ClusterChoice
from collsim.cli.clusters.what_if import opened, tell_uncrossed
from collsim.cli.measured.fitted import tell_simulated
from collsim.cli.options import (
    SizeChoice,
    all_given,
    chunks_option,
    cluster_options,
    collective_argument,
    output_options,
    root_option,
    size_options,
)
from collsim.cli.options.asked import AskedRoot
from collsim.cli.options.types import SPECS
from collsim.cli.program.command import command as _command
from collsim.cli.program.output import Output
from collsim.cli.runs.chunks import chosen_chunks

__all__ = ["command"]


@_command(
    """Explain what algorithms do and cost, and why.

    Rounds and who sends to whom, what a message costs, what rules where, where that turns.

    \b
    Examples:
      collsim explain broadcast --ranks 6 --chunks 1
      collsim explain all_reduce -c dgx-h100 --algorithm ring -s 1K -s 1GB
    """
)
@collective_argument
@click.option(
    "--algorithm",
    "algorithms",
    metavar="NAME[,NAME]|auto|nccl|all",
    type=SPECS,
    multiple=True,
    callback=all_given,
    help="Or several, with commas.  [default: auto, the two ends mst and ring]",
)
@size_options
@chunks_option
@root_option
@cluster_options
@output_options
def command(
    collective: str,
    algorithms: tuple[str, ...] | None,
    sizes: SizeChoice,
    cluster: ClusterChoice,
    output: Output,
    **run: Unpack[AskedRoot],
) -> None:
    """Explain and print."""
    output.check()
    some: dict[str, Any] = {"sizes": sizes.sizes()} if sizes.given else {}
    network = opened(cluster)
    from collsim.algorithms import algorithm_names
    from collsim.choose.explain import explain
    from collsim.nccl.families import nccl_algorithms
    from collsim.report.explain_text import explain_text
    from collsim.report.records import record

    names = algorithms
    if names is not None and "all" in names:
        names = algorithm_names(collective)
    elif names is not None and "auto" in names:
        names = None
    elif names is not None:
        names = tuple(
            name
            for one in names
            for name in (nccl_algorithms(collective, network) if one == "nccl" else (one,))
        )
    profile = cluster.load_profile()
    tell_simulated(profile)
    run["chunks"] = chosen_chunks(run["chunks"], profile, collective)
    answer = explain(collective, network, algorithms=names, **some, **run)
    stories = [story.name for story in answer.algorithms]
    tell_uncrossed(cluster, answer.collective, stories, answer.root)
    rows = [
        {"algorithm": story.name, **record(cost)}
        for story in answer.algorithms
        for cost in story.costs
    ]
    output.emit(
        "explain",
        rows,
        tuple(rows[0]),
        lambda: explain_text(answer),
        head=record(answer),
        changes=list(cluster.said),
    )
