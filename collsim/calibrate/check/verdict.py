"""Whether a measured time is as predicted, and if not, whose fault it is."""

from collections.abc import Sequence
from statistics import median

from collsim.calibrate.formula import Predicted

__all__ = ["verdicts"]


def verdicts(
    seconds: Sequence[float], expected: Sequence[Predicted], tolerance: float
) -> list[str]:
    """Return a verdict per row of one collective, on the same ranks and nodes.

    With t the tolerance, a row is ``ok`` if measured / predicted is from 1 / (1 + t) to
    1 + t, and ``faster`` below that. Above it the cause is found from all rows together.
    Latency is launch and every alpha, transfer is bytes times beta, as predicted:

    - L, the seconds that latency is beyond its prediction: the median excess of the rows
      where latency is the larger part;
    - B, the seconds per second of transfer: the median of (excess - L) / transfer of the
      rows where transfer is the larger part; either is 0 if within the tolerance.

    If taking L off brings the row within the tolerance, it is ``latency``; if taking B
    times its transfer off does, ``bandwidth``; ``both`` if neither is enough and both are
    above 0. Otherwise the larger part of its prediction decides, but it is ``bandwidth`` where
    latency is as predicted and B times its transfer is most of what it is late by.

    Parameters
    ----------
    seconds : sequence of float
        Measured times.
    expected : sequence of Predicted
        Predicted times, all above 0.
    tolerance : float
        0 or more.

    Examples
    --------
    >>> model = [Predicted(2.1, 2.0, 0.1), Predicted(12.0, 2.0, 10.0)]
    >>> verdicts([2.1, 12.0], model, 0.2), verdicts([6.1, 16.0], model, 0.2)
    (['ok', 'ok'], ['latency', 'latency'])
    >>> verdicts([2.3, 32.0], model, 0.2), verdicts([1.0, 5.0], model, 0.2)
    (['ok', 'bandwidth'], ['faster', 'faster'])
    """
    late, slow = _excess(seconds, expected, tolerance)
    return [
        _verdict(measured, model, tolerance, late, slow)
        for measured, model in zip(seconds, expected, strict=True)
    ]


def _excess(
    seconds: Sequence[float], expected: Sequence[Predicted], tolerance: float
) -> tuple[float, float]:
    """Return L and B of `verdicts`."""
    pairs = list(zip(seconds, expected, strict=True))
    small = [(s - model.seconds, model.seconds) for s, model in pairs if _is_small(model)]
    late = median(over for over, _ in small) if small else 0.0
    if small and late <= tolerance * median(predicted for _, predicted in small):
        late = 0.0
    large = [
        (s - model.seconds - late) / model.transfer
        for s, model in pairs
        if not _is_small(model)
    ]
    slow = median(large) if large else 0.0
    return late, slow if slow > tolerance else 0.0


def _is_small(model: Predicted) -> bool:
    return model.latency >= model.transfer


def _verdict(
    seconds: float, model: Predicted, tolerance: float, late: float, slow: float
) -> str:
    limit = (1 + tolerance) * model.seconds
    if seconds <= limit:
        return "ok" if seconds * (1 + tolerance) >= model.seconds else "faster"
    by_latency = late > 0 and seconds - late <= limit
    by_bandwidth = slow > 0 and seconds - slow * model.transfer <= limit
    if by_latency != by_bandwidth:
        return "latency" if by_latency else "bandwidth"
    if not by_latency and late > 0 and slow > 0:
        return "both"
    mostly = late == 0 and 2 * slow * model.transfer >= seconds - model.seconds
    return "latency" if _is_small(model) and not mostly else "bandwidth"
