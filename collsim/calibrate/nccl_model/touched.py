"""Which parameters the times of some cases depend on."""

from collections.abc import Iterator, Mapping

import numpy as np

from collsim.calibrate.nccl_model.batch import Batch, Floats
from collsim.calibrate.nccl_model.pieces import PIECES

__all__ = ["touched"]


class _Watched(Mapping[str, Floats]):
    """Parameters that remember which of them were asked for."""

    def __init__(self, values: Mapping[str, float]) -> None:
        self._values = values
        self.seen: set[str] = set()

    def __getitem__(self, key: str) -> Floats:
        value = self._values[key]
        self.seen.add(key)
        return np.array([[value]])

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


def touched(values: Mapping[str, float], batch: Batch) -> dict[tuple[str, str], set[str]]:
    """Return the parameters of each collective and protocol that some cases depend on.

    Examples
    --------
    >>> from collsim.calibrate.nccl_model.batch import Case, batch_of
    >>> from collsim.calibrate.nccl_model.prior import priors
    >>> from collsim.calibrate.nccl_model.system import Selector, System
    >>> system = System("ampere", 12, 240.0)
    >>> known = {k: p.centre for k, p in priors(system, [8], ["all_gather"]).items()}
    >>> batch = batch_of(system, [Case("all_gather", 8, 1, 2**30)], Selector())
    >>> sorted(touched(known, batch)["all_gather", "simple"])
    ['inside.simple.alpha', 'inside.simple.beta', 'inside.simple.extra', 'inside.simple.local',
    'inside.simple.reduce_alpha', 'inside.simple.reduce_beta', 'launch']
    """
    found: dict[tuple[str, str], set[str]] = {}
    for group in batch.groups:
        watched = _Watched(values)
        PIECES[group.algorithm](watched, group)
        found.setdefault((group.collective, group.protocol), set()).update(watched.seen)
    return found
