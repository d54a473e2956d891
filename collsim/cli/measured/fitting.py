"""Fitting logs as the options ask for it."""

from typing import TYPE_CHECKING, Final

import click

from collsim.cli.measured.cluster import Described, check_size, described, given, placed
from collsim.cli.measured.logs import on_nodes, refuse_nodes, tell
from collsim.cli.options import (
    LogChoice,
    algorithm_option,
    chained,
    chunks_option,
    log_options,
)
from collsim.cli.options.asked import AskedFit
from collsim.cli.options.types import Whole

if TYPE_CHECKING:
    from collsim.calibrate.fit import FitResult

__all__ = ["fit_logs", "fit_options"]

fit_options: Final = chained(
    log_options,
    click.option("--ranks", type=Whole(name="P"), help="Of logs that do not say it."),
    click.option("--gpus-per-node", type=Whole(), help="Of logs that do not say it."),
    click.option(
        "--model",
        type=click.Choice(["auto", "nccl", "line"]),
        default="auto",
        show_default=True,
        help="What is fitted.",
    ),
    algorithm_option("ring", "NAME"),
    chunks_option,
    click.option(
        "--hold-out",
        type=click.Choice(["sizes", "collectives", "ranks", "nodes"]),
        default="sizes",
        show_default=True,
        help="Errors are of rows that the fit did not see: every second size, or each "
        "collective, rank count or node count in turn. The profile is of all rows.",
    ),
    click.option("-c", "--cluster", "machine", metavar="NAME|FILE", help="What was measured."),
    click.option("--nodes", type=Whole(), help="Of logs that do not say it."),
)


def fit_logs(
    rows: LogChoice,
    ranks: int | None,
    gpus_per_node: int | None,
    machine: str | None,
    how: AskedFit,
    name: str = "fitted",
) -> "FitResult":
    """Read logs and fit them, and tell what a reader has to know of it.

    Parameters
    ----------
    rows : LogChoice
        The logs, and which rows of them.
    ranks, gpus_per_node : int, optional
        Of logs that do not say it.
    machine : str, optional
        What was measured.
    how : dict of str
        Further options as :func:`collsim.fit` takes them, and --nodes.
    name : str
        Of the profile.
    """
    from collsim.calibrate.fit import fit
    from collsim.calibrate.importers import read_logs
    from collsim.config.links import fastest_link

    algorithm = how["algorithm"] if given("algorithm") else None
    chunks = how["chunks"] if given("chunks") else None
    measured = read_logs(rows.logs, rows.collective, ranks, gpus_per_node)
    measured = on_nodes(measured, how["nodes"])
    fastest = fastest_link()
    on: Described = {"model": how["model"]}
    if machine is not None:
        measured = placed(measured, machine)
        named = (algorithm, chunks) != (None, None)
        on |= described(machine, measured, how["model"], named)
    found = fit(
        measured,
        algorithm,
        how["hold_out"],
        rows.columns,
        rows.where,
        chunks,
        name,
        fastest=(fastest.name, fastest.bandwidth),
        **on,
    )
    refuse_nodes(found.rows, how["nodes"])
    if machine is not None:
        check_size(found.profile, machine)
    tell(measured, found.profile.notes)
    return found
