"""Several nodes: what messages cost inside one, and between two.

Messages inside a node are fitted as those of one machine are, messages between nodes apart
from them:

    T(k, n) = alpha + n beta + (ceil(k / NICs) - 1) (alpha_busy + n beta_nic)

where k of them leave a node at once, as in `shift`. Pairs that play ping-pong at once tell
nothing of it: they fall into step so that one's way there is the other's way back.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from collsim.calibrate.point_to_point.fit import PointToPoint, fit_point_to_point
from collsim.core.measurements_format import MeasuredRow
from collsim.errors import InputError

__all__ = ["Nodes", "fit_nodes", "of_rows", "ranks_per_node"]

# Messages that share a NIC and are that much faster each than one alone: one rank does not
# fill it.
_FILLS: Final = 0.9


@dataclass(frozen=True)
class Nodes:
    """What messages cost on several nodes.

    Parameters
    ----------
    nodes, ranks_per_node : int
        How many, and how many ranks on each.
    inside : PointToPoint, optional
        Of messages inside a node; None for one rank per node.
    between : PointToPoint
        Of messages between nodes; `lanes` of it are NICs of a node.
    both_ways : float, optional
        What a message takes while one comes the other way, of what it takes alone, at the
        largest size.
    """

    nodes: int
    ranks_per_node: int
    inside: PointToPoint | None
    between: PointToPoint
    both_ways: float | None

    @property
    def nics(self) -> int:
        """NICs of a node that messages find: as many as ranks if none waits for another."""
        return self.between.lanes if self.between.shares else self.ranks_per_node

    @property
    def regular(self) -> bool:
        """Whether nodes on a switch, joined by another, tell all: no cores are shared."""
        shared, alone = self.between.shared.value, self.between.beta.value
        filled = not self.between.shares or shared >= _FILLS * alone
        return filled and (self.inside is None or not self.inside.shares)


def of_rows(rows: Sequence[MeasuredRow]) -> tuple[PointToPoint, Nodes | None]:
    """Return the fit of one machine, or of a node together with that of all nodes."""
    if all(int(row.get("nodes") or 1) == 1 for row in rows):
        return fit_point_to_point(rows), None
    nodes = fit_nodes(rows)
    return nodes.inside or nodes.between, nodes


def ranks_per_node(rows: Iterable[MeasuredRow]) -> int:
    """Return how many ranks each node had; all of them if rows tell of no other node.

    Examples
    --------
    >>> ranks_per_node([{"pattern": "shift", "world": 8, "nodes": 2, "ranks": 8}])
    4
    """
    found = {
        int(row.get("ranks_per_node") or _world(row) // max(1, int(row.get("nodes") or 1)))
        for row in rows
        if row.get("ranks_per_node") or row.get("pattern") != "ping_pong"
    }
    if not found:
        raise InputError("no row tells how many ranks a node has, expected `ranks_per_node`")
    if len(found) > 1:
        raise InputError(f"ranks per node: got {sorted(found)}, expected the same in all rows")
    return found.pop()


def _world(row: MeasuredRow) -> int:
    return int(row.get("world") or row["ranks"])


def fit_nodes(rows: Iterable[MeasuredRow]) -> Nodes:
    """Fit messages inside nodes and between them, each to its own rows.

    Parameters
    ----------
    rows : iterable of mapping
        As `calibrate measure` writes them, of one number of ranks per node.

    Raises
    ------
    InputError
        If no message went from one node to another, or one kind has too few sizes.

    Examples
    --------
    >>> def row(pattern, pairs, n, seconds):
    ...     return {"pattern": pattern, "pairs": pairs, "at_once": len(pairs), "size": n,
    ...             "seconds": seconds, "world": 4, "ranks_per_node": 2, "ranks": 4}
    >>> sizes = (8, 1024, 65536, 2**20)
    >>> rows = [row("ping_pong", [[0, 1]], n, 2e-6 + n * 1e-11) for n in sizes]
    >>> rows += [row("ping_pong", [[0, 2]], n, 9e-6 + n * 1e-10) for n in sizes]
    >>> around = [[0, 2], [1, 3], [2, 0], [3, 1]]
    >>> rows += [row("shift", around, n, 9e-6 + n * 2e-10) for n in sizes]
    >>> found = fit_nodes(rows)
    >>> found.nodes, found.nics, f"{found.between.alpha.value:.3g}", found.regular
    (2, 1, '9e-06', True)
    """
    every = [row for row in rows if row.get("pairs")]
    local = ranks_per_node(every)
    inside = [_of_one_node(row, local) for row in every if _where(row, local) == "inside"]
    between = [
        _of_one_node(row, local)
        for row in every
        if _where(row, local) == "between" and row["pattern"] != "pairs"
    ]
    if not any(row["pattern"] == "ping_pong" for row in between):
        raise InputError("no ping_pong between nodes, expected one to tell what a NIC costs")
    rest = [row for row in rows if row.get("pattern") in ("self", "add")]
    within = fit_point_to_point([*inside, *rest]) if local > 1 else None
    world = max(map(_world, every))
    return Nodes(
        -(-world // local), local, within,
        fit_point_to_point([*between, *rest], lanes=_nics(local)), _both_ways(between),
    )  # fmt: skip


def _nics(local: int) -> list[int]:
    """Return the numbers of NICs that as many ranks share evenly, each at least two."""
    return [k for k in range(1, local) if local % k == 0] or [1]


def _where(row: MeasuredRow, local: int) -> str:
    """Say whether the pairs of a row are inside nodes, between nodes, or both."""
    crossing = {a // local != b // local for a, b in row["pairs"]}
    return "both" if len(crossing) > 1 else "between" if crossing.pop() else "inside"


def _of_one_node(row: MeasuredRow, local: int) -> MeasuredRow:
    """Return a row whose messages at once are those that one node sends."""
    pairs = [tuple(pair) for pair in row["pairs"]]
    if row["pattern"] == "exchange":
        pairs += [(b, a) for a, b in pairs]
    senders = [a // local for a, _ in pairs]
    return {**row, "at_once": max(senders.count(node) for node in set(senders))}


def _both_ways(rows: Sequence[MeasuredRow]) -> float | None:
    alone = {row["size"]: row["seconds"] for row in rows if row["pattern"] == "ping_pong"}
    both = {row["size"]: row["seconds"] for row in rows if row["pattern"] == "exchange"}
    common = sorted(alone.keys() & both.keys())
    return float(both[common[-1]] / alone[common[-1]]) if common else None
