"""Find members of a room by the path of their file: the path is the name.

`collsim/algorithms/all_reduce/ring.py` is `all_reduce/ring`; nothing is listed
anywhere else, so adding a file is all it takes to add a member.
"""

import importlib
import pkgutil
from functools import cache

from collsim.errors import UnknownNameError

__all__ = ["member", "names"]


@cache
def names(package: str) -> tuple[str, ...]:
    """Return the public members of a package, sorted, without importing them.

    Parameters
    ----------
    package : str
        Dotted name of a package, such as ``"collsim.algorithms.all_reduce"``.

    Returns
    -------
    tuple of str
        Names of its modules and sub-packages that don't begin with ``_``.

    Examples
    --------
    >>> "ring" in names("collsim.algorithms.all_reduce")
    True
    """
    home = importlib.import_module(package)
    found = (m.name for m in pkgutil.iter_modules(home.__path__))
    return tuple(sorted(n for n in found if not n.startswith("_")))


def member(package: str, name: str, attribute: str, what: str) -> object:
    """Import one member of a package and return one of its attributes.

    Parameters
    ----------
    package : str
        Dotted name of the package.
    name : str
        Name of the member: the name of its file without ``.py``.
    attribute : str
        What to return of it, for example ``"ALGORITHM"``.
    what : str
        What a reader calls such a member; used in the error.

    Returns
    -------
    object
        The attribute.

    Raises
    ------
    UnknownNameError
        If the package has no such member; names the nearest one.

    Examples
    --------
    >>> member("collsim.algorithms.all_reduce", "ring", "ALGORITHM", "algorithm").chunked
    False
    """
    known = names(package)
    if name not in known:
        raise UnknownNameError(what, name, known)
    return getattr(importlib.import_module(f"{package}.{name}"), attribute)
