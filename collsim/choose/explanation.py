"""The nouns of an explanation: messages, costs, rounds and turns, ready to be JSON."""

from dataclasses import dataclass
from typing import Literal

from collsim.choose.crossover import Swap
from collsim.choose.example import Example
from collsim.choose.rounds import Round

__all__ = ["AlgorithmStory", "Claim", "Cost", "Explanation", "Message", "Rule"]

Rule = Literal["alpha", "beta", "neither"]
Claim = Literal["exact", "overlap", "bound", "none"]


@dataclass(frozen=True)
class Message:
    """One message on an empty route.

    Parameters
    ----------
    src, dst : int
        From where to where.
    link : str
        Kinds of link on the way.
    alpha_us : float
        Start-up in microseconds.
    bandwidth : float
        GB/s, 1e9 bytes per second, as everywhere under this key.
    equal_bytes : float
        Size at which the start-up takes as long as the bytes.
    beta_us : tuple of float
        Microseconds for the bytes at each of the sizes.
    """

    src: int
    dst: int
    link: str
    alpha_us: float
    bandwidth: float
    equal_bytes: float
    beta_us: tuple[float, ...]


@dataclass(frozen=True)
class Cost:
    """What an algorithm takes at one size.

    Parameters
    ----------
    size : float
        Bytes.
    chunks : int
        In how many chunks.
    channels : int
        In how many channels.
    model : str
        ``"formula"`` or ``"event"``.
    time_us, alpha_us, beta_us, gamma_us, launch_us, waiting_us : float
        The time and its parts, in microseconds.
    alphas, betas : float or None
        ``alpha_us`` is so many alphas, ``beta_us`` so many times n beta; None where the
        links differ, so that only a simulation knows.
    equal_bytes : float or None
        Size at which both parts are equal, with as many chunks.
    rules : {"alpha", "beta", "neither"}
        The larger part.
    """

    size: float
    chunks: int
    channels: int
    model: str
    time_us: float
    alpha_us: float
    beta_us: float
    gamma_us: float
    launch_us: float
    waiting_us: float
    alphas: float | None
    betas: float | None
    equal_bytes: float | None
    rules: Rule


@dataclass(frozen=True)
class AlgorithmStory:
    """One algorithm: what it does, and what that costs.

    Parameters
    ----------
    name, summary, formula, paper : str
        As its author says.
    claim : {"exact", "overlap", "bound", "none"}
        Whether the formula gives the times here. If not, it is because reductions overlap
        with messages, because its author claims a bound only, or because no formula is
        exact on this network.
    chunks : int
        In how many chunks the rounds are drawn.
    rounds, messages : int
        How many there are.
    shown : tuple of Round
        All rounds; of very many the first, those where reducing ends and copying
        begins, and the last.
    costs : tuple of Cost
        One per size.
    switches : int
        Switches that take part; senders and receivers from P on, in the order of nodes.
    efficiency : float or None
        Part of a link's bandwidth that messages to and from them reach.
    """

    name: str
    summary: str
    formula: str
    paper: str
    claim: Claim
    chunks: int
    rounds: int
    messages: int
    shown: tuple[Round, ...]
    costs: tuple[Cost, ...]
    switches: int = 0
    efficiency: float | None = None


@dataclass(frozen=True)
class Explanation:
    """The answer of :func:`collsim.explain`; ``dataclasses.asdict`` makes it JSON.

    Parameters
    ----------
    cluster, shape, sharing, collective, ranks, root
        What is explained; root is None for a collective without one.
    ideal : bool
        Whether the formulas are exact here. If not, the costs are those of the
        critical path of a simulation.
    messages : tuple of Message
        What one message costs: to a neighbour, and to another node if there is one.
    sizes : tuple of float
        Bytes.
    algorithms : tuple of AlgorithmStory
        In the order asked for.
    left_out : dict of str
        Those that can't run here, with the reason.
    fastest : tuple of str
        At each size.
    turns : tuple of Swap or None
        Sizes from 1 B to 1 TiB at which another one becomes the fastest; None if the
        search would simulate for too long.
    best : str or None
        Where nothing turns, the one that no other is faster than at any size.
    example : Example
        Before and after on four ranks.
    """

    cluster: str
    shape: str
    sharing: str
    collective: str
    ranks: int
    root: int | None
    ideal: bool
    messages: tuple[Message, ...]
    sizes: tuple[float, ...]
    algorithms: tuple[AlgorithmStory, ...]
    left_out: dict[str, str]
    fastest: tuple[str, ...]
    turns: tuple[Swap, ...] | None
    best: str | None
    example: Example
