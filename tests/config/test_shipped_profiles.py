"""The fitted profiles that ship, and that the measurements still give them.

Run as a script, this file fits them anew: ``python tests/config/test_shipped_profiles.py``.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import pytest
from click.testing import CliRunner

from collsim import fitted_times, read_logs
from collsim.cli.main import main
from collsim.config.presets import preset_names, preset_path
from collsim.config.profile import load
from collsim.core.profile import Profile

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared" / "data"
# Profile: options of `calibrate fit`, and how the names of its logs begin.
MADE_BY = {
    "a100-nvswitch-8": ("-c dgx-a100 --where dtype==half", ("207",)),
    "b200-nvswitch-8": ("-c dgx-b200 --where dtype==half", ("211",)),
    "gh200-slingshot": (
        "-c gh200-slingshot --gpus-per-node 4",
        ("046", "047", "049", "051", "053"),
    ),
    "h100-efa": ("-c p5-efa", ("001",)),
    "h100-ndr": ("-c dgx-h100", ("245", "244")),
    "h100-nvswitch-8": ("-c dgx-h100 --where dtype==half", ("209",)),
    "l40s-pcie-8": ("--gpus-per-node 8 --where dtype==half", ("217",)),
}


def fitted(name: str, public: Path) -> str:
    """Return the profile that `calibrate fit` makes of the logs, run where they lie."""
    options, stems = MADE_BY[name]
    with chdir(public):
        logs = [next(Path().glob(f"{stem}_*")).name for stem in stems]
        words = ["calibrate", "fit", *logs, *options.split(), "--name", name]
        result = CliRunner().invoke(main, words, prog_name="collsim", catch_exceptions=False)
    assert result.exit_code == 0, result.stderr
    return result.stdout


@pytest.fixture(params=sorted(MADE_BY))
def shipped(request: pytest.FixtureRequest) -> Profile:
    """Return one profile after another."""
    return load(str(preset_path("profiles", request.param)))


def values(text: str) -> Iterator[float]:
    """Return the values of a profile's parameters."""
    for value in re.findall(r"^value = (\S+)$", text, re.MULTILINE):
        yield float(value)


def test_each_is_declared() -> None:
    """Nothing ships that nobody can make again."""
    assert preset_names("profiles") == tuple(sorted(MADE_BY))


def test_each_has_its_provenance_and_errors(shipped: Profile) -> None:
    """Library, clock, logs; errors in sample and held out; no path and no host."""
    assert shipped.model == "nccl"
    assert shipped.clock == "host"
    assert shipped.sources
    assert not any("/" in source for source in shipped.sources)
    assert [error.kind for error in shipped.errors] == ["in_sample", "sizes"]
    assert all(error.median < 0.15 for error in shipped.errors)


def test_parameters_have_intervals_and_kinds(shipped: Profile) -> None:
    """What the rows tell is a fit; what no row depends on is an assumption."""
    kinds = {parameter.kind for parameter in shipped.parameters.values()}
    assert "fit" in kinds
    assert kinds <= {"fit", "assumption"}
    assert all(p.low is not None for p in shipped.parameters.values() if p.kind == "fit")


def test_what_rounding_alone_moved_is_no_fit() -> None:
    """On two and eight nodes no row depends on how long NICs are held by a start-up."""
    parameters = load(str(preset_path("profiles", "h100-ndr"))).parameters
    busy = [p for key, p in parameters.items() if key.endswith(".alpha_busy")]
    assert [p.kind for p in busy] == ["assumption"] * 3
    assert {p.source for p in busy} == {"NCCL 2.30.7 src/graph/tuning.cc"}


def test_each_is_a_few_dozen_numbers(shipped: Profile) -> None:
    """Parameters, not rows: the logs have hundreds."""
    assert len(shipped.parameters) <= 64


def test_names_are_those_of_the_files(shipped: Profile) -> None:
    """The path is the name."""
    assert preset_path("profiles", shipped.name).stem == shipped.name


@pytest.mark.parametrize("name", ["h100-nvswitch-8", "b200-nvswitch-8"])
def test_a_byte_more_is_not_faster(name: str) -> None:
    """Where NCCL's chunks of NVLS double, at 8 and 64 MiB and 1 GiB, no time jumps."""
    known = fitted_times(load(str(preset_path("profiles", name))))
    assert known is not None
    for size in (2**23, 2**26, 2**30):
        below, at = (known.seconds("all_reduce", 8, 1, n, "nvls") for n in (size - 1, size))
        assert below <= at <= 1.0001 * below


def test_nvls_beyond_the_fitted_sizes_is_what_other_machines_took(shared_data: Path) -> None:
    """Fitted up to 512 MiB; 1 to 8 GiB of two public logs of eight H100, within 2.5 %."""
    known = fitted_times(load(str(preset_path("profiles", "h100-nvswitch-8"))))
    assert known is not None
    logs = [next((shared_data / "public").glob(f"{stem}_*")) for stem in ("004", "220")]
    rows = [
        row
        for row in read_logs(logs)
        if row.collective == "all_reduce" and 2**30 <= row.nbytes <= 2**33 and not row.in_place
    ]
    assert len(rows) == 8
    off = known.predict(rows) / [row.seconds for row in rows] - 1
    assert abs(off).max() < 0.025


def test_a_profile_predicts_on_its_cluster() -> None:
    """A large all_reduce on 8 H100 is NVLS, at 400 to 500 GB/s of bus bandwidth."""
    line = "predict all_reduce --profile h100-nvswitch-8 -s 512MiB --json"
    result = CliRunner().invoke(main, line.split(), prog_name="collsim")
    answer = json.loads(result.stdout)
    (row,) = answer["rows"]
    assert (answer["cluster"], answer["ranks"]) == ("dgx-h100", 8)
    assert (row["algorithm"], row["model"]) == ("nvls", "fit")
    assert 400 < row["busbw"] < 500


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(MADE_BY))
def test_the_measurements_still_give_it(name: str, shared_data: Path) -> None:
    """Words to the letter, values to 5 %: another machine rounds otherwise."""
    ours = fitted(name, shared_data / "public")
    theirs = preset_path("profiles", name).read_text("utf-8")
    number = re.compile(r"(?<![\w.-])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w.])")
    assert number.sub("#", ours) == number.sub("#", theirs)
    assert list(values(ours)) == pytest.approx(list(values(theirs)), rel=0.05)


if __name__ == "__main__":
    for profile_name in MADE_BY:
        sys.stdout.write(f"fitting {profile_name}\n")
        path = ROOT / "configs" / "profiles" / f"{profile_name}.toml"
        path.write_text(fitted(profile_name, SHARED / "public"), "utf-8")
