"""Which algorithms were left out and why, a line for each kind of reason."""

from collections.abc import Mapping

from collsim.cli.program.output import note

__all__ = ["tell_left_out"]


def _left_out_lines(
    collective: str, left_out: Mapping[str, str], slow: Mapping[str, float]
) -> list[str]:
    """Return a line for every kind of reason, in the order in which they come first.

    Examples
    --------
    >>> _left_out_lines("reduce", {"mst": "slow", "two_shot": "a bound", "swing": "a bound",
    ...                            "ring": "slow"}, {"mst": 1.281, "ring": 4.0})
    ['as too slow at every size (at least so many times as long as the fastest): mst 1.28,
    ring 4', 'two_shot, swing: a bound']
    """
    groups: dict[str, list[str]] = {}
    for name, reason in left_out.items():
        # What an algorithm refuses begins with its own name.
        bare = "" if name in slow else reason.removeprefix(f"{collective}/{name}: ")
        groups.setdefault(bare, []).append(name)
    lines = []
    for reason, names in groups.items():
        if len(names) == 1:
            lines.append(f"{names[0]}: {left_out[names[0]]}")
        elif reason:
            lines.append(f"{', '.join(names)}: {reason}")
        else:
            lines.append(
                "as too slow at every size (at least so many times as long as the fastest): "
                + ", ".join(f"{name} {slow[name]:.3g}" for name in names)
            )
    return lines


def tell_left_out(
    collective: str,
    left_out: Mapping[str, str],
    slow: Mapping[str, float] | None = None,
    where: str = "",
) -> None:
    """Say what was left out of a collective; `where` comes first.

    Parameters
    ----------
    collective, where : str
        What was asked; what begins each line.
    left_out : dict of str
        Algorithms, each with its reason.
    slow : dict of float, optional
        Of those too slow, how many times as long as the fastest they take at least.
    """
    for line in _left_out_lines(collective, left_out, slow or {}):
        note(f"{where}left out {line}")
