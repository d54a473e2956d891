"""Options of sizes, answers, logs and element types."""

from dataclasses import dataclass
from typing import Final

import click

from collsim.cli.options.group import chained, gathered
from collsim.cli.options.sizes import chosen_sizes
from collsim.cli.options.types import SIZE, STEP, Whole
from collsim.cli.program.output import Output

__all__ = [
    "LogChoice",
    "SizeChoice",
    "log_options",
    "output_options",
    "range_options",
    "size_options",
    "type_options",
]


@dataclass(frozen=True)
class SizeChoice:
    """The options that choose sizes, as parsed."""

    size: tuple[int, ...]
    first: int | None
    last: int | None
    factor: int | None
    step: int | None

    @property
    def given(self) -> bool:
        """Whether any of them was given."""
        return bool(self.size) or (self.first, self.last, self.factor, self.step) != (None,) * 4

    def sizes(self) -> tuple[int, ...]:
        """Return the sizes in bytes; UsageError if the options contradict each other."""
        return chosen_sizes(self.size, self.first, self.last, self.factor, self.step)


@dataclass(frozen=True)
class LogChoice:
    """The options that choose rows of logs, as parsed."""

    logs: tuple[str, ...]
    collective: str | None
    columns: str
    where: tuple[str, ...]


size_options: Final = gathered(
    "sizes",
    SizeChoice,
    click.option("-s", "--size", type=SIZE, multiple=True, help="A size n; repeatable."),
    click.option("-b", "first", type=SIZE, help="Sweep from this size.  [default: 8]"),
    click.option("-e", "last", type=SIZE, help="Sweep to this size.  [default: 8G]"),
    click.option("-f", "factor", type=Whole(2), help="Sweep by a factor.  [default: 2]"),
    click.option("-i", "step", type=STEP, help="Sweep by a step."),
)

range_options: Final = chained(
    click.option("-b", "first", type=SIZE, help="From this size.  [default: 1]"),
    click.option("-e", "last", type=SIZE, help="To this size.  [default: 1TiB]"),
)

output_options: Final = gathered(
    "output",
    Output,
    click.option("--json", "as_json", is_flag=True, help="Print JSON."),
    click.option("--csv", "as_csv", is_flag=True, help="Print CSV."),
    click.option(
        "-o", "--output", "path", metavar="FILE", default="-", help="Write the answer there."
    ),
)

log_options: Final = gathered(
    "rows",
    LogChoice,
    click.argument("logs", metavar="LOG...", nargs=-1, required=True),
    click.option("--collective", metavar="NAME", help="Of logs that do not say it."),
    click.option(
        "--columns",
        type=click.Choice(["out-of-place", "in-place", "both"]),
        default="out-of-place",
        show_default=True,
        help="Which times of each row.",
    ),
    click.option(
        "--where",
        metavar="'FIELD OP VALUE'",
        multiple=True,
        help="Only rows such as 'size >= 1MiB'; repeatable. Fields: collective ranks nodes "
        "size algorithm protocol dtype.",
    ),
)

type_options: Final = chained(
    click.option(
        "-d", "--dtype", metavar="TYPE", default="float", help="Element type.  [default: float]"
    ),
    click.option(
        "--op", metavar="OP", default="sum", help="sum, prod, min, max or avg.  [default: sum]"
    ),
)
