"""Which rank this is, by what torchrun, srun and mpirun say."""

from __future__ import annotations

import pytest

from collsim.errors import InputError, UsageError
from collsim.measure.place import first_host, from_environment

TORCHRUN = {
    "RANK": "5", "WORLD_SIZE": "8", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "4",
    "MASTER_ADDR": "host1", "MASTER_PORT": "1234",
}  # fmt: skip


def test_torchrun() -> None:
    """All of it is in the environment."""
    place = from_environment(TORCHRUN)
    assert place is not None
    assert (place.rank, place.ranks, place.local_rank, place.local_ranks) == (5, 8, 1, 4)
    assert (place.nodes, place.meeting) == (2, "tcp://host1:1234")
    assert place.launcher == "torchrun"


def test_srun_on_two_nodes() -> None:
    """The first host is where they meet, at a port of the job's own."""
    place = from_environment(
        {
            "SLURM_STEP_ID": "0", "SLURM_PROCID": "3", "SLURM_NTASKS": "4",
            "SLURM_STEP_NUM_TASKS": "4", "SLURM_LOCALID": "1", "SLURM_JOB_ID": "60001",
            "SLURM_STEP_TASKS_PER_NODE": "2(x2)", "SLURM_STEP_NODELIST": "gpu[009-010]",
        }
    )  # fmt: skip
    assert place is not None
    assert (place.rank, place.ranks, place.local_rank, place.local_ranks) == (3, 4, 1, 2)
    assert place.meeting == "tcp://gpu009:20001"


def test_a_batch_script_is_no_rank() -> None:
    """Slurm says SLURM_PROCID=0 there too, but it is no step of srun's."""
    assert from_environment({"SLURM_PROCID": "0", "SLURM_NTASKS": "8"}) is None


@pytest.mark.parametrize(
    "names",
    [
        ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
         "OMPI_COMM_WORLD_LOCAL_SIZE"),
        ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"),
    ],
)  # fmt: skip
def test_mpirun_on_one_node_and_on_several(names: tuple[str, ...]) -> None:
    """On one, this machine is where they meet; on several somebody must say so."""
    one = dict(zip(names, ("1", "2", "1", "2"), strict=True))
    place = from_environment(one)
    assert place is not None
    assert place.meeting == "tcp://127.0.0.1:29519"
    two = dict(zip(names, ("1", "2", "0", "1"), strict=True))
    with pytest.raises(UsageError, match=r"mpirun started 2 ranks .* MASTER_ADDR is not set"):
        from_environment(two)
    place = from_environment(two | {"MASTER_ADDR": "a"})
    assert place is not None
    assert (place.nodes, place.meeting) == (2, "tcp://a:29519")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"RANK": "x"}, "RANK is 'x', expected a whole number"),
        ({"RANK": "8"}, "RANK is 8 and WORLD_SIZE is 8, expected a rank below it"),
        ({"MASTER_PORT": ""}, "MASTER_PORT is '', expected a whole number"),
    ],
)
def test_what_is_no_number_is_named(change: dict[str, str], message: str) -> None:
    """By the variable that holds it."""
    with pytest.raises(InputError, match=message):
        from_environment(TORCHRUN | change)


@pytest.mark.parametrize(
    ("env", "message"),
    [
        ({"RANK": "0"}, "RANK is set and WORLD_SIZE is not"),
        ({"WORLD_SIZE": "2"}, "WORLD_SIZE is set and RANK is not"),
        ({"OMPI_COMM_WORLD_RANK": "0"}, "OMPI_COMM_WORLD_SIZE is not set"),
    ],
)
def test_half_an_environment_says_what_is_missing(env: dict[str, str], message: str) -> None:
    """By the variable that is not set; a job script's WORLD_SIZE does not hinder srun."""
    with pytest.raises((UsageError, InputError), match=message):
        from_environment(env)
    slurm = {"SLURM_STEP_ID": "0", "SLURM_PROCID": "0", "SLURM_NTASKS": "1"}
    place = from_environment(slurm | {"WORLD_SIZE": "1"})
    assert place is not None
    assert place.launcher == "srun"


def test_first_host_of_slurms_lists() -> None:
    """With ranges, several of them, or none."""
    assert first_host("a") == "a"
    assert first_host("a-[1-3,7]-ib,b") == "a-1-ib"
    assert first_host("") == ""
