"""A baseline: the estimator inside torch's compiler, asked in another process.

It is torch._inductor.comm_analysis, which carries NCCL's constants. It asks the machine that it
runs on for its GPUs; here they are told instead, since the rows are of other machines.
"""

import json
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from collsim.calibrate.validate.bench import TorchSettings
from collsim.core.measurements import Measurement

__all__ = ["NOT_INSTALLED", "TorchTimes", "torch_times"]

NOT_INSTALLED: Final = "torch not installed"
_SECONDS: Final = 300
_KINDS: Final = {
    "all_reduce": "ALL_REDUCE",
    "all_gather": "ALL_GATHER",
    "reduce_scatter": "REDUCE_SCATTER",
    "all_to_all": "ALL_TO_ALL",
}
_PROGRAM: Final = """
import json, sys
try:
    import torch
except ImportError:
    print(json.dumps({"missing": True}))
    sys.exit()
import torch._inductor.comm_analysis as analysis
import torch._inductor.config as config
answer = []
for case in json.load(sys.stdin):
    told = case["settings"]
    config.intra_node_bw, config.inter_node_bw = told["intra"], told["inter"]
    gpu = analysis.NVIDIA_GPU_TYPE[told["gpu"]]
    analysis.get_gpu_type = lambda gpu=gpu: gpu
    analysis._has_nvlink = lambda told=told: told["nvlink"]
    torch.cuda.is_available = lambda: True
    torch.cuda.device_count = lambda told=told: told["gpus_per_node"]
    estimate = analysis.estimate_nccl_collective_runtime_impl
    kinds = analysis.NCCL_COLL
    answer.append([estimate(nbytes, ranks, kinds[k]) for k, ranks, nbytes in case["rows"]])
print(json.dumps({"version": torch.__version__, "milliseconds": answer}))
"""


@dataclass(frozen=True)
class TorchTimes:
    """What torch's estimator says.

    Parameters
    ----------
    version : str or None
        Of torch; None if there is no answer.
    seconds : tuple of array
        Per case, per row; NaN where it has no model.
    reason : str or None
        Why there is no answer.
    """

    version: str | None
    seconds: tuple[NDArray[np.float64], ...]
    reason: str | None = None


def torch_times(
    python: str, cases: Sequence[tuple[TorchSettings, Sequence[Measurement]]]
) -> TorchTimes:
    """Return torch's estimates, from a Python that has torch.

    Parameters
    ----------
    python : str
        Interpreter. It is given sizes and settings, and runs nothing of ours.
    cases : sequence of (TorchSettings, rows)
        What it is told, and what it is asked.

    Examples
    --------
    >>> torch_times("/no/such/python", []).reason
    "/no/such/python can't be run: No such file or directory"
    """
    asked: list[dict[str, Any]] = [
        {
            "settings": asdict(settings),
            "rows": [
                (_KINDS[row.collective], row.ranks, row.nbytes)
                for row in rows
                if row.collective in _KINDS
            ],
        }
        for settings, rows in cases
    ]
    try:
        done = subprocess.run(  # noqa: S603 - the interpreter that the user named
            [python, "-c", _PROGRAM],
            input=json.dumps(asked),
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except OSError as error:
        return TorchTimes(None, (), f"{python} can't be run: {error.strerror}")
    except subprocess.SubprocessError:
        return TorchTimes(None, (), f"torch's estimator took more than {_SECONDS} s")
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no output"])[-1]
        return TorchTimes(None, (), f"torch's estimator failed: {last}")
    answer = json.loads(done.stdout.splitlines()[-1])
    if answer.get("missing"):
        return TorchTimes(None, (), NOT_INSTALLED)
    found = []
    for (_, rows), told in zip(cases, answer["milliseconds"], strict=True):
        left = iter(told)
        times = [next(left) * 1e-3 if row.collective in _KINDS else np.nan for row in rows]
        found.append(np.array(times, float))
    return TorchTimes(answer["version"], tuple(found))
