"""Options that several commands share; a group of them comes as one value."""

from collsim.cli.options.cluster import (
    NETWORK_OPTIONS,
    cluster_option,
    cluster_options,
    gpus_option,
    what_if_options,
)
from collsim.cli.options.common import (
    LogChoice,
    SizeChoice,
    log_options,
    output_options,
    range_options,
    size_options,
    type_options,
)
from collsim.cli.options.group import chained, gathered
from collsim.cli.options.run import (
    algorithm_option,
    all_given,
    channels_option,
    chunks_option,
    collective_argument,
    fold_option,
    model_option,
    root_option,
    run_options,
)

__all__ = [
    "NETWORK_OPTIONS",
    "LogChoice",
    "SizeChoice",
    "algorithm_option",
    "all_given",
    "chained",
    "channels_option",
    "chunks_option",
    "cluster_option",
    "cluster_options",
    "collective_argument",
    "fold_option",
    "gathered",
    "gpus_option",
    "log_options",
    "model_option",
    "output_options",
    "range_options",
    "root_option",
    "run_options",
    "size_options",
    "type_options",
    "what_if_options",
]
