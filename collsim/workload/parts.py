"""Parts of a model: what each computes, and which collectives come before, in and after it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

__all__ = ["Call", "Part", "Use"]


@dataclass(frozen=True)
class Call:
    """A collective as it is called.

    Parameters
    ----------
    kind : str
        Kind of group, or ``"pipeline"`` for a message between stages.
    collective : str
        Canonical name.
    nbytes : float
        Size n.
    what : str
        What it carries.
    border : int
        For pipeline messages, the border: 0 between stages 0 and 1.
    """

    kind: str
    collective: str
    nbytes: float
    what: str
    border: int = 0


@dataclass(frozen=True)
class Use:
    """A call in one place of the step.

    Parameters
    ----------
    call : Call
        The collective.
    when : {"each", "first", "last"}
        In every micro-batch, or only in the first or the last one.
    early : bool
        Whether it starts with the step, however far ahead that is.
    """

    call: Call
    when: str = "each"
    early: bool = False


@dataclass(frozen=True)
class Part:
    """A layer, the embedding or the head, on one rank.

    Parameters
    ----------
    name : str
        For the list of events.
    forward, backward : float
        Seconds of computing, for one micro-batch.
    before_forward, before_backward : tuple of Use
        It waits for these; they are started ahead.
    in_forward, in_backward : tuple of Use
        These follow its computing one after the other, and the next part waits.
    after_forward, after_backward : tuple of Use
        These start when it is computed, and nobody waits before the end of the step.
    """

    name: str
    forward: float = 0.0
    backward: float = 0.0
    before_forward: tuple[Use, ...] = ()
    before_backward: tuple[Use, ...] = ()
    in_forward: tuple[Use, ...] = ()
    in_backward: tuple[Use, ...] = ()
    after_forward: tuple[Use, ...] = ()
    after_backward: tuple[Use, ...] = ()

    def uses(self) -> Iterator[Use]:
        """Return all its calls."""
        for place in ("before", "in", "after"):
            yield from getattr(self, f"{place}_forward")
            yield from getattr(self, f"{place}_backward")

    def adding(self, place: str, *uses: Use) -> "Part":
        """Return the part with more calls in one of its places."""
        changed: dict[str, Any] = {place: (*getattr(self, place), *uses)}
        return replace(self, **changed)
