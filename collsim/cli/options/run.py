"""Options of what runs: a collective, its algorithm, and how that is cut and timed."""

from typing import Any, Final

import click

from collsim.cli.options.group import Decorator, chained
from collsim.cli.options.types import COUNTS, SPEC, SPECS, Whole

__all__ = [
    "algorithm_option",
    "all_given",
    "channels_option",
    "chunks_option",
    "collective_argument",
    "fold_option",
    "model_option",
    "root_option",
    "run_options",
]

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
# What every prediction takes beside its algorithm.
run_options: Final = chained(chunks_option, channels_option, model_option, root_option)


def all_given(
    context: click.Context, parameter: click.Parameter, values: tuple[object, ...]
) -> object:
    """Return what an option was given, none of it dropped where it comes several times.

    Lists of algorithms are joined; of what takes one algorithm, a second one is wrong usage.
    """
    if not values:
        return None
    lists = [value for value in values if isinstance(value, tuple)]
    if len(lists) == len(values):
        return tuple(dict.fromkeys(name for value in lists for name in value))
    if len(values) > 1:
        raise click.BadParameter(
            f"got {' and '.join(map(str, values))}, expected one", context, parameter
        )
    return values[0]


_OPTIONS: Final = "Options follow: NAME:KEY=VALUE,..., e.g. bruck:radix=8."


def algorithm_option(
    default: str | None = "auto",
    values: str = "NAME|auto|nccl|all",
    required: bool = False,
    several: bool = False,
    fitted: bool = False,
) -> Decorator:
    """Return the option that names an algorithm, or several with commas.

    With `fitted` a profile of NCCL says what it chooses itself.
    """
    # Without a default at all, because click takes None for one that was given.
    given: dict[str, Any] = {} if default is None else {"default": (default,)}
    shown = f"  [default: {default}]" if default else ""
    how = "Or several, with commas. " if several else ""
    if "nccl" in values:
        choice = ", or with a profile of NCCL its own choice" if fitted else ""
        how += f"nccl: the fastest of what NCCL has{choice}. "
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
