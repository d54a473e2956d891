"""Predict every point of a grid, on all cores, and stream the rows."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass

from collsim.config.document import Table
from collsim.core.arguments import checked
from collsim.errors import InputError
from collsim.sweeps.point import Point, Record
from collsim.sweeps.pool import on_cores
from collsim.sweeps.rows_file import RowsFile, format_of
from collsim.sweeps.spec import Grid, read_grid, table_grid

__all__ = ["Swept", "stream", "sweep"]


@dataclass(frozen=True)
class Swept:
    """The answer of :func:`sweep`.

    Parameters
    ----------
    points : int
        How many the grid has.
    resumed : int
        How many of them were in the file already.
    rows : tuple of dict
        Of all others, in order: a row for each size, and of ``algorithm = "all"`` for each
        algorithm, too. Keys are those of a prediction's rows (`time_us` ...); before them
        `sweep`, `point`, `cluster`, `nodes`, `ranks`, `change`, `collective` and `asked`, the
        algorithm that the grid names; after them `reason`, why there is no time.
    """

    points: int
    resumed: int
    rows: tuple[Record, ...]


@checked
def sweep(
    grid: str | os.PathLike[str] | Mapping[str, object],
    output: str | os.PathLike[str] | None = None,
    *,
    resume: bool = False,
    workers: int = 1,
    scheduler: str | None = None,
) -> Swept:
    """Predict every point of a grid: clusters × changes × collectives × algorithms × sizes.

    Parameters
    ----------
    grid : str, path or dict
        A TOML file, or what such a file holds.
    output : str or path, optional
        Where rows are streamed to: ``.csv``, or ``.jsonl`` for JSON lines.
    resume : bool
        Whether to go on with a file that an earlier call has left unfinished.
    workers : int
        Processes. With more than one, a program of your own must be fit for them: what it
        does stands under ``if __name__ == "__main__":``.
    scheduler : str, optional
        Address of a Dask cluster that runs the points instead.

    Returns
    -------
    Swept
        All rows, in the order of the grid, however many processes there are.

    Raises
    ------
    ConfigError
        If the grid has an unknown key, or a value that can't be.
    FileError
        If the output can't be written, is there already, or is not of this grid.
    InputError
        If there is less than one worker, or nobody answers at the scheduler's address.

    Examples
    --------
    >>> grid = {
    ...     "collectives": "all_reduce", "algorithms": ["ring", "mst"], "sizes": ["1MiB"],
    ...     "clusters": [{"cluster": "dgx-h100", "nodes": [1, 2]}],
    ... }
    >>> for row in sweep(grid).rows:
    ...     print(row["nodes"], row["algorithm"], round(row["time_us"], 1))
    1 ring 51.7
    1 mst 34.4
    2 ring 459.3
    2 mst 104.3
    """
    found = (
        table_grid(Table("grid", grid))
        if isinstance(grid, Mapping)
        else read_grid(os.fspath(grid))
    )
    path = None if output is None else os.fspath(output)
    if path is not None and format_of(path) is None:
        raise InputError(f"output: got {path!r}, expected a file that ends in .csv or .jsonl")
    if resume and path is None:
        raise InputError("resume: there is no output to go on with")
    rows: list[Record] = []
    resumed: list[int] = []
    answers = stream(
        found, path, resume=resume, workers=workers, scheduler=scheduler, begin=resumed.append
    )
    for _, some in answers:
        rows += some
    return Swept(len(found.points), resumed[0], tuple(rows))


def stream(
    grid: Grid,
    path: str | None,
    *,
    resume: bool = False,
    workers: int = 1,
    scheduler: str | None = None,
    begin: Callable[[int], None] | None = None,
) -> Iterator[tuple[Point, list[Record]]]:
    """Yield points with their rows, in order, once they are in the file.

    Parameters
    ----------
    grid : Grid
        What to predict.
    path : str, optional
        Where rows are streamed to.
    resume, workers, scheduler
        As in :func:`sweep`.
    begin : callable, optional
        Told how many points were there already, before the first is run.
    """
    if type(workers) is not int or workers < 1:
        raise InputError(f"workers: got {workers!r}, expected a whole number from 1 up")

    def ran(points: tuple[Point, ...]) -> Iterator[tuple[Point, list[Record]]]:
        if scheduler is None:
            return on_cores(points, min(workers, max(1, len(points))))
        from collsim.sweeps.dask import on_dask

        return on_dask(points, scheduler)

    if path is None:
        if begin is not None:
            begin(0)
        yield from ran(grid.points)
        return
    with RowsFile(path, grid.name, resume) as file:
        if begin is not None:
            begin(file.done)
        # Closed here, so that processes are gone before the file is.
        with closing(ran(grid.points[file.done :])) as answers:  # type: ignore[type-var]
            for point, rows in answers:
                file.add(rows)
                yield point, rows
