"""``collsim sweep``: predictions over a grid, streamed to a file."""

from contextlib import closing
from typing import TYPE_CHECKING, Any, TypeVar

import click

from collsim.cli.options import output_options
from collsim.cli.options.types import Whole
from collsim.cli.program.command import command as _command
from collsim.cli.program.interrupts import terminable
from collsim.cli.program.output import Output, note
from collsim.errors import InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from collsim.sweeps.point import Point, Record
    from collsim.sweeps.spec import Grid

__all__ = ["command"]

T = TypeVar("T")


@_command(
    """Predict every point of a grid: clusters, changes, collectives, algorithms and sizes.

    FILE is a TOML file; examples/sweep.toml shows all of its keys. Runs on all cores. With -o
    rows are streamed to FILE.csv or, as JSON lines, to FILE.jsonl, in the order of the grid;
    --resume goes on after Ctrl-C or a crash. A point that can't be predicted has its reason in
    its rows.

    \b
    Examples:
      collsim sweep examples/sweep.toml
      collsim sweep examples/sweep.toml -o sweep.csv
      collsim sweep examples/sweep.toml -o sweep.csv --resume
    """
)
@click.argument("file", metavar="FILE")
@click.option("--resume", is_flag=True, help="Go on with an unfinished -o FILE.")
@click.option(
    "--workers", type=Whole(1), help="So many processes.  [default: as many as cores]"
)
@click.option(
    "--scheduler", metavar="ADDRESS", help="Run on a Dask cluster, e.g. tcp://HOST:8786."
)
@output_options
def command(
    file: str, resume: bool, workers: int | None, scheduler: str | None, output: Output
) -> None:
    """Predict and write."""
    path = _stream_to(output)
    if resume and path is None:
        raise UsageError("--resume needs the -o FILE.csv or FILE.jsonl that it goes on with")
    if workers is not None and scheduler is not None:
        raise UsageError("--workers and --scheduler, expected one of them")
    from collsim.sweeps.pool import cores
    from collsim.sweeps.spec import read_grid

    grid = read_grid(file)
    run = {
        "resume": resume,
        "workers": cores() if workers is None else workers,
        "scheduler": scheduler,
    }
    if path is not None:
        rows, lacking, reason = _run(grid, path, run, None)
        _tell(lacking, rows)
        note(f"{rows} rows written to {path}")
    elif output.as_csv:
        from collsim.sweeps.rows_file import header, lines

        output.write(header("csv"))
        rows, lacking, reason = _run(
            grid, None, run, lambda some: output.write(lines("csv", some))
        )
        _tell(lacking, rows)
    else:
        found: list[Record] = []
        rows, lacking, reason = _run(grid, None, run, found.extend)
        _emit(grid, found, output)
        _tell(lacking, rows)
    if rows and lacking == rows and not resume:
        raise InputError(f"{file}: nothing of it can be predicted; {reason}")


def _stream_to(output: Output) -> str | None:
    """Return the file that rows are streamed to, if there is one."""
    output.check()
    if output.path == "-" or output.as_json:
        return None
    from collsim.sweeps.rows_file import format_of

    kind = format_of(output.path)
    if kind is None or (output.as_csv and kind != "csv"):
        expected = ".csv" if output.as_csv else ".csv, or .jsonl for JSON lines"
        raise UsageError(f"-o {output.path}: expected a file that ends in {expected}")
    return output.path


def _run(
    grid: "Grid",
    path: str | None,
    run: dict[str, Any],
    take: "Callable[[list[Record]], None] | None",
) -> tuple[int, int, str | None]:
    """Run all points; return the rows, how many lack a time, and why the first one does."""
    from collsim.cli.program.bar import Bar
    from collsim.sweeps.sweep import stream

    bar = Bar(len(grid.points))
    rows = lacking = 0
    reason: str | None = None
    try:
        with terminable(), closing(stream(grid, path, begin=bar.begin, **run)) as answers:  # type: ignore[type-var]
            for point, some in answers:
                if take is not None:
                    take(some)
                reasons = [row["reason"] for row in some if row["reason"] is not None]
                rows, lacking = rows + len(some), lacking + len(reasons)
                reason = reason or next(iter(reasons), None)
                bar.advance(_label(point))
    except KeyboardInterrupt:
        bar.finish()
        if path is not None:
            note(f"{bar.done} of {bar.total} points are in {path}; --resume goes on")
        raise
    finally:
        bar.finish()
    return rows, lacking, reason


def _label(point: "Point") -> str:
    return f"{point.collective} {point.algorithm} on {point.place.name}"


def _tell(lacking: int, rows: int) -> None:
    if lacking:
        note(f"{lacking} of {rows} rows have no time; their column `reason` says why")


def _emit(grid: "Grid", rows: "list[Record]", output: Output) -> None:
    from collsim.report.sweep_table import sweep_table
    from collsim.sweeps.point import COLUMNS

    output.emit(
        "sweep",
        rows,
        COLUMNS,
        lambda: sweep_table(rows),
        cluster=_only({row["cluster"] for row in rows}),
        collective=_only({row["collective"] for row in rows}),
        ranks=_only({row["ranks"] for row in rows}),
        sweep=grid.name,
    )


def _only(values: set[T]) -> T | None:
    return next(iter(values)) if len(values) == 1 else None
