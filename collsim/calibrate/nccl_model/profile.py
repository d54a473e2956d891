"""A fitted system as the parameters and facts of a profile, and back."""

import math
from typing import Final

from collsim.calibrate.nccl_model.fitted import Fitted
from collsim.calibrate.nccl_model.prior import SOURCE, Prior, priors
from collsim.calibrate.nccl_model.system import Selector, System, system_of
from collsim.core.arguments import checked
from collsim.core.cluster import Cluster
from collsim.core.parameter import Parameter, parameter_unit
from collsim.core.profile import Profile
from collsim.errors import InputError

__all__ = ["example_profile", "facts_of", "fitted_of", "fitted_times", "parameters_of"]

_WIDE: Final = 1.96  # sigma of a 95 % interval
_SYSTEM: Final = (
    "architecture", "channels", "intra_bus", "inside", "inter_bus", "nvls", "uniform", "amd",
    "ll128_network", "gpus", "version",
)  # fmt: skip
_SELECTOR: Final = ("scale", "two_nodes", "tree_two")


def parameters_of(fitted: Fitted) -> dict[str, Parameter]:
    """Return the parameters of a profile; those that no row depends on are assumptions."""
    found = {}
    for key, value in fitted.values.items():
        believed = fitted.believed(key)
        width = math.exp(_WIDE * fitted.log_sigma[key])
        found[key] = Parameter(
            value,
            value / width,
            value * width,
            parameter_unit(key),
            "assumption" if believed else "fit",
            _source(key) if believed else None,
        )
    return found


def _source(key: str) -> str:
    name = key.rpartition(".")[2]
    if name in ("launch", "alpha", "alpha_busy", "efficiency") and not key.startswith("p2p"):
        return SOURCE
    if name == "beta":
        return f"the system's bandwidth, as {SOURCE} reckons with it"
    if name.startswith(("reduce", "fused")) or name.endswith("ratio"):
        return "1 by the schedule"
    return "its order of magnitude only"


def facts_of(fitted: Fitted) -> dict[str, str | float | bool]:
    """Return what a profile says of the system and of how NCCL's table is read."""
    return {
        **{name: getattr(fitted.system, name) for name in _SYSTEM},
        **{name: getattr(fitted.selector, name) for name in _SELECTOR},
        "noise": fitted.noise,
    }


def fitted_of(profile: Profile) -> Fitted:
    """Return the fitted system of a profile.

    Raises
    ------
    InputError
        If it is no profile of NCCL, or lacks a parameter.

    Examples
    --------
    >>> profile = example_profile(Cluster.load("dgx-h100"))
    >>> fitted_of(profile).choice("all_reduce", 8, 1, 2**30)
    ('nvls', 'simple')
    """
    if profile.model != "nccl":
        raise InputError(f"profile {profile.name}: of model {profile.model}, expected nccl")
    facts = dict(profile.nccl)
    system = System(**{name: facts[name] for name in _SYSTEM})  # type: ignore[arg-type]
    selector = Selector(*(float(facts[name]) for name in _SELECTOR))
    spans = {int(key[4 : key.index(".")]) for key in profile.parameters if key[:4] == "span"}
    ranks = {min(profile.ranks, default=2), *spans}
    known = ("all_reduce", "all_gather", "all_to_all")
    needed = priors(system, ranks, known, ("tree",))
    prior, values, sigma = {}, {}, {}
    for key, believed in needed.items():
        parameter = profile.parameters.get(key)
        if parameter is None:
            if believed.centre != 1.0:
                raise InputError(f"profile {profile.name}: has no parameter {key}")
            continue
        values[key] = parameter.value
        low, high = parameter.low, parameter.high
        told = low is not None and high is not None and 0 < low < high
        sigma[key] = math.log(high / low) / 2 / _WIDE if told else believed.sigma  # type: ignore[operator]
        prior[key] = believed
    beyond = (min(profile.nodes), max(profile.nodes)) if profile.nodes else None
    noise = float(facts["noise"])
    return Fitted(system, selector, values, sigma, prior, noise, beyond=beyond)


@checked
def fitted_times(profile: Profile) -> Fitted | None:
    """Return the times of NCCL's own algorithms that a profile knows, for `collsim.predict`.

    Parameters
    ----------
    profile : Profile
        Any: one of lines holds no such times, so that the answer is none.

    Returns
    -------
    Fitted or None
        What ``predict(..., fitted=...)`` takes.

    Raises
    ------
    InputError
        If it lacks a parameter.

    Examples
    --------
    >>> import collsim
    >>> profile = collsim.load_profile("h100-nvswitch-8")
    >>> cluster = collsim.with_profile(Cluster.load("dgx-h100"), profile)
    >>> found = collsim.predict("all_reduce", cluster, "1GiB", fitted=fitted_times(profile))
    >>> found.rows[0].algorithm, found.rows[0].protocol, found.rows[0].model
    ('nvls', 'simple', 'fit')
    """
    return fitted_of(profile) if profile.model == "nccl" else None


def example_profile(cluster: Cluster, name: str = "example") -> Profile:
    """Return the profile of a cluster where nothing was measured: all of it is believed.

    Examples
    --------
    >>> profile = example_profile(Cluster.load("dgx-h100"))
    >>> profile.parameters["launch"].kind, round(profile.parameters["launch"].value * 1e6, 1)
    ('assumption', 6.6)
    """
    system = system_of(cluster)
    known = ("all_reduce", "all_gather", "all_to_all")
    prior: dict[str, Prior] = priors(system, [cluster.ranks], known, ("tree",))
    values = {key: p.centre for key, p in prior.items()}
    sigma = {key: p.sigma for key, p in prior.items()}
    fitted = Fitted(system, Selector(), values, sigma, prior, 0.0)
    return Profile(
        name,
        parameters_of(fitted),
        model="nccl",
        ranks=(cluster.ranks,),
        nccl=facts_of(fitted),
    )
