"""Logs on the command line: what they are compared with, and what reading them showed."""

import os
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from collsim.cli.clusters.unlike import unlike
from collsim.cli.clusters.what_if import opened
from collsim.cli.program.output import note
from collsim.errors import InputError

if TYPE_CHECKING:
    from collsim.calibrate.check import CheckRow
    from collsim.cli.clusters.choice import ClusterChoice
    from collsim.core.cluster import Cluster
    from collsim.core.measurements import Measurement, Measurements
    from collsim.core.profile import Profile

__all__ = ["compared_with", "on_nodes", "refuse_nodes", "refuse_ranks", "tell"]


def compared_with(
    choice: "ClusterChoice",
) -> "tuple[Cluster | Profile, Profile | None]":
    """Return what measured times are compared with, and the profile in it, if any.

    That is a cluster, except for a profile whose beta is 0, which no cluster can have, and for
    fitted times of NCCL, which hold for the ranks and nodes of the log.
    """
    profile = choice.load_profile()
    if profile is not None and profile.model == "nccl" and unlike(choice) is None:
        choice.check_machine(profile)
        return profile, profile
    if profile is None or choice.cluster is not None:
        return opened(choice), profile
    if profile.uniform is not None and profile.uniform[1] == 0:
        return profile, profile
    if profile.cluster == "ideal":
        # An ideal network has no nodes, and takes the rank count of the log; the options
        # then say what the log does not.
        choice = replace(choice, nodes=None, gpus_per_node=None, ranks=None)
    return opened(choice), profile


def on_nodes(measured: "Measurements", nodes: int | None) -> "Measurements":
    """Return rows that are on so many nodes where the log does not say on how many."""
    if nodes is None or all(row.nodes is not None for row in measured):
        return measured
    rows = [row if row.nodes is not None else replace(row, nodes=nodes) for row in measured]
    return replace(measured, rows=tuple(rows))


def refuse_nodes(rows: "Iterable[CheckRow | Measurement]", nodes: int | None) -> None:
    """Refuse rows of another number of nodes than --nodes.

    Raises
    ------
    InputError
        With both numbers.
    """
    for row in rows:
        if nodes is not None and row.nodes not in (None, nodes):
            file = row.source.file if hasattr(row, "source") else row.file
            count = f"{row.nodes} node{'s' if row.nodes != 1 else ''}"
            raise InputError(
                f"{file or 'the log'}: measured on {count}, but --nodes {nodes}; leave it "
                f"out, or choose rows with --where 'nodes == {nodes}'"
            )


def refuse_ranks(rows: "Iterable[CheckRow | Measurement]", ranks: int | None) -> None:
    """Refuse rows of another rank count than --ranks, which an ideal network would take.

    Raises
    ------
    InputError
        With both numbers.
    """
    from collsim.calibrate.message import MESSAGE

    for row in rows:
        message = (row.collective, row.algorithm) == ("sendrecv", MESSAGE)
        if ranks not in (None, row.ranks) and not message:
            file = row.source.file if hasattr(row, "source") else row.file
            raise InputError(
                f"{file or 'the log'}: measured on {row.ranks} ranks, but --ranks {ranks}; "
                f"leave it out, or choose rows with --where 'ranks == {ranks}'"
            )


def tell(measured: "Measurements", more: Iterable[str]) -> None:
    """Print the notes of logs, the rows left out by reason, and further notes; each once.

    A single file is named without its folder.
    """
    from collsim.calibrate.rows import left_out_notes

    files = {row.source.file for row in measured} | {left.file for left in measured.left_out}
    for text in dict.fromkeys((*measured.notes, *left_out_notes(measured.left_out), *more)):
        note(_shorter(text, files.copy().pop()) if len(files) == 1 else text)


def _shorter(text: str, file: str) -> str:
    if not file or not text.startswith(f"{file}:"):
        return text
    return os.path.basename(file) + text[len(file) :]
