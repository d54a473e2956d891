"""What the XML parser of the runtime stumbles over, of a file that is XML.

It reads character by character: one blank between attributes, double quotes, elements and
comments alone. See src/graph/xml.cc of NCCL, which MSCCL took over.
"""

import re
from collections.abc import Iterator
from typing import Final

__all__ = ["text_limits"]

# From src/graph/xml.h.
_ATTRIBUTES: Final = 16
_CHARACTERS: Final = 255

_TAG: Final = re.compile(r"<(/?)([^\s/>]+)((?:[^>\"']|\"[^\"]*\"|'[^']*')*)>")
_VALUE: Final = re.compile(r"=\s*(\"[^\"]*\"|'[^']*')")
_COMMENT: Final = re.compile(r"<!--.*?-->", re.DOTALL)
_CDATA: Final = re.compile(r"<!\[CDATA\[.*?\]\]>", re.DOTALL)
_INSTRUCTION: Final = re.compile(r"<\?.*?\?>", re.DOTALL)
_DECLARATION: Final = re.compile(r"\s*<\?xml\s.*?\?>", re.DOTALL)


def text_limits(data: bytes) -> list[str]:
    """Return what the runtime's own XML parser stumbles over.

    Examples
    --------
    >>> text_limits(b'<?xml version="1.0"?><algo/>')
    ['XML: an XML declaration, which its parser takes for an element']
    >>> text_limits(b"<algo name='a'/>")
    ['XML: single quotes, where its parser reads on to a double one']
    """
    if b"\x00" in data:
        return ["XML: UTF-16, of which its parser knows nothing"]
    return [f"XML: {text}" for text in dict.fromkeys(_limits(data.decode("latin-1")))]


def _limits(text: str) -> Iterator[str]:
    if text.startswith("\xef\xbb\xbf"):
        yield "a byte order mark before the first element"
        text = text[3:]
    text = _COMMENT.sub("", text)
    declared = _DECLARATION.match(text)
    if declared is not None:
        yield "an XML declaration, which its parser takes for an element"
        text = text[declared.end() :]
    if "\t" in text:
        yield "tabs, which its parser does not take for blanks"
    for pattern, name in ((_CDATA, "CDATA"), (_INSTRUCTION, "a processing instruction")):
        if pattern.search(text):
            yield f"{name}, which its parser takes for an element"
            text = pattern.sub("", text)
    if _TAG.sub("", text).strip():
        yield "text between elements"
    for tag in _TAG.finditer(text):
        yield from _tag(*tag.groups())


def _tag(closes: str, name: str, rest: str) -> Iterator[str]:
    """Yield what is wrong with a tag, in the words of :func:`text_limits`."""
    if closes:
        if rest:
            yield f"a blank in a closing tag (</{name} >)"
        return
    values = [value[1:-1] for value in _VALUE.findall(rest)]
    if re.search(r"=\s*'", rest):
        yield "single quotes, where its parser reads on to a double one"
    bare = _VALUE.sub("=", rest)
    if "\n" in bare or "\r" in bare:
        yield "a line end inside of a tag, where its parser expects a blank"
    if re.search(r"\s=", bare) or re.search(r"=\s+[\"']", rest):
        yield "a blank beside an equals sign"
    if any("&" in value for value in values):
        yield "references such as &#115;, which its parser does not resolve"
    if len(values) > _ATTRIBUTES:
        yield f"more than {_ATTRIBUTES} attributes of an element, of which it reads no more"
    if any(len(value) > _CHARACTERS for value in values):
        yield f"values of more than {_CHARACTERS} characters, for which it has no room"
