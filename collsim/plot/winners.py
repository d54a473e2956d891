"""Which algorithm is the fastest, by size and by the number of nodes or ranks."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

import numpy as np

from collsim.choose.curve import Counts, Model
from collsim.choose.policy import choose
from collsim.choose.ranges import Policy
from collsim.core.arguments import checked
from collsim.core.cluster import Cluster
from collsim.errors import InputError
from collsim.plot.heading import counted, head
from collsim.plot.style import check_path, drawn, fill, size_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Winners", "plot_winners", "winners_map"]

_MOST: Final = 24  # rows that a picture has room for
_WIDTH, _ROW = 9.0, 0.5
_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_BOX: Final = {"boxstyle": "round,pad=0.15", "facecolor": "#FFFFFF", "edgecolor": "none"}
# Of the width of the axes, what a letter in an area takes.
_LETTER: Final = 0.0105


@dataclass(frozen=True, eq=False)
class Winners:
    """What :func:`plot_winners` draws.

    Parameters
    ----------
    policies : tuple of Policy
        One per cluster: ranges of sizes, each with its fastest algorithm.
    nodes : tuple of int
        Nodes of each.
    shape : str
        What the largest one is.
    sharing : str
        How messages share links there.
    """

    policies: tuple[Policy, ...]
    nodes: tuple[int, ...]
    shape: str
    sharing: str

    @property
    def algorithms(self) -> tuple[str, ...]:
        """All that win anywhere, in the order in which a reader meets them.

        One rank has nothing to send, so nobody wins there.
        """
        several = (policy for policy in self.policies if policy.ranks > 1)
        return tuple(dict.fromkeys(r.algorithm for p in several for r in p.rows))

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the rows: nodes where there are several, and ranks."""
        several = max(self.nodes) > 1
        return tuple(
            f"{counted(nodes, 'node') + ', ' if several else ''}{counted(policy.ranks, 'rank')}"
            for nodes, policy in zip(self.nodes, self.policies, strict=True)
        )


@checked
def winners_map(
    collective_name: str,
    clusters: Iterable[Cluster],
    *,
    root: int = 0,
    chunks: Counts = "auto",
    channels: Counts = "auto",
    model: Model = "auto",
    algorithms: Sequence[str] | str | None = None,
    min_bytes: int | str = 8,
    max_bytes: int | str = 2**33,
) -> Winners:
    """Choose the fastest algorithm at every size, on each of some clusters.

    Parameters
    ----------
    collective_name : str
        Any spelling.
    clusters : iterable of Cluster
        From the smallest to the largest.
    root, chunks, channels, model, algorithms, min_bytes, max_bytes
        As in :func:`collsim.choose`.

    Returns
    -------
    Winners
        Ranges of sizes with their fastest algorithm, for each cluster.

    Raises
    ------
    InputError
        For no cluster, or more than a picture has room for.

    Examples
    --------
    >>> found = winners_map("gather", [Cluster.ideal(p, "10us", "900GB/s") for p in (2, 8)])
    >>> found.labels, found.algorithms
    (('2 ranks', '8 ranks'), ('mst',))
    """
    several = tuple(islice(clusters, _MOST + 1))
    if not 0 < len(several) <= _MOST:
        raise InputError(
            f"winners: got {'no cluster' if not several else f'more than {_MOST} clusters'}, "
            f"expected 1 to {_MOST}"
        )
    policies = tuple(
        choose(
            collective_name, cluster, min_bytes=min_bytes, max_bytes=max_bytes, root=root,
            chunks=chunks, channels=channels, model=model, algorithms=algorithms,
        )
        for cluster in several
    )  # fmt: skip
    last = several[-1]
    return Winners(policies, tuple(c.nodes for c in several), last.shape, last.sharing)


@checked
def plot_winners(found: Winners, path: str | os.PathLike[str] | None = None) -> "Figure":
    """Draw which algorithm is the fastest at which size and on how many nodes or ranks.

    Parameters
    ----------
    found : Winners
        From :func:`winners_map`.
    path : str or Path, optional
        Write the picture there, as PNG, SVG or PDF by its ending.

    Returns
    -------
    matplotlib.figure.Figure
        The picture, which a notebook shows.

    Raises
    ------
    InputError
        For another ending, or one rank alone.
    FileError
        If the file can't be written.

    Examples
    --------
    >>> found = winners_map("all_reduce", [Cluster.ideal(8, "10us", "900GB/s")])
    >>> [text.get_text() for text in plot_winners(found).axes[0].texts][:2]
    ['recursive_doubling', 'halving_doubling']
    """
    if path is not None:
        check_path(path)
    return drawn(lambda: _draw(found), path)


def _draw(found: Winners) -> "Figure":
    from matplotlib.patches import Patch

    from collsim.plot.picture import Picture

    if not found.algorithms:
        raise InputError(
            "plot: one rank has nothing to send, so no algorithm is the fastest; expected more"
        )
    keys = {
        name: _LETTERS[i % len(_LETTERS)] * (1 + i // len(_LETTERS))
        for i, name in enumerate(found.algorithms)
    }
    longest = max(map(len, keys))
    columns = 2 if longest < 56 else 1
    below = 0.24 * -(-len(keys) // columns)
    height = 1.45 + _ROW * len(found.policies) + below
    figure = Picture(figsize=(_WIDTH, height), layout="constrained")
    axes = figure.add_subplot()
    low, high = max(1, found.policies[0].min_bytes), found.policies[0].max_bytes + 1
    size_axis(axes, low, high)
    axes.set_ylim(-0.5, len(found.policies) - 0.5)
    axes.set_yticks(range(len(found.policies)), found.labels)
    axes.tick_params(axis="y", length=0)
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)
    for y, policy in enumerate(found.policies):
        _row(axes, y, policy, keys, (low, high))
    kind = found.policies[0].collective
    title = f"{kind} on {found.policies[0].cluster}: the fastest algorithm"
    words = found.shape if found.sharing == "fifo" else f"{found.shape}, sharing fair"
    most = "the largest: " if len(found.policies) > 1 else ""
    head(axes, title, f"{most}{words}", margin=1.6)
    figure.legend(
        handles=[
            Patch(label=f"{key}  {name}", linewidth=0.5, **fill(i))
            for i, (name, key) in enumerate(keys.items())
        ],
        loc="outside lower center", ncols=min(columns, len(keys)), frameon=False,
        handlelength=2.6, handleheight=1.1, fontsize=9.5 if longest < 40 else 8.5,
    )  # fmt: skip
    return figure


def _row(
    axes: "Axes", y: int, policy: Policy, keys: dict[str, str], span: tuple[int, int]
) -> None:
    """Draw the ranges of one cluster, each with as much of its name as there is room for."""
    from matplotlib.patches import Rectangle

    names = list(keys)
    if policy.ranks == 1:
        middle = float(np.sqrt(span[0]) * np.sqrt(span[1]))
        axes.text(middle, y, "nothing to send", ha="center", va="center", fontsize=9)
        return
    for row in policy.rows:
        low, high = max(span[0], row.min_bytes), row.max_bytes + 1
        if high <= low:
            continue
        area = Rectangle((low, y - 0.42), high - low, 0.84, lw=0.5, zorder=2, clip_on=False)
        area.set(**fill(names.index(row.algorithm)))
        axes.add_patch(area)
        share = np.log(high / low) / np.log(span[1] / span[0])
        text = next(
            (t for t in (row.algorithm, keys[row.algorithm]) if _LETTER * (len(t) + 1) < share),
            "",
        )
        if text:
            axes.text(
                float(np.sqrt(low) * np.sqrt(high)), y, text, ha="center", va="center",
                fontsize=9, zorder=3,
                bbox=_BOX,
            )  # fmt: skip
