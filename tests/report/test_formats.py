"""JSON, CSV and tables."""

from __future__ import annotations

import json

import pytest

from collsim.report.csvout import to_csv
from collsim.report.jsonout import to_json
from collsim.report.table import aligned, format_number, format_us


def test_json_is_one_object_with_its_schema_first() -> None:
    """Words of the command joined by hyphens."""
    text = to_json("calibrate fit", {"cluster": "ideal"}, [{"name": "α"}])
    assert text.endswith("}\n")
    assert "α" in text
    found = json.loads(text)
    assert list(found) == ["schema", "cluster", "rows"]
    assert found["schema"] == "collsim/calibrate-fit/1"


@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_json_has_no_infinity(value: float) -> None:
    """Nor anything else that no reader of JSON reads."""
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_json("x", {}, [{"y": value}])


def test_csv_quotes_and_spells() -> None:
    """None is empty, truth values are those of JSON, and so is what has parts."""
    rows = [{"a": None, "b": True, "c": 'x,"y"', "d": [1, 2]}]
    assert to_csv(["a", "b", "c", "d"], rows) == 'a,b,c,d\n,true,"x,""y""","[1, 2]"\n'


def test_csv_without_rows_is_a_header() -> None:
    """So that programs find their columns."""
    assert to_csv(["a", "b"], []) == "a,b\n"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0.00"),
        (1.23e-6, "1.23e-06"),
        (0.009996, "1.00e-02"),
        (0.01, "0.0100"),
        (0.0999, "0.0999"),
        (0.5, "0.500"),
        (0.9951, "1.00"),
        (843.4567, "843.46"),
        (12345.6, "12345.60"),
        (1.5e9, "1.5e+09"),
    ],
)
def test_numbers_have_three_digits_at_least(value: float, text: str) -> None:
    """Also where nccl-tests' two decimals show none."""
    assert format_number(value) == text


def test_times_are_those_of_nccl_tests() -> None:
    """Two decimals, fewer from 100 us on; no hundreds of digits."""
    assert [format_us(us) for us in (60.0091, 1138.2, 1e300)] == ["60.01", "1138.2", "1e+300"]


def test_table_without_rows_is_its_header() -> None:
    """Aligned with itself."""
    assert aligned(["a", "b"], []) == "a  b"
