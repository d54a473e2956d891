"""What all commands that only draw have in common."""

from typing import TYPE_CHECKING, Final

import click

from collsim.cli.measured.fitted import tell_fitted, tell_scope, tell_simulated
from collsim.cli.program.output import note

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from collsim.calibrate.nccl_model import Fitted
    from collsim.choose.rows import Row
    from collsim.core.cluster import Cluster
    from collsim.core.profile import Profile

__all__ = ["PictureFile", "picture_option", "tell_left_out", "tell_profile", "tell_rivals"]


class PictureFile(click.ParamType):  # type: ignore[type-arg]  # not in click 8.2
    """The name of a picture, refused before anything is computed."""

    name = "FILE"

    def convert(
        self,
        value: str,
        param: click.Parameter | None,  # noqa: ARG002 - click's
        ctx: click.Context | None,  # noqa: ARG002 - click's
    ) -> str:
        """Return the name; what can't be written is a failure and no wrong usage."""
        from collsim.plot.style import check_path

        check_path(value)
        return value


picture_option: Final = click.option(
    "-o",
    "--output",
    "path",
    type=PictureFile(),
    metavar="FILE",
    required=True,
    help="PNG, SVG or PDF by its ending.",
)


def tell_left_out(left_out: "Mapping[str, str]") -> None:
    """Say which algorithms are not in a picture, and why."""
    for name, reason in left_out.items():
        note(f"left out {name}: {reason}")


def tell_rivals(
    profile: "Profile | None",
    fitted: "Fitted | None",
    collective: str,
    names: "Sequence[str]",
    network: "Cluster",
    sizes: "Sequence[int]",
) -> None:
    """Say whether times of two algorithms are fitted, and what no row of the fit has shown."""
    from collsim.choose.fitted import Pieces
    from collsim.core.collective import collective as kind

    pieces = [Pieces.of(fitted, kind(collective), network, name) for name in names]
    if None in pieces:
        tell_simulated(profile)
        return
    found = [row for one in pieces if one is not None for row in one.rows(sizes)]
    tell_profile(profile, collective, network, found)


def tell_profile(
    profile: "Profile | None", collective: str, network: "Cluster", rows: "Iterable[Row]"
) -> None:
    """Say what of the drawn predictions no row of a profile of NCCL has shown."""
    if profile is None or profile.model != "nccl":
        return
    from collsim.choose.rows import Prediction

    drawn = tuple(rows)
    tell_scope(profile, [collective], network, sorted({int(row.size) for row in drawn}))
    tell_fitted(profile, Prediction(network.name, collective, network.ranks, drawn, {}))
