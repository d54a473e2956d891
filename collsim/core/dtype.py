"""Element types, by the names that nccl-tests uses."""

from typing import Final

from collsim.errors import UnknownNameError

__all__ = ["DTYPES", "element_size"]

# nccl-tests src/common.cu, test_typenames; sizes in bytes.
DTYPES: Final = {
    "int8": 1,
    "uint8": 1,
    "int32": 4,
    "uint32": 4,
    "int64": 8,
    "uint64": 8,
    "half": 2,
    "float": 4,
    "double": 8,
    "bfloat16": 2,
    "f8e4m3": 1,
    "f8e5m2": 1,
}


def element_size(dtype: str) -> int:
    """Return the bytes of one element.

    Raises
    ------
    UnknownNameError
        If nccl-tests has no such type; names the nearest.

    Examples
    --------
    >>> element_size("half")
    2
    """
    if dtype not in DTYPES:
        raise UnknownNameError("dtype", dtype, tuple(DTYPES))
    return DTYPES[dtype]
