"""A mistake in an author's file is told in one line, with the place in that file."""

import importlib
import pickle
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from collsim import registry
from collsim.algorithms import build, find
from collsim.choose.predict import predict
from collsim.cli.main import main
from collsim.core.builder import Builder
from collsim.core.cluster import Cluster
from collsim.core.setting import Setting
from collsim.errors import AlgorithmError, InputError, TooLargeError

GOOD = '''"""One of a test."""
from collsim.core.algorithm import Algorithm, Terms

def build(b):
    for rank in range(1, b.ranks):
        b.copy(0, rank, b.pieces[0])

def terms(ranks, chunks):
    return Terms(ranks - 1, ranks - 1, exact=False)

ALGORITHM = Algorithm(build=build, terms=terms, formula="", summary="", paper="")
'''
COPY = "        b.copy(0, rank, b.pieces[0])"


@pytest.fixture
def written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[str, str], Path]]:
    """Return a function that adds a file, with one line of it replaced, to broadcast's."""
    home = importlib.import_module("collsim.algorithms.broadcast")

    def write(old: str, new: str) -> Path:
        assert GOOD.count(old) == 1
        file = tmp_path / "mine.py"
        file.write_text(GOOD.replace(old, new))
        monkeypatch.setattr(home, "__path__", [*home.__path__, str(tmp_path)])
        monkeypatch.delattr(home, "mine", raising=False)
        monkeypatch.delitem(sys.modules, f"{home.__name__}.mine", raising=False)
        registry.names.cache_clear()
        return file

    yield write
    sys.modules.pop(f"{home.__name__}.mine", None)
    registry.names.cache_clear()


def test_what_build_raises_is_told_with_its_line(
    written: Callable[[str, str], Path],
) -> None:
    """The line of the author's file, not one of numpy's; the original is the cause."""
    file = written(COPY, "        b.copy(0, rank, b.pieces[1])")
    with pytest.raises(AlgorithmError) as caught:
        build("broadcast", "mine", 4)
    said = "broadcast/mine: IndexError: index 1 is out of bounds for axis 0 with size 1"
    assert str(caught.value) == f"{said} ({file}, line 6)"
    assert isinstance(caught.value.__cause__, IndexError)


def test_the_command_line_has_one_line(written: Callable[[str, str], Path]) -> None:
    """No traceback, and exit code 1."""
    file = written(COPY, "        b.copy(0, rnk, b.pieces[0])")
    result = CliRunner().invoke(main, ["predict", "broadcast", "--algorithm", "mine"])
    assert result.exit_code == 1
    last = result.output.splitlines()[-1]
    assert (
        last == f"Error: broadcast/mine: NameError: name 'rnk' is not defined ({file}, line 6)"
    )


def test_what_the_builder_refuses_has_the_line_too(
    written: Callable[[str, str], Path],
) -> None:
    """The builder's own words, and the error's kind, stay."""
    file = written(COPY, "        b.copy(0, rank, b.share(7)[0])")
    with pytest.raises(InputError) as caught:
        build("broadcast", "mine", 4)
    assert str(caught.value).endswith(f" ({file}, line 6)")
    assert str(caught.value).startswith("builder: ")


def test_what_is_too_large_stays_that(written: Callable[[str, str], Path]) -> None:
    """Who chooses leaves such a schedule out, and must know it."""
    written(COPY, "        b.expect(1 << 60)")
    with pytest.raises(TooLargeError, match=r"fits into memory$"):
        build("broadcast", "mine", 4)


def test_a_mistake_in_terms_is_told(written: Callable[[str, str], Path]) -> None:
    """As one in `build`."""
    file = written("    return Terms(ranks - 1,", "    return Terms(ranks - x,")
    with pytest.raises(AlgorithmError, match="NameError: name 'x' is not defined") as caught:
        find("broadcast", "mine").terms(3, 1)
    assert str(caught.value).endswith(f" ({file}, line 9)")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("def build(b):", "def build(b:", "SyntaxError: '(' was never closed ({file}, line 4)"),
        ('"""One of a test."""', "import mth", "ModuleNotFoundError: No module named 'mth'"),
        ("ALGORITHM =", "ALGORITM =", "AttributeError: module 'collsim.algorithms.broadcast.m"),
    ],
)  # fmt: skip
def test_a_file_that_does_not_load_is_told(
    written: Callable[[str, str], Path], old: str, new: str, said: str
) -> None:
    """Its syntax, its imports, and the name that is looked for."""
    file = written(old, new)
    with pytest.raises(AlgorithmError) as caught:
        find("broadcast", "mine")
    assert str(caught.value).startswith("broadcast/mine: " + said.format(file=file))
    assert str(caught.value).endswith(f"({file}, line 1)") == ("import" in new)


def test_an_algorithm_can_be_sent_to_a_process() -> None:
    """As workers get it."""
    found = pickle.loads(pickle.dumps(find("broadcast", "ring")))
    b = Builder("broadcast", 3, chunks=2)
    found.build(b)
    assert len(b.finish()) == 4


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("        next(iter([]))", "StopIteration"),
        ("        raise GeneratorExit", "GeneratorExit"),
        ("        raise SystemExit(3)", "SystemExit: 3"),
        (
            "        raise type('Mute', (Exception,), {'__str__': lambda self: 1 // 0})",
            "Mute",
        ),
    ],
)
def test_whatever_is_raised_is_one_line(
    written: Callable[[str, str], Path], line: str, said: str
) -> None:
    """What would end a generator or the program, too, and what can't say what it is."""
    file = written(COPY, line)
    result = CliRunner().invoke(main, ["predict", "broadcast", "--algorithm", "mine"])
    assert result.exit_code == 1
    assert result.output.splitlines()[-1] == f"Error: broadcast/mine: {said} ({file}, line 6)"


def test_ctrl_c_in_an_algorithm_is_not_its_mistake(
    written: Callable[[str, str], Path],
) -> None:
    """It ends the program, as anywhere."""
    written(COPY, "        raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        build("broadcast", "mine", 4)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (COPY, "        yield", "build must list messages, it is a generator ({file}, line 4)"),
        (
            COPY,
            "        pass",
            "build lists no message, expected some on 8 ranks ({file}, line 4)",
        ),
        (
            COPY,
            "        b.copy(0, 99, b.pieces[0])",
            "builder: dst runs from 99 to 99, expected 0 to 7 ({file}, line 4)",
        ),
        (
            COPY,
            "        b.copy(0, rank, [[999]])",
            "builder: piece runs from 999 to 999, expected 0 to 0 ({file}, line 4)",
        ),
        (
            'paper="")',
            'paper="", parts=lambda r, c: 0)',
            "parts: got 0, expected a whole number from 1 up ({file}, line 11)",
        ),
        (
            'paper="")',
            'paper="", parts=lambda r, c: 1 // 0)',
            "ZeroDivisionError: integer division or modulo by zero ({file}, line 11)",
        ),
        (
            "Terms(ranks - 1, ranks - 1, exact=False)",
            "Terms('a', 3)",
            "terms: alphas is 'a', expected a finite number from 0 up ({file}, line 8)",
        ),
        (
            "Terms(ranks - 1, ranks - 1, exact=False)",
            "Terms(1, float('nan'))",
            "terms: betas is nan, expected a finite number from 0 up ({file}, line 8)",
        ),
        (
            "Terms(ranks - 1, ranks - 1, exact=False)",
            "Terms(1, -1)",
            "terms: betas is -1, expected a finite number from 0 up ({file}, line 8)",
        ),
        (
            "Terms(ranks - 1, ranks - 1, exact=False)",
            "3",
            "terms: got 3, expected Terms or None ({file}, line 8)",
        ),
        (
            'paper="")',
            'paper="", limits=lambda ranks: 5)',
            "got 5 for a reason, expected text or None ({file}, line 11)",
        ),
        (
            'paper="")',
            'paper="", symmetry=lambda setting: 5)',
            "symmetry: got 5, expected a Symmetry or None ({file}, line 11)",
        ),
    ],
)
def test_what_a_function_may_not_return_names_the_file(
    written: Callable[[str, str], Path], old: str, new: str, said: str
) -> None:
    """And what it lists, for which no line of it runs any more."""
    file = written(old, new)
    eight = Cluster.ideal(8, "10us", "1GB/s")
    with pytest.raises(AlgorithmError) as caught:
        assert (
            find("broadcast", "mine").claim(Setting(8))
            if "symmetry" in new
            else predict("broadcast", eight, 1024, "mine")
        )
    assert str(caught.value) == f"broadcast/mine: {said.format(file=file)}"
