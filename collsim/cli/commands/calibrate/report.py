"""``collsim calibrate report``: the page of the validation."""

import os
from typing import Final

import click

from collsim.cli.options import output_options
from collsim.cli.program.command import command as _command
from collsim.cli.program.output import Output, note
from collsim.errors import FileError, InputError

__all__ = ["command"]

# Beside the checkout, where the measurements of others lie; else the project's own.
FOLDERS: Final = (
    os.path.join("..", "shared", "data"),
    os.path.join("examples", "h200_one_gpu"),
)


@_command(
    """Hold the fitted model against measurements that it did not see, and write the page.

    Each system whose logs are in the folder is fitted without the rows held out: every second
    size, a collective, a rank count or node counts. Errors there stand beside those of
    three lines, of NCCL's own model and of torch's estimator, on the same rows. Then presets
    are held against logs with nothing fitted. docs/validation.md is this page.

    \b
    Examples:
      collsim calibrate report
      collsim calibrate report --data examples/h200_one_gpu --json
    """
)
@click.option(
    "--data",
    metavar="DIR",
    help="The logs.  [default: ../shared/data, else examples/h200_one_gpu]",
)
@click.option(
    "--torch",
    "python",
    metavar="PYTHON",
    help="A Python that has torch, whose estimator is a baseline.  [default: this one]",
)
@output_options
def command(data: str | None, python: str | None, output: Output) -> None:
    """Fit, predict and write."""
    output.check()
    from collsim.calibrate.validate import validate
    from collsim.choose.predict import predict
    from collsim.report.validation_page import result_rows, validation_page

    folder = data or _folder()
    if not os.path.isdir(folder):
        what = "is a file" if os.path.exists(folder) else "is not there"
        raise FileError(folder, f"{what}, expected a folder of logs")
    found = validate(folder, python, predict=predict)
    if found.no_torch is not None:
        note(found.no_torch)
    if found.missing:
        note(f"{folder} lacks the logs of {', '.join(found.missing)}")
    rows = result_rows(found)
    output.emit(
        "calibrate report",
        rows,
        tuple(rows[0]),
        lambda: validation_page(found),
        torch=found.torch,
        missing=list(found.missing),
    )


def _folder() -> str:
    for folder in FOLDERS:
        if os.path.isdir(folder):
            return folder
    raise InputError(f"--data: none of {', '.join(FOLDERS)} is here, expected a folder of logs")
