"""Systems by the name of their GPU, where a log tells that and nothing else.

Channels and speeds are those that NCCL's search finds on the machines that these GPUs are
built into: 12 x 20, 12 x 30 and 16 x 45 GB/s of NVLink 3, 4 and 5 behind NVSwitches, 2 x 12
GB/s of PCIe 4.0 (NCCL 2.30.7 src/graph/search.cc and topo.h).
"""

import re
from typing import Final

from collsim.calibrate.gpu_names import names_joined
from collsim.calibrate.nccl_model.system import System

__all__ = ["preset_named", "system_named"]

_PCIE: Final = System("ampere", 2, 24.0, "pci", uniform=False)
_HOPPER: Final = System("hopper", 12, 360.0, nvls=True)
# Last, the preset of a machine that they are built into: none of A800's slower NVLink. An NVL
# is a PCIe card that a bridge joins to one or three others, behind no NVSwitch.
_KNOWN: Final = (
    (r"\bH[12]00\b.*\bNVL\b", None, None),
    (r"GH200", System("hopper", 12, 360.0), "gh200-slingshot"),
    (r"[ALH]\d+S?\b.*PCI|\bL40S?\b|\bL4\b|\bA40\b|\bA10G?\b|RTX", _PCIE, "pcie-8"),
    (r"\bA100\b", System("ampere", 12, 240.0), "dgx-a100"),
    (r"\bA800\b", System("ampere", 12, 240.0), None),
    (r"\bH100\b", _HOPPER, "dgx-h100"),
    (r"\bH200\b", _HOPPER, "dgx-h200"),
    (r"\bB200\b", System("blackwell", 16, 720.0, nvls=True), "dgx-b200"),
)


def system_named(device: str | None) -> System | None:
    """Return the system of one node that a GPU's name tells, or None.

    Examples
    --------
    >>> system_named("NVIDIA H100 80GB HBM3").architecture, system_named("AMD MI300X")
    ('hopper', None)
    >>> system_named("NVIDIA H100 NVL"), system_named("NVIDIA A100 + NVIDIA H100")
    (None, None)
    """
    return _named(device)[0]


def preset_named(device: str | None) -> str | None:
    """Return the preset whose node is the system that a GPU's name tells, or None.

    Examples
    --------
    >>> preset_named("NVIDIA H100 80GB HBM3"), preset_named("NVIDIA A800-SXM4-80GB")
    ('dgx-h100', None)
    """
    return _named(device)[1]


def _named(device: str | None) -> tuple[System | None, str | None]:
    """Return what a name tells; nothing where the GPUs of one run tell different things."""
    found = {_one_named(name) for name in names_joined(device or "")}
    return found.pop() if len(found) == 1 else (None, None)


def _one_named(device: str) -> tuple[System | None, str | None]:
    for pattern, system, preset in _KNOWN:
        if re.search(pattern, device):
            return system, preset
    return None, None
