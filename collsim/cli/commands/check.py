"""``collsim check``: measured beside predicted."""

import click

from collsim.cli.clusters import ClusterChoice
from collsim.cli.lazy import command as _command
from collsim.cli.options import (
    LogChoice,
    algorithm_option,
    cluster_options,
    log_options,
    output_options,
)
from collsim.cli.output import Output, note
from collsim.cli.types import Number
from collsim.errors import CollsimError, UsageError

__all__ = ["command"]


@_command(
    """Hold measured times beside predicted ones, and say where they fall short.

    LOG is the output of nccl-tests. Exits with 1 if a row takes longer than predicted by
    more than the tolerance.

    \b
    Examples:
      collsim check examples/nccl_tests_all_reduce_8gpu.txt --alpha 1.5us --bandwidth 370GB/s
      collsim check examples/nccl_tests_all_reduce_8gpu.txt --tolerance 0.5 -c dgx-h100
    """
)
@log_options
@click.option(
    "--tolerance",
    type=Number(),
    default=0.2,
    help="Measured may be so much above predicted.  [default: 0.2]",
)
@algorithm_option(None, "NAME")
@cluster_options
@output_options
def command(
    rows: LogChoice,
    tolerance: float,
    algorithm: str | None,
    cluster: ClusterChoice,
    output: Output,
) -> None:
    """Read, compare and print; fail if anything falls short."""
    output.check()
    from collsim.calibrate.check import CheckRow, check
    from collsim.calibrate.importers import read_logs
    from collsim.core.cluster import Cluster
    from collsim.core.profile import Profile
    from collsim.report.fit_text import check_text
    from collsim.report.records import keys_of, records

    # A profile by itself says more than the cluster that it makes: its algorithm and chunks.
    profile = cluster.load_profile() if cluster.cluster is None else None
    if profile is not None and cluster.altered:
        raise UsageError("--profile without -c brings its own cluster, which can't be changed")
    if profile is not None:
        expected: Cluster | Profile = profile
        name = profile.cluster
    else:
        expected = network = cluster.load()
        name = network.name
    measured = read_logs(rows.logs, rows.collective, cluster.ranks, cluster.gpus_per_node)
    found = check(measured, expected, tolerance, algorithm, rows.columns, rows.where)
    for text in (*measured.notes, *map(str, measured.left_out), *found.notes):
        note(text)
    kinds, counts = ({getattr(r, key) for r in found.rows} for key in ("collective", "ranks"))
    output.emit(
        "check",
        records(found.rows),
        keys_of(CheckRow),
        lambda: check_text(found),
        cluster=name,
        collective=kinds.pop() if len(kinds) == 1 else None,
        ranks=counts.pop() if len(counts) == 1 else None,
        summary=found.summary,
    )
    if not found.ok:
        slow = sum(row.ratio > 1 + tolerance for row in found.rows)
        raise CollsimError(
            f"check: {slow} of {len(found.rows)} rows take more than {1 + tolerance:.4g} times "
            "the predicted time"
        )
