"""Attributes that elements of an MSCCL file must have."""

from collsim.errors import nearest
from collsim.xml_file import Element

__all__ = ["flag_of", "one_of", "text_of", "whole_of"]


def text_of(node: Element, name: str) -> str:
    """Return an attribute that must be there; FileError with the nearest name."""
    if name not in node.attributes:
        close = nearest(name, node.attributes)
        hint = f"; did you mean {close!r} by it?" if close else ""
        raise node.wrong(f"has no {name}, expected one{hint}")
    return node.text(name)


def whole_of(node: Element, name: str, low: int, high: int) -> int:
    """Return a whole number that must be there and in range."""
    text_of(node, name)
    value = node.whole(name, low, high)
    if value is None:
        raise node.refuse(name, f"a whole number from {low} to {high}")
    return value


def flag_of(node: Element, name: str) -> bool:
    """Return a flag that must be there, 0 or 1."""
    return whole_of(node, name, 0, 1) == 1


def one_of(node: Element, name: str, known: tuple[str, ...]) -> str:
    """Return a word that must be there and known."""
    value = text_of(node, name)
    if value not in known:
        raise node.refuse(name, f"one of {', '.join(known)}")
    return value
