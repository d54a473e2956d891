"""The validation as a whole, on the repository's own measurements and on made-up ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from collsim.calibrate.validate import BENCHES, LINES, Validation, met, pooled, validate
from collsim.calibrate.validate.bench import Bench, Log, Trial
from collsim.calibrate.validate.errors import Errors
from collsim.calibrate.validate.systems import REDUCING
from collsim.errors import FileError

OWN = Path(__file__).parents[3] / "examples" / "h200_one_gpu"


@pytest.fixture(scope="module")
def own() -> Validation:
    """Return what is reached on the repository's own measurements."""
    return validate(str(OWN), "/no/such/python")


def test_own_data_give_the_line_of_one_gpu(own: Validation) -> None:
    """Every contender once, on 414 forced rows; other systems are named as missing."""
    assert [(one.line, one.predictor) for one in own.results] == [
        ("forced", "fitted"),
        ("forced", "three lines"),
        ("forced", "NCCL's model"),
        ("forced", "torch"),
    ]
    fitted = own.results[0]
    assert fitted.all is not None
    assert fitted.all.n == 414
    assert 0.1 < fitted.all.median < 0.25
    assert own.missing == tuple(b.name for b in BENCHES if b.name != "h200-one-gpu")


def test_without_an_answer_there_is_a_reason(own: Validation) -> None:
    """Torch can't be told what was forced; and it is not there."""
    torch = own.results[-1]
    assert (torch.all, torch.reason) == (None, "it can't be told what was forced")
    why = "/no/such/python can't be run: No such file or directory"
    assert (own.torch, own.no_torch) == (None, why)


def test_a_folder_of_other_things_is_an_error(tmp_path: Path) -> None:
    """It names the folder."""
    with pytest.raises(FileError, match="has none of the logs that the model is held against"):
        validate(str(tmp_path))


def test_a_perfect_machine_is_predicted(tmp_path: Path) -> None:
    """A table made of launch, steps and bytes alone: other sizes, another collective."""
    lines = [
        "framework,version,nccl_dtype,num_gpus,message_size,latency,op_name,kernel_source,gpu"
    ]
    for kind in REDUCING:
        for ranks in (2, 4, 8):
            for size in (2**k for k in range(9, 30)):
                steps = (2 if kind == "all_reduce" else 1) * (ranks - 1)
                ms = 6e-3 + steps * (1e-3 + size / ranks / 3e8)
                lines.append(f"NCCL,2.27.3,half,{ranks},{size // 2},{ms:.9f},{kind},NCCL,GPU")
    (tmp_path / "900_made_up_csv.txt").write_text("\n".join(lines) + "\n")
    trials = tuple(t for t in BENCHES[0].trials if t.line in ("sizes", "reduce_scatter"))
    bench = Bench("a", "A", (Log("900", 8, "half"),), "dgx-a100", "own", trials, None)
    found = validate(str(tmp_path), "/no/such/python", [bench])
    fitted = [one for one in found.results if one.predictor == "fitted"]
    assert len(fitted) == 2
    assert all(one.all is not None and one.all.median < 0.05 for one in fitted)


def test_pooled_errors_are_of_all_rows(own: Validation) -> None:
    """Of one system they are its own, under another name."""
    both = pooled(own.results, "all", lambda one: one.predictor == "fitted")
    assert [(one.system, one.all) for one in both] == [("all", own.results[0].all)]


def test_who_says_nothing_of_some_rows_says_nothing_of_all(own: Validation) -> None:
    """Errors beside one another are of the same rows."""
    fitted = own.results[0]
    silent = replace(fitted, system="b", all=None, ratio=(), reason="no model")
    (both,) = pooled([fitted, silent], "all", lambda _: True)
    assert (both.all, both.reason) == (None, "no model")


def test_both_errors_must_be_met() -> None:
    """3 and 10 per cent, the limits included; without a target there is no answer."""
    sizes = LINES["sizes"]
    assert met(sizes, Errors(0.03, 0.10, 9)) is True
    assert met(sizes, Errors(0.031, 0.02, 9)) is False
    assert met(sizes, Errors(0.01, 0.11, 9)) is False
    assert met(LINES["forced"], Errors(0.01, 0.02, 9)) is None


def test_lines_are_those_asked_for() -> None:
    """The issue's table of what must hold."""
    asked = {key: (line.median, line.p90) for key, line in LINES.items() if line.median}
    assert asked == {
        "sizes": (0.03, 0.10),
        "reduce_scatter": (0.05, 0.15),
        "ranks": (0.08, 0.20),
        "nodes": (0.15, 0.35),
    }
    assert Trial("sizes", "").alternate is False
