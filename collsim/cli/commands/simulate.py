"""``collsim simulate``: one run, message by message."""

from typing import Any

import click

from collsim.cli.chunks import chosen_chunks
from collsim.cli.clusters import ClusterChoice
from collsim.cli.fitted import tell_simulated
from collsim.cli.lazy import command as _command
from collsim.cli.options import (
    algorithm_option,
    channels_option,
    chunks_option,
    cluster_options,
    collective_argument,
    fold_option,
    output_options,
    root_option,
    type_options,
)
from collsim.cli.output import Output
from collsim.cli.types import SIZE
from collsim.cli.what_if import (
    as_folded,
    opened,
    tell_folded,
    tell_large,
    tell_uncrossed,
)
from collsim.errors import UsageError

__all__ = ["command"]


@_command(
    """Simulate one run of a collective, message by message.

    Prints rounds, operations, makespan and the critical path, which the CSV leaves out.

    \b
    Examples:
      collsim simulate all_reduce --algorithm ring -s 64MiB
      collsim simulate broadcast --algorithm ring --chunks 4 -s 1MiB -c dgx-h100 --json
    """
)
@collective_argument
@click.option(
    "-s",
    "--size",
    "sizes",
    type=SIZE,
    multiple=True,
    required=True,
    help="The size n, such as 64MiB; one.",
)
@algorithm_option("auto", "NAME|auto")
@chunks_option
@channels_option
@fold_option
@type_options
@root_option
@cluster_options
@output_options
def command(
    collective: str, sizes: tuple[int, ...], cluster: ClusterChoice, output: Output, **run: Any
) -> None:
    """Simulate and print."""
    output.check()
    if len(sizes) != 1:
        raise UsageError(f"-s/--size: got {len(sizes)} sizes, expected one")
    (size,) = sizes
    if run["algorithm"] == "all":
        raise UsageError("--algorithm all: expected one NAME, or auto")
    network = opened(cluster)
    from collsim.core.collective import check_root

    check_root(run["root"], network.ranks)
    from collsim.algorithms import build, find
    from collsim.choose.folding import folded_simulation
    from collsim.choose.predict import predict
    from collsim.engine.simulate import simulate
    from collsim.report.simulation import SIMULATION_KEYS, simulation_record, simulation_text

    profile = cluster.load_profile()
    tell_simulated(profile)
    run["chunks"] = chosen_chunks(run["chunks"], profile, collective)
    tell_large(network, fold=run["fold"])
    answer = predict(collective, network, size, **run)
    (row,) = answer.rows
    tell_uncrossed(cluster, answer.collective, [row.algorithm], row.root)
    folded = None
    if answer.folded:
        few = folded_simulation(
            answer.collective, row.algorithm, find(answer.collective, row.algorithm),
            network, row.chunks, row.channels,
        )  # fmt: skip
        folded, timeline = few.folded, few.run(size)
    else:
        schedule = build(
            answer.collective,
            row.algorithm,
            network.ranks,
            row.root or 0,
            row.chunks,
            node=network.node,
            channels=row.channels,
            multicast=network.setting.multicast,
        )
        timeline = simulate(schedule, network, size)
    tell_folded(answer.folded)
    found = simulation_record(row, timeline, folded)
    title = f"{answer.collective} on {answer.ranks} ranks of {network.name} ({network.shape})"
    title += f", sharing {network.sharing}"
    output.emit(
        "simulate",
        [found],
        SIMULATION_KEYS,
        lambda: simulation_text(found, title, timeline),
        cluster=answer.cluster,
        collective=answer.collective,
        ranks=answer.ranks,
        changes=list(cluster.said),
        **as_folded(answer.folded),
    )
