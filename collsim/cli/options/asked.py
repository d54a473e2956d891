"""What options tell of a run, as commands get it from click: by keyword, each of its type."""

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from collsim.calibrate.formula import Chunks
    from collsim.choose.curve import Counts, Model

__all__ = [
    "AskedElement",
    "AskedFit",
    "AskedFolded",
    "AskedModel",
    "AskedPicture",
    "AskedPrediction",
    "AskedRoot",
    "AskedRun",
    "AskedSimulation",
    "AskedWhatIf",
]


class AskedRoot(TypedDict):
    """--root and --chunks."""

    root: int
    chunks: "Counts"


class AskedModel(AskedRoot):
    """And --model."""

    model: "Model"


class AskedRun(AskedModel):
    """And --channels: all of `run_options`."""

    channels: "Counts"


class AskedFolded(AskedRun):
    """And --fold."""

    fold: bool


class AskedPrediction(AskedFolded):
    """And --dtype and --op."""

    dtype: str
    op: str


class AskedPicture(AskedRoot):
    """What a picture of one run takes: --algorithm and --channels."""

    algorithm: str
    channels: "Counts"


class AskedSimulation(AskedPicture):
    """What one run takes in all."""

    fold: bool
    dtype: str
    op: str


class AskedElement(TypedDict):
    """--dtype, --op and --root of what is measured."""

    dtype: str
    op: str
    root: int


class AskedFit(TypedDict):
    """How rows are fitted."""

    model: str
    algorithm: str
    chunks: "Chunks"
    hold_out: str
    nodes: int | None


class AskedWhatIf(TypedDict):
    """What is changed of a cluster, or wrong with it."""

    sharing: str | None
    order: tuple[int, ...] | str | None
    changes: tuple[str, ...]
    degrade: tuple[tuple[str, float], ...]
    fail: tuple[str, ...]
    delay: tuple[tuple[str, float], ...]
