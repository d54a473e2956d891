"""Damage that files take: lines moved, characters, numbers and words changed, bytes of others.

Every damage takes a source of chance and the bytes of a file, and returns other bytes.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from robustness import trees

Damage = Callable[[random.Random, bytes], bytes]

NUMBER = re.compile(rb"\d+(?:\.\d+)?(?:[eE][+-]?\d{1,2})?")
NUMBERS = (
    *(b"0", b"-1", b"1", b"2", b"3", b"7", b"0.5", b"1e9", b"1e-9", b"1e400", b"-1e400"),
    *(b"nan", b"inf", b"-inf", b"1e-320", b"2147483648", b"9223372036854775808", b"1e308"),
    *(b"9" * 400, b"0x10", b"1_000", b"1e", b"+5", b"00", b"-0", b"\xd9\xa1", b"1.2.3", b""),
)
WORDS = (
    *(b"", b"x", b"X", b"NV99", b"NV0", b"SYS", b"-1", b"null", b"true", b"nan", b"\xff\xfe"),
    *(b"<pci>", b'"', b"'", b"[", b"]", b"{", b"}", b"#", b"\\", b"\0", b"\x1b[31m", b"->"),
    *(b'dev="99999999999"', b"\xe2\x80\xa8", b"\xc3\xa9", b"ring", b"all_reduce", b"1GiB"),
)
# In place of a value, after "=" or ":".
VALUES = (
    *("", "0", "-1", "1", "2", "1e400", "nan", "inf", "true", '""', '"x"', "[]", "{}", "[[1]]"),
    *("2024-01-01", "2024-99-99", "07:32:00", "0x" + "f" * 5000, "9" * 5000, "[" * 2000),
    *('"\\ud800"', '"\\u0000"', '"1e999us"', '"0GB/s"', '"1e-320B/s"', '"\u0661us"', "'''"),
    *('{value = "1us"}', "{a.b.c = 1}", '"a"\n', '"ideal"', '"rails"', '"ring"', "1048576"),
    *('"full"', '"optimizer"', '"data"', '"before"', '"after"', "0.5", "1e-9", "null", "3"),
    *('"1us"', '"1GB/s"', '"8"', '["a"]', "[0, 1]", '"../x.toml"', '"/dev/null"', "99999999"),
)
KEYS = (
    "",
    "x",
    '"x"',
    "'x'",
    "a.b",
    "schema",
    "name",
    "nodes",
    "ranks",
    "=",
    "[x]",
    "__class__",
)
SIGNS = (
    *("", " ", "9", "-", ".", "e", '"', ",", "\n", "[", "]", "{", "}", "=", "#", "\\", "us"),
    *("N/A", "nan", "\0", "\t", "<", ">", "/", "&", ";", ":", "\u2028", "\u00e9", "\U0001f600"),
)
NOISE = (
    b"node-a:7:7 [0] NCCL INFO Channel 00/24 : 0 1\n",
    b"hello 12 13\n", b"\0\n", b"{\n", b"1\n", b"<a>\n", b"[x]\n", b"# \n", b"\xff\n",
)  # fmt: skip


def _lines(data: bytes) -> list[bytes]:
    return data.splitlines(keepends=True)


def shuffle(rng: random.Random, data: bytes) -> bytes:
    """Put lines in any order."""
    lines = _lines(data)
    return b"".join(rng.sample(lines, len(lines)))


def swap(rng: random.Random, data: bytes) -> bytes:
    """Exchange a few lines."""
    lines = _lines(data)
    for _ in range(rng.randint(1, 5) if lines else 0):
        a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
        lines[a], lines[b] = lines[b], lines[a]
    return b"".join(lines)


def double(rng: random.Random, data: bytes) -> bytes:
    """Write some lines twice."""
    return b"".join(line for line in _lines(data) for _ in range(rng.choice((1, 1, 1, 2, 3))))


def lose(rng: random.Random, data: bytes) -> bytes:
    """Lose some lines."""
    keep = rng.random()
    return b"".join(line for line in _lines(data) if rng.random() < keep)


def interrupt(rng: random.Random, data: bytes) -> bytes:
    """Put lines of something else between the lines."""
    return b"".join(
        part
        for line in _lines(data)
        for part in ((line, rng.choice(NOISE)) if rng.random() < 0.2 else (line,))
    )


def block(rng: random.Random, data: bytes) -> bytes:
    """Repeat a block of lines, or lose it."""
    lines = _lines(data)
    at = rng.randrange(len(lines) + 1)
    end = at + rng.randint(1, 12)
    return b"".join([*lines[:at], *lines[at:end] * rng.choice((0, 2, 3, 4)), *lines[end:]])


def cut(rng: random.Random, data: bytes) -> bytes:
    """End the file somewhere, perhaps in the middle of a line."""
    return data[: rng.randrange(len(data) + 1)]


def behead(rng: random.Random, data: bytes) -> bytes:
    """Begin the file somewhere."""
    return data[rng.randrange(len(data) + 1) :]


def binary(rng: random.Random, data: bytes) -> bytes:
    """Overwrite stretches with random bytes."""
    raw = bytearray(data)
    for _ in range(rng.randint(1, 8)):
        at, size = rng.randrange(len(raw) + 1), rng.choice((1, 1, 4, 40))
        raw[at : at + size] = rng.randbytes(size)
    return bytes(raw)


def letters(rng: random.Random, data: bytes) -> bytes:
    """Change, add and drop single characters."""
    text = list(data.decode("utf-8", "surrogateescape"))
    for _ in range(rng.choice((1, 1, 2, 4, 30))):
        if text:
            at = rng.randrange(len(text))
            text[at : at + rng.randint(0, 3)] = rng.choice(SIGNS)
    return "".join(text).encode("utf-8", "surrogateescape")


def join(rng: random.Random, data: bytes) -> bytes:
    """Lose line ends."""
    return b"".join(line.rstrip(b"\n") if rng.random() < 0.1 else line for line in _lines(data))


def numbers(rng: random.Random, data: bytes) -> bytes:
    """Put odd numbers in the place of some."""
    found = list(NUMBER.finditer(data))
    for match in sorted(
        rng.sample(found, min(len(found), rng.choice((1, 1, 2, 5)))), key=lambda m: -m.start()
    ):
        data = data[: match.start()] + rng.choice(NUMBERS) + data[match.end() :]
    return data


def words(rng: random.Random, data: bytes) -> bytes:
    """Put another word in the place of one, of the file or an odd one."""
    found = list(re.finditer(rb"[^\s,=|\"<>]+", data))
    for _ in range(rng.choice((1, 1, 3)) if found else 0):
        match = rng.choice(found)
        other = rng.choice(found)[0] if rng.random() < 0.5 else rng.choice(WORDS)
        # Its place may have moved by then; that is damage, too.
        data = data[: match.start()] + other + data[match.end() :]
    return data


def everywhere(rng: random.Random, data: bytes) -> bytes:
    """Change every occurrence of something."""
    pairs = (
        (b"0", b"9"), (b'"', b""), (b"SYS", b"NV18"), (b"\t", b""), (b"gpu", b"cpu"),
        (b"busid", b"class"), (b"X", b"PIX"), (b" ", b"\t"), (b"1", b"\xd9\xa1"),
        (b",", b";"), (b"=", b":"), (b".", b","), (b"e", b"E"), (b"us", b"ms"), (b"8", b"0"),
    )  # fmt: skip
    return data.replace(*rng.choice(pairs))


def values(rng: random.Random, data: bytes) -> bytes:
    """Change a value or a key, or give a key twice, where lines are ``key = value``."""
    text = data.decode("utf-8", "surrogateescape").split("\n")
    places = [i for i, line in enumerate(text) if re.search("[=:]", line)]
    if places:
        at = rng.choice(places)
        key, sign, value = re.split("([=:])", text[at], maxsplit=1)
        text[at] = rng.choice(
            (
                f"{key}{sign} {rng.choice(VALUES)}",
                f"{key}{sign} {rng.choice(VALUES)}",
                f"{rng.choice(KEYS)} {sign} {value}",
                f"{key}.x {sign} {value}",
                f"{key}x{sign}{value}",
                f"{text[at]}\n{text[at]}",
                "",
            )
        )
    return "\n".join(text).encode("utf-8", "surrogateescape")


def spelled_otherwise(rng: random.Random, data: bytes) -> bytes:
    """Write the same text in another encoding or with other line ends."""
    text = data.decode("utf-8", "replace")
    return rng.choice(
        (
            lambda: text.encode("utf-16"),
            lambda: text.encode("utf-16-le"),
            lambda: text.encode("utf-32"),
            lambda: b"\xef\xbb\xbf" + data,
            lambda: data.replace(b"\n", b"\r\n"),
            lambda: data.replace(b"\n", b"\r"),
            lambda: data.replace(b"\n", b"\0"),
            lambda: data + b"\x1a",
            lambda: text.upper().encode(),
            lambda: text.encode("latin-1", "replace"),
        )
    )()


def long_line(rng: random.Random, data: bytes) -> bytes:
    """Put a long line of one thing somewhere."""
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(WORDS) * rng.choice((100, 3000)) + data[at:]


MOVES: tuple[Damage, ...] = (shuffle, swap, double, lose, interrupt, block)
CHANGES: tuple[Damage, ...] = (
    *(cut, behead, binary, letters, join, numbers, numbers, words, everywhere, values, values),
    *(spelled_otherwise, long_line, trees.nodes, trees.nodes, trees.nodes, letters),
)
SLIGHT: tuple[Damage, ...] = (trees.nodes, trees.nodes, trees.nodes, numbers, values, words)


def damaged(rng: random.Random, data: bytes, moves: bool = False) -> tuple[bytes, str]:
    """Return a file with one to three kinds of damage, and what they are called.

    Parameters
    ----------
    rng : Random
    data : bytes
    moves : bool
        Only move whole lines: what the file says of each row stays true.
    """
    if moves:
        kinds = rng.sample(MOVES, rng.choice((1, 1, 2, 3)))
    elif rng.random() < 0.5:
        # What changes little gets furthest.
        kinds = [rng.choice(SLIGHT)]
    else:
        kinds = rng.sample(MOVES + CHANGES, rng.choice((1, 1, 2, 3)))
    for damage in kinds:
        data = damage(rng, data)
    return data, "+".join(damage.__name__ for damage in kinds)


def mixed(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """Return two files in one: after each other, or one inside of the other."""
    if rng.random() < 0.5:
        return data + other
    at = rng.randrange(len(data) + 1)
    return data[:at] + other + data[at:]
