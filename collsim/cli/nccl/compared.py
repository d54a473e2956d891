"""NCCL's choice beside ours, and ours handed to NCCL, as the options ask for it."""

import contextlib
import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from collsim.cli.measured.fitted import fitted_times
from collsim.cli.nccl.notes import (
    NO_CSV,
    OFF,
    counted_gain,
    held_back,
    kept_beyond,
    left_alone,
    tell_beyond,
    tell_version,
)
from collsim.cli.options.nccl import NcclChoice
from collsim.cli.program.output import Output, note
from collsim.errors import InputError
from collsim.files import write_whole

if TYPE_CHECKING:
    from collsim.calibrate.nccl_model import Fitted
    from collsim.choose.against import Comparison
    from collsim.core.cluster import Cluster
    from collsim.core.profile import Profile
    from collsim.nccl import Tuning

__all__ = ["compared"]

_NEWEST: Final = "2.30"


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

    version = _NEWEST if choice.version is None else choice.version
    fitted = fitted_times(profile, network if said else None)
    table = _table(network, version, fitted)
    least = counted_gain(choice.min_gain, profile)
    run: dict[str, Any] = {
        "min_bytes": sizes[0], "max_bytes": sizes[1], "min_gain": least, "root": root,
        "bytes_only": profile is None,
    }  # fmt: skip
    tell_version(version, tuner=choice.tuner is not None)
    held = held_back(names, profile if fitted else None, network)
    if choice.tuner is not None and fitted is not None and not fitted.by_table:
        raise InputError(
            f"--nccl-tuner: profile {profile and profile.name} does not tell what NCCL "
            "chooses, which a file has to repeat where nothing gains; expected another "
            "profile, or none"
        )
    if choice.env:
        if fitted is not None and profile is not None and profile.max_bytes:
            run["min_bytes"] = max(sizes[0], min(profile.min_bytes, sizes[1]))
            run["max_bytes"] = min(sizes[1], max(profile.max_bytes, sizes[0]))
        free = [name for name in names if name not in held]
        _print_env(free, network, table, run | {"fitted": fitted}, output)
        return
    if fitted is None:
        found = [against(name, network, table, **run) for name in names]
    else:
        if profile is not None and profile.max_bytes and fitted.by_table:
            run["seen"] = profile.min_bytes, profile.max_bytes
            tell_beyond(sizes, run["seen"], profile.name)
        found = _against_fitted(names, fitted, table, run, held)
    if choice.tuner is not None:
        _write_tuner(found, network, table, (choice.tuner, version), profile)
        if choice.tuner == "-":
            return
    _emit(found, network, output, said)


def _table(network: "Cluster", version: str, fitted: "Fitted | None") -> "Tuning":
    """Return NCCL's model of a cluster, or of the system that a profile was fitted to."""
    from collsim.nccl import communicator, tuning

    if fitted is None:
        return tuning(communicator(network), version)
    from dataclasses import replace

    from collsim.calibrate.nccl_model import Selector

    read = fitted.selector if fitted.selector.scale else Selector()
    system = replace(fitted.system, version=version)
    return system.table(network.ranks, network.nodes, read)


def _against_fitted(
    names: Sequence[str],
    fitted: "Fitted",
    table: "Tuning",
    run: dict[str, Any],
    held: dict[str, str],
) -> list["Comparison"]:
    from collsim.interop.nccl_tuner import against_fitted, unseen

    # Fitted times have their latencies, and NCCL's do not depend on the root.
    run = {key: value for key, value in run.items() if key not in {"root", "bytes_only"}}
    found = []
    for name in names:
        left = unseen(fitted, table, name) if fitted.by_table else []
        if left and name not in held:
            note(f"{name}: no candidate, because no row of the fit shows it: {', '.join(left)}")
        found.append(against_fitted(name, fitted, table, held=held.get(name, ""), **run))
    return found


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
            note(left_alone(s, run["min_gain"]))
    note(
        "these variables hold for every size, communicator and data type of the process; "
        "sizes, protocols and channels stay NCCL's: --nccl-tuner tells sizes apart"
    )
    output.write(to_env(settings))


def _write_tuner(
    found: Sequence["Comparison"],
    network: "Cluster",
    table: Any,
    where_and_for: tuple[str, str],
    profile: "Profile | None",
) -> None:
    import collsim
    from collsim.interop.nccl_tuner import reads_no_csv, rules, to_csv

    path, version = where_and_for
    made = [rule for one in found for rule in rules(table, one)]
    # Scripts differ in how they are called; the words after the program do not.
    command = shlex.join(["collsim", *sys.argv[1:]])
    numbers = "no profile" if profile is None else f"profile {profile.name}"
    where = f"cluster {network.name}"
    about = [
        f"collsim {collsim.__version__}, NCCL {table.version}'s model; {where}, {numbers}",
        f"made by: {command}",
    ]
    if reads_no_csv(version):
        about[0] = f"NCCL {version} {NO_CSV}. {about[0]}"
    if profile is not None and found[0].fitted and profile.max_bytes:
        about.append(
            f"{kept_beyond((profile.min_bytes, profile.max_bytes))}, which were fitted."
        )
    if profile is None:
        about.append(
            f"{OFF[0].upper()}{OFF[1:]}: only gains of {100 * found[0].min_gain:.3g} % or "
            "more count, where bytes decide. Measure what is changed before use."
        )
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
