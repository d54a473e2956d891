"""Which cluster the options mean."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from collsim.errors import InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from collsim.core.cluster import Cluster
    from collsim.core.profile import Profile

__all__ = ["ClusterChoice"]

_DEFAULT: Final = "textbook-h100"
_DEFAULT_RANKS: Final = 8


@dataclass(frozen=True)
class ClusterChoice:
    """The options that choose a cluster, as parsed; None is an option not given."""

    cluster: str | None = None
    nodes: int | None = None
    gpus_per_node: int | None = None
    ranks: int | None = None
    alpha: float | None = None
    bandwidth: float | None = None
    gamma: float | None = None
    launch: float | None = None
    alpha_busy: float | None = None
    profile: str | None = None
    sharing: str | None = None
    order: tuple[int, ...] | str | None = None
    changes: tuple[str, ...] = ()
    degrade: tuple[tuple[str, float], ...] = ()
    fail: tuple[str, ...] = ()
    delay: tuple[tuple[str, float], ...] = ()

    def load(self) -> "Cluster":
        """Return the cluster, with all that is wrong with it.

        Raises
        ------
        UsageError
            If the options contradict each other.
        CollsimError
            If there is no such cluster or profile, or it has no such size or part.
        """
        cluster = self._placed(self.changes)
        if not (self.degrade or self.fail or self.delay):
            return cluster
        from collsim.topology import hurt

        return hurt(cluster, self.degrade, self.fail, self.delay)

    @property
    def file(self) -> str:
        """The preset or file that numbers are from; "" where the options are all there is."""
        if self.alpha is not None or (self.profile is not None and self.cluster is None):
            return ""
        return _DEFAULT if self.cluster is None else self.cluster

    @property
    def said(self) -> tuple[str, ...]:
        """What is changed of the cluster, in the words of the options."""
        from collsim.units import format_time

        order = (
            self.order if isinstance(self.order, str) else ",".join(map(str, self.order or ()))
        )
        return (
            *(f"set {change}" for change in self.changes),
            *([] if self._busy is None else [f"alpha-busy {format_time(self._busy)}"]),
            *([f"sharing {self.sharing}"] if self.sharing else []),
            *([f"order {order}"] if order else []),
            *(f"degrade {part}={left:g}" for part, left in self.degrade),
            *(f"fail {part}" for part in self.fail),
            *(f"delay {rank}={format_time(late)}" for rank, late in self.delay),
        )

    @property
    def changed_keys(self) -> tuple[str, ...]:
        """Keys of the cluster's file that are changed."""
        return tuple(change.partition("=")[0].strip() for change in self.changes)

    @property
    def _busy(self) -> float | None:
        """The alpha_busy of all links of a file; None where none is changed."""
        return self.alpha_busy if self.alpha is None else None

    def unhurt(self) -> "Cluster":
        """Return the cluster as changed and placed, with nothing slow, broken or late."""
        return self._placed(self.changes)

    def healthy(self) -> "Cluster | None":
        """Return the cluster without what is changed or wrong; None where nothing is."""
        if self._busy is not None:
            plain = replace(self, alpha_busy=None)
            return plain.healthy() or plain.unhurt()
        if not (self.changes or self.degrade or self.fail or self.delay):
            return None
        try:
            return self._placed(())
        except InputError:
            if self.order is None:
                raise
            # An order for another number of ranks, which a --set makes.
            return replace(self, order=None).healthy()

    def _placed(self, changes: tuple[str, ...]) -> "Cluster":
        from collsim.config.changes import parse_changes

        cluster = self._named(changes)
        # A profile's numbers make a cluster anew, which is not to forget what was set.
        sharing = self.sharing or parse_changes(changes).get("sharing")
        if isinstance(sharing, str) and sharing != cluster.sharing:
            cluster = replace(cluster, sharing=sharing)
        if self.order is None:
            return cluster
        from collsim.topology import reorder

        return reorder(cluster, self.order)

    def _named(self, texts: tuple[str, ...]) -> "Cluster":
        """Return the cluster as it is named.

        Raises
        ------
        UsageError
            If the options contradict each other.
        CollsimError
            If there is no such cluster or profile, or it has no such size.
        """
        self._check()
        found = self._load(texts)
        return replace(
            found,
            gamma=found.gamma if self.gamma is None else self.gamma,
            launch=found.launch if self.launch is None else self.launch,
        )

    def _load(self, texts: tuple[str, ...]) -> "Cluster":
        from collsim.core.cluster import Cluster

        if self.alpha is not None and self.bandwidth is not None:
            return Cluster.ideal(
                _DEFAULT_RANKS if self.ranks is None else self.ranks,
                self.alpha,
                self.bandwidth,
                alpha_busy=self.alpha_busy,
            )
        from collsim.config.changes import EVERY_BUSY, parse_changes

        changes = parse_changes(texts)
        if self.alpha_busy is not None:
            changes[EVERY_BUSY] = f"{self.alpha_busy!r}s"
        profile = self.load_profile()
        if profile is not None:
            from collsim.config.fitted import own_cluster, with_profile

            if self.cluster is None:
                size = (self.nodes, self.gpus_per_node, self.ranks)
                return own_cluster(profile, *size, changes)
            self.check_machine(profile)
            return with_profile(self._preset(self.cluster, changes), profile)
        return self._preset(self.cluster, changes)

    def check_machine(self, profile: "Profile") -> None:
        """Refuse a profile of NCCL's pieces that is of another machine than -c."""
        if self.cluster is None or profile.model != "nccl":
            return
        from collsim.cli.measured.machine import check_machine

        check_machine(profile, self.cluster, self._preset(self.cluster, {}))

    def load_profile(self) -> "Profile | None":
        """Return the profile that was named, or None."""
        if self.profile is None:
            return None
        from collsim.cli.clusters.of_profile import opened_profile

        return opened_profile(self.profile, {"launch": self.launch, "gamma": self.gamma})

    def _preset(self, name: str | None, changes: "Mapping[str, object]") -> "Cluster":
        from collsim.core.cluster import Cluster

        ranks = self.ranks
        if name is None and (ranks, self.nodes, self.gpus_per_node) == (None,) * 3:
            ranks = _DEFAULT_RANKS
        return Cluster.load(
            _DEFAULT if name is None else name,
            nodes=self.nodes,
            gpus_per_node=self.gpus_per_node,
            ranks=ranks,
            changes=changes,
        )

    def _check(self) -> None:
        """Refuse options that contradict each other."""
        if self.ranks is not None and self.nodes is not None:
            raise UsageError(
                "--ranks takes GPUs of one node, so it can't be combined with --nodes"
            )
        if (self.alpha is None) != (self.bandwidth is None):
            given, missing = ("--alpha", "--bandwidth")[:: 1 if self.bandwidth is None else -1]
            raise UsageError(f"{given} needs {missing}: both make an ideal network")
        if self.alpha is None:
            if self.alpha_busy is not None and self.profile is not None:
                raise UsageError(
                    "--alpha-busy with --profile, whose numbers hold: expected one of them"
                )
            return
        for name, option in (
            ("cluster", "-c/--cluster"),
            ("profile", "--profile"),
            ("nodes", "--nodes"),
            ("gpus_per_node", "--gpus-per-node"),
            ("changes", "--set"),
        ):
            if getattr(self, name) not in (None, ()):
                raise UsageError(
                    f"--alpha and --bandwidth make an ideal network of --ranks, so they "
                    f"can't be combined with {option}"
                )
