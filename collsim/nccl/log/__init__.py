"""What NCCL's debug log says of its choice: tables, graphs, channels, and the lines it chose.

Written with ``NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,ENV,GRAPH,TUNING``. Rows know file and
line, so that they can be joined to the rows of nccl-tests in the same file.
"""

import os
import re
from dataclasses import dataclass, replace
from typing import Final

from collsim.core.arguments import checked
from collsim.files import read_bytes
from collsim.nccl.log._chosen import chosen_line, read_chosen
from collsim.nccl.log._lines import MatrixReader, read_channels, read_graph, read_size
from collsim.nccl.log._message import messages
from collsim.nccl.log._table import TableReader
from collsim.nccl.log.rows import (
    ChannelCounts,
    Chosen,
    Enabled,
    Found,
    GraphLine,
    PrintedTable,
    Problem,
    Size,
)

__all__ = [
    "ChannelCounts",
    "Chosen",
    "Enabled",
    "GraphLine",
    "Log",
    "PrintedTable",
    "Problem",
    "Size",
    "chosen_line",
    "parse_log",
    "read_log",
]

_MOST_BYTES: Final = 2**30
_VERSION: Final = re.compile(r"NCCL version (\d+\.\d+(?:\.\d+)?)")
_SET: Final = re.compile(r"\b(NCCL_[A-Z0-9_]+) set by environment to (.*)")
# Only what the choice depends on; the rest of an environment may be private.
_KEPT: Final = (
    "NCCL_ALGO", "NCCL_PROTO", "NCCL_PAT_ENABLE", "NCCL_NET_OVERHEAD", "NCCL_NTHREADS",
    "NCCL_LL128_NTHREADS", "NCCL_THREAD_THRESHOLDS", "NCCL_LL128_C2C",
    "NCCL_MIN_CTAS", "NCCL_MAX_CTAS", "NCCL_MIN_NCHANNELS", "NCCL_MAX_NCHANNELS",
    "NCCL_NVLS_ENABLE",
)  # fmt: skip


@checked
@dataclass(frozen=True)
class Log:
    """What a log tells.

    Parameters
    ----------
    file : str
        Its path.
    version : str, optional
        NCCL's.
    environment : dict of str to str
        Variables that its choice depends on, where it says that they were set.
    tables, enabled, channels, graphs, sizes, chosen : tuple
        Rows, in the order of the file.
    problems : tuple of Problem
        Lines that look like one of these and could not be read.

    Examples
    --------
    >>> log = parse_log("n:1:2 [0] NCCL INFO NCCL version 2.27.5+cuda12.9")
    >>> log.version, log.ranks
    ('2.27.5', None)
    """

    file: str
    version: str | None
    environment: dict[str, str]
    tables: tuple[PrintedTable, ...]
    enabled: tuple[Enabled, ...]
    channels: tuple[ChannelCounts, ...]
    graphs: tuple[GraphLine, ...]
    sizes: tuple[Size, ...]
    chosen: tuple[Chosen, ...]
    problems: tuple[Problem, ...]

    @property
    def ranks(self) -> int | None:
        """Ranks, where all communicators of the log agree."""
        found = {size.ranks for size in self.sizes}
        return found.pop() if len(found) == 1 else None

    @property
    def nodes(self) -> int | None:
        """Nodes, where all communicators of the log agree."""
        found = {size.nodes for size in self.sizes}
        return found.pop() if len(found) == 1 else None


@checked
def read_log(path: str | os.PathLike[str]) -> Log:
    """Read a log.

    Parameters
    ----------
    path : path-like
        Of a log written with ``NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,ENV,GRAPH,TUNING``.

    Returns
    -------
    Log
        What it tells; what could not be read is in `problems`.

    Raises
    ------
    FileError
        If the file can't be read.

    Examples
    --------
    >>> read_log("examples/nccl_tests_all_reduce_8gpu.txt").chosen
    ()
    """
    data = read_bytes(path, _MOST_BYTES)
    return parse_log(data.decode("utf-8", "replace"), os.fspath(path))


@checked
def parse_log(text: str, file: str = "<log>") -> Log:
    """Read the text of a log.

    Parameters
    ----------
    text : str
        What the log holds.
    file : str
        What rows and errors call it.

    Returns
    -------
    Log
        What it tells; what could not be read is in `problems`.

    Examples
    --------
    >>> said = "n:1:2 [0] NCCL INFO AllReduce: 1024 Bytes -> "
    >>> log = parse_log(said + "Algo RING proto LL channel{Lo..Hi}={0..1}")
    >>> row = log.chosen[0]
    >>> row.collective, row.nbytes, row.algorithm, row.protocol, row.channels, row.line
    ('all_reduce', 1024, 'ring', 'll', (0, 1), 1)
    """
    found = Found(file)
    tables, matrix = TableReader(found), MatrixReader(found)
    version: str | None = None
    environment: dict[str, str] = {}
    for message in messages(text):
        if matrix.read(message) or (message.bare and "NCCL version" not in message.text):
            continue
        if match := _VERSION.search(message.text):
            version = version or match[1]
        elif match := _SET.search(message.text):
            if match[1] in _KEPT:
                environment.setdefault(match[1], match[2].strip())
        elif not tables.read(message):
            for read in (read_chosen, read_channels, read_graph, read_size):
                if read(found, message):
                    break
    tables.finish()
    matrix.finish()
    log = Log(
        file=file,
        version=version,
        environment=environment,
        tables=tuple(found.tables),
        enabled=tuple(found.enabled),
        channels=tuple(found.channels),
        graphs=tuple(found.graphs),
        sizes=tuple(found.sizes),
        chosen=(),
        problems=tuple(sorted(found.problems, key=lambda problem: problem.line)),
    )
    chosen = tuple(replace(row, ranks=log.ranks) for row in found.chosen)
    return replace(log, chosen=chosen)
