"""Which algorithms and protocols are on: NCCL_ALGO, NCCL_PROTO and NCCL's own rules."""

from typing import Final

from collsim.core.collective import collective
from collsim.errors import CollsimError, InputError
from collsim.nccl.communicator import Communicator
from collsim.nccl.names import ALGORITHMS, COLLECTIVES, PROTOCOLS, path_rank
from collsim.nccl.versions import Release

__all__ = ["enabled", "parse_list", "protocol_on"]

Switches = dict[str, dict[str, bool]]
_PLAIN: Final = {name.replace("_", ""): name for name in ALGORITHMS + PROTOCOLS}


def parse_list(
    variable: str, text: str, choices: tuple[str, ...], *, per_function: bool = True
) -> Switches:
    """Read NCCL_ALGO or NCCL_PROTO: which names are on, for each collective it mentions.

    Parameters
    ----------
    variable : str
        For errors.
    text : str
        ``"ring,tree"``, ``"^ll128"``, ``"ring;allreduce:tree,ring"``.
    choices : tuple of str
        The names there are.
    per_function : bool
        Whether this release knows functions; 2.24 and later do, earlier ones pass over
        words that they don't know.

    Raises
    ------
    InputError
        Where NCCL refuses the text.

    Examples
    --------
    >>> on = parse_list("NCCL_PROTO", "^LL128;allreduce:Simple", PROTOCOLS)
    >>> on["broadcast"]
    {'ll': True, 'll128': False, 'simple': True}
    >>> on["all_reduce"]
    {'ll': False, 'll128': False, 'simple': True}
    """
    out: Switches = {}
    entries = [entry for entry in text.split(";") if entry] if per_function else [text]
    for number, entry in enumerate(entries):
        prefix, colon, names = entry.partition(":")
        if not per_function or not colon:
            prefix, names = "", entry
            if number:
                raise InputError(
                    f"{variable}={text}: {entry!r} names no collective, expected that of all "
                    "entries but the first"
                )
        chosen = _names(variable, names, choices, strict=per_function)
        for function in [_function(variable, prefix)] if prefix else COLLECTIVES:
            out[function] = chosen
    return out


def _function(variable: str, prefix: str) -> str:
    try:
        name = collective(prefix).name
    except CollsimError as error:
        raise InputError(f"{variable}: {error}") from error
    if name not in COLLECTIVES:
        raise InputError(f"{variable}: {prefix!r}, expected one of {', '.join(COLLECTIVES)}")
    return name


def _names(
    variable: str, names: str, choices: tuple[str, ...], *, strict: bool
) -> dict[str, bool]:
    excluded = names.startswith("^")
    out = dict.fromkeys(choices, excluded)
    for word in filter(None, names.removeprefix("^").split(",")):
        # NCCL's own spelling has no underscore here.
        name = _PLAIN.get(word.lower())
        if name in choices:
            out[name] = not excluded
        elif strict:
            known = ", ".join(choice.replace("_", "") for choice in choices)
            raise InputError(f"{variable}: {word!r}, expected one of {known}")
    return out


def enabled(comm: Communicator, release: Release) -> dict[tuple[str, str, str], bool]:
    """Return, by collective, algorithm and protocol, whether it is on."""
    rules, environment = release.rules, comm.environment
    asked = {
        variable: parse_list(
            variable, environment[variable], choices, per_function=rules.per_function
        )
        if environment.get(variable)
        else {}
        for variable, choices in (("NCCL_ALGO", ALGORITHMS), ("NCCL_PROTO", PROTOCOLS))
    }
    out = {}
    for function in COLLECTIVES:
        algorithms = _algorithms(comm, release, asked["NCCL_ALGO"].get(function))
        protocols = asked["NCCL_PROTO"].get(function)
        for algorithm in ALGORITHMS:
            for protocol in PROTOCOLS:
                on = _protocol(comm, release, protocols, algorithm, protocol)
                stays = rules.ring_stays == "always" and algorithm == "ring"
                if not (stays and function != "all_reduce"):
                    on = on and algorithms[algorithm]
                out[function, algorithm, protocol] = on
    return out


def protocol_on(comm: Communicator, release: Release, function: str, protocol: str) -> bool:
    """Return whether ring may use a protocol, whatever NCCL_ALGO says."""
    text = comm.environment.get("NCCL_PROTO")
    asked: Switches = {}
    if text:
        per_function = release.rules.per_function
        asked = parse_list("NCCL_PROTO", text, PROTOCOLS, per_function=per_function)
    return _protocol(comm, release, asked.get(function), "ring", protocol)


def _protocol(
    comm: Communicator,
    release: Release,
    asked: dict[str, bool] | None,
    algorithm: str,
    protocol: str,
) -> bool:
    if asked is not None:
        return asked[protocol]
    return protocol != "ll128" or _ll128(comm, release, algorithm)


def _algorithms(
    comm: Communicator, release: Release, asked: dict[str, bool] | None
) -> dict[str, bool]:
    on = dict(asked) if asked is not None else dict.fromkeys(ALGORITHMS, True)
    if comm.nodes == 1:
        on["nvls_tree"] = False
    if not comm.collnet:
        on["collnet_direct"] = on["collnet_chain"] = False
        if comm.nodes > 1:
            on["nvls"] = False
    if not comm.nvswitch:
        on["collnet_direct"] = False
    others = ("ring", "tree", "nvls", "nvls_tree")
    if release.rules.ring_stays and not comm.collnet and not any(on[name] for name in others):
        on["ring"] = on["tree"] = True
    return on


def _ll128(comm: Communicator, release: Release, algorithm: str) -> bool:
    """Whether LL128 is on by default: its stores must arrive whole."""
    rules, graph, least = release.rules, comm.graph(algorithm), comm.capability
    farthest = "PXB"
    if least >= 90:
        through_cpu = comm.environment.get("NCCL_LL128_C2C", "1") != "0"
        farthest = rules.ll128_inter if through_cpu else rules.ll128_apart
    alike = comm.most_capability == least or (rules.ll128_mixed and least >= 90)
    fit = least in rules.ll128_capabilities if rules.ll128_capabilities else least >= 70
    return (
        path_rank(graph.type_inter) <= path_rank(farthest)
        and path_rank(graph.type_intra) <= path_rank(rules.ll128_intra)
        and alike
        and fit
    )
