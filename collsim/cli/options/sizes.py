"""Sizes as the options give them: one by one, or as nccl-tests' sweep."""

from typing import Final

from collsim.errors import UsageError

__all__ = ["FIRST", "LAST", "check_range", "chosen_sizes", "sweep"]

FIRST: Final = 8
LAST: Final = 8 * 2**30
_MOST: Final = 100_000


def sweep(first: int, last: int, factor: int = 2, step: int | None = None) -> tuple[int, ...]:
    """Return the sizes of nccl-tests' ``-b first -e last -f factor`` or ``-i step``.

    From 0 a factor leads nowhere, so after 0 the sweep goes on with 1.

    Examples
    --------
    >>> sweep(8, 64)
    (8, 16, 32, 64)
    >>> sweep(0, 9, factor=3), sweep(0, 9, step=4)
    ((0, 1, 3, 9), (0, 4, 8))
    """
    if first > last:
        raise UsageError(f"-b {first} is above -e {last}, expected it below or equal")
    if step is not None and (last - first) // step >= _MOST:
        raise UsageError(
            f"-i {step} from {first} to {last} makes {(last - first) // step + 1} sizes, "
            f"expected at most {_MOST}"
        )
    sizes = [first]
    while True:
        size = sizes[-1] + step if step is not None else max(1, sizes[-1] * factor)
        if size > last:
            return tuple(sizes)
        sizes.append(size)


def chosen_sizes(
    single: tuple[int, ...],
    first: int | None,
    last: int | None,
    factor: int | None,
    step: int | None,
) -> tuple[int, ...]:
    """Return the sizes that the options -s, or -b -e -f -i, ask for.

    Raises
    ------
    UsageError
        If both kinds are given, both -f and -i, or a range that is empty or too long.
    """
    if single:
        if (first, last, factor, step) != (None,) * 4:
            raise UsageError(
                "-s names sizes one by one, so it can't be combined with -b -e -f -i"
            )
        return single
    if factor is not None and step is not None:
        raise UsageError("-f multiplies and -i adds, expected one of them")
    return sweep(
        FIRST if first is None else first,
        LAST if last is None else last,
        2 if factor is None else factor,
        step,
    )


def check_range(first: int | None, last: int | None) -> tuple[int, int]:
    """Return the range of real sizes from -b to -e; UsageError if it is empty."""
    low = 1 if first is None else first
    high = 2**40 if last is None else last
    if low >= high:
        raise UsageError(f"-b {low} is not below -e {high}, expected a range of sizes")
    return low, high
