"""Where presets lie: clusters, links and profiles that ship with collsim."""

import os.path
from pathlib import Path
from typing import Final

from collsim.core.arguments import checked
from collsim.errors import UnknownNameError

__all__ = ["folder", "is_path", "preset_names", "preset_path"]

# What one preset of each folder is called in an error.
_ROOMS: Final = {"clusters": "cluster", "links": "link", "profiles": "profile"}


def folder() -> Path:
    """Return the folder of the presets.

    Once installed they lie inside the package; in a checkout, at the top of the
    repository, where people look for them.
    """
    package = Path(__file__).resolve().parent.parent
    inside = package / "configs"
    return inside if inside.is_dir() else package.parent / "configs"


@checked
def preset_names(room: str) -> tuple[str, ...]:
    """Return the names of the presets of one room, sorted.

    Parameters
    ----------
    room : str
        ``"clusters"``, ``"links"`` or ``"profiles"``.

    Returns
    -------
    tuple of str
        By the alphabet.

    Raises
    ------
    UnknownNameError
        If there is no such room.

    Examples
    --------
    >>> "dgx-h100" in preset_names("clusters")
    True
    """
    if room not in _ROOMS:
        raise UnknownNameError("kind of preset", room, _ROOMS)
    return tuple(sorted(path.stem for path in (folder() / room).glob("*.toml")))


def preset_path(room: str, name: str) -> Path:
    """Return the file of a preset.

    Raises
    ------
    UnknownNameError
        If there is no preset of that name; names the nearest one, or a file beside.

    Examples
    --------
    >>> preset_path("links", "nvlink4").name
    'nvlink4.toml'
    """
    known = preset_names(room)
    if name not in known:
        raise UnknownNameError(_ROOMS[room], name, known, _file_beside(room, name))
    return folder() / room / f"{name}.toml"


def _file_beside(room: str, name: str) -> str | None:
    """Return what to write for a file whose name was given as if it were a preset's."""
    # Links are named in files of clusters, which take presets only.
    files = () if room == "links" else (f"{name}.toml", name)
    return next((f"./{file}" for file in files if os.path.isfile(file)), None)


def is_path(name: str) -> bool:
    """Return whether a name means a file: it ends in ``.toml`` or has a slash.

    Examples
    --------
    >>> is_path("mine.toml"), is_path("./mine"), is_path("dgx-h100")
    (True, True, False)
    """
    return name.endswith(".toml") or "/" in name
