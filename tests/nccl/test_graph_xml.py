"""Graph numbers from NCCL's graph XML."""

from __future__ import annotations

from pathlib import Path

import pytest

from collsim.errors import FileError
from collsim.nccl import graphs_from_xml, read_graphs


def test_the_dump_of_two_ranks(graph_dump: Path) -> None:
    """All five graphs of NCCL 2.30.7, those that did not run with no channels."""
    graphs = read_graphs(graph_dump)
    assert {name: graph.channels for name, graph in graphs.items()} == {
        "ring": 32,
        "tree": 32,
        "collnet_direct": 0,
        "collnet_chain": 0,
        "nvls": 0,
    }
    tree = graphs["tree"]
    assert (tree.bw_intra, tree.bw_inter, tree.pattern, tree.type_intra) == (6, 3, 1, "LOC")
    assert graphs["ring"].same_channels


def test_a_graph_without_a_number_is_told_by_its_pattern() -> None:
    """4 is a ring, 3 a tree."""
    text = (
        '<graphs><graph pattern="4" nchannels="2"/><graph pattern="3" nchannels="1"/></graphs>'
    )
    graphs = graphs_from_xml("a.xml", text.encode())
    assert {name: graph.channels for name, graph in graphs.items()} == {"ring": 2, "tree": 1}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("<system/>", "expected <graphs>"),
        ('<graphs><graph id="9"/></graphs>', "id is '9', expected 0 to 4"),
        ('<graphs><graph id="0" speedintra="fast"/></graphs>', "speedintra is 'fast'"),
        (
            '<graphs><graph id="0" typeintra="ABC"/></graphs>',
            "typeintra is 'ABC', expected one",
        ),
        ('<graphs><graph id="0" nchannels="99"/></graphs>', "nchannels is '99'"),
        ("<graphs>", "broken XML"),
    ],
)
def test_what_is_none_is_refused(text: str, reason: str) -> None:
    """One line with file and line."""
    with pytest.raises(FileError, match=reason) as error:
        graphs_from_xml("a.xml", text.encode())
    assert str(error.value).startswith("a.xml: ")
