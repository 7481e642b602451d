"""However the same incident is written down, the same is said; and bad input never costs the good beside it."""

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.kubernetes.scenarios.incident import Incident, as_list
from tests.kubernetes.scenarios.making import Object
from tests.replay.reports import report_of, run_replay, verdicts_of
from tests.replay.truth import compare, parts_of

SCENARIOS = Path(__file__).parents[1] / "kubernetes" / "scenarios"
CHOSEN = (
    "a1_half_placed_gangs/with_a_queue_behind",
    "a2_permit_stage/two_gangs_reserve",
    "a7_quota_beyond_metal/admitted_and_unplaceable",
    "b2_quota_eaten/two_gangs_over_quota",
    "d1_gpus/surge_needs_a_third_place",
    "d1_volumes/opposite_order",
    "h1_phantoms/terminating_for_ever",
    "silence/ordinary_queue",
)
Files = dict[str, str | bytes]


def _incident(name: str) -> Incident:
    return Incident(parts_of((SCENARIOS / f"{name}.scenario").read_text("utf-8"))[0])


def _shuffler() -> random.Random:
    return random.Random(11)  # noqa: S311 - a fixed shuffle, not a secret


def _log(incident: Incident) -> Files:
    return {"scheduler.txt": "\n".join(incident.log) + "\n"} if incident.log else {}


def _shuffled_items(incident: Incident) -> Files:
    files = {}
    for stem, items in incident.lists().items():
        mixed = list(items)
        _shuffler().shuffle(mixed)
        files[f"{stem}.json"] = as_list(mixed)
    return files | _log(incident)


def _one_list(incident: Incident) -> Files:
    mixed = list(incident.objects)
    _shuffler().shuffle(mixed)
    return {"everything.json": as_list(mixed)} | _log(incident)


def _one_file_an_object(incident: Incident) -> Files:
    return {f"{n}.json": json.dumps(made) for n, made in enumerate(incident.objects)} | _log(incident)


def _yaml_lists(incident: Incident) -> Files:
    lists = incident.lists().items()
    return {f"{stem}.yaml": yaml.safe_dump(json.loads(as_list(items))) for stem, items in lists} | _log(incident)


def _yaml_documents(incident: Incident) -> Files:
    return {"all.yml": yaml.safe_dump_all(incident.objects, explicit_start=True)} | _log(incident)


def _concatenated(incident: Incident) -> Files:
    return {"stream": "".join(json.dumps(made, indent=2) + "\n" for made in incident.objects)} | _log(incident)


def _typed_lists(incident: Incident) -> Files:
    kinds: dict[tuple[str, str], list[Object]] = {}
    for made in incident.objects:
        kinds.setdefault((made["apiVersion"], made["kind"]), []).append(made)
    files = {}
    for number, ((api, kind), items) in enumerate(kinds.items()):
        bare = [{key: value for key, value in made.items() if key not in ("apiVersion", "kind")} for made in items]
        files[f"{number}.json"] = json.dumps({"apiVersion": api, "kind": f"{kind}List", "metadata": {}, "items": bare})
    return files | _log(incident)


def _twice(incident: Incident) -> Files:
    files = {f"{stem}.json": as_list(items) for stem, items in incident.lists().items()}
    return files | {f"copy/{name}": text for name, text in files.items()} | _log(incident)


def _with_rubbish(incident: Incident) -> Files:
    files = {f"{stem}.json": as_list(items) for stem, items in incident.lists().items()} | _log(incident)
    rubbish = {
        "empty.json": "",
        "notes.md": "# Saturday\nwe rebooted gpu-3\n",
        "broken.json": '{"apiVersion": "v1", "it',
    }
    return (
        files
        | rubbish
        | {"other.yaml": "a: [1, 2\nb: }", "numbers.csv": "1,2,3\n", "list.json": "[]", "null.json": "null"}
    )


def _from_windows(incident: Incident) -> Files:
    """As `kubectl ... > file` of a PowerShell writes it: UTF-16 with a mark, and CRLF."""
    lists = incident.lists().items()
    logs: Files = {"scheduler.txt": ("\ufeff" + "\r\n".join(incident.log) + "\r\n").encode()} if incident.log else {}
    return {f"{stem}.json": as_list(items).replace("\n", "\r\n").encode("utf-16") for stem, items in lists} | logs


def _turned(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _turned(inner) for key, inner in reversed(value.items())}
    return [_turned(inner) for inner in value] if isinstance(value, list) else value


def _keys_backwards(incident: Incident) -> Files:
    """Kind and apiVersion behind what they describe."""
    lists = incident.lists().items()
    return {f"{stem}.json": json.dumps(_turned(json.loads(as_list(items)))) for stem, items in lists} | _log(incident)


_NULLS = {
    "metadata": ("labels", "annotations", "ownerReferences", "finalizers", "managedFields", "deletionTimestamp"),
    "spec": ("nodeSelector", "tolerations", "affinity", "initContainers", "volumes", "overhead", "taints", "priority"),
    "status": ("conditions", "containerStatuses", "nominatedNodeName", "startTime", "message", "reason"),
}


def _with_nulls(incident: Incident) -> Files:
    """Whatever is not there is there as null."""
    filled = json.loads(json.dumps(incident.objects))
    for made in filled:
        for part, fields in _NULLS.items():
            if part in made:
                made[part] = {**dict.fromkeys(fields), **made[part]}
    return {"all.json": as_list(filled)} | _log(incident)


def _among_strangers(incident: Incident) -> Files:
    """Kinds that nobody here knows, and the notes of field managers."""
    noise: Object = {"f:metadata": {"f:labels": {".": {}, "f:app": {}}}, "f:spec": {"f:nodeName": {}}}
    noisy = json.loads(json.dumps(incident.objects))
    for made in noisy:
        entry = {"manager": "kubectl", "operation": "Update", "apiVersion": "v1", "fieldsV1": noise}
        made["metadata"]["managedFields"] = [{**entry, "time": made["metadata"]["creationTimestamp"]}]
    kinds = ("Secret", "ConfigMap", "ServiceAccount", "Endpoints", "ComponentStatus")
    strange: list[Object] = [
        {"apiVersion": "v1", "kind": kind, "metadata": {"name": "x"}, "data": {}} for kind in kinds
    ]
    strange.append({"apiVersion": "example.com/v7", "kind": "Thing", "metadata": {"name": "x"}, "spec": [1, "two"]})
    return {"all.json": as_list([*strange[:3], *noisy, *strange[3:]])} | _log(incident)


def _events_of_the_new_api(incident: Incident) -> Files:
    """events.k8s.io/v1: `regarding`, `note`, `series`, and the old fields as deprecated ones."""
    lists = incident.lists()
    names = {"involvedObject": "regarding", "message": "note", "reportingComponent": "reportingController"}
    names |= {"firstTimestamp": "deprecatedFirstTimestamp", "lastTimestamp": "deprecatedLastTimestamp"}
    names |= {"count": "deprecatedCount", "source": "deprecatedSource"}
    events = [{names.get(key, key): value for key, value in event.items()} for event in lists.pop("events")]
    files: Files = {f"{stem}.json": as_list(items) for stem, items in lists.items()}
    files["events.json"] = as_list([{**event, "apiVersion": "events.k8s.io/v1"} for event in events])
    return files | _log(incident)


def _write(folder: Path, files: Files) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode() if isinstance(text, str) else text)
    return folder


SPELLINGS: tuple[Callable[[Incident], Files], ...] = (
    _shuffled_items,
    _one_list,
    _one_file_an_object,
    _yaml_lists,
    _yaml_documents,
    _concatenated,
    _typed_lists,
    _twice,
    _with_rubbish,
    _from_windows,
    _keys_backwards,
    _with_nulls,
    _among_strangers,
    _events_of_the_new_api,
)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_form_of_the_dump_does_not_matter(spelling: Callable[[Incident], Files], tmp_path: Path) -> None:
    for number, name in enumerate(CHOSEN):
        incident = _incident(name)
        given = verdicts_of(report_of([incident.write(tmp_path / f"{number}" / "given")]))
        spelt = verdicts_of(report_of([_write(tmp_path / f"{number}" / "spelt", spelling(incident))]))
        assert spelt == given, name


@pytest.mark.parametrize("name", CHOSEN)
def test_order_of_arguments_does_not_change_a_byte(name: str, tmp_path: Path) -> None:
    folder = _incident(name).write(tmp_path / "incident")
    paths = sorted(folder.iterdir())
    whole = run_replay(paths).stdout
    mixed = list(paths)
    _shuffler().shuffle(mixed)
    assert run_replay(mixed).stdout == whole
    assert run_replay([*reversed(paths), *paths]).stdout == whole


SUFFICIENT = (
    ("a1_half_placed_gangs/two_jobs", ("nodes", "pods")),
    ("a1_half_placed_gangs/with_a_queue_behind", ("nodes", "pods", "workloads", "cluster")),
    ("a1_half_placed_gangs/third_job_will_end", ("nodes", "pods", "workloads")),
    ("a7_quota_beyond_metal/holders_are_batch", ("nodes", "pods")),
    ("b1_parents_and_children/spark_drivers", ("nodes", "pods")),
    ("d1_gpus/surge_needs_a_third_place", ("nodes", "pods", "workloads")),
    ("d1_volumes/opposite_order", ("nodes", "pods", "cluster")),
    ("d2_pinned/full_of_services", ("nodes", "pods", "workloads", "cluster")),
    ("h1_phantoms/terminating_for_ever", ("nodes", "pods", "workloads")),
    ("gangs/pod_groups_of_volcano", ("nodes", "pods", "workloads")),
    ("silence/ordinary_queue", ("nodes", "pods")),
)


@pytest.mark.parametrize(("name", "stems"), SUFFICIENT)
def test_files_that_suffice(name: str, stems: tuple[str, ...], tmp_path: Path) -> None:
    """Nobody dumps everything: what is needed for the verdict is enough for it."""
    text = (SCENARIOS / f"{name}.scenario").read_text("utf-8")
    folder = _incident(name).write(tmp_path / "incident")
    assert compare(parts_of(text)[1], report_of([folder / f"{stem}.json" for stem in stems])) == []


def test_a_newer_dump_beside_an_older_one_wins(tmp_path: Path) -> None:
    """Two dumps of the same pods in one folder: the later version counts, whatever the files are called."""
    older = _incident("a1_half_placed_gangs/two_jobs")
    newer = json.loads(json.dumps(older.objects))
    nodes = iter(("gpu-3",))
    for made in newer:
        made["metadata"]["resourceVersion"] = str(5000 + int(made["metadata"]["resourceVersion"]))
        if made["kind"] == "Pod" and made["metadata"]["name"].startswith("blue"):
            made["spec"].pop("nodeName", None)
            made["status"] = {"phase": "Succeeded", "conditions": made["status"]["conditions"]}
        elif made["kind"] == "Pod" and "nodeName" not in made["spec"]:
            made["spec"]["nodeName"] = next(nodes)
            made["status"] = {"phase": "Running", "conditions": [{"type": "PodScheduled", "status": "True"}]}
    for first, second in (("a.json", "b.json"), ("b.json", "a.json")):
        folder = tmp_path / first
        report = report_of([_write(folder, {first: as_list(older.objects), second: as_list(newer)})])
        assert [f for f in report["findings"] if f["state"] == "open"] == []


FILES = ("nodes", "pods", "workloads", "cluster", "events")
ONLY_EVENTS_TELL = ("event TriggeredScaleUp", "event Nominated")  # that somebody makes room: it stands nowhere else


@pytest.mark.parametrize("missing", FILES)
def test_less_input_never_makes_a_quiet_cluster_loud(missing: str, tmp_path: Path) -> None:
    """Whatever file is left out: more silent, never louder."""
    loud = []
    for scenario in sorted(SCENARIOS.glob("*/*.scenario")):
        given, truth = parts_of(scenario.read_text("utf-8"))
        if any(claim.state == "open" for claim in truth.claims):
            continue
        name = f"{scenario.parent.name}/{scenario.stem}"
        if missing == "events" and any(said in given for said in ONLY_EVENTS_TELL):
            continue
        folder = Incident(given).write(tmp_path / name)
        result = run_replay([folder / f"{stem}.json" for stem in FILES if stem != missing])
        assert result.exit_code in (0, 1, 2), name
        loud += [name] if result.exit_code == 1 else []
    assert loud == []


def test_rubbish_is_named_and_costs_nothing(tmp_path: Path) -> None:
    folder = _write(tmp_path / "incident", _with_rubbish(_incident(CHOSEN[0])))
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    result = run_replay([folder])
    assert result.exit_code == 1
    assert "Traceback" not in result.stderr
    named = {Path(source["path"]).name for source in json.loads(result.stdout)["sources"]}
    assert {"empty.json", "notes.md", "broken.json", "other.yaml", "picture.png"} <= named


def test_one_bad_object_costs_none_of_its_neighbours(tmp_path: Path) -> None:
    incident = _incident(CHOSEN[0])
    given = verdicts_of(report_of([incident.write(tmp_path / "given")]))
    files: Files = {f"{stem}.json": as_list(items) for stem, items in incident.lists().items()}
    bad: list[Any] = [
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "bad", "namespace": "x"}, "spec": 7},
        {"apiVersion": "v1", "kind": "Pod", "metadata": None},
        {"apiVersion": "v1", "kind": "Pod"},
        {"kind": "Pod", "apiVersion": ["v1"]},
        {},
        "pod",
        None,
        12,
    ]
    pods = incident.lists()["pods"]
    files["pods.json"] = as_list([*bad[:4], *pods[:2], *bad[4:], *pods[2:]])
    result = run_replay([_write(tmp_path / "bad", files)])
    assert result.exit_code == 1, result.output
    report = json.loads(result.stdout)
    assert verdicts_of(report)["findings"] == given["findings"]
    source = next(source for source in report["sources"] if source["path"].endswith("pods.json"))
    assert source["skipped"] >= 1


@pytest.mark.parametrize("cut", [0.1, 0.5, 0.9, 0.999])
def test_a_cut_off_file_is_no_crash(cut: float, tmp_path: Path) -> None:
    folder = _incident(CHOSEN[0]).write(tmp_path / "incident")
    pods = (folder / "pods.json").read_bytes()
    (folder / "pods.json").write_bytes(pods[: int(len(pods) * cut)])
    result = run_replay([folder])
    assert result.exit_code in (0, 1)
    assert "pods.json" in result.stdout


def _spoilt(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Every place inside a document."""
    if path:
        yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _spoilt(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _spoilt(inner, (*path, index))


def _replaced(document: Any, path: tuple[str | int, ...], value: Any) -> Any:
    copied = json.loads(json.dumps(document))
    place = copied
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return copied


@pytest.mark.parametrize("bad", [None, 7, -1, "", "x" * 300, [], {}, [None], 1e300, True], ids=repr)
def test_no_wrong_value_anywhere_is_a_crash(bad: Any, tmp_path: Path) -> None:
    """Each place of a dump in turn holds something that does not belong there."""
    incident = _incident(CHOSEN[len(repr(bad)) % len(CHOSEN)])
    everything = json.loads(as_list(incident.objects))
    places = list(_spoilt(everything["items"], ("items",)))
    for number, path in enumerate(_shuffler().sample(places, 25)):
        folder = tmp_path / str(number)
        spoilt: Files = {"all.json": json.dumps(_replaced(everything, path, bad)), **_log(incident)}
        result = run_replay([_write(folder, spoilt)])
        assert result.exit_code in (0, 1, 2), (path, result.output)
        assert "Traceback" not in result.output, path
