"""What launchers and NCCL's own log put into the lines of a benchmark."""

import re

__all__ = ["clean"]

# Open MPI's [1,0]<stdout>: also in the middle of a row, when halves were flushed apart.
_MPI = re.compile(r"\[[^\[\]\s]*\d\s*,\s*\d+\]<std(?:out|err|diag)>:?")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
# A host name may be glued to the number before it, so it begins with a letter;
# only a bare address after a blank may begin with a digit.
_INFO = re.compile(
    r"(?:\[\d{4}-\d\d-\d\d[ T][^\]]*\]\s*)?"
    r"(?:(?<!\S)[\d.]+|[A-Za-z][\w.-]*):\d+:\d+ (?:\[\w*\d+\] )?(?:[\d.]+ )?NCCL [A-Z]+"
)
# srun's task number, and the time that kubectl or a wrapper puts first.
_FIRST = re.compile(r"\s*(?:\d+:\s|\[?\d{4}-\d\d-\d\d[T ][\d:.,]+(?:Z|[+-][\d:]+)?\]?\s)")
_TAG = re.compile(r"\[\d+\](?=\s|$)")


def clean(line: str) -> str:
    """Return a line without launcher tags, and without NCCL's message at its end.

    Examples
    --------
    >>> clean("[1,0]<stdout>:  8  2  float  sum  -1[1,0]<stdout>:  85.14  0.00")
    '   8  2  float  sum  -1   85.14  0.00'
    >>> clean("   892.85  300.65  300.65   0node-00:1:1 [0] NCCL INFO AllReduce: 8 Bytes")
    '   892.85  300.65  300.65   0'
    """
    line = line.rstrip("\r\n")
    if "<std" in line:
        line = _MPI.sub(" ", line)
    if "\x1b" in line:
        line = _COLOUR.sub("", line)
    if " NCCL " in line:
        found = _INFO.search(line)
        if found is not None:
            line = line[: found.start()]
            if line.endswith("N/"):  # N/Ahost: the A went with the host's name
                line += "A"
    if "[" in line:
        line = _TAG.sub(" ", line)
    if ":" in line and (found := _FIRST.match(line)) is not None:
        line = line[found.end() :]
    return line
