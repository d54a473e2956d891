"""``collsim show cluster``: nodes, links, ports, cuts and routes."""

from typing import Unpack

import click

from collsim.cli.clusters.choice import ClusterChoice
from collsim.cli.clusters.what_if import opened
from collsim.cli.options import output_options, what_if_options
from collsim.cli.options.asked import AskedWhatIf
from collsim.cli.options.types import Whole
from collsim.cli.program.command import command as _command
from collsim.cli.program.output import Output

__all__ = ["command"]


@_command(
    """Show nodes, links, ports, cuts and routes.

    \b
    Examples:
      collsim show cluster dgx-h100
      collsim show cluster dgx-h100 --nodes 2 --routes 0 9
      collsim show cluster dgx-h100 --nodes 2 --fail "nic[3]" --routes 3 11
      collsim show cluster dgx-h100 --nodes 2 --plot two.svg
    """
)
@click.argument("name", metavar="NAME|FILE")
@click.option("--nodes", type=Whole(), help="So many nodes of it.")
@click.option("--gpus-per-node", type=Whole(), help="So many GPUs in each node.")
@click.option("--ranks", type=Whole(name="P"), help="So many GPUs of one node.")
@click.option(
    "--routes",
    type=(Whole(0, "A"), Whole(0, "B")),
    multiple=True,
    metavar="A B",
    help="The links from rank A to rank B; repeatable.",
)
@click.option("--plot", metavar="FILE", help="Draw it, too: PNG, SVG or PDF by its ending.")
@what_if_options
@output_options
def command(
    name: str,
    nodes: int | None,
    gpus_per_node: int | None,
    ranks: int | None,
    routes: tuple[tuple[int, int], ...],
    plot: str | None,
    output: Output,
    **altered: Unpack[AskedWhatIf],
) -> None:
    """Show and print."""
    output.check()
    if plot is not None:
        from collsim.plot.style import check_path

        check_path(plot)
    choice = ClusterChoice(
        cluster=name, nodes=nodes, gpus_per_node=gpus_per_node, ranks=ranks, **altered
    )
    network = opened(choice)
    from collsim.report.cluster_tree import cluster_text
    from collsim.report.cluster_view import cluster_data

    data = cluster_data(network, routes)
    rows = data["rows"]
    if plot is not None:
        from collsim.plot.cluster import plot_cluster

        plot_cluster(network, plot)
    output.emit(
        "show cluster",
        rows,
        tuple(rows[0]) if rows else ("link",),
        lambda: cluster_text(data),
        cluster=data["cluster"],
        ranks=data["ranks"],
        changes=list(choice.said),
        head={key: value for key, value in data.items() if key != "rows"},
    )
