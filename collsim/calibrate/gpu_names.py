"""GPUs by the names of devices, clusters and profiles."""

import re
from typing import Final

__all__ = ["gpus_named"]

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
