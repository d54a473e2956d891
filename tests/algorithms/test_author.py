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
from collsim.cli.main import main
from collsim.core.builder import Builder
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
