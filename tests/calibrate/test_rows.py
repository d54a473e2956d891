"""Which rows go together."""

from __future__ import annotations

import pytest

from collsim.calibrate.rows import refuse_mixed
from collsim.core.measurements import Measurement, Source
from collsim.errors import InputError


@pytest.mark.parametrize(
    ("field", "what", "values"),
    [
        ("process_model", "process models", ("one process", "process per GPU")),
        ("clock", "clocks", ("host", "device")),
        ("backend", "backends", ("nccl", "mpi, host memory")),
        ("device", "devices", ("one", "another")),
    ],
)
def test_rows_of_different_systems_are_refused(
    field: str, what: str, values: tuple[str, str]
) -> None:
    """The first row of each is named; one that does not say goes with any."""
    rows = [
        Measurement("all_reduce", 8, 8, 1e-5, source=Source("a.log", line, **{field: value}))
        for line, value in enumerate(values, 1)
    ]
    silent = Measurement("all_reduce", 8, 8, 1e-5, source=Source("a.log", 3))
    with pytest.raises(InputError) as caught:
        refuse_mixed([silent, *rows])
    assert str(caught.value) == (
        f"rows of different {what}: {values[0]!r} (a.log:1), {values[1]!r} (a.log:2); "
        "fit their files apart"
    )
    assert refuse_mixed([silent, rows[0]]) == []
