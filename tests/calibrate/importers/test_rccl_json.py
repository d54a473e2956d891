"""rccl-tests' JSON records."""

from __future__ import annotations

import pytest

from collsim.calibrate.importers.rccl_json import IMPORTER
from collsim.core.measurements import Measurements
from collsim.errors import FileError

RECORD = (
    '{"numCycle":0, "name":"AllReduce", "nodes":2, "ranks":8, "ranksPerNode":4, '
    '"gpusPerRank":1, "size":1048576, "type":"float", "redop":"sum", "inPlace":0, '
    '"time":20.000000, "algBw":52.428800, "busBw":91.750400, "wrong":"0"}'
)


def parse(*records: str) -> Measurements:
    """Read records as rccl-tests lists them."""
    text = "[\n" + ",\n".join(records) + "\n]\n"
    return IMPORTER.read("a.json", text.splitlines(keepends=True))


def test_records() -> None:
    """Ranks, nodes, column and type stand in each; what was not checked is not known."""
    other = RECORD.replace('"inPlace":0', '"inPlace":1').replace('"wrong":"0"', '"wrong":"N/A"')
    rows = parse(RECORD, other)
    assert [(r.in_place, r.wrong, r.source.line) for r in rows] == [
        (False, 0, 2),
        (True, None, 3),
    ]
    row = rows.rows[0]
    assert (row.collective, row.ranks, row.nodes, row.nbytes) == ("all_reduce", 8, 2, 1048576)
    assert (row.seconds, row.dtype, row.op) == (2e-5, "float", "sum")
    assert (row.source.backend, row.source.process_model) == ("rccl", "process per GPU")


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("20.000000", "NaN", "time 'nan', expected a number"),
        ("20.000000", "2.000000", "algBw 52.428800 does not follow from 1048576 bytes in 2.0"),
        ('"wrong":"0"', '"wrong":"3"', "3 elements are wrong"),
        ('"inPlace":0', '"inPlace":2', "inPlace: expected 0 or 1"),
        ('"size":1048576', '"size":"8"', "size: got '8', expected a whole number"),
        ("AllReduce", "Hypercube", "unknown collective 'Hypercube'"),
    ],
)
def test_records_that_cannot_be_used(old: str, new: str, reason: str) -> None:
    """They are named, and the others stay."""
    rows = parse(RECORD, RECORD.replace(old, new))
    assert len(rows) == 1
    assert rows.left_out[0].line == 3
    assert rows.left_out[0].reason.startswith(reason)


def test_a_cut_list_keeps_its_whole_records() -> None:
    """And an empty one is an error."""
    text = "[\n" + RECORD + ",\n" + RECORD[:-5]
    rows = IMPORTER.read("a.json", text.splitlines(keepends=True))
    assert (len(rows), len(rows.left_out)) == (1, 1)
    with pytest.raises(FileError, match="no row of measurements, expected records of name"):
        parse()
