"""Fitted times of a profile of NCCL on the command line, and what to know of them."""

import contextlib
from typing import TYPE_CHECKING, Final

import click

from collsim.cli.program.output import note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from collsim.calibrate.nccl_model import Fitted
    from collsim.choose.rows import Prediction, Row
    from collsim.core.cluster import Cluster
    from collsim.core.profile import Profile

__all__ = [
    "auto_by",
    "fitted_times",
    "tell_changed",
    "tell_fitted",
    "tell_scope",
    "tell_shared",
    "tell_simulated",
]

_SHOWN: Final = 4


def fitted_times(
    profile: "Profile | None", healthy: "Cluster | None" = None
) -> "Fitted | None":
    """Return the fitted times of a profile of NCCL; None where they don't hold.

    Parameters
    ----------
    profile : Profile, optional
        The one that --profile names.
    healthy : Cluster, optional
        The cluster as it was, if something about it is changed, or ranks sit or messages
        share links in another way.
    """
    if profile is None or profile.model != "nccl":
        return None
    if healthy is not None:
        note(
            f"profile {profile.name} was fitted to the machine as it was: with what is "
            "changed, all times are simulated with its alpha and beta"
        )
        return None
    from collsim.calibrate.nccl_model import fitted_of

    return fitted_of(profile)


def auto_by(profile: "Profile | None", collective: str, algorithm: str) -> str:
    """Return what auto is where all is simulated: with a profile of NCCL, of what NCCL has."""
    if algorithm != "auto" or profile is None or profile.model != "nccl":
        return algorithm
    from collsim.calibrate.nccl_model import COVERED
    from collsim.core.collective import collective as kind

    return "nccl" if kind(collective).name in COVERED else algorithm


def tell_shared(profile: "Profile | None") -> None:
    """Say that messages wait for each other which a profile's ideal network lets pass."""
    if profile is None or profile.model == "nccl":
        return
    from collsim.calibrate.scope import sharing_note

    text = sharing_note(profile)
    if text is not None:
        note(text)


def tell_simulated(profile: "Profile | None", more: str = "") -> None:
    """Say how schedules are timed with a profile of NCCL, if it is one, or what one lacks."""
    tell_shared(profile)
    if profile is not None and profile.model == "nccl":
        note(
            "times are simulated with the alpha and beta of the best of NCCL's protocols in "
            f"profile {profile.name}; {more or 'predict and check have fitted ones'}"
        )


def tell_scope(
    profile: "Profile | None",
    collectives: "Sequence[str]",
    network: "Cluster",
    sizes: "Sequence[int]",
) -> None:
    """Say what of a question no row was of that a profile of NCCL was fitted to."""
    if profile is None or profile.model != "nccl":
        return
    from collsim.calibrate.fit.slower import SLOWER
    from collsim.calibrate.match import size_notes
    from collsim.calibrate.scope import scope_notes

    told = scope_notes(profile, collectives, network.ranks, network.nodes)
    slower = [text for text in profile.notes if text.startswith(SLOWER)]
    for text in (*told, *slower, *size_notes(sizes, profile)):
        note(text)


def _chosen_by(profile: "Profile") -> str:
    """Say what is taken for NCCL's choice by a profile of NCCL's."""
    from collsim.calibrate.nccl_model import fitted_of

    if fitted_of(profile).by_table:
        return "what NCCL would choose"
    return "the fastest that NCCL has, as its table does not tell what ran"


def tell_fitted(profile: "Profile", answer: "Prediction", *, left: str | None = None) -> None:
    """Say whose choice it is, by the word that left it to us, and what no row has shown."""
    if left is not None and any(row.model == "fit" for row in answer.rows):
        note(
            f"with profile {profile.name}, {left} is {_chosen_by(profile)}; --algorithm all "
            "shows what else there is"
        )
    if any(row.model == "fit" for row in answer.rows):
        _tell_untaken()
    simulated = sorted({row.algorithm for row in answer.rows if row.model != "fit"})
    if simulated:
        note(
            f"{', '.join(simulated)}: simulated with the alpha and beta of the best of NCCL's "
            f"protocols in profile {profile.name}, which no row of the fit has shown"
        )
    believed = sorted(
        {
            f"{row.algorithm} {row.protocol}"
            for row in answer.rows
            if row.model == "fit"
            and _believed(profile, row.algorithm, str(row.protocol), answer.ranks)
        }
    )
    if believed:
        note(
            f"{', '.join(believed)}: no row that profile {profile.name} was fitted to shows "
            "it; its times come from NCCL's constants"
        )
    _tell_unrun(profile, answer, set(believed))


def _tell_untaken() -> None:
    """Say which options about schedules rows of a fit don't take."""
    asked = click.get_current_context().params
    untaken = [
        f"--{name} {','.join(map(str, value)) if isinstance(value, tuple) else value}"
        for name in ("chunks", "channels")
        if (value := asked.get(name, "auto")) != "auto"
    ]
    if untaken:
        note(
            f"fitted times (model fit) are of what NCCL does itself and don't take "
            f"{' or '.join(untaken)}; --model event simulates, and does"
        )


def tell_changed(
    profile: "Profile",
    fitted: "Fitted",
    healthy: "Cluster",
    answer: "Prediction",
    algorithm: "Sequence[str]",
) -> None:
    """Say what is simulated of a changed machine, and what fitted times say of it as it was.

    Parameters
    ----------
    profile, fitted
        A profile of NCCL, and its times.
    healthy : Cluster
        The machine as it was.
    answer : Prediction
        What is told of both.
    algorithm : sequence of str
        What was asked for.
    """
    from collsim.choose.predict import predict
    from collsim.errors import CollsimError
    from collsim.units import format_size, format_time_us

    theirs = fitted.covers(answer.collective) and tuple(algorithm) == ("auto",)
    note(
        f"profile {profile.name} was fitted to the machine as it was: time and healthy are "
        f"both simulated with its alpha and beta{', of what NCCL has' if theirs else ''}"
    )
    sizes = list(dict.fromkeys(row.size for row in answer.rows))
    found: list[Row] = []
    for name in dict.fromkeys(algorithm):
        with contextlib.suppress(CollsimError):
            found += predict(answer.collective, healthy, sizes, name, fitted=fitted).rows
    told = [
        f"{format_time_us(row.time_us * 1e-6)} us at {format_size(row.size)} "
        f"({row.algorithm} {row.protocol})"
        for row in found
        if row.model == "fit"
    ]
    if told:
        more = f" and {len(told) - _SHOWN} more" if len(told) > _SHOWN else ""
        note(
            f"by its fitted times the machine as it was takes {', '.join(told[:_SHOWN])}"
            f"{more}, as predict says without the change"
        )


def _tell_unrun(profile: "Profile", answer: "Prediction", told: set[str]) -> None:
    """Say which pieces of an answer NCCL chose for no row of a fit over several nodes."""
    from collsim.calibrate.scope import pieces_run

    ran = pieces_run(profile, answer.collective) if profile.nccl["inter_bus"] else None
    if ran is None:
        return
    fitted = {(r.algorithm, str(r.protocol)) for r in answer.rows if r.model == "fit"}
    new = sorted({" ".join(piece) for piece in fitted - ran} - told)
    if new:
        from collsim.calibrate.nccl_model import fitted_of

        chose = "NCCL chose it" if fitted_of(profile).by_table else "it is the fastest"
        note(
            f"{', '.join(new)}: {chose} for no row that profile {profile.name} was "
            f"fitted to, but {', '.join(sorted(' '.join(piece) for piece in ran))}; its time "
            "follows from theirs"
        )


def _believed(profile: "Profile", algorithm: str, protocol: str, ranks: int) -> bool:
    """Return whether what a piece is fitted by is as it was believed before."""
    several = bool(profile.nccl["inter_bus"])
    across = several and ranks > float(profile.nccl["gpus"])
    key = f"{'between' if across else 'inside'}.{protocol}.alpha"
    if algorithm.startswith("nvls"):
        key = "nvls.simple.alpha"
    elif algorithm == "direct":
        key = f"p2p.{protocol}.alpha"
    elif algorithm == "double_binary_tree":
        key = f"between.{protocol}.alpha" if several else "tree.alpha_ratio"
    parameter = profile.parameters.get(key)
    return parameter is not None and parameter.kind == "assumption"
