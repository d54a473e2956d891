"""Which rank this process is, by the environment of whoever started it."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from collsim.errors import InputError, UsageError

__all__ = ["Place", "first_host", "from_environment"]


@dataclass(frozen=True)
class Place:
    """Where a rank is among the others, and where they meet.

    Parameters
    ----------
    rank, ranks : int
        Its number, and how many there are.
    local_rank, local_ranks : int
        The same on its node.
    meeting : str
        Address at which the ranks find each other: ``tcp://host:port`` or ``file:///...``.
    launcher : str
        Who started it: ``torchrun``, ``srun``, ``mpirun`` or ``collsim``.
    """

    rank: int
    ranks: int
    local_rank: int
    local_ranks: int
    meeting: str
    launcher: str

    @property
    def nodes(self) -> int:
        """Number of nodes, if all have equally many ranks."""
        return -(-self.ranks // self.local_ranks)


def from_environment(environment: Mapping[str, str] | None = None) -> Place | None:
    """Return this process's place, or None if nobody started it as one of several ranks.

    Understands torchrun, srun (PMI or not), Open MPI's, MPICH's and Intel MPI's mpirun.

    Raises
    ------
    UsageError
        If the ranks are on several nodes and nothing says where they meet, or only one of
        RANK and WORLD_SIZE is set.
    InputError
        If a variable is no number.

    Examples
    --------
    >>> place = from_environment({"SLURM_STEP_ID": "0", "SLURM_PROCID": "5",
    ...     "SLURM_NTASKS": "8", "SLURM_LOCALID": "1", "SLURM_NTASKS_PER_NODE": "4",
    ...     "SLURM_NODELIST": "n[07-08]", "SLURM_JOB_ID": "123"})
    >>> place.rank, place.ranks, place.nodes, place.meeting
    (5, 8, 2, 'tcp://n07:20123')
    >>> from_environment({}) is None
    True
    """
    env = os.environ if environment is None else environment
    if "RANK" in env and "WORLD_SIZE" in env:
        return _place(env, "torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE")
    # A batch script has SLURM_PROCID too, but only what srun starts has a step.
    if "SLURM_PROCID" in env and ("SLURM_STEP_ID" in env or "SLURM_STEPID" in env):
        return _slurm(env)
    if "OMPI_COMM_WORLD_RANK" in env:
        names = [f"OMPI_COMM_WORLD_{n}" for n in ("RANK", "SIZE", "LOCAL_RANK", "LOCAL_SIZE")]
        return _place(env, "mpirun", *names)
    if "PMI_RANK" in env and "PMI_SIZE" in env:
        return _place(
            env, "mpirun", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"
        )
    for there, other in (("RANK", "WORLD_SIZE"), ("WORLD_SIZE", "RANK")):
        if there in env:
            raise UsageError(
                f"{there} is set and {other} is not, expected both of them, as torchrun sets "
                "them, or none"
            )
    return None


def _slurm(env: Mapping[str, str]) -> Place:
    tasks = "SLURM_STEP_NUM_TASKS" if "SLURM_STEP_NUM_TASKS" in env else "SLURM_NTASKS"
    per_node = env.get("SLURM_STEP_TASKS_PER_NODE") or env.get("SLURM_NTASKS_PER_NODE")
    # "4(x2)" is four on each of two nodes, "4,3" is what it says.
    local = re.match(r"\d+", per_node or "")
    more = {"LOCAL": local[0]} if local else {}
    hosts = env.get("SLURM_STEP_NODELIST") or env.get("SLURM_NODELIST") or ""
    if "MASTER_ADDR" not in env and hosts:
        more["MASTER_ADDR"] = first_host(hosts)
    if "MASTER_PORT" not in env:
        job = re.sub(r"\D", "", env.get("SLURM_JOB_ID", "")) or "0"
        more["MASTER_PORT"] = str(20000 + int(job) % 20000)
    return _place({**env, **more}, "srun", "SLURM_PROCID", tasks, "SLURM_LOCALID", "LOCAL")


def _place(
    env: Mapping[str, str], launcher: str, rank: str, size: str, local: str, local_size: str
) -> Place:
    ranks = _number(env, size, None)
    mine = _number(env, rank, None)
    if not 0 <= mine < ranks:
        raise InputError(f"{rank} is {mine} and {size} is {ranks}, expected a rank below it")
    local_ranks = min(_number(env, local_size, ranks), ranks)
    host = env.get("MASTER_ADDR")
    if host is None:
        if ranks > local_ranks:
            raise UsageError(
                f"{launcher} started {ranks} ranks on several nodes and MASTER_ADDR is not "
                "set, expected the name of rank 0's host in it"
            )
        host = "127.0.0.1"
    port = _number(env, "MASTER_PORT", 29519)
    return Place(
        rank=mine,
        ranks=ranks,
        local_rank=_number(env, local, mine % local_ranks),
        local_ranks=local_ranks,
        meeting=f"tcp://{host}:{port}",
        launcher=launcher,
    )


def _number(env: Mapping[str, str], name: str, default: int | None) -> int:
    text = env.get(name)
    if text is None and default is not None:
        return default
    if text is None:
        raise InputError(f"{name} is not set, expected a whole number, as the launcher sets it")
    if re.fullmatch(r"\d{1,9}", text.strip()) is None:
        raise InputError(f"{name} is {text!r}, expected a whole number")
    return int(text)


def first_host(hosts: str) -> str:
    """Return the first of Slurm's list of hosts.

    Examples
    --------
    >>> first_host("node[007-009,12],other"), first_host("r[1-2]n[3-4]")
    ('node007', 'r1n3')
    """
    found, depth = "", 0
    for character in hosts:
        if character == "," and depth == 0:
            break
        depth += {"[": 1, "]": -1}.get(character, 0)
        found += character
    return re.sub(r"\[(\w+)[^]]*\]", r"\1", found)
