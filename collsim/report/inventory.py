"""What there is: rows of the algorithms, collectives, clusters, links and profiles."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypedDict

from collsim.algorithms import algorithm_names, find
from collsim.config.cluster import find_spec
from collsim.config.links import preset_link
from collsim.config.presets import preset_names
from collsim.config.profile_file import load_profile
from collsim.config.values import FAMILIES
from collsim.core.cluster import Cluster
from collsim.core.collective import COLLECTIVES, Collective, collective
from collsim.core.link import LinkClass
from collsim.core.profile import Profile
from collsim.errors import UnknownNameError
from collsim.units import format_bandwidth, format_time

__all__ = [
    "KINDS",
    "LinkValues",
    "algorithm_rows",
    "cluster_rows",
    "collective_rows",
    "inventory",
    "inventory_text",
    "link_rows",
    "link_values",
    "plain",
    "shipped_profiles",
]

Row = dict[str, object]


def algorithm_rows(collective_name: str | None = None) -> list[Row]:
    """Return a row for every algorithm, of one collective or of all.

    Examples
    --------
    >>> row = algorithm_rows("allreduce")[0]
    >>> row["algorithm"], row["formula"], row["chunked"]
    ('mst', '2⌈log P⌉(α + nβ) + ⌈log P⌉nγ', False)
    """
    kinds = COLLECTIVES if collective_name is None else (collective(collective_name).name,)
    rows = []
    for kind in kinds:
        for name in algorithm_names(kind):
            algorithm = find(kind, name)
            rows.append(
                {
                    "collective": kind,
                    "algorithm": name,
                    "formula": algorithm.formula,
                    "chunked": algorithm.chunked,
                    "options": {
                        key: {"default": option.default, "meaning": option.meaning}
                        for key, option in algorithm.options.items()
                    },
                    "paper": algorithm.paper,
                    "summary": algorithm.summary,
                }
            )
    return rows


def collective_rows() -> list[Row]:
    """Return a row for every collective.

    Examples
    --------
    >>> row = collective_rows()[0]
    >>> row["collective"], row["rooted"], row["busbw_factor"], row["size"]
    ('broadcast', True, '1', "one rank's array")
    """
    return [
        {
            "collective": name,
            "rooted": kind.rooted,
            "reduces": kind.reduces,
            "size": _size(kind),
            "busbw_factor": _bus_factor(kind),
            "algorithms": list(algorithm_names(name)),
        }
        for name, kind in ((name, collective(name)) for name in COLLECTIVES)
    ]


def _size(kind: Collective) -> str:
    # all_reduce's array is cut into shares, but each rank has the whole of it.
    one = kind.split == 0 or kind.name == "all_reduce"
    return "one rank's array" if one else "the data of all ranks together"


def _bus_factor(kind: Collective) -> str:
    """Spell the factor; asked of the collective itself, so that it can't differ."""
    spelled: dict[str, Callable[[int], float]] = {
        "1": lambda p: 1.0,
        "(P-1)/P": lambda p: (p - 1) / p,
        "2(P-1)/P": lambda p: 2 * (p - 1) / p,
    }
    for text, factor in spelled.items():
        if all(abs(kind.bus_factor(p) - factor(p)) < 1e-12 for p in (2, 3, 8)):
            return text
    return f"{kind.bus_factor(8):g} at P = 8"


def cluster_rows() -> list[Row]:
    """Return a row for every preset cluster.

    Examples
    --------
    >>> [(row["cluster"], row["ranks"]) for row in cluster_rows()][:2]
    [('dgx-a100', 8), ('dgx-a100-roce100', 8)]
    """
    rows = []
    for name in preset_names("clusters"):
        cluster, spec = Cluster.load(name), find_spec(name)
        network = spec.network.values.values() if spec.network is not None else ()
        classes = [v for v in (*spec.values.values(), *network) if isinstance(v, LinkClass)]
        rows.append(
            {
                "cluster": name,
                "ranks": cluster.ranks,
                "nodes": cluster.nodes,
                "more_nodes": spec.network is not None,
                "links": [link.name for link in classes],
                "shape": cluster.shape,
                "summary": spec.summary,
            }
        )
    return rows


def link_rows() -> list[Row]:
    """Return a row for every preset link: from a GPU's memory outwards, the fastest first.

    Examples
    --------
    >>> row = link_rows()[0]
    >>> row["family"], row["link"], row["bandwidth"]
    ('HBM', 'hbm3e', 2400.0)
    """
    specs = [preset_link(name) for name in preset_names("links")]
    specs.sort(key=lambda s: (FAMILIES.index(s.family), -s.link.bandwidth, s.name))
    return [
        {
            "family": spec.family,
            **link_values(spec.link),
            "sources": {
                key: {"source": number.source, "kind": number.kind}
                for key, number in spec.numbers.items()
            },
            "summary": spec.summary,
        }
        for spec in specs
    ]


class LinkValues(TypedDict):
    """A link class: microseconds, and GB/s in one direction."""

    link: str
    alpha_us: float
    bandwidth: float
    alpha_busy_us: float
    kind: str
    source: str


def link_values(link: LinkClass) -> LinkValues:
    """Return a link class as a row: microseconds, and GB/s in one direction."""
    return {
        "link": link.name,
        "alpha_us": plain(link.alpha * 1e6),
        "bandwidth": plain(link.bandwidth / 1e9),
        "alpha_busy_us": plain(link.busy * 1e6),
        "kind": link.kind,
        "source": link.source,
    }


def plain(value: float) -> float:
    """Return a number without the dust that a change of units leaves behind.

    Examples
    --------
    >>> plain(2.3e-06 * 1e6)
    2.3
    """
    return float(f"{value:.12g}")


def shipped_profiles() -> list[Profile]:
    """Return the profiles that ship with collsim, by the alphabet.

    Examples
    --------
    >>> shipped_profiles()[0].name
    'a100-nvswitch-8'
    """
    return [load_profile(name) for name in preset_names("profiles")]


def _profile_rows() -> list[Row]:
    """Return a row for every profile that ships with collsim."""
    return [
        {
            "profile": profile.name,
            "cluster": profile.cluster,
            "model": profile.model,
            # Fitted times of NCCL are of whatever it chooses.
            "algorithm": None if profile.model == "nccl" else profile.algorithm,
            "collectives": list(profile.collectives),
            "ranks": list(profile.ranks),
            "nodes": list(profile.nodes),
            "busbw": _most_busbw(profile),
            "library": profile.library,
        }
        for profile in shipped_profiles()
    ]


def _most_busbw(profile: Profile) -> float | None:
    """Return the fit's bus bandwidth, GB/s, on all its ranks at its largest size.

    Of all_reduce if it was fitted to that; None where a profile holds no times of NCCL.
    """
    from collsim.calibrate.nccl_model import fitted_of  # slow to import, and for profiles only

    if profile.model != "nccl" or not profile.max_bytes or not profile.collectives:
        return None
    known = profile.collectives
    kind = "all_reduce" if "all_reduce" in known else known[0]
    ranks, nodes = max(profile.ranks), max(profile.nodes, default=1)
    seconds = fitted_of(profile).seconds(kind, ranks, nodes, profile.max_bytes)
    return collective(kind).bus_factor(ranks) * profile.max_bytes / seconds / 1e9


KINDS: Final[Mapping[str, Callable[[], list[Row]]]] = {
    "algorithms": algorithm_rows,
    "clusters": cluster_rows,
    "links": link_rows,
    "profiles": _profile_rows,
    "collectives": collective_rows,
}


def inventory(kind: str) -> list[Row]:
    """Return the rows of ``collsim list KIND``.

    Raises
    ------
    UnknownNameError
        If there is nothing of that kind to list.
    """
    if kind not in KINDS:
        raise UnknownNameError("list", kind, KINDS)
    return KINDS[kind]()


_COLUMNS: Final = {
    "algorithms": ("collective", "algorithm", "options", "formula", "chunked", "summary"),
    "clusters": ("cluster", "ranks", "shape", "links", "summary"),
    "links": ("family", "link", "bandwidth", "alpha", "alpha_busy", "kind", "source"),
    "profiles": (
        "profile",
        "cluster",
        "model",
        "collectives",
        "ranks",
        "nodes",
        "busbw",
        "library",
    ),
    "collectives": ("collective", "rooted", "reduces", "busbw_factor", "size", "algorithms"),
}


def inventory_text(kind: str, rows: Sequence[Row]) -> str:
    """Return the rows of one kind as a table for the reader.

    Examples
    --------
    >>> print(inventory_text("clusters", []))
    no clusters
    """
    if not rows:
        return f"no {kind}"
    if kind == "links":
        rows = [_with_units(row) for row in rows]
    if kind == "profiles":
        rows = [{**row, "busbw": _rate(row["busbw"])} for row in rows]
    if kind == "algorithms" and not any(row["options"] for row in rows):
        return _text_table(rows, [name for name in _COLUMNS[kind] if name != "options"])
    return _text_table(rows, _COLUMNS[kind])


def _rate(value: object) -> str | None:
    """Return GB/s as text of three digits."""
    return None if value is None else format_bandwidth(float(f"{float(str(value)):.3g}") * 1e9)


def _with_units(row: Row) -> Row:
    """Return a row of a link with its numbers as text."""
    number = {key: float(str(row[key])) for key in ("bandwidth", "alpha_us", "alpha_busy_us")}
    return {
        **row,
        "bandwidth": format_bandwidth(number["bandwidth"] * 1e9),
        "alpha": format_time(number["alpha_us"] * 1e-6),
        "alpha_busy": format_time(number["alpha_busy_us"] * 1e-6),
    }


def _text_table(rows: Sequence[Row], columns: Sequence[str]) -> str:
    """Return rows as columns of text, the last one unpadded.

    Examples
    --------
    >>> print(_text_table([{"name": "ring", "chunked": False}], ["name", "chunked"]))
    name  chunked
    ring  no
    """
    cells = [[_cell(row[column]) for column in columns] for row in rows]
    lines = [[column.replace("_", " ") for column in columns], *cells]
    widths = [max(len(line[i]) for line in lines) for i in range(len(columns))]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return " ".join(str(part) for part in value)
    if isinstance(value, dict):
        return ",".join(f"{key}={option['default']}" for key, option in value.items())
    return "" if value is None else str(value)
