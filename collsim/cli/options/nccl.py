"""Options that set NCCL's choice beside ours, and hand ours to NCCL."""

from dataclasses import dataclass
from typing import Final

import click

from collsim.cli.options.group import gathered
from collsim.cli.options.types import GAIN
from collsim.cli.program.output import Output
from collsim.errors import UsageError

__all__ = ["NcclChoice", "nccl_options"]


@dataclass(frozen=True)
class NcclChoice:
    """The options --against, --nccl-tuner, --nccl-env, --min-gain and --nccl-version."""

    against: str | None
    tuner: str | None
    env: bool
    min_gain: float | None
    version: str | None

    @property
    def asked(self) -> bool:
        """Whether any of them was given."""
        return self.against is not None or self.tuner is not None or self.env

    def check(self, output: Output, *, named: bool) -> None:
        """Refuse what contradicts itself, and what would do nothing."""
        for value, option in (
            (self.min_gain, "--min-gain"),
            (self.version, "--nccl-version"),
        ):
            if value is not None and not self.asked:
                raise UsageError(
                    f"{option} without --against nccl, --nccl-tuner or --nccl-env, which it "
                    "is for"
                )
        if named and self.asked:
            raise UsageError(
                "--algorithm with --against, --nccl-tuner or --nccl-env, which choose among "
                "what NCCL has: expected one of them"
            )
        if self.env and (output.as_json or output.as_csv):
            raise UsageError("--nccl-env with --json or --csv, expected one of them")
        if self.tuner == "-" and output.path == "-" and (output.as_json or output.as_csv):
            raise UsageError("--nccl-tuner - and --json or --csv, which both go to stdout")


nccl_options: Final = gathered(
    "nccl",
    NcclChoice,
    click.option(
        "--against", type=click.Choice(["nccl"]), help="Show where NCCL's choice loses."
    ),
    click.option(
        "--nccl-tuner",
        "tuner",
        metavar="FILE",
        help="Write the CSV of NCCL's example tuner plugin.",
    ),
    click.option("--nccl-env", "env", is_flag=True, help="Print an NCCL_ALGO line instead."),
    click.option(
        "--min-gain",
        type=GAIN,
        help="What a change must gain to be made.  [default: 3%, or the profile's error at the "
        "90th percentile; 30% without one]",
    ),
    click.option(
        "--nccl-version",
        "version",
        metavar="V",
        help="Whose rules, from 2.18 on.  [default: 2.30]",
    ),
)
