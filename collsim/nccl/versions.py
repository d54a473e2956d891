"""Which release of NCCL has which numbers and rules, from 2.18 on.

Each entry says what its release changed against the one before, as read from the tagged sources
of NCCL (src/graph/tuning.cc, src/enqueue.cc, src/include/utils.h). Releases between two entries
are the same as the earlier one. All releases in between were compared.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from collsim.core.arguments import checked
from collsim.errors import InputError
from collsim.nccl.constants import NEWEST, Constants, Rows
from collsim.nccl.rules import Rules

__all__ = ["RELEASES", "Release", "release"]

_NUMBER: Final = re.compile(r"v?(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?(?:[-+].*)?", re.ASCII)


@checked
@dataclass(frozen=True)
class Release:
    """A release of NCCL from which on something is different.

    Parameters
    ----------
    number : tuple of int
        Major, minor, patch.
    constants : Constants
        Its numbers.
    rules : Rules
        Its rules.

    Examples
    --------
    >>> release("2.30").name, release("2.29.3").constants.ring_ll128[3]
    ('2.30.7', (34.5, 34.6, 34.5))
    """

    number: tuple[int, int, int]
    constants: Constants
    rules: Rules

    @property
    def name(self) -> str:
        """Number as text."""
        return ".".join(map(str, self.number))


def _row(rows: Rows, index: int, *row: float) -> Rows:
    first, second, third = row
    return (*rows[:index], (first, second, third), *rows[index + 1 :])


def _cell(rows: Rows, **simple: float) -> Rows:
    """Replace the Simple column of some algorithms."""
    order = ("tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat")
    for name, value in simple.items():
        index = order.index(name)
        rows = _row(rows, index, *rows[index][:2], value)
    return rows


def _source(release_: str) -> str:
    return f"NCCL {release_} src/graph/tuning.cc"


def _build() -> tuple[Release, ...]:
    """Return every release at which something changed, newest first."""
    out = [Release((2, 30, 7), NEWEST, Rules())]

    def before(
        *number: int, constants: Mapping[str, object], rules: Mapping[str, object]
    ) -> None:
        """Add the last release before the newest so far, by what was different there."""
        last = out[-1]
        major, minor, patch = number
        told = {"source": _source(f"{major}.{minor}.{patch}"), **constants}
        out.append(
            Release(
                (major, minor, patch),
                replace(last.constants, **told),  # type: ignore[arg-type]
                replace(last.rules, **rules),  # type: ignore[arg-type]
            )
        )

    c = NEWEST
    nvls_tree = _row(c.nvls_tree, 3, 0.0, 96.0, 43.8)
    before(2, 29, 7, constants={"nvls_tree": nvls_tree}, rules={"ll128_mixed": False})
    before(
        2, 29, 3, constants={"ring_ll128": _row(c.ring_ll128, 3, 34.5, 34.6, 34.5)}, rules={}
    )
    before(
        2, 28, 9,
        constants={"ring_ll128": _row(c.ring_ll128, 3, 73.4, 34.6, 73.4)},
        rules={
            "nvls_tree_correction": False,
            "least_traffic": 16 * 1024,
            "rounded_traffic": False,
        },
    )  # fmt: skip
    net = _cell(c.net, nvls_tree=14.0)
    nvls_tree = _row(c.nvls_tree, 3, 0.0, 96.0, 43.1)
    before(2, 28, 7, constants={"net": net, "nvls_tree": nvls_tree}, rules={})
    before(
        2, 28, 3, constants={"ring_ll128": _row(c.ring_ll128, 3, 73.4, 73.4, 73.4)}, rules={}
    )
    before(
        2, 27, 7,
        constants={
            "tree_ll128": _row(c.tree_ll128, 3, 73.4, 73.4, 58.0),
            "tree": _row(c.tree, 3, 77.4, 82.8, 72.0),
            "net": (net := _cell(net, pat=0.0)),
        },
        rules={"nvls": "2.27", "collnet_chain_ranks": 10**9, "nvls_fewer": False},
    )  # fmt: skip
    before(2, 27, 3, constants={}, rules={"ll128_inter": "P2C", "ll128_apart": "PXN"})
    older = {
        "nvls": "2.19",
        "collnet_gather": "2.20",
        "nvls_gather_nodes": 1,
        "ll128_inter": "PXN",
        "ll128_capabilities": (70, 80, 90, 100, 120),
    }
    before(2, 26, 6, constants={}, rules=older)
    before(2, 25, 1, constants={}, rules={"pat_capability": 0, "ll_traffic": 1})
    before(
        2, 24, 3,
        constants={},
        rules={
            "capabilities": (0, 80, 90),
            "ll128_capabilities": (70, 80, 90),
            "nvls_gather_ranks": 10**9,
        },
    )  # fmt: skip
    rules = {
        "ring_stays": "protocol",
        "fp8": False,
        "per_function": False,
        "slow_vendors": ("amd",),
    }
    before(2, 23, 4, constants={"pat": 0.85}, rules=rules)
    base = _cell(c.base, tree=0.0)
    slow = {
        "base": base,
        "nvlink": _cell(c.nvlink, tree=28.0),
        "pci": _cell(c.pci, tree=28.0),
        "net": _cell(net, tree=28.0),
    }
    rules = {
        "gathers": ("collnet_direct", "nvls"),
        "gather_ratio": ("nvls",),
        "ring_ll128_alone": 0.7,
        "exposed_net": False,
        "net_steps": 2,
        "collnet_direct_ranks": 10**9,
        "least_traffic": 0,
    }
    before(2, 22, 3, constants=slow, rules=rules)
    rules = {
        "ring_stays": "spare",
        "nvls_gather_any": False,
        "small_tree": True,
    }
    before(2, 21, 5, constants={}, rules=rules)
    nvls = _cell(_cell(c.nvlink, tree=28.0), nvls=23.0, nvls_tree=23.0)
    before(
        2, 20, 5,
        constants={"nvlink": nvls, "ll_most": _row(c.ll_most, 2, 87.7, 22.5, 19.0)},
        rules={"half_ring_ll": False},
    )  # fmt: skip
    before(
        2, 19, 4,
        constants={},
        rules={"gathers": ("nvls",), "collnet_gather": "", "nvls_gather_any": True},
    )  # fmt: skip
    collnet = _row(_row(base, 2, 6.8, 14.0, 0.0), 3, 6.8, 14.0, 0.0)
    quick = {
        "base": _cell(collnet, nvls=23.0, nvls_tree=23.0),
        "nvlink": _cell(c.nvlink, collnet_direct=8.0, collnet_chain=4.75, nvls=0, nvls_tree=0),
        "pci": _cell(c.pci, tree=6.0, collnet_direct=8.0, collnet_chain=8.0),
        "net": _cell(c.net, collnet_direct=10.7, collnet_chain=14.0, nvls_tree=19.0),
        "collnet_arity": 0.5,
    }
    rules = {
        "nvls": "2.18",
        "gathers": (),
        "old_nvls_latency": True,
        "ring_stays": "always",
        "nvls_gather_any": False,
    }
    before(2, 18, 6, constants=quick, rules=rules)
    first = {
        "nvlink": _cell(out[-1].constants.nvlink, tree=28.0),
        "pci": _cell(out[-1].constants.pci, tree=28.0),
        "net": _cell(out[-1].constants.net, tree=28.0),
        "tree": _row(c.tree, 2, 38.7, 41.4, 33.0),
        "tree_ll128": _row(c.tree_ll128, 2, 36.7, 36.7, 36.7),
    }
    rules = {"nvls": "2.18.1", "pattern_tree": 1.0, "ll128_intra": "NVL"}
    before(2, 18, 1, constants=first, rules=rules)
    return tuple(out)


RELEASES: Final = _build()


@checked
@cache
def release(version: str) -> Release:
    """Return what holds in a release of NCCL.

    Parameters
    ----------
    version : str
        ``"2.30"`` for the last of its kind, ``"2.29.3"``, ``"2.30.7+cuda13.0"``. What is newer
        than the newest known is taken to be like it.

    Returns
    -------
    Release
        The name of the release that it is taken for, and its rules and constants.

    Raises
    ------
    InputError
        If it is no version, or older than 2.18.

    Examples
    --------
    >>> release("2.27.5+cuda12.9").name
    '2.27.7'
    """
    match = _NUMBER.fullmatch(version.strip())
    if not match:
        newest = RELEASES[0].name
        raise InputError(
            f"NCCL version {version!r}: expected one such as {newest!r}, the newest known"
        )
    major, minor = int(match[1]), int(match[2])
    wanted = (major, minor, 10**6 if match[3] is None else int(match[3]))
    started = _starts()
    for start, entry in started:
        if wanted >= start:
            return entry
    raise InputError(f"NCCL version {version!r}: the cost model is known from 2.18 on")


def _starts() -> list[tuple[tuple[int, int, int], Release]]:
    """Return for every entry the release from which on it holds, newest first."""
    first = {
        (2, 30, 7): (2, 30, 0),
        (2, 29, 7): (2, 29, 7),
        (2, 29, 3): (2, 29, 0),
        (2, 28, 9): (2, 28, 9),
        (2, 28, 7): (2, 28, 7),
        (2, 28, 3): (2, 28, 0),
        (2, 27, 7): (2, 27, 5),
        (2, 27, 3): (2, 27, 0),
        (2, 26, 6): (2, 26, 0),
        (2, 25, 1): (2, 25, 0),
        (2, 24, 3): (2, 24, 0),
        (2, 23, 4): (2, 23, 0),
        (2, 22, 3): (2, 22, 0),
        (2, 21, 5): (2, 21, 0),
        (2, 20, 5): (2, 20, 0),
        (2, 19, 4): (2, 19, 0),
        (2, 18, 6): (2, 18, 3),
        (2, 18, 1): (2, 18, 0),
    }
    return [(first[entry.number], entry) for entry in RELEASES]
