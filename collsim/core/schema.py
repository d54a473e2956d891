"""Versions of our own file formats: what is said of a file of another one."""

from collsim.version import __version__

__all__ = ["expected_schema"]


def expected_schema(schema: str, got: object) -> str:
    """Return what an error says was expected where a file names another schema.

    Parameters
    ----------
    schema : str
        The schema that is read, such as ``"collsim/cluster/1"``: family and version.
    got : object
        What the file says.

    Returns
    -------
    str
        The schema, and of a file of the same family and another version which release of
        collsim it was that reads no other.

    Examples
    --------
    >>> expected_schema("collsim/cluster/1", "collsim/profile/1")
    "'collsim/cluster/1'"
    >>> expected_schema("collsim/cluster/1", "collsim/cluster/2")
    "'collsim/cluster/1', the version that this collsim 0.1.0 reads"
    """
    family, _, _ = schema.rpartition("/")
    if isinstance(got, str) and got.startswith(f"{family}/"):
        return f"{schema!r}, the version that this collsim {__version__} reads"
    return repr(schema)
