"""An algorithm is data: a function that builds it, and what it claims."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from collsim.core.builder import Builder
from collsim.core.cluster import Cluster
from collsim.core.option import Option, Options
from collsim.core.setting import Setting
from collsim.core.symmetry import Symmetry

__all__ = ["Algorithm", "Terms", "no_needs", "no_terms"]


@dataclass(frozen=True)
class Terms:
    """A time as a sum: ``alphas * alpha + betas * n * beta + gammas * n * gamma``.

    Parameters
    ----------
    alphas : float
        Messages, one after another, on the critical path.
    betas : float
        Bytes sent on the critical path, as a multiple of n.
    gammas : float
        Bytes reduced on the critical path, as a multiple of n.
    exact : bool
        Whether the simulated time equals this for gamma = 0; otherwise it is at most this.
    exact_with_gamma : bool
        The same for gamma > 0, where reductions may overlap with messages.
    """

    alphas: float
    betas: float
    gammas: float = 0.0
    exact: bool = True
    exact_with_gamma: bool = True

    def seconds(self, nbytes: float, alpha: float, beta: float, gamma: float = 0.0) -> float:
        """Return the time in seconds.

        Parameters
        ----------
        nbytes : float
            Size of the buffer, n, in bytes.
        alpha, beta, gamma : float
            Seconds per message, per byte sent, per byte reduced.

        Examples
        --------
        >>> Terms(3, 3).seconds(1000, alpha=1e-6, beta=1e-9)
        6e-06
        """
        return self.alphas * alpha + nbytes * (self.betas * beta + self.gammas * gamma)

    def holds(self, gamma: float) -> bool:
        """Return whether the simulated time equals the formula, at this gamma."""
        return self.exact and (self.exact_with_gamma or gamma == 0.0 or self.gammas == 0.0)

    def __add__(self, other: "Terms") -> "Terms":
        """One after the other."""
        return Terms(
            self.alphas + other.alphas,
            self.betas + other.betas,
            self.gammas + other.gammas,
            self.exact and other.exact,
            self.exact_with_gamma and other.exact_with_gamma,
        )


def _no_limits(_ranks: int) -> str | None:
    """Return None: the algorithm takes any rank count."""
    return None


def no_needs(_setting: Setting) -> str | None:
    """Return None: the algorithm runs however the ranks are spread over nodes."""
    return None


def no_terms(_ranks: int, _chunks: int) -> None:
    """Return None: nothing is claimed of the time, which only a simulation finds."""


def _chunks(_ranks: int, chunks: int) -> int:
    """Return the number of chunks: each is a part, and the only one of what isn't cut."""
    return chunks


@dataclass(frozen=True)
class Algorithm:
    """How a collective is done, and what its author claims of it.

    Parameters
    ----------
    build : callable
        ``build(builder)`` lists the operations round by round.
    terms : callable
        ``(ranks, chunks) -> Terms | None``: the claimed cost on an ideal one-port network,
        with one channel; None where nothing is claimed.
    formula : str
        The same for the reader.
    summary : str
        One line: who sends what to whom.
    paper : str
        Where it is from.
    chunked : bool
        Whether the message can be cut into chunks that follow each other.
    parts : callable
        ``(ranks, chunks) -> int``: into how many parts a channel cuts its share of a block;
        by default one for each chunk.
    limits : callable
        ``ranks -> str | None``: why it can't run on so many ranks, or None.
    needs : callable
        ``setting -> str | None``: why it can't run on ranks spread like this, or None.
    channeled : bool
        Whether several copies can run at once, each on its share of every block.
    rings : bool
        Whether these go by ``builder.setting.rings``, over cables of their own.
    in_switch : bool
        Whether every message goes to or comes from a switch that adds up and multicasts. The
        claimed cost then holds on one such switch with the links of an ideal network, whose
        beta is that of its links divided by its efficiency.
    parts_on : callable, optional
        ``(setting, chunks) -> int``: the same as `parts`, where nodes matter.
    options : mapping of str to Option
        What may be set, in the order in which it is written.
    vary : callable, optional
        ``values -> Algorithm``: the algorithm with a value for every option.
    symmetry : Symmetry or callable, optional
        Under which renamings of ranks the schedule stays the same; then ``build`` lists the
        messages of ``builder.every`` alone. A test holds it to that. Where nodes matter,
        ``setting -> Symmetry | None``; see :meth:`claim`.

    See Also
    --------
    collsim.core.builder.Builder : what ``build`` is given.
    """

    build: Callable[[Builder], None]
    terms: Callable[[int, int], Terms | None]
    formula: str
    summary: str
    paper: str
    chunked: bool = False
    parts: Callable[[int, int], int] = _chunks
    limits: Callable[[int], str | None] = _no_limits
    needs: Callable[[Setting], str | None] = no_needs
    channeled: bool = False
    rings: bool = False
    in_switch: bool = False
    parts_on: Callable[[Setting, int], int] | None = None
    options: Mapping[str, Option] = field(default_factory=dict)
    vary: Callable[[Options], "Algorithm"] | None = None
    symmetry: Symmetry | Callable[[Setting], Symmetry | None] | None = None

    def cut(self, setting: Setting, chunks: int) -> int:
        """Return into how many parts a channel cuts its share of a block.

        Examples
        --------
        >>> from collsim.algorithms import find
        >>> find("all_reduce", "ring").cut(Setting(8), 1)
        8
        """
        if not self.chunked:
            chunks = 1
        if self.parts_on is not None:
            return self.parts_on(setting, chunks)
        return self.parts(setting.ranks, chunks)

    def claim(self, setting: Setting) -> Symmetry | None:
        """Return what symmetry its author claims on ranks spread like this.

        Examples
        --------
        >>> from collsim.algorithms import find
        >>> find("all_reduce", "ring").claim(Setting(8)).kind
        'shift'
        """
        return self.symmetry(setting) if callable(self.symmetry) else self.symmetry

    def costs(self, cluster: Cluster) -> tuple[float, float] | None:
        """Return the alpha and beta with which the claimed cost holds on a cluster.

        Returns
        -------
        tuple of float, or None
            None on a cluster that is no ideal one-port network, where it does not.

        Examples
        --------
        >>> from collsim.algorithms import find
        >>> node = Cluster.load("dgx-h100")
        >>> both = [find("all_reduce", name).costs(node) for name in ("ring", "nvls")]
        >>> [round(1e-9 / beta, 3) for _, beta in both]
        [450.0, 382.5]
        """
        inside = cluster.in_switch
        if cluster.uniform is None or (self.in_switch and inside is None):
            return None
        alpha, beta = cluster.uniform
        return alpha, beta / inside.efficiency if self.in_switch and inside else beta
