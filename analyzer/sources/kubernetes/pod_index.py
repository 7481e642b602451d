"""All pods, and by what they are found: owner, namespace, claim, parent, application, node that they are leaving."""

from analyzer.sources.kubernetes.objects import OwnerReference
from analyzer.sources.kubernetes.owners import reference_key
from analyzer.sources.kubernetes.records import BOUND, PodRecord

Index = dict[str, set[str]]


def add(index: Index, key: str, member: str) -> None:
    """Put the member under the key."""
    found = index.get(key)
    if found is None:
        index[key] = {member}
    else:
        found.add(member)


def discard(index: Index, key: str, member: str) -> None:
    """Take the member away; a key without members is forgotten."""
    found = index.get(key)
    if found is not None:
        found.discard(member)
        if not found:
            del index[key]


def application_of(record: PodRecord) -> str:
    """The Spark application of a driver or executor, as `namespace/application`; "" for other pods."""
    app = record.marks.get("spark-app-selector") if record.marks is not None else None
    return f"{record.namespace}/{app}" if app else ""


def deployment_of(namespace: str, owner: OwnerReference) -> str:
    """The Deployment of a ReplicaSet by the ReplicaSet's name alone, which is the Deployment's and a hash."""
    return f"{namespace}/{owner.name.rpartition('-')[0]}"


class PodIndex:
    """The pods by key (`namespace/name`). `unstarted`: bound, not running. `ported`: with host ports.

    `apart`: those that must not be beside others; `apart_touched`: those of them that came or went (for who asks).

    `odd_by_owner`: those of a controller that are not plain.

    `sets_of`: identities of the ReplicaSets that have pods, by the name of their Deployment as it shows in theirs.
    `owners_in`: identities of the controllers that have pods in a namespace. `bare_in`: its pods without one.
    """

    def __init__(self) -> None:
        self.pods: dict[str, PodRecord] = {}
        self.by_owner: Index = {}
        self.odd_by_owner: Index = {}
        self._by_namespace: Index | None = None
        self.by_claim: Index = {}
        self.by_parent: Index = {}
        self.by_app: Index = {}
        self.leaving_on: Index = {}
        self.sets_of: Index = {}
        self.owners_in: Index = {}
        self.bare_in: Index = {}
        self.unstarted: set[str] = set()
        self.ported: set[str] = set()
        self.apart: set[str] = set()
        self.apart_touched: set[str] = set()

    def siblings(self, record: PodRecord) -> set[str]:
        """The ReplicaSets with pods of the Deployment to which this pod (of a ReplicaSet) belongs, by its name."""
        if record.owner is None:
            return set()
        return self.sets_of.get(deployment_of(record.namespace, record.owner), set())

    @property
    def by_namespace(self) -> Index:
        """The pods of each namespace. Made when it is first asked for, since only quotas ask."""
        if self._by_namespace is None:
            self._by_namespace = {}
            for key, record in self.pods.items():
                add(self._by_namespace, record.namespace, key)
        return self._by_namespace

    def add(self, record: PodRecord) -> None:
        """Take in a pod that is not there. O(1)."""
        key = record.key
        self.pods[key] = record
        if self._by_namespace is not None:
            add(self._by_namespace, record.namespace, key)
        if record.owner is not None:
            uid = reference_key(record.owner, record.namespace)
            if uid in self.by_owner:
                self.by_owner[uid].add(key)
            else:
                self.by_owner[uid] = {key}
                add(self.owners_in, record.namespace, uid)
                if record.owner.kind == "ReplicaSet":
                    add(self.sets_of, deployment_of(record.namespace, record.owner), uid)
        else:
            add(self.bare_in, record.namespace, key)
        if record.apart:
            self.apart.add(key)
            self.apart_touched.add(key)
        if record.plain:
            return
        if record.owner is not None:
            add(self.odd_by_owner, uid, key)
        if record.shape.ports:
            self.ported.add(key)
        if record.stage is BOUND:
            if not record.running:
                self.unstarted.add(key)
            if record.leaving is not None:
                add(self.leaving_on, record.node, key)
        for claim in record.claims:
            add(self.by_claim, f"{record.namespace}/{claim}", key)
        if record.parent:
            add(self.by_parent, f"{record.namespace}/{record.parent}", key)
        app = application_of(record)
        if app:
            add(self.by_app, app, key)

    def remove(self, key: str) -> PodRecord | None:
        """Take the pod out; None if it was not there."""
        record = self.pods.pop(key, None)
        if record is None:
            return None
        if self._by_namespace is not None:
            discard(self._by_namespace, record.namespace, key)
        if record.owner is not None:
            uid = reference_key(record.owner, record.namespace)
            discard(self.by_owner, uid, key)
            if uid not in self.by_owner:
                discard(self.owners_in, record.namespace, uid)
            discard(self.odd_by_owner, uid, key)
            if record.owner.kind == "ReplicaSet" and uid not in self.by_owner:
                discard(self.sets_of, deployment_of(record.namespace, record.owner), uid)
        else:
            discard(self.bare_in, record.namespace, key)
        self.unstarted.discard(key)
        self.ported.discard(key)
        if record.apart:
            self.apart.discard(key)
            self.apart_touched.add(key)
        if record.leaving is not None:
            discard(self.leaving_on, record.node, key)
        for claim in record.claims:
            discard(self.by_claim, f"{record.namespace}/{claim}", key)
        if record.parent:
            discard(self.by_parent, f"{record.namespace}/{record.parent}", key)
        app = application_of(record)
        if app:
            discard(self.by_app, app, key)
        return record
