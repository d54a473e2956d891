"""``collsim choose``: which algorithm is the fastest, at every size."""

from typing import Any

import click

from collsim.cli.chunks import chosen_chunks
from collsim.cli.clusters import ClusterChoice
from collsim.cli.lazy import command as _command
from collsim.cli.options import (
    chained,
    chunks_option,
    cluster_options,
    collective_argument,
    model_option,
    output_options,
    root_option,
)
from collsim.cli.output import Output, note
from collsim.cli.sizes import FIRST, LAST
from collsim.cli.types import SIZE
from collsim.cli.what_if import opened, tell_large
from collsim.errors import UsageError

__all__ = ["command"]

_range = chained(
    click.option("-b", "first", type=SIZE, default=FIRST, help="From this size.  [default: 8]"),
    click.option("-e", "last", type=SIZE, default=LAST, help="To this size.  [default: 8G]"),
)


@_command(
    """Choose the fastest algorithm at every size.

    Prints ranges of sizes, each with its algorithm.

    \b
    Examples:
      collsim choose all_reduce
      collsim choose broadcast -c dgx-h100 --nodes 2 -b 1K -e 1G --json
    """
)
@collective_argument
@_range
@chunks_option
@model_option
@root_option
@cluster_options
@output_options
def command(
    collective: str,
    first: int,
    last: int,
    cluster: ClusterChoice,
    output: Output,
    **run: Any,
) -> None:
    """Choose and print."""
    output.check()
    if first > last:
        raise UsageError(f"-b {first} is above -e {last}, expected it below or equal")
    network = opened(cluster)
    tell_large(network)
    from collsim.choose.policy import Range, choose
    from collsim.report.policy_text import policy_text
    from collsim.report.records import keys_of, records

    run["chunks"] = chosen_chunks(run["chunks"], cluster.load_profile(), collective)
    found = choose(collective, network, min_bytes=first, max_bytes=last, **run)
    for name, reason in found.left_out.items():
        note(f"left out {name}: {reason}")
    output.emit(
        "choose",
        records(found.rows),
        keys_of(Range),
        lambda: policy_text(found, network.sharing, cluster.said),
        cluster=found.cluster,
        collective=found.collective,
        ranks=found.ranks,
        changes=list(cluster.said),
        min_bytes=found.min_bytes,
        max_bytes=found.max_bytes,
        left_out=found.left_out,
    )
