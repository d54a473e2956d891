"""What is expected of a measured row: of the algorithm that ran, where the row names it."""

from collections.abc import Callable, Sequence

from collsim.calibrate.check.fastest import FastestOfNccl
from collsim.calibrate.check.fitted import FittedExpectation
from collsim.calibrate.check.nccl_choice import NcclChoice
from collsim.calibrate.formula import Chunks, Predicted, Predictor, found_for
from collsim.calibrate.message import MESSAGE, is_message, message_of
from collsim.calibrate.predictor import predictor_of
from collsim.core.cluster import Cluster
from collsim.core.measurements import Measurement
from collsim.core.profile import Profile
from collsim.errors import CollsimError
from collsim.nccl.names import OUR_NAME

__all__ = ["Expectation", "expectation_of", "forced_notes"]

Expectation = Callable[[Measurement], Predicted | str]
"""The time that is expected of a row, or why none can be."""


def expectation_of(
    model: Profile | Cluster | Predictor,
    algorithm: str | None,
    chunks: Chunks | None,
    usual: str | None = None,
    chosen: NcclChoice | FastestOfNccl | None = None,
) -> Expectation:
    """Return what is expected of rows.

    Parameters
    ----------
    model : Profile, Cluster or callable
        By what it is predicted; a callable knows itself what it predicts.
    algorithm : str, optional
        What is to be expected, whatever ran; by default what ran.
    chunks : int or "auto", optional
        Of pipelined algorithms.
    usual : str, optional
        What is expected of a row that does not say what ran; by default the profile's own
        algorithm, or ring.
    chosen : NcclChoice or FastestOfNccl, optional
        What is expected rather of rows of NCCL that do not say what ran.

    Examples
    --------
    >>> expect = expectation_of(Cluster.ideal(8, 1e-6, 1e9), None, None)
    >>> rows = [Measurement("all_reduce", 8, 8, 1e-5, algorithm=a) for a in (None, "mst", "x")]
    >>> [round(expect(row).latency * 1e6, 3) for row in rows[:2]], expect(rows[2])
    ([14.0, 6.0], 'x ran, which is no algorithm of all_reduce here')
    """
    if isinstance(model, Profile) and model.model == "nccl":
        return FittedExpectation(model, algorithm, chunks)
    if isinstance(model, Profile | Cluster):
        return _Named(model, algorithm, chunks, usual, chosen)
    predict = model
    return lambda row: predict(row.collective, row.ranks, row.nbytes)


def _our_name(row: Measurement) -> str | None:
    """Return our name of the algorithm that a row names: NCCL's tree is a double one.

    Examples
    --------
    >>> _our_name(Measurement("all_reduce", 8, 1024, 1e-5, algorithm="tree"))
    'double_binary_tree'
    """
    if row.algorithm == MESSAGE:
        return "direct"  # of all_to_all, NCCL's p2p
    return None if row.algorithm is None else OUR_NAME.get(row.algorithm, row.algorithm)


def forced_notes(rows: Sequence[Measurement], algorithm: str | None) -> list[str]:
    """Return how many rows say that another algorithm ran than the one that is asked for.

    Examples
    --------
    >>> rows = [Measurement("all_reduce", 8, 1024, 1e-5, algorithm="mst")]
    >>> forced_notes(rows, "ring")
    ['1 row says that mst ran, and is compared with ring, as was asked for']
    """
    if algorithm is None:
        return []
    whole = [row for row in rows if not is_message(row)]
    others = [row for row in whole if _our_name(row) not in (None, algorithm)]
    others = [row for row in others if found_for(row.collective, algorithm)[0] == algorithm]
    if not others:
        return []
    names = ", ".join(sorted({str(row.algorithm) for row in others}))
    say = "1 row says that" if len(others) == 1 else f"{len(others)} rows say that"
    verb = "is" if len(others) == 1 else "are"
    return [f"{say} {names} ran, and {verb} compared with {algorithm}, as was asked for"]


class _Named:
    """Times of the algorithms that rows name, on a cluster or by a profile of lines."""

    def __init__(
        self,
        model: Profile | Cluster,
        algorithm: str | None,
        chunks: Chunks | None,
        usual: str | None,
        chosen: NcclChoice | FastestOfNccl | None,
    ) -> None:
        self._model, self._algorithm, self._chunks = model, algorithm, chunks
        self._usual, self._chosen = usual, chosen
        self._predictors: dict[str | None, Predictor] = {}

    def __call__(self, row: Measurement) -> Predicted | str:
        if is_message(row):
            return message_of(self._model, row)
        name = _our_name(row)
        if self._algorithm is not None:
            return self._predict(row, self._algorithm)
        if name is None:
            chosen = None if self._chosen is None else self._chosen(row)
            return self._predict(row, chosen or self._usual)
        try:
            found_for(row.collective, name)
        except CollsimError:
            return f"{row.algorithm} ran, which is no algorithm of {row.collective} here"
        try:
            return self._predict(row, name)
        except CollsimError as error:
            return f"{row.algorithm} ran, which can't be predicted: {error}"

    def _predict(self, row: Measurement, name: str | None) -> Predicted:
        if name not in self._predictors:
            self._predictors[name] = predictor_of(self._model, name, self._chunks)
        return self._predictors[name](row.collective, row.ranks, row.nbytes)
