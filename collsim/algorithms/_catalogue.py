"""Find and build algorithms by the path of their file."""

from collsim.core.algorithm import Algorithm
from collsim.core.builder import Builder
from collsim.core.collective import collective
from collsim.core.schedule import Schedule
from collsim.errors import InputError
from collsim.registry import member, names

__all__ = ["algorithm_names", "build", "find"]

_ENDS = ("mst", "ring")


def algorithm_names(collective_name: str) -> tuple[str, ...]:
    """Return the names of a collective's algorithms.

    The two ends, `mst` and `ring`, come first, the others by the alphabet; of
    algorithms that are equally fast the first one is chosen.

    Examples
    --------
    >>> algorithm_names("gather")
    ('mst', 'ring', 'linear')
    """
    found = names(f"collsim.algorithms.{collective(collective_name).name}")
    return tuple(sorted(found, key=lambda name: (name not in _ENDS, name)))


def find(collective_name: str, name: str) -> Algorithm:
    """Return an algorithm: how it is built, and what it claims.

    Raises
    ------
    UnknownNameError
        If there is no such collective or algorithm; names the nearest.

    Examples
    --------
    >>> find("all_reduce", "ring").formula
    '2(P-1)α + 2(P-1)/P·nβ + (P-1)/P·nγ'
    """
    known = collective(collective_name).name
    found = member(f"collsim.algorithms.{known}", name, "ALGORITHM", f"algorithm of {known}")
    if not isinstance(found, Algorithm):
        raise TypeError(f"algorithms/{known}/{name}.py: ALGORITHM must be an Algorithm")
    return found


def build(
    collective_name: str, name: str, ranks: int, root: int = 0, chunks: int = 1
) -> Schedule:
    """Return the schedule of an algorithm.

    Parameters
    ----------
    collective_name, name : str
        For example ``"all_reduce"``, ``"ring"``.
    ranks : int
        Rank count P.
    root : int
        Root of a rooted collective.
    chunks : int
        Into how many chunks a pipelined algorithm cuts its message.

    Raises
    ------
    InputError
        If the algorithm can't run on so many ranks, takes no chunks, or the root is no rank.

    Examples
    --------
    >>> len(build("all_reduce", "ring", 8))
    112
    """
    kind = collective(collective_name)
    algorithm = find(collective_name, name)
    reason = algorithm.limits(ranks)
    if reason is not None:
        raise InputError(f"{kind.name}/{name}: {reason}")
    if chunks != 1 and not algorithm.chunked:
        raise InputError(f"chunks: {kind.name}/{name} sends each message whole, got {chunks}")
    builder = Builder(kind, ranks, root, chunks, algorithm.parts(ranks, chunks))
    if ranks > 1:
        algorithm.build(builder)
    return builder.finish()
