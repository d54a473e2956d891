"""GPUs by the names of devices, clusters and profiles."""

import re
from collections.abc import Iterable
from typing import Final

__all__ = ["gpus_named", "joined_names", "names_joined"]

_AND: Final = " + "
_MOST_JOINED: Final = 4

_GPU: Final = re.compile(r"(?<![a-z])(?:g[bh]|[abhlv]|mi)\d{2,3}[ax]?(?!\d)")


def gpus_named(text: str) -> set[str]:
    """Return the GPUs that a name tells; none if it tells no model.

    Examples
    --------
    >>> gpus_named("NVIDIA H100 80GB HBM3"), gpus_named("AMD Instinct MI300X")
    ({'h100'}, {'mi300x'})
    >>> gpus_named("dgx-h100"), gpus_named("pcie-8")
    ({'h100'}, set())
    """
    return set(_GPU.findall(text.lower()))


def joined_names(names: Iterable[str]) -> str | None:
    """Return the devices of one run as one name, each once; None if there is none.

    Examples
    --------
    >>> joined_names(["NVIDIA H100", "NVIDIA A100", "NVIDIA H100"]), joined_names([""])
    ('NVIDIA A100 + NVIDIA H100', None)
    """
    found = sorted(set(names) - {""})
    if len(found) > _MOST_JOINED:
        found = [*found[:_MOST_JOINED], f"{len(found) - _MOST_JOINED} more"]
    return _AND.join(found) or None


def names_joined(device: str) -> list[str]:
    """Return the devices that a name of `joined_names` tells.

    Examples
    --------
    >>> names_joined("NVIDIA A100 + NVIDIA H100"), names_joined("NVIDIA H100")
    (['NVIDIA A100', 'NVIDIA H100'], ['NVIDIA H100'])
    """
    return device.split(_AND)
