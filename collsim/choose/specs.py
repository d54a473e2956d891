"""Algorithms by name, as they are typed: a list, or text with commas."""

from collections.abc import Iterable, Sequence

from collsim.algorithms import algorithm_names, canonical, find, unknown_algorithm
from collsim.core.collective import COLLECTIVES
from collsim.errors import CollsimError, InputError
from collsim.nccl.families import FAMILIES, SEVERAL
from collsim.nccl.names import OUR_NAME

__all__ = ["having", "spec_list", "split_specs"]


def split_specs(text: str) -> tuple[str, ...]:
    """Return names of algorithms; a comma also parts the options of one of them.

    NCCL's name of what is called otherwise here is taken: its tree.

    Raises
    ------
    InputError
        If there is a comma with nothing beside it.

    Examples
    --------
    >>> split_specs("ring,hierarchical:inside=ring,across=mst,mst")
    ('ring', 'hierarchical:inside=ring,across=mst', 'mst')
    >>> split_specs("tree")
    ('double_binary_tree',)
    """
    found: list[str] = []
    for part in text.split(","):
        if found and "=" in part and ":" not in part and ":" in found[-1]:
            found[-1] += f",{part.strip()}"
        elif part.strip():
            found.append(OUR_NAME.get(part.strip(), part.strip()))
        else:
            shown = repr(text) if len(text) <= 40 else f"{text[:40]!r}..."
            raise InputError(f"got {shown}, expected names of algorithms")
    return tuple(found)


def spec_list(given: object, what: str = "algorithms") -> tuple[str, ...] | None:
    """Return algorithms to choose among, from names or from text with commas.

    Parameters
    ----------
    given : str or sequence of str, optional
        What somebody gave.
    what : str
        Name of the parameter, for the message.

    Raises
    ------
    InputError
        If it is neither, or empty.

    Examples
    --------
    >>> spec_list("ring,mst"), spec_list(["ring"]), spec_list(None)
    (('ring', 'mst'), ('ring',), None)
    """
    if given is None:
        return None
    if isinstance(given, str):
        return split_specs(given)
    if isinstance(given, Sequence) and given and all(isinstance(name, str) for name in given):
        return tuple(given)
    raise InputError(f"{what}: got {given!r}, expected names of some, as in ['ring', 'mst']")


def having(specs: Iterable[str]) -> dict[str, dict[str, str | None]]:
    """Return, of every collective, why it can't have some algorithms; None where it can.

    Raises
    ------
    UnknownNameError, InputError
        If no collective can have one.

    Examples
    --------
    >>> found = having(["bruck:radix=8"])
    >>> [name for name, reasons in found.items() if reasons["bruck:radix=8"] is None]
    ['all_to_all']
    """
    found: dict[str, dict[str, str | None]] = {kind: {} for kind in COLLECTIVES}
    for spec in specs:
        if spec in FAMILIES:
            for reasons in found.values():
                reasons[spec] = None
            continue
        base = spec.partition(":")[0]
        every = dict.fromkeys(name for kind in COLLECTIVES for name in algorithm_names(kind))
        if base not in every:
            raise unknown_algorithm("algorithm", base, (*every, *SEVERAL))
        errors: list[CollsimError] = []
        for kind in COLLECTIVES:
            if base not in algorithm_names(kind):
                found[kind][spec] = f"there is no {kind}/{base}"
                continue
            try:
                canonical(kind, spec)
            except CollsimError as error:
                found[kind][spec] = str(error)
                # What has options says more of them than what has none.
                errors.insert(0 if find(kind, base).options else len(errors), error)
            else:
                found[kind][spec] = None
        if errors and all(reasons[spec] for reasons in found.values()):
            raise errors[0]
    return found
