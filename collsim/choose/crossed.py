"""Which links the messages of a schedule cross."""

import numpy as np

from collsim.core.cluster import Cluster
from collsim.core.schedule import Schedule
from collsim.engine.lower import routes_of

__all__ = ["crossed_links"]


def crossed_links(schedule: Schedule, cluster: Cluster) -> set[int]:
    """Return the links that some message of a schedule crosses.

    Parameters
    ----------
    schedule : Schedule
        Of as many ranks as the cluster.
    cluster : Cluster
        Whose links they are.

    Examples
    --------
    >>> from collsim.algorithms import build
    >>> two = Cluster.load("dgx-h100", nodes=2)
    >>> crossed = crossed_links(build("all_gather", "ring", 16), two)
    >>> [name for i, name in enumerate(two.links.names) if i in crossed and "nic" in name]
    ['nic[7].up', 'nic[15].up', 'nic[0].down', 'nic[8].down']
    """
    pairs = np.unique(np.stack([schedule.src, schedule.dst]), axis=1).astype(np.int64)
    return set(routes_of(cluster, *pairs)[1].tolist())
