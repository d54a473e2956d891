"""A plan: flat arrays for the event loops, and the grid of time on which they count."""

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["Plan", "grid"]

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

# Bits of a time below the estimate of the whole: a double has 53, two are left for error.
_BITS: Final = 51


@dataclass(frozen=True, eq=False)
class Plan:
    """What the event loop reads: operations, the routes they take, and what routes hold.

    Parameters
    ----------
    size : float array, shape (N,)
        Pieces that each operation carries.
    piece : float
        Bytes of a piece: as a fraction of n, or in a plan at one size, 1.
        Of several jobs, those of the largest.
    rounds : int
        As in the schedule.
    in_turn : float
        Pieces sent one after another, were each round to wait for its largest message.
    route : int32 array, shape (N,)
        Route of each operation. Routes are numbered 0 to R - 1; each job has its own.
    reduces : bool array, shape (N,)
        Whether the receiver must reduce what arrives.
    dst : int32 array, shape (N,)
        Receiver of each operation.
    alpha, beta, busy : float array, shape (R,)
        Sum of alpha, greatest beta (ports count), and sum of alpha_busy of each route.
    adding : float array, shape (R,)
        Seconds per byte reduced at the end of each route.
    enter : float array, shape (R,)
        Seconds after the launch at which both ends of each route have entered.
    held_ptr, held, held_beta : arrays, shapes (R + 1,), (K,), (K,)
        Links and ports that each route holds, and their betas.
    lane_ptr : int64 array
        Lanes of link or port h are numbered ``lane_ptr[h]`` up to ``lane_ptr[h + 1]``.
    dep_ptr, dep : int arrays
        As in the schedule.
    gamma, launch : float
        As in the cluster.
    step : float
        The grid of time, in a plan at one size.
    """

    size: FloatArray
    piece: float
    rounds: int
    in_turn: float
    route: NDArray[np.int32]
    reduces: NDArray[np.bool_]
    dst: NDArray[np.int32]
    ranks: int
    alpha: FloatArray
    beta: FloatArray
    busy: FloatArray
    adding: FloatArray
    enter: FloatArray
    held_ptr: IntArray
    held: IntArray
    held_beta: FloatArray
    lane_ptr: IntArray
    dep_ptr: IntArray
    dep: NDArray[np.int32]
    gamma: float
    launch: float
    step: float = 0.0

    def at(self, nbytes: float) -> "Plan":
        """Return the plan with the costs of one size, per piece, on a grid of time.

        Messages that wait for each other in different ways are often ready at the same
        time, and then their index decides. Sums of rounded floats would tell such times
        apart at random, and with them who goes first. On multiples of one power of two
        sums are exact: what is equal in the model is equal here. The grid is so fine
        that no time moves by more than 3e-16 of the whole per start-up, and per piece.
        """
        last: tuple[float, Plan] | None = self.__dict__.get("_last")
        if last is not None and last[0] == nbytes:
            return last[1]
        piece = self.piece * nbytes
        slowest = float(self.beta.max(initial=0.0)) + self.gamma
        startups = self.rounds * float(self.alpha.max(initial=0.0))
        late = float(self.enter.max(initial=0.0))
        whole = late + startups + self.in_turn * piece * slowest
        plan = self.on_grid(nbytes, grid(whole, _BITS))
        # A run asks for it, and then whoever tells where its time went.
        self.__dict__["_last"] = nbytes, plan
        return plan

    def on_grid(self, nbytes: float, step: float) -> "Plan":
        """Return the plan with the costs of one size, per piece, in multiples of `step`."""
        piece = self.piece * nbytes

        def rounded(costs: FloatArray) -> FloatArray:
            return np.rint(costs / step) * step

        return replace(
            self,
            piece=1.0,
            alpha=rounded(self.alpha),
            busy=rounded(self.busy),
            adding=rounded(piece * self.adding),
            enter=rounded(self.enter),
            beta=rounded(piece * self.beta),
            held_beta=rounded(piece * self.held_beta),
            gamma=float(rounded(np.array(piece * self.gamma))),
            step=step,
        )

    def rounded(self, seconds: float) -> float:
        """Return the nearest time on the grid of a plan at one size."""
        return round(seconds / self.step) * self.step


def grid(whole: float, bits: int) -> float:
    """Return a power of two that is so many bits below a time.

    Examples
    --------
    >>> grid(5.0, 3)  # 5 is below 8
    1.0
    """
    _, exponent = math.frexp(whole)
    return math.ldexp(1.0, max(exponent - bits, -1000))
