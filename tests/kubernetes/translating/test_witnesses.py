"""Whatever is being deleted is shown to those who ask for that, and once more when it is over."""

from analyzer.sources.kubernetes.objects import Custom, KubeObject, PersistentVolumeClaim, Pod
from analyzer.sources.kubernetes.objects.metadata import Metadata
from analyzer.sources.kubernetes.observations import LogStatement, Seen
from analyzer.sources.kubernetes.records import PodRecord
from analyzer.sources.kubernetes.witnesses import BEING_DELETED, Witnesses


class Noting:
    """Notes whom it was shown."""

    def __init__(self, *kinds: str) -> None:
        self.kinds = frozenset(kinds)
        self.shown: list[tuple[str, bool]] = []

    def take(self, seen: Seen) -> None:
        self.shown.append((seen.object.metadata.name, seen.gone))

    def see(self, pod: Pod, record: PodRecord, *, gone: bool) -> None: ...

    def hear(self, said: LogStatement) -> None: ...


def seen(thing: KubeObject, *, gone: bool = False) -> Seen:
    return Seen(0, thing, gone, (0, 0))


def claim(name: str, *, deleted: bool) -> PersistentVolumeClaim:
    moment = "2026-03-02T10:00:00Z" if deleted else None
    return PersistentVolumeClaim(metadata=Metadata(name=name, namespace="a", deletion_timestamp=moment))


def test_only_what_is_being_deleted_is_shown_and_its_end_once() -> None:
    noting = Noting(BEING_DELETED)
    witnesses = Witnesses([noting])
    for one in (
        seen(claim("stays", deleted=False)),
        seen(claim("goes", deleted=True)),
        seen(claim("stays", deleted=False)),
        seen(claim("goes", deleted=True), gone=True),
        seen(claim("goes", deleted=False)),
    ):
        witnesses.take(one)
    assert noting.shown == [("goes", False), ("goes", True)]


def test_one_made_anew_under_the_name_is_shown() -> None:
    noting = Noting(BEING_DELETED)
    witnesses = Witnesses([noting])
    witnesses.take(seen(claim("goes", deleted=True)))
    witnesses.take(seen(claim("goes", deleted=False)))
    assert noting.shown == [("goes", False), ("goes", False)]


def test_who_asks_for_the_kind_as_well_is_shown_it_once() -> None:
    noting = Noting(BEING_DELETED, "RayCluster.ray.io")
    moment = Metadata(name="tuner", deletion_timestamp="2026-03-02T10:00:00Z")
    Witnesses([noting]).take(seen(Custom(api_version="ray.io/v1", kind="RayCluster", metadata=moment)))
    assert noting.shown == [("tuner", False)]
