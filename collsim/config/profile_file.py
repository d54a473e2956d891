"""Profiles by the name of one that ships or from a file, and to a file."""

import os

from collsim.config.presets import is_path, preset_path
from collsim.config.profile import dumps, load
from collsim.core.arguments import checked
from collsim.core.profile import Profile
from collsim.files import write_whole

__all__ = ["load_profile", "save_profile"]


@checked
def load_profile(name_or_path: str | os.PathLike[str]) -> Profile:
    """Return a profile that ships with collsim, or read a file.

    Parameters
    ----------
    name_or_path : str or path
        A name, as ``collsim list profiles`` shows them, or a file: what ends in ``.toml`` or
        has a slash.

    Returns
    -------
    Profile
        Its numbers in seconds and bytes, with provenance and errors.

    Raises
    ------
    UnknownNameError
        If none of that name ships.
    FileError
        If the file can't be read.
    ConfigError
        If it is no profile, or of another version of the format.

    Examples
    --------
    >>> profile = load_profile("h100-nvswitch-8")
    >>> profile.cluster, profile.model, profile.max_bytes
    ('dgx-h100', 'nccl', 536870912)
    """
    name = os.fspath(name_or_path)
    return load(name if is_path(name) else str(preset_path("profiles", name)))


@checked
def save_profile(profile: Profile, path: str | os.PathLike[str]) -> None:
    """Write a profile to a TOML file, from which the same profile is read.

    Parameters
    ----------
    profile : Profile
        Such as that of a fit: ``collsim.fit(logs).profile``.
    path : str or path
        Where to; one that is there is replaced, as a whole or not at all.

    Raises
    ------
    FileError
        If it can't be written.

    Examples
    --------
    >>> import tempfile
    >>> found = load_profile("h100-nvswitch-8")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_profile(found, f"{folder}/mine.toml")
    ...     load_profile(f"{folder}/mine.toml") == found
    True
    """
    write_whole(path, dumps(profile))
