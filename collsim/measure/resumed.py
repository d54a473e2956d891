"""What a file that is gone on with holds already, in words."""

from collections.abc import Mapping, Sequence

from collsim.core.measurements_setup import setup_of

__all__ = ["told"]

Rows = Sequence[Mapping[str, object]]


def told(path: str, there: Rows, rows: Rows, done: int) -> list[str]:
    """Return notes on the rows that a file has before anything is measured.

    Parameters
    ----------
    path : str
        The file.
    there : sequence of mapping
        Its rows.
    rows : sequence of mapping
        The points of the job, as they will be written, without times.
    done : int
        How many of them are there already.

    Examples
    --------
    >>> row = {"library": "Gloo", "cores": 2, "host": "a"}
    >>> told("m.jsonl", [row], [row, row], 1)
    ['1 of 2 points is in m.jsonl already and stays as it is: -n, -w, --target and --budget are
    for the others']
    >>> told("m.jsonl", [{**row, "cores": 64}], [row], 0)
    ['1 of 1 rows in m.jsonl are of another library, device, cores or number of ranks per GPU;
    they stay, and are not counted as measured']
    """
    notes = []
    mine = {setup_of(row) for row in rows}
    alike = [row for row in there if setup_of(row) in mine]
    strange = len(there) - len(alike)
    if strange:
        notes.append(
            f"{strange} of {len(there)} rows in {path} are of another library, device, "
            "cores or number of ranks per GPU; they stay, and are not counted as measured"
        )
    here = {row.get("host") for row in rows}
    hosts = {str(row["host"]) for row in alike if row.get("host") is not None} - here
    if hosts:
        notes.append(
            f"rows in {path} were measured on {', '.join(sorted(hosts))}, which is taken for a "
            "machine like this one; name another file if it is not"
        )
    if done:
        stays = "is in {0} already and stays as it is" if done == 1 else (
            "are in {0} already and stay as they are"
        )  # fmt: skip
        notes.append(
            f"{done} of {len(rows)} points {stays.format(path)}: -n, -w, --target and --budget "
            "are for the others"
        )
    return notes
