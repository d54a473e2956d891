"""How many channels NCCL gives a call. NCCL 2.30.7 src/enqueue.cc, topoGetAlgoInfo."""

from dataclasses import dataclass
from typing import Final

from collsim.errors import InputError
from collsim.nccl.communicator import Communicator
from collsim.nccl.versions import Release

__all__ = ["Threads", "channel_count", "launched_count"]

# Most threads of a block. NCCL 2.30.7 src/include/device.h, lines 93-114.
_ALL: Final = 640
_SIMPLE: Final = 512
_LL: Final = 512
# Rings that together are no faster than PCIe 3.0 x16 use half. src/graph/topo.h, PCI_BW.
_SLOW: Final = 12.0
_WARP: Final = 32


@dataclass(frozen=True)
class Threads:
    """Threads of a block, and bytes that each must have before another channel is used.

    Parameters
    ----------
    most : int
        Threads (maxThreads); 0 where NCCL sets none.
    bytes_each : int
        Bytes (threadThreshold).
    """

    most: int
    bytes_each: int

    @staticmethod
    def of(comm: Communicator, algorithm: str, protocol: str) -> "Threads":
        """Return those of an algorithm and protocol."""
        return Threads(_most(comm, algorithm, protocol), _bytes(comm, algorithm, protocol))

    def breaks(self, comm: Communicator, algorithm: str) -> list[int]:
        """Return the sizes from which on one channel more is used."""
        if algorithm in {"nvls", "nvls_tree"}:
            return []
        step = self.most * self.bytes_each
        if algorithm == "collnet_direct":
            heads = _heads(comm)
            scales = {self.bytes_each >> k for k in range(8)}
            return [
                n * self.most * heads * each
                for n in range(1, comm.channels + 1)
                for each in scales
            ]
        return [n * step for n in range(2, comm.channels + 1)]


def _most(comm: Communicator, algorithm: str, protocol: str) -> int:
    if algorithm not in {"tree", "ring"}:
        return _ALL if protocol == "simple" and algorithm != "pat" else 0
    if protocol == "ll128":
        return _threads(comm, "NCCL_LL128_NTHREADS", _ALL // 4, _ALL, _ALL)
    if protocol == "ll":
        return _threads(comm, "NCCL_NTHREADS", 2 * _WARP, _LL, _LL)
    ring = comm.graph("ring")
    slow = algorithm == "ring" and ring.bw_intra * ring.channels <= _SLOW
    return _threads(comm, "NCCL_NTHREADS", 2 * _WARP, _SIMPLE, 256 if slow else _SIMPLE)


def _threads(comm: Communicator, variable: str, least: int, most: int, default: int) -> int:
    asked = _whole(comm, variable, -2)
    if asked <= 0:
        return default
    if asked % _WARP or asked > most:
        return most
    return max(asked, least)


def _bytes(comm: Communicator, algorithm: str, protocol: str) -> int:
    each = 64 if protocol == "simple" else 8
    if algorithm == "ring" and protocol == "ll":
        each *= comm.ranks
    if algorithm in {"collnet_direct", "collnet_chain"} and protocol == "simple":
        each = 512
    words = comm.environment.get("NCCL_THREAD_THRESHOLDS", "").split()
    if algorithm in {"tree", "ring"} and words:
        place = 3 * (algorithm == "ring") + ("ll", "ll128", "simple").index(protocol)
        try:
            asked = [int(word) for word in words[:6]]
        except ValueError:
            raise InputError(
                f"NCCL_THREAD_THRESHOLDS={' '.join(words)}: expected up to six whole numbers"
            ) from None
        if place < len(asked) and asked[place] >= 0:
            each = asked[place]
    return each


def _whole(comm: Communicator, variable: str, default: int) -> int:
    text = comm.environment.get(variable)
    if text is None:
        return default
    try:
        return int(text)
    except ValueError:
        raise InputError(f"{variable}={text}: expected a whole number") from None


def _heads(comm: Communicator) -> int:
    return max(comm.graph("collnet_direct").channels, 1)


def channel_count(
    comm: Communicator, release: Release, threads: Threads, algorithm: str, nbytes: int
) -> int:
    """Return the most channels that a call of so many bytes may use."""
    count = comm.channels
    if algorithm in {"nvls", "nvls_tree"}:
        fewer = release.rules.nvls_fewer and comm.nodes > 1 and algorithm == "nvls"
        return min(comm.nvls_channels, count) if fewer else comm.nvls_channels
    if algorithm == "collnet_direct":
        return _collnet_direct(comm, threads, nbytes)
    step = threads.most * threads.bytes_each
    return count if not step else max(1, min(count, nbytes // step))


def _collnet_direct(comm: Communicator, threads: Threads, nbytes: int) -> int:
    """Return channels that shrink to 16, 8, ... as sizes do, ever more reluctantly."""
    count, each, heads = comm.channels, threads.bytes_each, _heads(comm)
    floor = 16
    while floor >= 1:
        short = nbytes < count * threads.most * heads * each
        while short and count > floor:
            if count == floor + floor // 2:
                each //= 2
            count -= 1
            short = nbytes < count * threads.most * heads * each
        if not short:
            break
        floor //= 2
    return count


def launched_count(
    comm: Communicator, release: Release, key: tuple[str, str, str], most: int, nbytes: int
) -> int:
    """Return the channels of a call that is alone. src/enqueue.cc, scheduleCollTasksToPlan."""
    collective, algorithm, protocol = key
    least = release.rules.least_traffic
    over_nodes = comm.nodes > 1 and algorithm == "nvls"
    if not least or algorithm in {"collnet_direct", "collnet_chain"} or over_nodes:
        return most
    gathers = collective in {"all_gather", "reduce_scatter"}
    a_byte = 2 if collective == "all_reduce" else comm.ranks if gathers else 1
    mine = nbytes // comm.ranks if gathers else nbytes
    a_byte *= release.rules.ll_traffic if protocol == "ll" else 1
    traffic = max(least, mine * a_byte)
    share = traffic // most
    per_channel = _up(share, 16) * 16 if release.rules.rounded_traffic else max(least, share)
    size = _up(_up(least, a_byte), 16) * 16
    cells = _up(mine, size)
    if not cells:
        return 1
    each = min(cells, _up(per_channel, size * a_byte))
    limit = comm.nvls_channels if algorithm in {"nvls", "nvls_tree"} else comm.channels
    return max(1, min(limit, _up(cells, each)))


def _up(value: int, by: int) -> int:
    return -(-value // by)
