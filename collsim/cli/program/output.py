"""Where an answer goes, and in which form."""

import contextlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import click

from collsim.errors import UsageError
from collsim.files import write_whole

__all__ = ["Output", "drop_stdout", "note"]

_NOTES: Final = "collsim.notes"


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
        after: Callable[[], None] | None = None,
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
        after : callable, optional
            Tells notes that a reader is to see below the answer.

        Notes
        -----
        The JSON object has what was noted of the answer, too.
        """
        self.check()
        if self.as_json:
            if after is not None:
                after()
                after = None
            from collsim.report.jsonout import to_json

            first = {"cluster": cluster, "collective": collective, "ranks": ranks}
            notes = {"notes": list(_notes())}
            answer = to_json(words, {**first, **(head or {}), **more, **notes}, rows)
        elif self.as_csv:
            from collsim.report.csvout import to_csv

            answer = to_csv(keys, rows)
        else:
            answer = text().rstrip("\n") + "\n"
        self.write(answer)
        if after is not None:
            after()

    def write(self, answer: str) -> None:
        """Write an answer, whole or not at all."""
        try:
            write_whole(self.path, answer)
        except BrokenPipeError:
            # Whoever read our output has seen enough (`| head`); what the command
            # finds still decides its exit code.
            drop_stdout()


def note(text: str) -> None:
    """Tell the reader something beside the answer; JSON has it as one of its ``notes``."""
    _notes().append(text)
    # Where nobody listens, the answer still counts.
    with contextlib.suppress(OSError, ValueError):
        click.echo(f"note: {text}", err=True)


def _notes() -> list[str]:
    """Return what this call has noted so far; nothing outside of a call."""
    context = click.get_current_context(silent=True)
    if context is None:
        return []
    found: list[str] = context.meta.setdefault(_NOTES, [])
    return found


def drop_stdout() -> None:
    """Send stdout nowhere, so that Python's own flush at exit has nothing to say."""
    with contextlib.suppress(AttributeError, OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
