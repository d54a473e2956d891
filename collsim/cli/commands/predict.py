"""``collsim predict``: a table in nccl-tests' shape."""

from typing import Any

from collsim.cli.clusters import ClusterChoice
from collsim.cli.lazy import command as _command
from collsim.cli.options import (
    SizeChoice,
    algorithm_option,
    chunks_option,
    cluster_options,
    collective_argument,
    model_option,
    output_options,
    root_option,
    size_options,
    type_options,
)
from collsim.cli.output import Output, note

__all__ = ["command"]


@_command(
    """Predict the time of a collective, in the shape of nccl-tests' table.

    \b
    Examples:
      collsim predict all_reduce
      collsim predict all_gather -c dgx-h100 --nodes 4 -b 1K -e 1G -f 4 --algorithm all
      collsim predict all_reduce -c dgx-h100 --nodes 2 --degrade "nic[3]=0.25" -s 1G
      collsim predict broadcast --alpha 5us --bandwidth 50GB/s --ranks 16 -s 64MiB --json
    """
)
@collective_argument
@size_options
@algorithm_option()
@chunks_option
@model_option
@type_options
@root_option
@cluster_options
@output_options
def command(
    collective: str, sizes: SizeChoice, cluster: ClusterChoice, output: Output, **run: Any
) -> None:
    """Predict and print."""
    output.check()
    wanted = sizes.sizes()
    network, healthy = cluster.load(), cluster.healthy()
    from collsim.core.collective import check_root

    check_root(run["root"], network.ranks)
    from collsim.choose.predict import COMPARED, Row, predict
    from collsim.report.nccl_table import nccl_table
    from collsim.report.records import keys_of, records

    answer = predict(collective, network, wanted, **run, healthy=healthy)
    if run["algorithm"] == "all":
        for name, reason in answer.left_out.items():
            note(f"left out {name}: {reason}")
    profile = cluster.load_profile()
    if profile is not None:
        others = sorted({row.algorithm for row in answer.rows} - {profile.algorithm})
        if others:
            note(
                f"profile {profile.name} was fitted to {profile.algorithm}; its alpha and beta "
                f"are carried over to {', '.join(others)}, which no row of the fit has shown"
            )
    keys = tuple(k for k in keys_of(Row) if healthy is not None or k not in COMPARED)
    output.emit(
        "predict",
        [{key: row[key] for key in keys} for row in records(answer.rows)],
        keys,
        lambda: nccl_table(answer, network.shape, compared=healthy is not None),
        cluster=answer.cluster,
        collective=answer.collective,
        ranks=answer.ranks,
    )
