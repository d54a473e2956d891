"""What a profile of NCCL expects of a measured row."""

from collsim.algorithms import algorithm_names
from collsim.calibrate.formula import Chunks, Predicted
from collsim.calibrate.message import is_message, message_of
from collsim.calibrate.nccl_model import COVERED, fitted_of
from collsim.calibrate.nccl_model.batch import Case, case_of, unknown_piece
from collsim.calibrate.predictor import predictor_of
from collsim.core.measurements import Measurement
from collsim.core.profile import Profile
from collsim.errors import InputError
from collsim.nccl.names import OUR_NAME

__all__ = ["FittedExpectation"]


class FittedExpectation:
    """Fitted times where there are any; else those of an ideal network with its numbers.

    Parameters
    ----------
    profile : Profile
        Of NCCL.
    algorithm : str, optional
        Ours to expect, whatever the log says; by default what it says ran, or what NCCL
        chooses.
    chunks : int or "auto", optional
        Of algorithms that NCCL lacks.

    Examples
    --------
    >>> from collsim.calibrate.nccl_model import example_profile
    >>> from collsim.core.cluster import Cluster
    >>> expect = FittedExpectation(example_profile(Cluster.load("dgx-h100")))
    >>> expect(Measurement("all_reduce", 8, 1024, 2e-5)).model
    'fit'
    """

    def __init__(
        self, profile: Profile, algorithm: str | None = None, chunks: Chunks | None = None
    ) -> None:
        self._profile, self._algorithm, self._chunks = profile, algorithm, chunks
        self._fitted = fitted_of(profile)

    def __call__(self, row: Measurement) -> Predicted | str:
        """Return the time that is expected of a row, or why none can be."""
        if is_message(row):
            return message_of(self._profile, row)
        reason = unknown_piece(row, self._fitted.system)
        if reason is not None:
            return reason
        case = case_of(row, self._fitted.system)
        if row.collective not in COVERED:
            return self._simulated(row)
        where = case.collective, case.ranks, case.nodes
        if self._algorithm is not None:
            return self._named(row, where)
        if case.nodes > 1 and not self._fitted.system.several:
            raise InputError(
                f"{row.source}: measured on {case.nodes} nodes, but profile "
                f"{self._profile.name} was fitted to one"
            )
        piece = case.algorithm, case.protocol
        peers = case.collective == "all_to_all" and case.protocol is None
        if peers or case.algorithm is None:
            piece = self._fitted.choice(*where, row.nbytes, dtype=row.dtype, op=row.op)
        return self._timed(where, row.nbytes, str(piece[0]), piece[1])

    def _named(self, row: Measurement, where: tuple[str, int, int]) -> Predicted:
        theirs = {OUR_NAME.get(a, "direct"): a for a, _ in self._fitted.available(*where)}
        algorithm = str(self._algorithm)
        if algorithm in theirs and algorithm in algorithm_names(row.collective):
            return self._timed(where, row.nbytes, theirs[algorithm], None)
        return self._simulated(row)

    def _timed(
        self, where: tuple[str, int, int], nbytes: float, algorithm: str, protocol: str | None
    ) -> Predicted:
        if protocol is None:
            protocol, _ = self._fitted.named(*where, nbytes, algorithm)
        cases = [Case(*where, n, algorithm, protocol) for n in (0.0, float(nbytes))]
        latency, seconds = map(float, self._fitted.times(cases))
        return Predicted(seconds, latency, seconds - latency, 1, "fit")

    def _simulated(self, row: Measurement) -> Predicted:
        predict = predictor_of(self._profile, self._algorithm, self._chunks)
        return predict(row.collective, row.ranks, row.nbytes)
