"""``collsim show cluster``: nodes, links, ports, cuts and routes."""

import click

from collsim.cli.clusters import ClusterChoice
from collsim.cli.lazy import command as _command
from collsim.cli.options import output_options
from collsim.cli.output import Output
from collsim.cli.types import Whole

__all__ = ["command"]


@_command(
    """Show nodes, links, ports, cuts and routes.

    \b
    Examples:
      collsim show cluster dgx-h100
      collsim show cluster dgx-h100 --nodes 2 --routes 0 9
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
@output_options
def command(
    name: str,
    nodes: int | None,
    gpus_per_node: int | None,
    ranks: int | None,
    routes: tuple[tuple[int, int], ...],
    output: Output,
) -> None:
    """Show and print."""
    output.check()
    network = ClusterChoice(
        cluster=name, nodes=nodes, gpus_per_node=gpus_per_node, ranks=ranks
    ).load()
    from collsim.report.cluster_view import cluster_data, cluster_text

    data = cluster_data(network, routes)
    rows = data["rows"]
    more = {
        key: value for key, value in data.items() if key not in {"rows", "ranks", "cluster"}
    }
    output.emit(
        "show cluster",
        rows,
        tuple(rows[0]) if rows else ("link",),
        lambda: cluster_text(data),
        cluster=data["cluster"],
        ranks=data["ranks"],
        **more,
    )
