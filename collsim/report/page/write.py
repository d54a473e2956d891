"""Write the report of a collective on a cluster as one HTML file."""

import os
from collections.abc import Mapping, Sequence
from typing import Final

from collsim.calibrate.match import size_notes
from collsim.calibrate.scope import scope_notes
from collsim.choose.curve import Counts, Model
from collsim.core.arguments import checked
from collsim.core.cluster import Cluster
from collsim.core.profile import Profile
from collsim.errors import InputError
from collsim.files import write_whole
from collsim.report.page.answer import answer
from collsim.report.page.assumed import file_facts
from collsim.report.page.body import page
from collsim.report.page.chart import graph
from collsim.report.page.words import sentence

__all__ = ["check_report_path", "write_report"]

_ENDINGS: Final = (".html", ".htm")


def check_report_path(path: str | os.PathLike[str]) -> str:
    """Return the name of a report's file.

    Raises
    ------
    InputError
        If it ends in neither ``.html`` nor ``.htm``.
    MissingExtraError
        If what draws the figures is not installed.

    Examples
    --------
    >>> check_report_path("report.txt")
    Traceback (most recent call last):
    ...
    collsim.errors.InputError: report 'report.txt': expected a name that ends in .html
    """
    name = os.fspath(path)
    if not name.lower().endswith(_ENDINGS):
        raise InputError(f"report {name!r}: expected a name that ends in .html")
    graph()
    return name


@checked
def write_report(
    collective_name: str,
    cluster: Cluster,
    path: str | os.PathLike[str],
    *,
    min_bytes: int | str = 8,
    max_bytes: int | str = 8 * 2**30,
    sizes: Sequence[int] = (),
    root: int = 0,
    chunks: Counts = "auto",
    channels: Counts = "auto",
    algorithms: Sequence[str] | str | None = None,
    model: Model = "auto",
    profile: Profile | None = None,
    file: str | None = None,
    keys: Mapping[str, object] | None = None,
    changes: Sequence[str] = (),
) -> str:
    """Write which algorithm is the fastest at every size, and why, as one HTML file.

    It holds the answer of :func:`collsim.choose` in a sentence and a table, the times of all
    contenders against size, the messages of the fastest at some sizes, where the time goes,
    what all of it rests on, and what was left out. It asks for nothing from the network.

    Parameters
    ----------
    collective_name, cluster, min_bytes, max_bytes, root, chunks, channels, algorithms, model
        As in :func:`collsim.choose`.
    path : str or Path
        A name that ends in ``.html``.
    sizes : sequence of int
        Bytes at which to show messages; by default the middle of each range.
    profile : Profile, optional
        What the numbers of the cluster were fitted by.
    file : str, optional
        The preset or file that the cluster is of; by default the preset of its name. Numbers
        beside the links are told from there, each with its source.
    keys : dict of str, optional
        What was read in place of the file's values.
    changes : sequence of str
        What is changed or wrong in the cluster, in words.

    Returns
    -------
    str
        The answer in a sentence.

    Raises
    ------
    InputError
        As `choose`, for another ending, or a size outside of the range.
    MissingExtraError
        If what draws the figures is not installed: ``pip install 'collsim[report]'``.
    FileError
        If the file can't be written; it is written whole or not at all.

    Examples
    --------
    >>> import tempfile
    >>> cluster = Cluster.ideal(2, alpha="10us", bandwidth="900GB/s")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(write_report("reduce", cluster, f"{folder}/r.html", max_bytes="1KiB"))
    The fastest reduce on 2 ranks of ideal is mst at every size from 8 B to 1 KiB.
    """
    check_report_path(path)
    found = answer(
        collective_name, cluster, min_bytes=min_bytes, max_bytes=max_bytes, sizes=sizes,
        root=root, chunks=chunks, channels=channels, algorithms=algorithms, model=model,
    )  # fmt: skip
    facts = file_facts(cluster.name if file is None else file, cluster, keys, profile)
    sizes_of = (found.policy.min_bytes, found.policy.max_bytes)
    notes = (
        () if profile is None else _unshown(profile, found.policy.collective, cluster, sizes_of)
    )
    write_whole(path, page(found, facts, profile, changes, notes))
    return sentence(found.policy, None if profile is None else profile.name)


def _unshown(
    profile: Profile, collective_name: str, cluster: Cluster, sizes: Sequence[int]
) -> list[str]:
    """Return what of the question no row was of that a profile was fitted to."""
    notes = size_notes(sizes, profile)
    if profile.model != "nccl":
        return notes
    return [*scope_notes(profile, (collective_name,), cluster.ranks, cluster.nodes), *notes]
