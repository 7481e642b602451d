"""Which pods are in which gang, and which controllers make pods for it."""

from analyzer.sources.kubernetes.gangs import Gang, gang_of, member_of, template_member
from analyzer.sources.kubernetes.objects import Custom, Deployment
from analyzer.sources.kubernetes.owners import Owner, Owners
from analyzer.sources.kubernetes.pod_index import Index, add, discard
from analyzer.sources.kubernetes.records import PodRecord

LONE_KINDS = frozenset({"ReplicaSet", "DaemonSet", "StatefulSet", "Node"})
"""Controllers whose pods are in a gang only if marks say so."""


class Memberships:
    """Gangs by pod (`gangs`), pods by gang (`by_gang`), identities of controllers by gang (`makers_by_gang`)."""

    def __init__(self, owners: Owners) -> None:
        self.gangs: dict[str, Gang] = {}
        self.gang_by_key: dict[str, Gang] = {}
        self.by_gang: Index = {}
        self.makers_by_gang: Index = {}
        self._owners = owners

    def gang_of(self, record: PodRecord) -> Gang | None:
        """The gang that the pod belongs to by its marks and its controller, None if there is none."""
        if record.marks is None and not record.launches and not self._may_be_by_owner(record):
            return None
        return gang_of(member_of(record, self._owners))

    def join(self, record: PodRecord) -> Gang | None:
        """Put the pod into its gang; None if it has none."""
        gang = self.gang_of(record)
        if gang is not None:
            self.gangs[record.key] = gang
            self.gang_by_key[gang.key] = gang
            add(self.by_gang, gang.key, record.key)
        return gang

    def leave(self, key: str) -> Gang | None:
        """Take the pod out of its gang; None if it was in none."""
        gang = self.gangs.pop(key, None)
        if gang is not None:
            discard(self.by_gang, gang.key, key)
            self._tidy(gang.key)
        return gang

    def _may_be_by_owner(self, record: PodRecord) -> bool:
        owner = record.owner
        if owner is None or owner.kind in LONE_KINDS:
            return False
        if owner.kind != "Job":
            return True
        found = self._owners.get(owner, record.namespace)
        return found is not None and (found.parent is not None or found.launches)

    def declared_by(self, thing: Custom) -> set[str]:
        """The gangs that the object may declare: the one of its name, or all that begin with it."""
        key = f"{thing.metadata.namespace or 'default'}/{thing.metadata.name}"
        if thing.kind != "LeaderWorkerSet":
            return {key}
        return {key, *(gang for gang in self.by_gang if gang.startswith(key + "-"))}

    def made_by(self, owner: Owner) -> Gang | None:
        """The gang that the controller's pods are, or would be, in."""
        if owner.template is None or isinstance(owner.object, Deployment):
            return None
        return gang_of(template_member(owner))

    def note_maker(self, owner: Owner) -> set[str]:
        """Note for which gang the controller makes pods; the gangs that this touches."""
        gang = self.made_by(owner)
        if gang is None:
            return set()
        add(self.makers_by_gang, gang.key, owner.uid)
        self.gang_by_key[gang.key] = gang
        return {gang.key}

    def forget_maker(self, owner: Owner) -> set[str]:
        """The controller, as it was, is gone; the gangs that this touches."""
        gang = self.made_by(owner)
        if gang is None:
            return set()
        discard(self.makers_by_gang, gang.key, owner.uid)
        self._tidy(gang.key)
        return {gang.key}

    def _tidy(self, key: str) -> None:
        """A gang without pods, for which nobody makes any, is forgotten."""
        if key not in self.by_gang and key not in self.makers_by_gang:
            self.gang_by_key.pop(key, None)
