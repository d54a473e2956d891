"""The table of ``nvidia-smi topo -m``, whatever a terminal or a mail has done to it."""

import re
from dataclasses import dataclass
from typing import Final

from collsim.errors import FileError
from collsim.interop.topology._machine import MOST_GPUS

__all__ = ["Matrix", "read_matrix"]

_CELL: Final = re.compile(r"X|SYS|SOC|NODE|PHB|PXB|PIX|NV\d{1,3}", re.ASCII)
_CELLS: Final = re.compile(rf"(?:{_CELL.pattern})+", re.ASCII)
_GPU: Final = re.compile(r"GPU\d{1,4}", re.ASCII)
_NIC: Final = re.compile(
    r"(?:NIC\d{1,4}|mlx\d_(?:bond_)?\d{1,4}|(?:hfi|bnxt_re|irdma|efa|rdmap|roce|ib|qedr|hns|erdma)"
    r"[\w-]{0,30})",
    re.ASCII,
)
_LEGEND: Final = re.compile(r"\s*(NIC\d{1,4}):\s+(\S{1,60})", re.ASCII)
# nvidia-smi underlines its header, also where nobody can see it.
_ESCAPE: Final = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")


@dataclass(frozen=True)
class Matrix:
    """How every pair of devices is joined.

    Parameters
    ----------
    gpus, nics : tuple of str
        Names of the devices, as the file has them.
    cells : dict
        ``(a, b) -> "NV12"`` and the like, both ways; SOC has become SYS.
    mended : int
        Cells that were missing and were taken from the other side of the diagonal.
    more : bool
        Whether the file has another table after this one.
    """

    gpus: tuple[str, ...]
    nics: tuple[str, ...]
    cells: dict[tuple[str, str], str]
    mended: int
    more: bool


def read_matrix(file: str, text: str) -> Matrix:
    r"""Return the first table of a text.

    Raises
    ------
    FileError
        If there is none, or two GPUs have no cell, or two that differ.

    Examples
    --------
    >>> text = "GPU0 GPU1 CPU Affinity\nGPU0 X NV12 0\nGPU1 NV12 X 0"
    >>> matrix = read_matrix("two.txt", text)
    >>> matrix.gpus, matrix.cells["GPU0", "GPU1"]
    (('GPU0', 'GPU1'), 'NV12')
    """
    header: list[str] = []
    rows: dict[str, list[str | None]] = {}
    legend: dict[str, str] = {}
    more = False
    for number, raw in enumerate(text.splitlines(), 1):
        line = _ESCAPE.sub("", raw)
        named = _LEGEND.match(line)
        if named is not None:
            legend.setdefault(named[1], named[2])
            continue
        row = _row(line)
        if row is None:
            header = header or _header(line)
        elif row[0] in rows:
            more = True
            break
        else:
            if len(rows) > 2 * MOST_GPUS:
                raise FileError(file, f"line {number}: too many rows, expected {MOST_GPUS}")
            rows[row[0]] = row[1]
    columns = _columns(file, header, rows)
    cells = _cells(columns, rows)
    gpus = tuple(name for name in columns if _GPU.fullmatch(name))
    nics = tuple(legend.get(name, name) for name in columns if name not in gpus)
    mended = _mend(file, gpus, cells)
    return Matrix(gpus, nics, cells, mended, more)


def _row(line: str) -> tuple[str, list[str | None]] | None:
    """Return the device and the cells of a row; None for a missing cell between tabs."""
    words = line.split()
    if len(words) < 2 or not (_GPU.fullmatch(words[0]) or _NIC.fullmatch(words[0])):
        return None
    parts = words[1:]
    if "\t" in line:
        parts = [part.strip() for part in line[line.index(words[0]) :].split("\t")[1:]]
    cells: list[str | None] = []
    for part in parts:
        if not part:
            cells.append(None)
            continue
        # Cells may be glued to each other, and the last one to an affinity.
        glued = _CELLS.match(part)
        if glued is None:
            break
        cells += _CELL.findall(glued[0])
        if glued.end() != len(part):
            break
    return (words[0], cells) if any(cells) else None


def _header(line: str) -> list[str]:
    """Return the devices that a line lists as columns, or none."""
    names: list[str] = []
    for word in line.split():
        found = [word] if _NIC.fullmatch(word) else _GPU.findall(word)
        if not found:
            break
        names += found
    return names if names and _GPU.fullmatch(names[0]) else []


def _columns(file: str, header: list[str], rows: dict[str, list[str | None]]) -> list[str]:
    """Return the devices in the order of the columns."""
    gpus = [name for name in rows if _GPU.fullmatch(name)]
    if not gpus:
        raise FileError(file, "no row of a GPU, expected a line such as 'GPU0 X NV12 ...'")
    # Rows are in the order of the columns; with all of them no header is needed.
    if len(set(header)) != len(header) or not set(gpus) <= set(header):
        return list(rows)
    return header


def _cells(columns: list[str], rows: dict[str, list[str | None]]) -> dict[tuple[str, str], str]:
    cells: dict[tuple[str, str], str] = {}
    for name, row in rows.items():
        if name not in columns:
            continue
        sure = _aligned(row, columns.index(name), len(columns))
        for other, cell in zip(columns, sure, strict=False):
            if cell is not None and cell != "X" and other != name:
                cells[name, other] = "SYS" if cell == "SOC" else cell
    return cells


def _aligned(row: list[str | None], own: int, width: int) -> list[str | None]:
    """Return a row without the cells whose column is not sure.

    A cell that was lost between blanks moves all after it. The diagonal says whether that
    has happened before it, and the number of cells whether it has after it.
    """
    if "X" not in row:
        return row if len(row) == width else []
    place = row.index("X")
    after = row[place + 1 :]
    room = width - own - 1
    if any(cell is not None for cell in after[room:]) or len(after) < room:
        after = []
    return [*(row[:place] if place == own else [None] * own), "X", *after[:room]]


def _mend(file: str, gpus: tuple[str, ...], cells: dict[tuple[str, str], str]) -> int:
    """Fill each missing cell between GPUs from the other side; return how many."""
    mended = 0
    for i, a in enumerate(gpus):
        for b in gpus[i + 1 :]:
            one, two = cells.get((a, b)), cells.get((b, a))
            if one is None and two is None:
                raise FileError(file, f"has no cell for {a} and {b}")
            if one is not None and two is not None and one != two:
                raise FileError(file, f"{a} to {b} is {one} and {b} to {a} is {two}")
            mended += one is None or two is None
            cells[a, b] = cells[b, a] = one or two or ""
    return mended
