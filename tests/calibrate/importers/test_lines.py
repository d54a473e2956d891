"""What is stripped from lines."""

from __future__ import annotations

import pytest

from collsim.calibrate.importers._lines import clean


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("  8  2  float\n", "  8  2  float"),
        ("[1,0]<stdout>:# size\r\n", " # size"),
        ("[0]  8  2  float  -1[0]  366.5", "   8  2  float  -1   366.5"),
        ("N/Anode-a:1:1 [0] NCCL INFO x", "N/A"),
        ("-1node-a:1359:1359 [0] NCCL INFO x", "-1"),
        ("0  10.0.0.1:13:13 [0] NCCL WARN x", "0  "),
        ("0[2025-01-02 03:04:05] node-a:13:13 [0] NCCL INFO x", "0"),
        ("node-a:13:13 [0] NCCL INFO Channel 00/24", ""),
        ("12: 8 2 float", "8 2 float"),
    ],
)
def test_tags_and_messages_go(line: str, expected: str) -> None:
    """The numbers stay."""
    assert clean(line) == expected
