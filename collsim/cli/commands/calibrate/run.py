"""``collsim calibrate run``: measure, fit, write the profile."""

import os
import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Unpack

import click

from collsim.cli.measured.measuring import measured
from collsim.cli.measured.run_files import check_written, file_names, remove_stale
from collsim.cli.options import SizeChoice
from collsim.cli.options.asked import AskedElement
from collsim.cli.options.measure import MeasureChoice, measure_options
from collsim.cli.program.command import command as _command
from collsim.cli.program.output import Output, note
from collsim.errors import InputError
from collsim.files import write_whole

if TYPE_CHECKING:
    from collsim.calibrate.point_to_point.fit import PointToPoint
    from collsim.calibrate.point_to_point.nodes import Nodes
    from collsim.core.measurements_format import MeasuredRow

__all__ = ["command"]


@_command(
    """Measure messages between ranks, fit alpha and beta to them, and write a profile.

    All of `calibrate measure` and `calibrate fit` in one line. The rows are in a file beside
    the profile, with .jsonl in place of .toml. Where ranks share the cores of one machine, or
    are on several nodes, a cluster file that says so is written too, with -cluster.toml.
    Schedules that WHAT and --algorithm name are measured as well, and compared with what the
    fit predicts for them.

    \b
    Examples:
      collsim calibrate run --ranks 2 -b 1K -e 4M -f 16 --budget 100ms
      collsim calibrate run reduce --algorithm mst --ranks 2 -b 1K -e 4M -f 16 -n 9 -o m.toml
      srun --ntasks-per-node 8 collsim calibrate run -o h100.toml
    """
)
@measure_options
@click.option("-o", "--output", "path", metavar="FILE", default="machine.toml",
    show_default=True, help="The profile.")  # fmt: skip
@click.option(
    "--resume",
    is_flag=True,
    help="Go on with the rows that are there, and write the profile anew.",
)
@click.option("--name", default=None, help="Name of the profile.  [default: the file's]")
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
@click.option("--csv", "as_csv", is_flag=True, help="Print what was found as CSV.")
def command(
    path: str,
    resume: bool,
    name: str | None,
    as_json: bool,
    as_csv: bool,
    choice: MeasureChoice,
    sizes: SizeChoice,
    **how: Unpack[AskedElement],
) -> None:
    """Measure, fit and write."""
    output = Output(as_json, as_csv, "-")
    output.check()
    rows_file, cluster_file = file_names(path)
    check_written((path, cluster_file), resume)
    if not measured(rows_file, resume, choice.with_p2p(), sizes, fitted=True, **how):
        return
    from collsim.calibrate.neighbours import slow_points
    from collsim.calibrate.point_to_point.against import compare
    from collsim.calibrate.point_to_point.nodes import of_rows
    from collsim.calibrate.point_to_point.nodes_cluster import cluster_of
    from collsim.calibrate.point_to_point.profile import profile_of
    from collsim.calibrate.usable import usable
    from collsim.config.profile import dumps
    from collsim.core.measurements_file import read_rows
    from collsim.report.point_to_point_text import KEYS, compared_rows, point_text

    rows, left_out = usable(read_rows(rows_file))
    for text in left_out:
        note(text)
    for text in (*_missed(rows, choice.target, choice.iterations), *slow_points(rows)):
        note(text)
    title = name or os.path.basename(path.removesuffix(".toml"))
    try:
        found, nodes = of_rows(rows)
    except InputError as error:
        raise InputError(
            f"{error}; the rows are in {rows_file}, --resume -e with a larger size adds to them"
        ) from error
    profile = profile_of(found, rows, title, rows_file)
    write_whole(path, dumps(profile))
    files = [rows_file, path]
    for text in profile.notes:
        note(text)
    ranks = max(profile.ranks)
    document = _cluster_file(found, nodes, ranks, title, bool(profile.device))
    if document is not None:
        import tomli_w

        write_whole(cluster_file, tomli_w.dumps(document))
        files.append(cluster_file)
        note(f"predict with it: collsim predict all_reduce -c {shlex.quote(cluster_file)}")
    else:
        remove_stale(cluster_file)
        note(
            f"predict with it: collsim predict all_reduce --profile {shlex.quote(path)} "
            f"--ranks {ranks}"
        )
    pairs = compare(rows, cluster_of(found, nodes, ranks, title))
    output.emit(
        "calibrate run",
        compared_rows(pairs),
        KEYS,
        lambda: point_text(found, pairs, files, nodes),
        cluster=title,
        ranks=ranks,
        files=files,
        parameters=_parameters(found, nodes),
    )


def _cluster_file(
    found: "PointToPoint", nodes: "Nodes | None", ranks: int, title: str, gpus: bool
) -> dict[str, Any] | None:
    """Return the cluster file that says more than the profile, if there is more."""
    from collsim.calibrate.point_to_point.cores import cluster_document
    from collsim.calibrate.point_to_point.nodes_cluster import nodes_document

    if nodes is not None:
        return nodes_document(nodes, title)
    return cluster_document(found, ranks, title) if found.shares and not gpus else None


def _missed(rows: "Sequence[MeasuredRow]", target: float, count: int | None) -> Iterator[str]:
    """Say how many points took all their time before they were known well enough."""
    widths = [float(row.get("relative_error") or 0.0) for row in rows]
    missed = [width for width in widths if width > target]
    if missed:
        more = "--budget" if count is None else "-n"
        yield (
            f"{len(missed)} of {len(rows)} points missed --target {target:g} (worst "
            f"{max(missed):.1%}); raise {more} or try --realtime"
        )


def _parameters(found: "PointToPoint", nodes: "Nodes | None") -> dict[str, Any]:
    named = {
        "link.alpha": found.alpha,
        "link.beta": found.beta,
        "cores.alpha_busy": found.busy,
        "cores.beta": found.shared,
        "launch": found.launch,
    }
    if nodes is not None:
        between = nodes.between
        named |= {
            "nic.alpha": between.alpha,
            "nic.beta": between.beta,
            "nic.alpha_busy": between.busy,
            "nic.beta_shared": between.shared,
        }
    return {
        key: {"value": p.value, "low": p.low, "high": p.high, "unit": p.unit}
        for key, p in named.items()
    }
