"""One answer from those of several algorithms that were named."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from collsim.errors import UsageError

if TYPE_CHECKING:
    from collsim.choose.predict import Prediction

__all__ = ["joined", "names_alone"]


def names_alone(names: Sequence[str]) -> None:
    """Refuse auto and all beside names."""
    word = next((name for name in names if name in ("auto", "all")), None)
    if word is not None and len(names) > 1:
        raise UsageError(f"--algorithm {','.join(names)}: expected names, or {word} alone")


def joined(names: Sequence[str], ask: Callable[[str], "Prediction"]) -> "Prediction":
    """Return the rows of several algorithms by size; auto and all stand alone."""
    from collsim.choose.several import joined as in_one

    names_alone(names)
    return in_one(names, ask)
