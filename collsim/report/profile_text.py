"""``collsim show profile``: the numbers of a profile, their origin, and how far they hold."""

from collsim.core.profile import ErrorSummary, Profile
from collsim.report.fit_text import errors_text, interval, spelled
from collsim.report.records import record
from collsim.report.table import aligned
from collsim.units import format_size

__all__ = ["profile_head", "profile_rows", "profile_text"]

_COLUMNS = ("parameter", "value", "95 % interval", "kind", "source")


def profile_rows(profile: Profile) -> list[dict[str, object]]:
    """Return a row for each parameter: value and interval in its unit, kind and source.

    Examples
    --------
    >>> from collsim.config.profile_file import load_profile
    >>> row = profile_rows(load_profile("h100-nvswitch-8"))[0]
    >>> row["parameter"], row["unit"], row["kind"]
    ('launch', 's', 'fit')
    """
    return [{"parameter": key, **record(p)} for key, p in profile.parameters.items()]


def profile_head(profile: Profile) -> dict[str, object]:
    """Return all that a profile says beside its parameters.

    Examples
    --------
    >>> from collsim.config.profile_file import load_profile
    >>> profile_head(load_profile("h100-nvswitch-8"))["cluster"]
    'dgx-h100'
    """
    return {key: value for key, value in record(profile).items() if key != "parameters"}


def profile_text(profile: Profile) -> str:
    """Return a profile as text: what was measured, its parameters, errors and notes.

    Examples
    --------
    >>> from collsim.core.profile import Parameter
    >>> ab = {"link.alpha": Parameter(1e-6, None, None, "s"),
    ...       "link.beta": Parameter(1e-11, 9e-12, 2e-11, "s/B")}
    >>> print(profile_text(Profile("mine", ab, ranks=(2, 4), library="NCCL 2.30")))
    mine: one latency and one bandwidth per class of links
      cluster    ideal
      algorithm  ring
      chunks     1
      ranks      2, 4
      library    NCCL 2.30
      columns    out-of-place
    <BLANKLINE>
    parameter                value                    95 % interval  kind  source
    link.alpha                 1us                        not known  fit        -
    link.beta   10ps/B (100GB/s)  9ps/B (111.1GB/s) to 20ps/B (50GB/s)  fit        -
    """
    model = (
        "times of NCCL's algorithms and protocols"
        if profile.model == "nccl"
        else "one latency and one bandwidth per class of links"
    )
    facts = _facts(profile)
    width = max(len(name) for name in facts)
    rows = [
        (key, spelled(p.value, p.unit), interval(p), p.kind, p.source or "-")
        for key, p in profile.parameters.items()
    ]
    lines = [
        f"{profile.name}: {model}",
        *(f"  {name:<{width}}  {text}" for name, text in facts.items()),
        "",
        aligned(_COLUMNS, rows, ("parameter", "kind", "source")),
    ]
    own, held = profile.error(("in_sample",)), _held(profile)
    if own is not None:
        lines += ["", *errors_text(own, held)]
    lines += [f"note: {text}" for text in profile.notes]
    return "\n".join(lines)


def _held(profile: Profile) -> ErrorSummary | None:
    return next((error for error in profile.errors if error.kind != "in_sample"), None)


def _facts(profile: Profile) -> dict[str, str]:
    """Return what was measured, in the order of the file: only what is known."""
    several = {
        name: ", ".join(map(str, getattr(profile, name)))
        for name in ("collectives", "ranks", "nodes")
    }
    sizes = (
        f"{format_size(profile.min_bytes)} to {format_size(profile.max_bytes)}"
        if profile.max_bytes
        else ""
    )
    known = {
        "cluster": profile.cluster,
        # Fitted times of NCCL are of whatever it chooses.
        "algorithm": "" if profile.model == "nccl" else profile.algorithm,
        "chunks": "" if profile.model == "nccl" else str(profile.chunks),
        **several,
        "sizes": sizes,
        **{
            name: getattr(profile, name) or ""
            for name in ("library", "process_model", "clock", "device", "columns")
        },
        "sources": ", ".join(profile.sources),
        "nccl": ", ".join(f"{key} {_said(value)}" for key, value in profile.nccl.items()),
    }
    return {name.replace("_", " "): text for name, text in known.items() if text}


def _said(value: str | float | bool) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
