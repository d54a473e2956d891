"""Numbers that the files leave out, each with its source."""

import re
from typing import Final

from collsim.config.links import Number

__all__ = [
    "GPUS",
    "MEMORY",
    "NET_ALPHA",
    "NVLINK_ALPHA",
    "NVLINK_MOST",
    "PCIE_ALPHA",
    "between_cpus",
    "nvlink",
    "nvlink_name",
    "pcie",
    "pcie_speed",
]

_TUNING: Final = "NCCL 2.30.7 src/graph/tuning.cc: hwLat of {}, Ring, Simple"
_TOPO: Final = "NCCL 2.30.7 src/graph/topo.h: {}"

NVLINK_ALPHA: Final = Number(3.4e-6, _TUNING.format("NVLINK"), "assumption")
PCIE_ALPHA: Final = Number(5.7e-6, _TUNING.format("PCI"), "assumption")
NET_ALPHA: Final = Number(14e-6, _TUNING.format("NET"), "assumption")

# Ranks that share a GPU.
MEMORY: Final = Number(5e12, _TOPO.format("LOC_BW"), "assumption")

# What the PCI ids of NVIDIA's GPUs mean where that tells more than the file does.
GPUS: Final = {
    "0x1db1": "V100 SXM2 16GB",
    "0x1db5": "V100 SXM2 32GB",
    "0x1db4": "V100 PCIe 16GB",
    "0x1db6": "V100 PCIe 32GB",
    "0x20b0": "A100 SXM4 40GB",
    "0x20b2": "A100 SXM4 80GB",
    "0x20b5": "A100 PCIe 80GB",
    "0x20f1": "A100 PCIe 40GB",
    "0x2330": "H100 SXM5",
    "0x2331": "H100 PCIe",
    "0x2335": "H200 SXM",
    "0x2901": "B200 SXM",
}

# (least sm, generation, GB/s of one link one way, links of a GPU, source)
_NVLINKS: Final = (
    (100, "nvlink5", 50.0, 18, "NVIDIA B200 datasheet: 18 links, 1.8 TB/s both ways together"),
    (90, "nvlink4", 25.0, 18, "NVIDIA H100 whitepaper: 18 links of 25 GB/s each way"),
    (86, "nvlink3", 14.0625, 4, "NVIDIA A40 datasheet: 4 links, 112.5 GB/s both ways together"),
    (80, "nvlink3", 25.0, 12, "NVIDIA A100 whitepaper: 12 links of 25 GB/s each way"),
    (70, "nvlink2", 25.0, 6, "NVIDIA V100 whitepaper: 6 links of 25 GB/s each way"),
    (60, "nvlink1", 20.0, 4, "NVIDIA P100 whitepaper: 4 links of 20 GB/s each way"),
)
# No GPU of any generation has more links.
NVLINK_MOST: Final = 18

# GT/s of a lane: generation, and the share of bits that are data.
_PCIE: Final = {
    2.5: (1, 0.8),
    5.0: (2, 0.8),
    8.0: (3, 128 / 130),
    16.0: (4, 128 / 130),
    32.0: (5, 128 / 130),
    64.0: (6, 242 / 256),
}
_SPEED: Final = re.compile(r"(\d{1,3}(?:\.\d{1,3})?)\s*GT/s\b.*", re.ASCII | re.DOTALL)


def nvlink(sm: int | None, links: int) -> Number:
    """Return the bandwidth of so many NVLinks one way, by compute capability.

    Examples
    --------
    >>> nvlink(90, 18).value
    450000000000.0
    >>> nvlink(None, 2).kind
    'assumption'
    """
    many = f"{links} NVLink{'s' * (links != 1)}"
    for least, _, rate, _, source in _NVLINKS:
        if sm is not None and sm >= least:
            return Number(links * rate * 1e9, f"{many} of sm {sm}; {source}", "datasheet")
    source = "25 GB/s each way, as of NVLink 2 to 4 (NVLink 1 has 20, NVLink 5 has 50)"
    return Number(links * 25e9, f"{many} of {source}", "assumption")


def nvlink_name(sm: int | None, links: int) -> str:
    """Return the name of a bundle of links: ``nvlink4`` for all that a GPU has.

    Examples
    --------
    >>> nvlink_name(90, 18), nvlink_name(70, 2), nvlink_name(None, 12)
    ('nvlink4', 'nvlink2x2', 'nvlinkx12')
    """
    for least, name, _, most, _ in _NVLINKS:
        if sm is not None and sm >= least:
            return name if links == most else f"{name}x{links}"
    return f"nvlinkx{links}"


def pcie_speed(text: str) -> float | None:
    """Return GT/s of a lane from ``32.0 GT/s PCIe``, None if it says none that there is.

    Examples
    --------
    >>> pcie_speed("32.0 GT/s PCIe"), pcie_speed("8 GT/s"), pcie_speed("")
    (32.0, 8.0, None)
    """
    found = _SPEED.fullmatch(text.strip())
    speed = float(found[1]) if found else None
    return speed if speed in _PCIE else None


def pcie(speed: float, width: int, assumed: str = "") -> tuple[str, Number]:
    """Return the name and the bandwidth of a PCIe link one way.

    Parameters
    ----------
    speed : float
        GT/s of a lane, one that :func:`pcie_speed` returns.
    width : int
        Lanes.
    assumed : str
        What of the two is assumed, and why; empty if both were read.

    Examples
    --------
    >>> name, bandwidth = pcie(32.0, 16)
    >>> name, round(bandwidth.value / 1e9, 2)
    ('pcie5', 63.02)
    >>> pcie(2.5, 1)[0]
    'pcie1x1'
    """
    generation, data = _PCIE[speed]
    name = f"pcie{generation}" if width == 16 else f"pcie{generation}x{width}"
    rate = width * speed * data / 8 * 1e9
    source = f"{width} lane{'s' * (width != 1)} of {speed:g} GT/s less line coding"
    if assumed:
        return name, Number(rate, f"{source}; {assumed}", "assumption")
    return name, Number(rate, source, "datasheet")


def between_cpus(vendor: str, arch: str, family: int, model: int) -> Number:
    """Return what NCCL takes two CPUs of a host to exchange, one way.

    Examples
    --------
    >>> between_cpus("GenuineIntel", "x86_64", 6, 143).value
    22000000000.0
    """
    rate, which = _cpus(vendor, arch, family, model)
    return Number(rate * 1e9, _TOPO.format(which), "assumption")


def _cpus(vendor: str, arch: str, family: int, model: int) -> tuple[float, str]:
    if vendor == "GenuineIntel" and family == 6:
        for least, rate, which in (
            (0xCF, 40.0, "ERP_QPI_BW"),
            (0x8F, 22.0, "SRP_QPI_BW"),
            (0x55, 10.0, "SKL_QPI_BW"),
        ):
            if model >= least:
                return rate, which
    if vendor == "AuthenticAMD":
        return 16.0, "AMD_BW"
    if arch == "ppc64":
        return 32.0, "P9_BW"
    if arch == "arm64":
        return 6.0, "ARM_BW"
    return 6.0, "BDW_QPI_BW"
