"""Fitted numbers of a real machine, and how far they can be trusted."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from typing import Final, Literal

from collsim.core.arguments import checked
from collsim.core.error_summary import ErrorSummary
from collsim.core.parameter import (
    LINE_UNITS,
    UNITS,
    Parameter,
    parameter_unit,
    shown,
)
from collsim.errors import InputError, UnknownNameError
from collsim.units import MAX_RANKS

__all__ = ["MAX_CHUNKS", "NCCL_KEYS", "ErrorSummary", "Parameter", "Profile"]

MAX_CHUNKS: Final = 65536
_MODELS: Final = ("line", "nccl")
NCCL_KEYS: Final[dict[str, type[str | float | bool]]] = {
    "version": str,
    "architecture": str,
    "channels": int,
    "intra_bus": float,
    "inside": str,
    "inter_bus": float,
    "nvls": bool,
    "uniform": bool,
    "amd": bool,
    "ll128_network": bool,
    "gpus": int,
    "scale": float,
    "two_nodes": float,
    "tree_two": float,
    "noise": float,
}
"""What a profile of NCCL says of the system, how NCCL's table is read, and the noise."""
_MOST: Final = 1e18
_LEAST: Final = {"channels": 1}
_ABOVE: Final = ("intra_bus", "two_nodes", "tree_two")
_WORDS: Final = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}


def _check_chunks(chunks: object) -> None:
    whole = not isinstance(chunks, bool) and isinstance(chunks, int)
    if not (whole and 1 <= chunks <= MAX_CHUNKS):  # type: ignore[operator]
        raise InputError(
            f"chunks: got {shown(chunks)}, expected auto or a whole number "
            f"from 1 to {MAX_CHUNKS}"
        )


@checked
@dataclass(frozen=True)
class Profile:
    """Fitted parameters of one machine, with provenance.

    Parameters
    ----------
    name : str
        What to call it.
    parameters : dict of str to Parameter
        Keyed ``class.alpha``, ``class.beta`` (``class.protocol.alpha`` where a
        protocol was fitted apart) and ``launch``; of NCCL, ``class[.protocol].name`` with the
        names of `collsim.core.parameter.UNITS`. Not to be changed.
    model : str
        ``line``: one latency and one bandwidth for each class of links; ``nccl``: the times of
        NCCL's algorithms and protocols.
    cluster : str
        The cluster it was fitted on; ``"ideal"`` is one uniform link class.
    algorithm : str
        The algorithm whose formula was fitted.
    chunks : int or "auto"
        Chunks of that algorithm; auto is the best power of two at each size.
    collectives : tuple of str
        What was measured.
    ranks, nodes : tuple of int
        The rank and node counts that were measured.
    min_bytes, max_bytes : int
        Smallest and largest size that was measured.
    library, process_model, clock, device : str, optional
        What the numbers hold for, as far as the sources say.
    columns : str
        ``out-of-place``, ``in-place`` or ``both``.
    sources : tuple of str
        Files that were read.
    errors : tuple of ErrorSummary
        In-sample first; then held-out, unless the rows were too few.
    notes : tuple of str
        What the numbers do not say, such as why ``launch`` is 0.
    nccl : dict of str
        Of model nccl: what is known of the system, by `NCCL_KEYS`.

    Examples
    --------
    >>> ab = {"link.alpha": Parameter(1e-6, None, None, "s"),
    ...       "link.beta": Parameter(1e-11, None, None, "s/B")}
    >>> profile = Profile("mine", ab, algorithm="ring", ranks=(8,))
    >>> profile.uniform
    (1e-06, 1e-11, 0.0)
    >>> profile.classes
    ('link',)
    """

    name: str
    parameters: dict[str, Parameter]
    model: str = "line"
    cluster: str = "ideal"
    algorithm: str = "ring"
    chunks: int | Literal["auto"] = 1
    collectives: tuple[str, ...] = ()
    ranks: tuple[int, ...] = ()
    nodes: tuple[int, ...] = ()
    min_bytes: int = 0
    max_bytes: int = 0
    library: str | None = None
    process_model: str | None = None
    clock: str | None = None
    device: str | None = None
    columns: str = "out-of-place"
    sources: tuple[str, ...] = ()
    errors: tuple[ErrorSummary, ...] = ()
    notes: tuple[str, ...] = ()
    nccl: dict[str, str | float | bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(value, list):
                object.__setattr__(self, one.name, tuple(value))
        object.__setattr__(self, "parameters", dict(self.parameters))
        if self.chunks != "auto":
            _check_chunks(self.chunks)
        if not self.parameters:
            raise InputError("parameters: got none, expected link.alpha and link.beta or more")
        if self.model not in _MODELS:
            raise UnknownNameError("model", self.model, _MODELS)
        self._check_measured()
        self._check_nccl()
        units = UNITS if self.model == "nccl" else LINE_UNITS
        for key, parameter in self.parameters.items():
            unit = parameter_unit(key, units)
            if parameter.unit != unit:
                raise InputError(f"{key}: got unit {parameter.unit!r}, expected {unit!r}")

    def _check_measured(self) -> None:
        """Refuse counts that no machine has, which a cluster would be made of."""
        expected = f"expected whole numbers from 1 to {MAX_RANKS}"
        for key in ("ranks", "nodes"):
            for value in getattr(self, key):
                if not 1 <= value <= MAX_RANKS:
                    raise InputError(f"{key}: got {shown(value)}, {expected}")
        if self.max_bytes and self.min_bytes > self.max_bytes:
            raise InputError(
                f"min_bytes: got {self.min_bytes}, expected at most max_bytes, {self.max_bytes}"
            )

    def _check_nccl(self) -> None:
        if self.model != "nccl":
            if self.nccl:
                raise InputError(f"nccl: got it with model {self.model}, expected model nccl")
            return
        for key, kind in NCCL_KEYS.items():
            value = self.nccl.get(key)
            if value is None:
                raise InputError(f"nccl: got no {key}, expected one in a profile of NCCL")
            whole = isinstance(value, int) and not isinstance(value, bool)
            if not (isinstance(value, kind) or (kind is float and whole)) or (
                isinstance(value, bool) and kind is not bool
            ):
                raise InputError(f"nccl.{key}: got {value!r}, expected {_WORDS[kind]}")
        for key in self.nccl:
            if key not in NCCL_KEYS:
                raise UnknownNameError("key of nccl", key, tuple(NCCL_KEYS))
        for key, expected in self._ill_nccl():
            raise InputError(f"nccl.{key}: got {self.nccl[key]!r}, expected {expected}")

    def _ill_nccl(self) -> Iterator[tuple[str, str]]:
        """Yield keys whose numbers can't be of any system, and what is expected."""
        for key, kind in NCCL_KEYS.items():
            if kind not in (int, float):
                continue
            value, least = self.nccl[key], _LEAST.get(key, 0)
            above = key in _ABOVE
            # Neither is nan.
            if not least <= value <= _MOST or (above and value == 0):  # type: ignore[operator]
                yield key, "a number above 0" if above else f"{least} or more"
        if self.nccl["gpus"] == 0 and (self.nccl["inter_bus"] or self.cluster != "ideal"):
            yield "gpus", "1 or more: only of a machine of no preset it may be unknown, 0"

    @property
    def classes(self) -> tuple[str, ...]:
        """Link classes that have parameters."""
        found = (key.partition(".")[0] for key in self.parameters if "." in key)
        return tuple(dict.fromkeys(found))

    @property
    def uniform(self) -> tuple[float, float, float] | None:
        """``(alpha, beta, launch)`` if there is one link class, else None.

        Of a profile of NCCL, what holds inside a node.
        """
        if self.model == "nccl":
            return self.inside
        if len(self.classes) != 1:
            return None
        link = self.classes[0]
        if f"{link}.alpha" not in self.parameters or f"{link}.beta" not in self.parameters:
            return None
        launch = self.parameters["launch"].value if "launch" in self.parameters else 0.0
        return self.value(f"{link}.alpha"), self.value(f"{link}.beta"), launch

    @property
    def inside(self) -> tuple[float, float, float]:
        """Of a profile of NCCL, alpha, beta and launch in a node, each of the best protocol.

        That is what an algorithm which NCCL lacks might reach with its protocols.
        """
        alphas, betas = (
            [p.value for key, p in self.parameters.items() if re.fullmatch(name, key)]
            for name in (r"inside\.\w+\.alpha", r"inside\.\w+\.beta")
        )
        return min(alphas), min(betas), self.value("launch")

    @checked
    def value(self, key: str) -> float:
        """Return the value of one parameter.

        Parameters
        ----------
        key : str
            Such as ``"link.alpha"``.

        Returns
        -------
        float
            In SI units: seconds, seconds per byte, bytes, or a number.

        Raises
        ------
        UnknownNameError
            If there is none of that name; names the nearest.

        Examples
        --------
        >>> from collsim.config.profile_file import load_profile
        >>> round(1e6 * load_profile("h100-nvswitch-8").value("launch"), 1)
        4.4
        """
        if key not in self.parameters:
            raise UnknownNameError("parameter", key, tuple(self.parameters))
        return self.parameters[key].value

    @checked
    def error(self, kinds: Iterable[str]) -> ErrorSummary | None:
        """Return how far the fit is off, on rows of one kind.

        Parameters
        ----------
        kinds : iterable of str
            ``"in_sample"``, or what was held out: ``"sizes"``, ``"collectives"``, ``"ranks"``,
            ``"nodes"``.

        Returns
        -------
        ErrorSummary or None
            The first of these kinds: median and 90th percentile of |predicted/measured - 1|.

        Examples
        --------
        >>> from collsim.config.profile_file import load_profile
        >>> load_profile("h100-nvswitch-8").error(["sizes"]).median < 0.03
        True
        """
        wanted = set(kinds)
        return next((error for error in self.errors if error.kind in wanted), None)
