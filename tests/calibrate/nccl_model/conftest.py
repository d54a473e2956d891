"""A made-up system with known parameters, and what would be measured on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import pytest

from collsim.calibrate.nccl_model import Fitted, Selector, System
from collsim.calibrate.nccl_model.prior import priors
from collsim.core.measurements import Measurement

SIZES = tuple(512 * 2**k for k in range(21))
RING = ("all_reduce", "all_gather", "reduce_scatter")
H100 = System("hopper", 12, 360.0, nvls=True)
# What a fit of a real system of this kind comes to, rounded; the rest is as believed.
KNOWN = {
    "launch": 4.4e-6, "inside.ll.alpha": 0.85e-6, "inside.ll.beta": 6e-12,
    "inside.ll.fill": 0.35e-6, "inside.ll.local_fill": 1.0e-6, "inside.ll.channels": 16.0,
    "inside.ll128.alpha": 1.0e-6, "inside.ll128.beta": 3.4e-12, "inside.ll128.extra": 6e-6,
    "inside.simple.alpha": 3.0e-6, "inside.simple.beta": 2.7e-12, "inside.simple.extra": 10e-6,
    "inside.simple.local": 0.5, "nvls.simple.alpha": 22e-6, "nvls.simple.loop": 3.0e-6,
}  # fmt: skip


@pytest.fixture(scope="session")
def truth() -> Fitted:
    """Return the system as it is."""
    prior = priors(H100, [2, 4, 8], [*RING, "all_to_all"], ["tree"])
    values = {key: p.centre for key, p in prior.items()} | KNOWN
    sigma = {key: p.sigma for key, p in prior.items()}
    return Fitted(H100, Selector(), values, sigma, prior, 0.0)


Measure = Callable[..., list[Measurement]]


@pytest.fixture(scope="session")
def measured(truth: Fitted) -> Measure:
    """Return a function that measures the system, with noise."""

    def measure(
        noise: float = 0.0,
        seed: int = 0,
        collectives: Iterable[str] = RING,
        ranks: Iterable[int] = (2, 4, 8),
        sizes: Iterable[int] = SIZES,
    ) -> list[Measurement]:
        rng = np.random.default_rng(seed)
        counts = tuple(ranks)
        every = tuple(sizes)
        return [
            Measurement(
                kind, count, n,
                truth.seconds(kind, count, 1, n) * float(np.exp(noise * rng.normal())),
                nodes=1,
            )
            for kind in collectives
            for count in counts
            for n in every
        ]  # fmt: skip

    return measure
