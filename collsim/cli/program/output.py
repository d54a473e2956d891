"""Where an answer goes, and in which form."""

import contextlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import click

from collsim.errors import UsageError
from collsim.files import write_whole

__all__ = ["Output", "drop_stdout", "note"]


@dataclass(frozen=True)
class Output:
    """The options --json, --csv and -o."""

    as_json: bool
    as_csv: bool
    path: str

    def check(self) -> None:
        """Refuse what contradicts itself, before any work is done."""
        if self.as_json and self.as_csv:
            raise UsageError("--json and --csv, expected one of them")

    def emit(
        self,
        words: str,
        rows: Sequence[Mapping[str, object]],
        keys: Sequence[str],
        text: Callable[[], str],
        *,
        cluster: str | None = None,
        collective: str | None = None,
        ranks: int | None = None,
        head: Mapping[str, object] | None = None,
        **more: object,
    ) -> None:
        """Write an answer in the form that was asked for.

        Parameters
        ----------
        words : str
            The words of the command.
        rows : sequence of mapping
            Each with the same keys.
        keys : sequence of str
            Those keys, for the header of an empty CSV.
        text : callable
            Makes the text for a reader.
        cluster, collective, ranks, **more
            Further keys of the JSON object.
        head : mapping, optional
            More of them, whose names are no words.
        """
        self.check()
        if self.as_json:
            from collsim.report.jsonout import to_json

            first = {"cluster": cluster, "collective": collective, "ranks": ranks}
            answer = to_json(words, {**first, **(head or {}), **more}, rows)
        elif self.as_csv:
            from collsim.report.csvout import to_csv

            answer = to_csv(keys, rows)
        else:
            answer = text().rstrip("\n") + "\n"
        self.write(answer)

    def write(self, answer: str) -> None:
        """Write an answer, whole or not at all."""
        try:
            write_whole(self.path, answer)
        except BrokenPipeError:
            # Whoever read our output has seen enough (`| head`); what the command
            # finds still decides its exit code.
            drop_stdout()


def note(text: str) -> None:
    """Tell the reader something beside the answer."""
    # Where nobody listens, the answer still counts.
    with contextlib.suppress(OSError, ValueError):
        click.echo(f"note: {text}", err=True)


def drop_stdout() -> None:
    """Send stdout nowhere, so that Python's own flush at exit has nothing to say."""
    with contextlib.suppress(AttributeError, OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
