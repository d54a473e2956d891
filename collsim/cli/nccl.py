"""Options that set NCCL's choice beside ours, and hand ours to NCCL."""

import contextlib
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import click

from collsim.cli.options import gathered
from collsim.cli.output import Output, note
from collsim.cli.types import TOLERANCE
from collsim.errors import UsageError
from collsim.files import write_whole

if TYPE_CHECKING:
    from collsim.choose.against import Comparison
    from collsim.core.cluster import Cluster
    from collsim.core.profile import Profile

__all__ = ["NcclChoice", "compared", "nccl_options"]


@dataclass(frozen=True)
class NcclChoice:
    """The options --against, --nccl-tuner, --nccl-env, --min-gain and --nccl-version."""

    against: str | None
    tuner: str | None
    env: bool
    min_gain: float
    version: str

    @property
    def asked(self) -> bool:
        """Whether any of them was given."""
        return self.against is not None or self.tuner is not None or self.env

    def check(self, output: Output, *, named: bool) -> None:
        """Refuse what contradicts itself."""
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
        type=TOLERANCE,
        default=0.03,
        help="What a change must gain to be made.  [default: 3%]",
    ),
    click.option(
        "--nccl-version",
        "version",
        metavar="V",
        default="2.30",
        help="Whose rules, from 2.18 on.  [default: 2.30]",
    ),
)


def compared(
    names: Sequence[str],
    network: "Cluster",
    choice: NcclChoice,
    profile: "Profile | None",
    sizes: tuple[int, int],
    root: int,
    output: Output,
    said: Sequence[str],
) -> None:
    """Compare, write the tuner's file, print.

    Parameters
    ----------
    names : sequence of str
        Collectives, by our names.
    network : Cluster
        Where.
    choice, output
        What was asked for.
    profile : Profile, optional
        Its uncertainty may ask for larger gains.
    sizes : tuple of int
        From and to, inclusive.
    root : int
        Of rooted collectives.
    said : sequence of str
        What was changed in the cluster.
    """
    from collsim.interop.nccl_tuner import against
    from collsim.nccl import communicator, tuning

    table = tuning(communicator(network), choice.version)
    least = _least_gain(choice.min_gain, profile)
    run: dict[str, Any] = {
        "min_bytes": sizes[0], "max_bytes": sizes[1], "min_gain": least, "root": root,
        "bytes_only": profile is None,
    }  # fmt: skip
    if profile is None:
        note(
            "the cluster file does not know the latencies of NCCL's protocols, so only what "
            "bytes decide counts as a gain; with --profile, times are those of your machine"
        )
    if choice.env:
        _print_env(names, network, table, run, output)
        return
    found = [against(name, network, table, **run) for name in names]
    if choice.tuner is not None:
        _write_tuner(found, network, table, choice.tuner, profile)
        if choice.tuner == "-":
            return
    _emit(found, network, output, said)


def _least_gain(asked: float, profile: "Profile | None") -> float:
    error = None
    if profile is not None and profile.errors:
        held = profile.error({e.kind for e in profile.errors} - {"in_sample"})
        error = held or profile.error({"in_sample"})
    if error is None or error.median <= asked:
        return asked
    note(
        f"gains of less than {error.median:.1%} are taken for none, because profile "
        f"{profile.name if profile else ''} is off by as much ({error.kind}, median)"
    )
    return error.median


def _print_env(
    names: Sequence[str], network: "Cluster", table: Any, run: dict[str, Any], output: Output
) -> None:
    from collsim.interop.nccl_tuner import allowed, to_env

    settings = [allowed(name, network, table, **run) for name in names]
    for s in settings:
        if s.algorithms:
            note(
                f"{s.collective}: {s.gain:.3g} times as fast as NCCL's own choice, geometric "
                f"mean over all sizes; {s.left:.3g} times as long as the best at every size"
            )
        else:
            note(f"{s.collective}: NCCL's own choice is best left alone")
    note(
        "these variables hold for every size, communicator and data type of the process; "
        "sizes, protocols and channels stay NCCL's: --nccl-tuner tells sizes apart"
    )
    output.write(to_env(settings))


def _write_tuner(
    found: Sequence["Comparison"],
    network: "Cluster",
    table: Any,
    path: str,
    profile: "Profile | None",
) -> None:
    import collsim
    from collsim.interop.nccl_tuner import rules, to_csv

    made = [rule for one in found for rule in rules(table, one)]
    # Scripts differ in how they are called; the words after the program do not.
    command = shlex.join(["collsim", *sys.argv[1:]])
    numbers = "no profile" if profile is None else f"profile {profile.name}"
    where = f"cluster {network.name}"
    about = [
        f"collsim {collsim.__version__}, NCCL {table.version}'s model; {where}, {numbers}",
        f"made by: {command}",
    ]
    with contextlib.suppress(BrokenPipeError):
        write_whole(path, to_csv(made, found, about))
    if path != "-":
        note(f"wrote {len(made)} lines for NCCL's tuner plugin to {path}")


def _emit(
    found: Sequence["Comparison"], network: "Cluster", output: Output, said: Sequence[str]
) -> None:
    from collsim.choose.against import Loss
    from collsim.report.against_text import against_text, summary
    from collsim.report.records import keys_of, record

    several = len(found) > 1
    rows = [
        ({"collective": one.collective} if several else {}) | record(row)
        for one in found
        for row in one.rows
    ]
    changed = f" ({', '.join(said)})" if said else ""
    where = f"{network.ranks} ranks of {network.name}{changed}"
    output.emit(
        "choose",
        rows,
        (("collective",) if several else ()) + keys_of(Loss),
        lambda: "\n\n".join(against_text(one, where) for one in found),
        cluster=network.name,
        collective=None if several else found[0].collective,
        ranks=network.ranks,
        changes=list(said),
        against="nccl",
        nccl_version=found[0].version,
        min_gain=found[0].min_gain,
        available={one.collective: list(one.available) for one in found},
        summary={one.collective: summary(one) for one in found},
        origin=list(found[0].origin),
    )
