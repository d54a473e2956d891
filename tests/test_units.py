"""Units: text in, SI out, and back again."""

from __future__ import annotations

import contextlib
import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from collsim.errors import InputError
from collsim.units import (
    format_bandwidth,
    format_size,
    format_time,
    format_time_us,
    parse_bandwidth,
    parse_ranks,
    parse_size,
    parse_time,
)

ANY_LENGTH = "1" * 5000


@pytest.mark.parametrize(
    ("text", "nbytes"),
    [
        ("0", 0),
        ("1", 1),
        ("8", 8),
        ("8B", 8),
        ("1024", 1024),
        ("1K", 1024),
        ("1k", 1024),
        ("8G", 8 * 1024**3),
        ("8g", 8 * 1024**3),
        ("2T", 2 * 1024**4),
        ("1KiB", 1024),
        ("64MiB", 64 * 1024**2),
        ("1GiB", 1024**3),
        ("1TiB", 1024**4),
        ("1kB", 1000),
        ("1KB", 1000),
        ("1MB", 10**6),
        ("1GB", 10**9),
        ("1TB", 10**12),
        ("1.5KiB", 1536),
        (".5K", 512),
        ("1.", 1),
        ("0.1MB", 100_000),
        ("1e9", 10**9),
        ("1.5e3 kB", 1_500_000),
        (" 64 MiB ", 64 * 1024**2),
        ("+4", 4),
        ("-0", 0),
        ("9223372036854775807", 2**63 - 1),
        ("9007199254740993", 2**53 + 1),
        ("1.0001KiB", 1024),
        ("287.4MiB", 301_360_742),
        ("1.9999kB", 1999),
        ("8388607.99999999999999T", 2**63 - 1),
    ],
)
def test_parse_size(text: str, nbytes: int) -> None:
    """Plain K M G T and KiB are binary, kB MB GB decimal; a part of a byte is dropped."""
    assert parse_size(text) == nbytes
    assert type(parse_size(text)) is int


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "B", "K", "-1", "-1KiB", "12XB", "nan", "inf", "-inf", "infinity"),
        *("0.3B", "0.3", "1.5", "0.0009KiB", "1e-3", "1/2", "1,000", "1_000", "0x10", "1 2"),
        *("9223372036854775808", "8388608T", "1e999", "1e9999999999", ANY_LENGTH),
        *("\u0661\u0662", "\uff11KiB", "1\u212aiB", "12\n34", "64KiB\x00"),
        *("64Mb", "64Kib", "64b", "1iB", "1Ki", "1KIB", "1PB", "1us"),
    ],
)
def test_parse_size_refuses(text: str) -> None:
    """What is no whole number of bytes in range is an error of one short line."""
    with pytest.raises(InputError, match="size") as caught:
        parse_size(text)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("-1", "is negative"),
        ("0.3B", "is a fraction of a byte"),
        ("1.5", "is a fraction of a byte"),
        ("0.0009KiB", "is a fraction of a byte"),
        ("64Mb", "is in bits"),
        ("8388608T", r"is over 2\*\*63 - 1 bytes"),
    ],
)
def test_parse_size_says_why(text: str, reason: str) -> None:
    """The message repeats the text, says what is wrong and what was expected."""
    with pytest.raises(InputError, match=f"^size '{text}' {reason}: expected a whole number"):
        parse_size(text)


@pytest.mark.parametrize("parse", [parse_size, parse_time, parse_bandwidth])
@pytest.mark.parametrize("value", [8, 1.5, None, True, ["8"]])
def test_values_that_are_no_text_are_refused(parse: object, value: object) -> None:
    """A number from a file, where text with a unit belongs, is an error and no crash."""
    with pytest.raises(InputError, match="is not text"):
        parse(value)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0.0),
        ("0.0", 0.0),
        ("0us", 0.0),
        ("10us", 10e-6),
        ("1.8us", 1.8e-6),
        ("1.8 \u00b5s", 1.8e-6),
        ("1.8\u03bcs", 1.8e-6),
        ("250ns", 250e-9),
        ("1.5ms", 1.5e-3),
        ("2s", 2.0),
        ("1e-3us", 1e-9),
        ("1e-999s", 0.0),
    ],
)
def test_parse_time(text: str, seconds: float) -> None:
    """The result is the very float that the literal would be."""
    assert parse_time(text) == seconds


@pytest.mark.parametrize(
    "text",
    [
        "",
        "us",
        "10",
        "-1us",
        "nan",
        "nans",
        "inf",
        "infs",
        "10m",
        "10US",
        "1h",
        "1e999s",
        "10GB",
    ],
)
def test_parse_time_refuses(text: str) -> None:
    """A time has a unit, is finite and not negative."""
    with pytest.raises(InputError, match="time"):
        parse_time(text)


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("900GB/s", 900e9),
        ("900 GB/s", 900e9),
        ("900GBps", 900e9),
        ("1GiB/s", 2.0**30),
        ("400Gb/s", 50e9),
        ("400Gbps", 50e9),
        ("400Gbit/s", 50e9),
        ("8Gib/s", 2.0**30),
        ("8b/s", 1.0),
        ("1B/s", 1.0),
        ("1kB/s", 1e3),
        ("1KB/s", 1e3),
        ("3.35TB/s", 3.35e12),
        ("1.5e2MB/s", 150e6),
    ],
)
def test_parse_bandwidth(text: str, rate: float) -> None:
    """A small b counts bits, a capital B bytes."""
    assert parse_bandwidth(text) == rate


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "0GB/s",
            "0",
            "-1GB/s",
            "nan",
            "nanGB/s",
            "inf",
            "infGB/s",
            "1e999GB/s",
            "1e-999B/s",
        ),
        *("900", "900GB", "900G", "400Gb", "900gb/s", "900mB/s", "1iB/s", "1GB/ms", "GB/s"),
    ],
)
def test_parse_bandwidth_refuses(text: str) -> None:
    """A bandwidth has a unit per second, is finite and above 0."""
    with pytest.raises(InputError, match="bandwidth"):
        parse_bandwidth(text)


@pytest.mark.parametrize(
    ("text", "ranks"),
    [
        ("8", (8,)),
        ("1-4,33", (1, 2, 3, 4, 33)),
        ("33,1-3,2", (1, 2, 3, 33)),
        (" 2 - 3 , 5", (2, 3, 5)),
        ("5-5", (5,)),
        ("1048576", (2**20,)),
    ],
)
def test_parse_ranks(text: str, ranks: tuple[int, ...]) -> None:
    """Counts and ranges, ascending, each once."""
    assert parse_ranks(text) == ranks


@pytest.mark.parametrize(
    "text",
    [
        *("", ",", "1,", "0", "0-3", "-1", "3-1", "1-", "-", "a", "1.5", "1-2-3", "\u0661"),
        *("1048577", "1-99999999999", "9" * 30, ANY_LENGTH),
    ],
)
def test_parse_ranks_refuses(text: str) -> None:
    """Zero, backwards, empty and absurd lists are errors, and cost no memory."""
    with pytest.raises(InputError, match="ranks"):
        parse_ranks(text)


@pytest.mark.parametrize(
    ("nbytes", "text"),
    [
        (0, "0B"),
        (1, "1B"),
        (1000, "1000B"),
        (1024, "1KiB"),
        (1536, "1536B"),
        (64 * 1024**2, "64MiB"),
        (1025 * 1024**2, "1025MiB"),
        (1024**4, "1TiB"),
        (1024.0, "1KiB"),
        (0.25, "0.25B"),
        (1234.5, "1.206KiB"),
        (1e9 + 0.5, "953.7MiB"),
    ],
)
def test_format_size(nbytes: float, text: str) -> None:
    """Binary units where they are exact, else bytes; real sizes to four digits."""
    assert format_size(nbytes) == text


@pytest.mark.parametrize(
    ("nbytes", "text"),
    [
        (0, "0B"),
        (1023, "1023B"),
        (1023.99, "1KiB"),
        (1536, "1.5KiB"),
        (16941176, "16.16MiB"),
        (2**20 * 1023.99, "1GiB"),
        (2**50, "1024TiB"),
    ],
)
def test_format_size_in_four_digits(nbytes: float, text: str) -> None:
    """Whole numbers too, in the largest unit that they reach once rounded."""
    assert format_size(nbytes, digits=4) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0s"),
        (1.2e-6, "1.2us"),
        (10e-6, "10us"),
        (1e-9, "1ns"),
        (2.5e-10, "0.25ns"),
        (1e-18, "1e-9ns"),
        (1.137777e-3, "1.138ms"),
        (0.99999, "1s"),
        (999.96e-6, "1ms"),
        (123456.0, "123456s"),
    ],
)
def test_format_time(seconds: float, text: str) -> None:
    """Four digits in the largest unit that the rounded time reaches."""
    assert format_time(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0.00"),
        (1.1e-9, "0.0011"),
        (12.344e-6, "12.34"),
        (123.44e-6, "123.4"),
        (12345.4e-6, "12345"),
    ],
)
def test_format_time_us(seconds: float, text: str) -> None:
    """Fewer decimals the longer it takes, and never 0.00 for what takes time."""
    assert format_time_us(seconds) == text


@pytest.mark.parametrize(
    ("rate", "text"),
    [(0.0, "0B/s"), (1.0, "1B/s"), (999.0, "999B/s"), (1e3, "1kB/s"), (5e10, "50GB/s"),
     (1.8e12, "1800GB/s"), (370.123e9, "370.1GB/s")],
)  # fmt: skip
def test_format_bandwidth(rate: float, text: str) -> None:
    """Decimal units up to GB/s, in which bandwidths are compared."""
    assert format_bandwidth(rate) == text


@pytest.mark.parametrize("spell", [format_size, format_time, format_time_us, format_bandwidth])
@pytest.mark.parametrize("value", [-1.0, math.nan, math.inf])
def test_format_refuses_what_is_no_quantity(spell: object, value: float) -> None:
    """Nobody reads `nan us` in a table."""
    with pytest.raises(InputError, match="expected a finite number from 0 up"):
        spell(value)  # type: ignore[operator]


@given(nbytes=st.integers(0, 2**63 - 1))
@example(2**63 - 1)
def test_sizes_round_trip(nbytes: int) -> None:
    """Whatever is written is read back as the same number of bytes."""
    assert parse_size(format_size(nbytes)) == nbytes


positive = st.floats(min_value=0, exclude_min=True, allow_infinity=False)


@given(seconds=positive)
def test_times_round_trip_exactly(seconds: float) -> None:
    """Without rounding, the same float comes back, bit by bit."""
    assert parse_time(format_time(seconds, digits=None)) == seconds


@given(rate=positive)
def test_bandwidths_round_trip_exactly(rate: float) -> None:
    """Without rounding, the same float comes back, bit by bit."""
    assert parse_bandwidth(format_bandwidth(rate, digits=None)) == rate


@given(seconds=st.floats(1e-12, 1e6), digits=st.integers(1, 17))
def test_times_round_to_the_digits_asked_for(seconds: float, digits: int) -> None:
    """The error is at most half a unit of the last digit."""
    back = parse_time(format_time(seconds, digits=digits))
    assert back == pytest.approx(seconds, rel=0.5000001 * 10.0 ** (1 - digits), abs=0)


@given(text=st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    """No text raises anything but InputError."""
    for parse in (parse_size, parse_time, parse_bandwidth, parse_ranks):
        with contextlib.suppress(InputError):
            parse(text)


def test_what_is_too_long_for_decimal_is_spelled_all_the_same() -> None:
    """Rounding is for what lies right of the point."""
    assert format_time(1e300) == "1e+300s"
    assert format_time(9.87654321e29, digits=4) == "9.87654321e+29s"
    assert format_bandwidth(1e308) == "1e+299GB/s"
