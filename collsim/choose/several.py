"""One prediction of several algorithms that were named."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from collsim.choose.rows import Prediction
from collsim.errors import InputError

__all__ = ["joined"]


def joined(names: Sequence[str], ask: Callable[[str], Prediction]) -> Prediction:
    """Return the rows of several algorithms by size, each once; what can't run is left out.

    Parameters
    ----------
    names : sequence of str
        Of the algorithms, in the order of the rows.
    ask : callable
        Predicts for one of them.

    Raises
    ------
    InputError
        If none of them runs there; with the reasons.

    Examples
    --------
    >>> from collsim.choose.predict import predict
    >>> from collsim.core.cluster import Cluster
    >>> six = Cluster.ideal(6, "10us", "900GB/s")
    >>> found = joined(["ring", "nvls"], lambda name: predict("all_reduce", six, 1024, name))
    >>> [row.algorithm for row in found.rows], list(found.left_out)
    (['ring'], ['nvls'])
    """
    if len(names) == 1:
        return ask(names[0])
    answers, left_out = [], {}
    for name in dict.fromkeys(names):
        try:
            answers.append(ask(name))
        except InputError as error:
            left_out[name] = str(error)
    if not answers:
        raise InputError("; ".join(left_out.values()))
    rows = [
        row
        for at_size in zip(*(one.rows for one in answers), strict=True)
        # What NCCL chooses may be one that is named, too.
        for row in dict.fromkeys(at_size)
    ]
    folded = {name: why for one in answers for name, why in one.folded.items()}
    return replace(answers[0], rows=tuple(rows), left_out=left_out, folded=folded)
