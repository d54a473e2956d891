"""What NCCL would run on a machine that is not as its profile knows it: the fastest it has."""

from collsim.algorithms import algorithm_names, refusal
from collsim.calibrate.formula import Chunks, Predictor
from collsim.calibrate.nccl_model import COVERED
from collsim.calibrate.predictor import predictor_of
from collsim.core.cluster import Cluster
from collsim.core.measurements import Measurement
from collsim.nccl.families import element_of, nccl_algorithms

__all__ = ["FastestOfNccl"]


class FastestOfNccl:
    """The fastest algorithm that NCCL has, by simulation, as `predict` takes with a change.

    Parameters
    ----------
    cluster : Cluster
        With the numbers of a profile of NCCL, and with what is changed of it.
    chunks : int or "auto", optional
        Of pipelined algorithms.

    Examples
    --------
    >>> choose = FastestOfNccl(Cluster.load("dgx-h100"))
    >>> [choose(Measurement("all_reduce", 8, n, 1e-3)) for n in (1024, 2**30)], choose.names
    (['nvls', 'nvls'], ('nvls',))
    """

    def __init__(self, cluster: Cluster, chunks: Chunks | None = None) -> None:
        self._cluster, self._chunks = cluster, chunks
        self._predictors: dict[str, Predictor] = {}
        self._names: set[str] = set()

    @property
    def names(self) -> tuple[str, ...]:
        """Our names of what was chosen so far."""
        return tuple(sorted(self._names))

    @property
    def notes(self) -> list[str]:
        """Nothing: where there is no choice, the profile's own algorithm is expected."""
        return []

    def __call__(self, row: Measurement) -> str | None:
        """Return our name of the fastest for a row, or None where the profile has no times."""
        if row.collective not in COVERED or row.ranks == 1:
            return None
        element = element_of(row.collective, row.dtype, row.op)
        times = {
            name: self._predictor(name)(row.collective, row.ranks, row.nbytes).seconds
            for name in nccl_algorithms(row.collective, self._cluster, *element)
            if self._runs(row, name)
        }
        if not times:
            return None
        name = min(times, key=times.__getitem__)
        self._names.add(name)
        return name

    def _runs(self, row: Measurement, name: str) -> bool:
        cluster = self._cluster
        if name not in algorithm_names(row.collective):
            return False
        multicast = cluster.setting.multicast
        return refusal(row.collective, name, row.ranks, cluster.node, multicast) is None

    def _predictor(self, name: str) -> Predictor:
        if name not in self._predictors:
            self._predictors[name] = predictor_of(self._cluster, name, self._chunks)
        return self._predictors[name]
