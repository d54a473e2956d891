"""Graph numbers from the XML that NCCL writes with NCCL_GRAPH_DUMP_FILE.

Such a file is of one node's search. Its cost model also takes the least of all nodes; where
they are alike, that is the same. NCCL 2.30.7 src/graph/search.cc, lines 887-1034.
"""

import os
import re
from typing import Final

from collsim.core.arguments import checked
from collsim.errors import FileError
from collsim.files import read_bytes
from collsim.nccl.communicator import Graph
from collsim.nccl.names import PATHS
from collsim.xml_file import Element, parse_xml

__all__ = ["graphs_from_xml", "read_graphs"]

# The search's number of each graph.
_IDS: Final = {0: "ring", 1: "tree", 2: "collnet_chain", 3: "nvls", 4: "collnet_direct"}
_PATTERNS: Final = {4: "ring", 5: "nvls", 6: "collnet_direct"}
_NUMBER: Final = re.compile(r"\d{1,6}(?:\.\d{1,9})?(?:e[+-]?\d{1,2})?", re.ASCII)
_MOST_BYTES: Final = 16 * 2**20


@checked
def read_graphs(path: str | os.PathLike[str]) -> dict[str, Graph]:
    """Return the graphs of a file, by name.

    Parameters
    ----------
    path : path-like
        What NCCL wrote.

    Returns
    -------
    dict of str to Graph
        As :class:`collsim.nccl.Communicator` takes them. Of two graphs of one name
        the first counts.

    Raises
    ------
    FileError
        If it can't be read, is no such XML, or a value in it is none.

    Examples
    --------
    >>> read_graphs("examples/nccl_topology_4_h100.xml")
    Traceback (most recent call last):
    collsim.errors.FileError: examples/nccl_topology_4_h100.xml: <system>: expected <graphs> ...
    """
    return graphs_from_xml(os.fspath(path), read_bytes(path, _MOST_BYTES))


@checked
def graphs_from_xml(file: str, data: bytes) -> dict[str, Graph]:
    """Return the graphs of a file's content, by name.

    Parameters
    ----------
    file : str
        What errors call it.
    data : bytes
        What it holds.

    Returns
    -------
    dict of str to Graph
        As :class:`collsim.nccl.Communicator` takes them. Of two graphs of one name
        the first counts.

    Raises
    ------
    FileError
        If it is no such XML, or a value in it is none.

    Examples
    --------
    >>> numbers = 'nchannels="12" speedintra="30" speedinter="30" typeintra="NVL"'
    >>> text = f'<graphs><graph id="0" pattern="4" {numbers} samechannels="1"/></graphs>'
    >>> graphs_from_xml("dump.xml", text.encode())["ring"].bw_intra
    30.0
    """
    root = parse_xml(file, data)
    elements = [root] if root.tag == "graph" else list(root.of("graph"))
    if not elements:
        raise FileError(file, f"<{root.tag}>: expected <graphs> with a <graph>, as NCCL writes")
    found: dict[str, Graph] = {}
    for element in elements:
        found.setdefault(_name(element), _graph(element))
    return found


def _name(element: Element) -> str:
    pattern = element.whole("pattern", 0, 99, 0) or 0
    number = element.whole("id", 0, 99)
    if number is None:
        return _PATTERNS.get(pattern, "tree")
    if number not in _IDS:
        raise element.refuse("id", "0 to 4")
    return _IDS[number]


def _graph(element: Element) -> Graph:
    count = element.whole("nchannels", 0, 64)
    return Graph(
        channels=len(list(element.of("channel"))) if count is None else count,
        bw_intra=_number(element, "speedintra"),
        bw_inter=_number(element, "speedinter"),
        latency_inter=_number(element, "latencyinter"),
        type_intra=_path(element, "typeintra"),
        type_inter=_path(element, "typeinter"),
        same_channels=bool(element.whole("samechannels", 0, 1, 0)),
        pattern=element.whole("pattern", 0, 99, 0) or 0,
    )


def _number(element: Element, name: str) -> float:
    given = element.text(name, "0")
    if not _NUMBER.fullmatch(given):
        raise element.refuse(name, "a number of 0 or more")
    return float(given)


def _path(element: Element, name: str) -> str:
    given = element.text(name, "LOC")
    if given not in PATHS:
        raise element.refuse(name, f"one of {', '.join(PATHS)}")
    return given
