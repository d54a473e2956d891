"""The option --schedule: a schedule from a file, in the place of an algorithm."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import click

from collsim.cli.clusters.choice import ClusterChoice
from collsim.cli.clusters.what_if import opened
from collsim.cli.options.asked import AskedPrediction, AskedSimulation
from collsim.cli.program.output import note
from collsim.errors import UsageError

if TYPE_CHECKING:
    from collsim.choose.rows import Prediction
    from collsim.core.cluster import Cluster
    from collsim.core.timeline import Timeline
    from collsim.interop.schedule_file import ScheduleFile

__all__ = [
    "given",
    "needed",
    "opened_schedule",
    "optional_collective",
    "refuse_beside_schedule",
    "schedule_option",
    "scheduled_run",
    "sized_for",
    "with_schedule",
]

optional_collective: Final = click.argument("collective", required=False)
schedule_option: Final = click.option(
    "--schedule",
    "schedule",
    metavar="FILE",
    help="A schedule from a file: MSCCL XML, or text; it says its COLLECTIVE.",
)
_SHOWN: Final = 4


def given(option: str) -> bool:
    """Return whether an option was given."""
    source = click.get_current_context().get_parameter_source(option)
    return source is not click.core.ParameterSource.DEFAULT


def needed(collective: str | None) -> str:
    """Return the collective; wrong usage where there is none."""
    if collective is None:
        raise click.MissingParameter(
            ctx=click.get_current_context(), param_hint="'COLLECTIVE'", param_type="argument"
        )
    return collective


def refuse_beside_schedule(options: Iterable[str]) -> None:
    """Refuse options that say something of algorithms, where a file takes their place."""
    for option in options:
        if given(option):
            raise UsageError(f"--{option} says nothing of a --schedule, expected one of them")


def opened_schedule(path: str, collective: str | None, root: int | None) -> "ScheduleFile":
    """Return the schedule of a file, and say what a reader has to know."""
    from collsim.interop.schedule_file import read_schedule

    found = read_schedule(path, collective, root if given("root") else None)
    for text in found.warnings:
        note(f"{path} {text}")
    return found


def sized_for(choice: ClusterChoice, file: "ScheduleFile") -> ClusterChoice:
    """Return the choice of a cluster with the ranks of a schedule where it says no number."""
    if choice.nodes is not None or choice.ranks is not None or choice.gpus_per_node is not None:
        return choice
    named = choice.cluster is not None or choice.profile is not None
    if named and choice.load().ranks == file.ranks:
        return choice
    return replace(choice, ranks=file.ranks)


def _tell_sizes(file: "ScheduleFile", sizes: Sequence[float]) -> None:
    """Say for which sizes a file is meant, where others are asked for."""
    if file.sizes is None:
        return
    low, high = file.sizes
    outside = [size for size in sizes if not low <= size < high]
    if outside:
        from collsim.units import format_size

        shown = ", ".join(format_size(size) for size in outside[:_SHOWN])
        more = f" and {len(outside) - _SHOWN} more" if len(outside) > _SHOWN else ""
        note(f"{file.name} is meant for {low} to {high - 1} bytes, and not for {shown}{more}")


def _tell_alphas(file: "ScheduleFile", network: "Cluster") -> None:
    """Say where a file is charged for many small messages that its thread blocks overlap."""
    schedule = file.schedule
    if file.format != "msccl" or network.sharing != "fifo" or schedule is None:
        return
    import numpy as np

    far = schedule.src != schedule.dst
    sent = np.stack([schedule.src[far], schedule.round[far]])
    if network.links.busy.any() and np.unique(sent, axis=1).shape[1] < far.sum():
        note(
            f"every step of {file.name} is a message, and those that a rank sends in one round "
            "pay alpha one after the other; with --sharing fair they overlap"
        )


def _tell_uncrossed(choice: ClusterChoice, file: "ScheduleFile") -> None:
    """Say which degraded or failed parts no message of a schedule crosses."""
    parts = [*(part for part, _ in choice.degrade), *choice.fail]
    if not parts or file.schedule is None:
        return
    from collsim.choose.crossed import crossed_links
    from collsim.topology import find_links

    unhurt = choice.unhurt()
    crossed = crossed_links(file.schedule, unhurt)
    for part in dict.fromkeys(parts):
        if not crossed & set(find_links(unhurt, part).tolist()):
            note(f"no message of {file.name} crosses {part}")


def with_schedule(
    answer: "Prediction | None",
    file: "ScheduleFile | None",
    network: "Cluster",
    sizes: Sequence[float],
    choice: ClusterChoice,
    run: AskedPrediction,
) -> "Prediction":
    """Return a prediction with the rows of a schedule from a file, where there is one.

    Parameters
    ----------
    answer : Prediction, optional
        Of our algorithms; None where nobody asked for them.
    file : ScheduleFile, optional
        The schedule.
    network, sizes, choice, run
        Where it runs, at which sizes; the options of the cluster, and others.
    """
    from collsim.choose.given import beside, predict_schedule

    if file is None:
        if answer is None:
            raise UsageError("expected --algorithm or --schedule")
        return answer
    name = file.name
    if answer is not None and name in {row.algorithm for row in answer.rows}:
        name += "-file"
    own = predict_schedule(
        file.right(), name, network, sizes,
        dtype=run["dtype"], op=run["op"], healthy=choice.healthy(),
    )  # fmt: skip
    _tell_sizes(file, sizes)
    _tell_alphas(file, network)
    _tell_uncrossed(choice, file)
    return own if answer is None else beside(answer, own)


def scheduled_run(
    path: str,
    collective: str | None,
    size: int,
    choice: ClusterChoice,
    run: AskedSimulation,
) -> "tuple[Prediction, Cluster, Timeline]":
    """Simulate a schedule from a file, and tell what a reader has to know of it."""
    refuse_beside_schedule(["algorithm", "chunks", "channels"])
    file = opened_schedule(path, collective, run["root"])
    schedule = file.right()
    choice = sized_for(choice, file)
    network = opened(choice)
    from collsim.choose.given import predict_schedule
    from collsim.engine.simulate import simulate

    answer = predict_schedule(
        schedule, file.name, network, size, dtype=run["dtype"], op=run["op"]
    )
    _tell_sizes(file, [size])
    _tell_alphas(file, network)
    _tell_uncrossed(choice, file)
    return answer, network, simulate(schedule, network, size)
