"""NCCL's documented cost model and choice of algorithm, and what its debug log tells of them.

`Communicator` holds what NCCL knows; `tuning` fills its table of latencies and bandwidths for a
release; the `Tuning` gives times, the choice per size, its channels, and exact ranges of sizes.
`communicator` derives the numbers from a cluster, `graphs_from_xml` reads NCCL's own, and
`read_log` its debug log, of which `printed_tuning` makes a `Tuning` too.
"""

from collsim.nccl.choice import Choice, ChoiceRange, smoothed
from collsim.nccl.communicator import Communicator, Graph
from collsim.nccl.derive import communicator
from collsim.nccl.graph_xml import graphs_from_xml, read_graphs
from collsim.nccl.log import Log, parse_log, read_log
from collsim.nccl.names import ALGORITHMS, COLLECTIVES, PROTOCOLS
from collsim.nccl.printed import log_communicator, printed_tuning
from collsim.nccl.tuning import Tuning, tuning
from collsim.nccl.versions import Release, release

__all__ = [
    "ALGORITHMS",
    "COLLECTIVES",
    "PROTOCOLS",
    "Choice",
    "ChoiceRange",
    "Communicator",
    "Graph",
    "Log",
    "Release",
    "Tuning",
    "communicator",
    "graphs_from_xml",
    "log_communicator",
    "parse_log",
    "printed_tuning",
    "read_graphs",
    "read_log",
    "release",
    "smoothed",
    "tuning",
]
