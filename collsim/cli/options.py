"""Options that several commands share; a group of them comes as one value."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from typing import Any, Final

import click

from collsim.cli.clusters import ClusterChoice
from collsim.cli.output import Output
from collsim.cli.sizes import chosen_sizes
from collsim.cli.types import (
    BANDWIDTH,
    COUNTS,
    DELAY,
    GAMMA,
    LEFT,
    ORDER,
    SIZE,
    SPEC,
    SPECS,
    STEP,
    TIME,
    Whole,
)

__all__ = [
    "NETWORK_OPTIONS",
    "LogChoice",
    "SizeChoice",
    "algorithm_option",
    "all_given",
    "chained",
    "channels_option",
    "chunks_option",
    "cluster_option",
    "cluster_options",
    "collective_argument",
    "fold_option",
    "gpus_option",
    "log_options",
    "model_option",
    "output_options",
    "range_options",
    "root_option",
    "size_options",
    "type_options",
    "what_if_options",
]

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


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


def chained(*options: Decorator) -> Decorator:
    """Return one decorator that adds several options, the first one on top of the help."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def gathered(keyword: str, kind: type[Any], *options: Decorator) -> Decorator:
    """Return a decorator that adds options and passes them on as one `kind`."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def wrapper(**given: Any) -> Any:
            own = {field.name: given.pop(field.name) for field in fields(kind)}
            return function(**given, **{keyword: kind(**own)})

        return chained(*options)(wrapper)

    return decorate


_WHAT_IF: Final[tuple[Decorator, ...]] = (
    click.option("--order", type=ORDER, help="The GPU of each rank.  [default: inside nodes]"),
    click.option(
        "--set",
        "changes",
        metavar="KEY=VALUE",
        multiple=True,
        help="Change the cluster's file: network.bandwidth=100GB/s; repeatable.",
    ),
    click.option(
        "--degrade",
        type=LEFT,
        multiple=True,
        help="So much bandwidth is left: nic[3]=0.25, or nic[1:3] of node 1; repeatable.",
    ),
    click.option(
        "--fail", metavar="PART", multiple=True, help="A broken part: nic[3]; repeatable."
    ),
    click.option(
        "--delay",
        type=DELAY,
        multiple=True,
        help="A rank enters late: rank[3]=500us; repeatable.",
    ),
)
_SHARING: Final = click.option(
    "--sharing",
    type=click.Choice(["fifo", "fair"]),
    help="How messages share a link.  [default: the cluster's]",
)
# For commands that name their cluster in another way.
what_if_options: Final = chained(_SHARING, *_WHAT_IF)

cluster_option: Final = click.option(
    "-c",
    "--cluster",
    metavar="NAME|FILE",
    help="A preset, or a file: .toml, or with a slash.  [default: textbook-h100]",
)
gpus_option: Final = click.option(
    "--gpus-per-node", type=Whole(), help="So many GPUs in each node."
)
# What else a cluster is made by, whatever its size.
NETWORK_OPTIONS: Final[tuple[Decorator, ...]] = (
    click.option(
        "--alpha",
        type=TIME,
        help="Time to start a message; with --bandwidth, an ideal network of --ranks.",
    ),
    click.option(
        "--bandwidth", type=BANDWIDTH, help="Of each link of it, one direction, e.g. 50GB/s."
    ),
    click.option(
        "--alpha-busy",
        type=TIME,
        help="How long of its alpha a message holds ports.  [default: all]",
    ),
    click.option(
        "--gamma",
        type=GAMMA,
        help="Time per byte reduced, e.g. 0.01ns, or that rate; of any cluster.",
    ),
    click.option(
        "--launch",
        type=TIME,
        help="Time that every collective pays once, e.g. 5us; of any cluster.",
    ),
    click.option("--profile", metavar="NAME|FILE", help="Put in numbers from `calibrate fit`."),
    _SHARING,
    *_WHAT_IF,
)

cluster_options: Final = gathered(
    "cluster",
    ClusterChoice,
    cluster_option,
    click.option("--nodes", type=Whole(), help="So many nodes of it."),
    gpus_option,
    click.option(
        "--ranks", type=Whole(name="P"), help="So many GPUs of one node.  [default: all of it]"
    ),
    *NETWORK_OPTIONS,
)

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

collective_argument: Final = click.argument("collective")
chunks_option: Final = click.option(
    "--chunks",
    type=COUNTS,
    default="auto",
    help="Of pipelined algorithms, or a list to take the best of.  [default: auto]",
)
channels_option: Final = click.option(
    "--channels",
    type=COUNTS,
    default="auto",
    help="Copies that run at once, or a list to take the best of.  [default: auto]",
)
model_option: Final = click.option(
    "--model",
    type=click.Choice(["event", "formula", "auto"]),
    default="auto",
    help="Simulate, or use the formula; auto: the formula where it is exact.",
)
fold_option: Final = click.option(
    "--fold/--no-fold",
    default=True,
    help="On 1,024 ranks or more, simulate a few where they are shown to stand for all; the "
    "times are the same.  [default: fold]",
)
root_option: Final = click.option(
    "-r", "--root", type=Whole(0, "R"), default=0, help="Root rank.  [default: 0]"
)


def all_given(
    context: click.Context, parameter: click.Parameter, values: tuple[Any, ...]
) -> Any:
    """Return what an option was given, none of it dropped where it comes several times.

    Lists of algorithms are joined; of what takes one algorithm, a second one is wrong usage.
    """
    if not values:
        return None
    if all(isinstance(value, tuple) for value in values):
        return tuple(dict.fromkeys(name for value in values for name in value))
    if len(values) > 1:
        raise click.BadParameter(
            f"got {' and '.join(map(str, values))}, expected one", context, parameter
        )
    return values[0]


_OPTIONS: Final = "Options follow: NAME:KEY=VALUE,..., e.g. bruck:radix=8."


def algorithm_option(
    default: str | None = "auto",
    values: str = "NAME|auto|all",
    required: bool = False,
    several: bool = False,
) -> Decorator:
    """Return the option that names an algorithm, or several with commas."""
    # Without a default at all, because click takes None for one that was given.
    given: dict[str, Any] = {} if default is None else {"default": (default,)}
    shown = f"  [default: {default}]" if default else ""
    how = "Or several, with commas. " if several else ""
    return click.option(
        "--algorithm",
        metavar=values,
        required=required,
        type=SPECS if several else SPEC,
        multiple=True,
        callback=all_given,
        help=f"See `collsim list algorithms`. {how}{_OPTIONS}{shown}",
        **given,
    )
