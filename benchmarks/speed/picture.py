"""Seconds and memory against ranks, as a picture that the same numbers always make the same."""

from __future__ import annotations

from io import BytesIO
from typing import Any, Final

__all__ = ["FOLDED", "picture"]

FOLDED: Final = "collsim, few ranks for all (rails)"
# Of Okabe and Ito's palette, told apart by eyes of every kind, and by their marks in grey.
_LOOKS: Final = {
    "collsim": ("#0072B2", "o", "-"),
    FOLDED: ("#56B4E9", "D", "-."),
    "SimGrid": ("#D55E00", "s", "--"),
    "SimPy": ("#009E73", "^", ":"),
}


def lines(measured: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return what is drawn: the rows of the ring, by simulator."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in measured["ring"]:
        found.setdefault(row["simulator"], []).append(row)
    folded = [
        row
        for row in measured["far"]
        if row["algorithm"] == "ring" and row["how"] != "all ranks simulated"
    ]
    return {**found, FOLDED: folded} if folded else found


def picture(measured: dict[str, Any], kind: str = "svg") -> bytes:
    """Return the plot."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot as plt
    from matplotlib.ticker import FuncFormatter, NullFormatter

    drawn = lines(measured)
    most = max(row["ranks"] for rows in drawn.values() for row in rows)
    ticks = [4**k for k in range(3, 11) if 4**k <= most]
    # Ids are random and the time of day is written unless one forbids it.
    settings = {"svg.hashsalt": "collsim", "svg.fonttype": "path", "font.size": 10}
    with plt.rc_context(settings):
        figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
        for name, rows in drawn.items():
            colour, mark, line = _LOOKS.get(name, ("black", "x", "-"))
            for plot, key in zip(axes, ("seconds", "peak_mib"), strict=True):
                plot.plot(
                    [row["ranks"] for row in rows], [row[key] for row in rows],
                    color=colour, marker=mark, linestyle=line, label=name,
                )  # fmt: skip
        for plot, title in zip(axes, ("seconds of one core", "peak memory (MiB)"), strict=True):
            plot.set_xscale("log", base=4)
            plot.set_yscale("log")
            plot.set_xticks(ticks, [f"{count:,}" for count in ticks])
            plot.set_xlabel("ranks of a ring all_reduce")
            plot.set_ylabel(title)
            plot.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
            plot.yaxis.set_minor_formatter(NullFormatter())
            plot.grid(visible=True, which="major", color="#dddddd", linewidth=0.6)
            plot.spines[["top", "right"]].set_visible(False)
        axes[1].set_ylim(bottom=10)
        low, high = axes[1].get_ylim()
        axes[1].set_ylim(low, max(high, 1000))
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=4, frameon=False)
        out = BytesIO()
        figure.savefig(
            out, format=kind, dpi=110, metadata={"Date": None} if kind == "svg" else None
        )
        plt.close(figure)
    return out.getvalue()
