"""``collsim predict``: a table in nccl-tests' shape."""

from typing import TYPE_CHECKING, Unpack

from collsim.cli.clusters.choice import ClusterChoice
from collsim.cli.clusters.notes import tell_alpha, tell_rootless
from collsim.cli.clusters.unlike import unlike
from collsim.cli.clusters.what_if import (
    as_folded,
    opened,
    tell_folded,
    tell_healthy,
    tell_large,
    tell_uncrossed,
)
from collsim.cli.measured.datasheets import tell_datasheet
from collsim.cli.measured.fitted import (
    auto_by,
    fitted_times,
    tell_changed,
    tell_fitted,
    tell_scope,
    tell_shared,
)
from collsim.cli.options import (
    SizeChoice,
    algorithm_option,
    channels_option,
    chunks_option,
    cluster_options,
    fold_option,
    model_option,
    output_options,
    root_option,
    size_options,
    type_options,
)
from collsim.cli.options.asked import AskedPrediction
from collsim.cli.program.command import command as _command
from collsim.cli.program.output import Output, note
from collsim.cli.runs.chunks import chosen_chunks
from collsim.cli.runs.left_out import tell_left_out
from collsim.cli.runs.schedules import (
    given,
    needed,
    opened_schedule,
    optional_collective,
    refuse_beside_schedule,
    schedule_option,
    sized_for,
    with_schedule,
)
from collsim.cli.runs.several import joined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from collsim.choose.rows import Prediction
    from collsim.core.cluster import Cluster
    from collsim.core.profile import Profile

__all__ = ["command"]


@_command(
    """Predict how long a collective takes.

    Prints a table in the shape of nccl-tests'.

    \b
    Examples:
      collsim predict all_reduce
      collsim predict all_gather -c dgx-h100 --nodes 4 -b 1K -e 1G -f 4 --algorithm all
      collsim predict all_reduce -c dgx-h100 --nodes 2 --degrade "nic[3]=0.25" -s 1G
      collsim predict --schedule examples/schedule_all_reduce_4.txt --algorithm all -s 1M
      collsim predict broadcast --alpha 5us --bandwidth 50GB/s --ranks 16 -s 64MiB --json
    """
)
@optional_collective
@size_options
@algorithm_option(values="NAME[,NAME]|auto|nccl|all", several=True, fitted=True)
@schedule_option
@chunks_option
@channels_option
@model_option
@fold_option
@type_options
@root_option
@cluster_options
@output_options
def command(
    collective: str | None,
    sizes: SizeChoice,
    schedule: str | None,
    algorithm: tuple[str, ...],
    cluster: ClusterChoice,
    output: Output,
    **run: Unpack[AskedPrediction],
) -> None:
    """Predict and print."""
    output.check()
    wanted = sizes.sizes()
    file = None
    if schedule is not None:
        file = opened_schedule(schedule, collective, run["root"])
        file.right()
        cluster = sized_for(cluster, file)
        collective, run["root"] = file.collective, file.root
        if not given("algorithm"):
            refuse_beside_schedule(["chunks", "channels", "model"])
    collective = needed(collective)
    network, healthy = opened(cluster), cluster.healthy()
    left_to_us = algorithm in (("auto",), ("nccl",))
    from collsim.core.collective import check_root

    check_root(run["root"], network.ranks)
    tell_rootless(collective, run["root"], network.ranks)
    tell_datasheet(cluster, network, [collective])
    from collsim.algorithms import refusal
    from collsim.choose.fitted import all_fitted
    from collsim.choose.predict import COMPARED, Row, predict
    from collsim.report.nccl_table import nccl_table
    from collsim.report.records import keys_of, records

    profile = cluster.load_profile()
    run["chunks"] = chosen_chunks(run["chunks"], profile, collective)
    # Beside a machine as it was both are simulated, which is told there.
    other = unlike(cluster) if healthy is None and run["model"] == "auto" else None
    fitted = fitted_times(profile, other)
    if other is not None:
        algorithm = tuple(auto_by(profile, collective, name) for name in algorithm)
    answer = None
    asked = algorithm if file is None or given("algorithm") else ()
    simulated = run["model"] != "auto" or healthy is not None or file is not None
    if simulated or not all_fitted(fitted, collective, network, asked):
        tell_large(network, fold=run["fold"], sizes=len(wanted))
    if asked:
        answer = joined(
            asked,
            lambda name: predict(
                collective, network, wanted, name, **run, healthy=healthy, fitted=fitted
            ),
        )
        tell_uncrossed(
            cluster, answer.collective, [row.algorithm for row in answer.rows], run["root"]
        )
        tell_alpha(cluster, network, answer.rows, answer.collective, run)
    answer = with_schedule(answer, file, network, wanted, cluster, run)
    tell_healthy(answer.rows)
    tell_folded(answer.folded)
    if profile is not None and healthy is not None and run["model"] == "auto" and fitted:
        tell_scope(profile, [answer.collective], network, wanted)
        tell_changed(profile, fitted, healthy, answer, asked)
    elif profile is not None:
        _tell_profile(
            profile, answer, network, wanted, left=algorithm[0] if left_to_us else None
        )
    # Who leaves the choice to us need not hear of what was never one here.
    where = (network.ranks, network.node, network.setting.multicast)
    left_out = {
        name: reason
        for name, reason in answer.left_out.items()
        if not left_to_us or refusal(answer.collective, name, *where) is None
    }
    keys = tuple(k for k in keys_of(Row) if healthy is not None or k not in COMPARED)
    output.emit(
        "predict",
        [{key: row[key] for key in keys} for row in records(answer.rows)],
        keys,
        lambda: nccl_table(answer, _where(network), compared=healthy is not None),
        cluster=answer.cluster,
        collective=answer.collective,
        ranks=answer.ranks,
        changes=list(cluster.said),
        after=lambda: tell_left_out(answer.collective, left_out),
        **as_folded(answer.folded),
    )


def _tell_profile(
    profile: "Profile",
    answer: "Prediction",
    network: "Cluster",
    sizes: "Sequence[int]",
    *,
    left: str | None,
) -> None:
    """Say what of an answer a profile has not shown, and what it is carried over to."""
    from collsim.calibrate.match import size_notes

    tell_scope(profile, [answer.collective], network, sizes)
    if profile.model == "nccl":
        tell_fitted(profile, answer, left=left)
        return
    for text in size_notes(sizes, profile):
        note(text)
    tell_shared(profile)
    messages = profile.collectives == ("sendrecv",)
    own = "messages between pairs" if messages else profile.algorithm
    others = sorted({row.algorithm for row in answer.rows} - {own})
    if others:
        note(
            f"profile {profile.name} was fitted to {own}; its alpha and beta "
            f"are carried over to {', '.join(others)}, which no row of the fit has shown"
        )


def _where(network: "Cluster") -> str:
    """Say what was predicted on, with the two numbers of an ideal network."""
    if network.uniform is None:
        return network.shape
    from collsim.units import format_bandwidth, format_time

    alpha, beta = network.uniform
    return f"{network.shape}, alpha {format_time(alpha)}, {format_bandwidth(1 / beta)}"
