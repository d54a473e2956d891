"""What the answer rests on: every number of the cluster, where it is from, and the model."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from collsim.config.changes import changed
from collsim.config.document import read_table
from collsim.config.links import SEPARATOR
from collsim.config.presets import is_path, preset_names, preset_path
from collsim.config.spec import SCHEMA
from collsim.core.cluster import Cluster
from collsim.core.link import LinkClass
from collsim.core.profile import Profile
from collsim.report.counts import counts_text
from collsim.report.page.words import size_words
from collsim.units import format_bandwidth, format_time

__all__ = [
    "Fact",
    "cost_facts",
    "error_rows",
    "file_facts",
    "link_facts",
    "model_facts",
    "parameter_rows",
]

# Seconds per byte below which no bandwidth can be written.
_LEAST: Final = 1e-300

# What it is, its value, its kind, and where it is from.
Fact = tuple[str, str, str, str]

_PROVENANCE: Final = ("kind", "source")
# What a profile brings beside links.
_FITTED: Final = ("node.multicast_efficiency", "cost.launch")
_SHARING: Final = {
    "fifo": "fifo: a message holds every link of its way, first come, first served, for "
    "alpha_busy and its bytes",
    "fair": "fair: messages share what they cross, max-min fair; start-ups overlap, and "
    "alpha_busy counts as 0",
}


def link_facts(cluster: Cluster, profile: Profile | None = None) -> list[Fact]:
    """Return every number of every kind of link, with its kind and source.

    With a profile these are the numbers that it gave the links, from least to most.

    Examples
    --------
    >>> link_facts(Cluster.ideal(2, "10us", "900GB/s"))[0]
    ('link alpha, the start-up of a message', '10us', 'assumption', 'given')
    """
    classes = enumerate(cluster.links.classes)
    return [fact for k, link in classes for fact in _link(cluster, k, link, profile)]


def _link(cluster: Cluster, k: int, link: LinkClass, profile: Profile | None) -> Iterator[Fact]:
    apart = _apart(link)
    links = cluster.links
    mine = links.kind == k
    lanes = int(links.lanes[mine].max()) if mine.any() else 1
    each = f" of each of {lanes} lanes" if lanes > 1 else ""
    # One of no lanes is a private link of every pair; several limit nothing.
    unlimited = lanes == 0 and np.count_nonzero(mine) > 1
    for key, what, own, used, write in (
        ("alpha", "alpha, the start-up of a message", link.alpha, links.alpha, format_time),
        ("bandwidth", f"bandwidth, one direction{each}", link.bandwidth,
         1 / np.maximum(links.beta, _LEAST), format_bandwidth),
        ("alpha_busy", "alpha_busy, how much of alpha holds the way", link.busy, links.busy,
         format_time),
    ):  # fmt: skip
        default = (link.kind, link.source or "given")
        if key == "alpha_busy" and link.alpha_busy is None:
            default = ("assumption", "all of alpha, as in the textbook")
        kind, source = apart.get(key, default)
        value = "without limit" if unlimited and key == "bandwidth" else write(own)
        if profile is not None and mine.any() and not unlimited:
            # Where a cable is two links, one to a switch and one from it, one alone has alpha.
            told = used[mine & (used > 0)] if used[mine].any() else used[mine]
            ends = dict.fromkeys(write(float(end(told))) for end in (np.min, np.max))
            value = " to ".join(ends)
            if key != "alpha_busy":
                kind, source = _asked(profile)
        yield f"{link.name} {what}", value, kind, source


def _apart(link: LinkClass) -> dict[str, tuple[str, str]]:
    """Return kind and source of numbers that have their own: ``key (kind): source``."""
    found = {}
    for part in link.source.split(SEPARATOR):
        head, colon, source = part.partition("): ")
        key, bracket, kind = head.partition(" (")
        if colon and bracket and key in {"alpha", "bandwidth", "alpha_busy"}:
            found[key] = (kind, source)
    return found


def file_facts(
    file: str,
    cluster: Cluster,
    changes: Mapping[str, object] | None = None,
    profile: Profile | None = None,
) -> list[Fact]:
    """Return the numbers of a cluster's file beside its links, each with kind and source.

    Parameters
    ----------
    file : str
        A preset's name, or a file; of a name that is no preset, nothing is known.
    cluster : Cluster
        What was made of it; it may have another size.
    changes : dict of str, optional
        What is read in place of the file's values.
    profile : Profile, optional
        What some of its numbers were fitted by.
    """
    if not is_path(file):
        if file not in preset_names("clusters"):
            return []
        file = str(preset_path("clusters", file))
    top = changed(read_table(file, SCHEMA), changes).data
    real: dict[str, object] = {"network.nodes": cluster.nodes, "node.gpus": _gpus(cluster)}
    if profile is not None:
        real["cost.launch"] = format_time(cluster.launch)
    if cluster.in_switch is not None:
        real["node.multicast_efficiency"] = cluster.in_switch.efficiency
    facts: list[Fact] = []
    for name in ("node", "network", "cost"):
        table = top.get(name)
        if not isinstance(table, dict) or (name == "network" and cluster.nodes == 1):
            continue
        for key, value in table.items():
            dotted = f"{name}.{key}"
            if key in _PROVENANCE or (isinstance(value, dict) and "value" not in value):
                # Links are told with all of their numbers.
                continue
            own = value if isinstance(value, dict) else {"value": value}
            told = real.get(dotted, own["value"])
            if dotted in (changes or {}) or told != own["value"]:
                # Sizes are asked for; what else differs from the file is of the profile.
                fitted = profile if dotted in _FITTED else None
                facts.append((dotted, _value(told), *_asked(fitted)))
                continue
            kind, source = (
                str(own.get(where, table.get(where, default)))
                for where, default in (("kind", "assumption"), ("source", "not said"))
            )
            facts.append((dotted, _value(told), kind, source))
    return facts


def _asked(profile: Profile | None) -> tuple[str, str]:
    """Return kind and source of a number that is not that of the cluster's file."""
    return ("given", "asked for") if profile is None else ("fit", f"profile {profile.name}")


def cost_facts(
    cluster: Cluster, facts: Sequence[Fact], profile: Profile | None = None
) -> list[Fact]:
    """Return gamma and launch, where the cluster's file does not tell them.

    Examples
    --------
    >>> cost_facts(Cluster.ideal(2, "1us", "1GB/s", launch="5us"), [])[1]
    ('launch, which every collective pays once', '5us', 'given', 'asked for')
    """
    told = {name for name, *_ in facts}
    found = []
    for key, what, value, text in (
        ("cost.gamma", "gamma, the time per byte reduced", cluster.gamma,
         f"{cluster.gamma * 1e9:g}ns/B"),
        ("cost.launch", "launch, which every collective pays once", cluster.launch,
         format_time(cluster.launch)),
    ):  # fmt: skip
        if key not in told:
            fitted = profile if key == "cost.launch" else None
            default = "assumption", "costs nothing unless it is given"
            found.append((what, text, *(_asked(fitted) if value else default)))
    return found


def _gpus(cluster: Cluster) -> int:
    """Return the GPUs of a node."""
    return int(np.count_nonzero(cluster.node == 0))


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return " ".join(str(part) for part in value)
    return str(value)


def model_facts(
    cluster: Cluster, chunks: tuple[int, ...], channels: tuple[int, ...]
) -> list[tuple[str, str]]:
    """Return what the model takes for granted, and what was tried, in the reader's words."""
    facts = {
        "a message": "of m bytes takes α + mβ on an empty way: the α of all links that it "
        "crosses, and 1/β the bandwidth of the slowest",
        "sharing": _SHARING[cluster.sharing],
        "tried": f"the best of {counts_text(chunks)} chunks and {counts_text(channels)} "
        "channels at every size",
        "lower bound": "no schedule is faster: what the latency of the links or the bytes "
        "through the narrowest cut take, whichever is more",
    }
    if cluster.in_switch is not None:
        part = cluster.in_switch.efficiency
        facts["switches"] = f"add up and multicast at {part:g} of the bandwidth of their links"
    return list(facts.items())


def parameter_rows(profile: Profile) -> list[tuple[str, str, str, str, str]]:
    """Return the fitted numbers of a profile, each with its interval, kind and source."""
    return [
        (
            key,
            _unit(p.value, p.unit),
            "not known" if p.low is None or p.high is None
            else f"{_unit(p.low, p.unit)} to {_unit(p.high, p.unit)}",
            p.kind,
            p.source or (", ".join(profile.sources) if p.kind == "fit" else ""),
        )
        for key, p in profile.parameters.items()
    ]  # fmt: skip


def _unit(value: float, unit: str) -> str:
    if unit == "s/B":
        return f"{value * 1e12:.4g} ps/B"
    if unit == "s":
        return format_time(value)
    return size_words(value) if unit == "B" else f"{value:.4g}"


def error_rows(profile: Profile) -> list[tuple[str, str, str, int]]:
    """Return how far off a profile is: on what was held out, and on what it was fitted to."""
    return [
        (
            "rows it was fitted to" if e.kind == "in_sample" else f"held out: {e.kind}",
            f"{e.median:.1%}",
            f"{e.p90:.1%}",
            e.n,
        )
        for e in profile.errors
    ]
