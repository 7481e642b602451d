"""Objects of Kueue, made from a line.

cohort       NAME parent=NAME quota:FLAVOR=8 borrow=8 lend=8
clusterqueue NAME cohort=NAME quota:FLAVOR=32 (cards) borrow=8 lend=8 strict in=NS,NS (LocalQueues "main"), NS/NAME
             reclaim | reclaim=POLICY preempt | preempt=POLICY stopped | stopped=HoldAndDrain localstop=Hold
             inactive="REASON: message" beta1 (the older API)
workload     NS/NAME of=Kind/NAME pods=2 gpu=8 queue=NAME (else "main")
             admitted=QUEUE flavor=FLAVOR ready | unready    it has quota
             reserved=QUEUE flavor=FLAVOR                    it has quota and is not admitted yet
             check:NAME="STATE: message"                     what an admission check says
             says="..." since=2m reason=Inadmissible         it has none, in Kueue's words
             evicted=PodsReadyTimeout rounds=6 first=2m since=9m retry=11m
             finished inactive priority=9 limit=600 min=1 back=1 (pods that have ended, and gave back)
"""

from typing import TYPE_CHECKING

from tests.kubernetes.scenarios import making
from tests.kubernetes.scenarios.lines import Line, stamp
from tests.kubernetes.scenarios.making import Object

if TYPE_CHECKING:
    from tests.kubernetes.scenarios.incident import Incident

_API = "kueue.x-k8s.io/v1beta2"
GPU = "nvidia.com/gpu"


def _groups(line: Line) -> list[Object]:
    flavors = []
    for name, cards in line.map("quota").items():
        offer = {"name": GPU, "nominalQuota": cards}
        for word, limit in (("borrow", "borrowingLimit"), ("lend", "lendingLimit")):
            if word in line.options:
                offer[limit] = line.options[word]
        flavors.append({"name": name, "resources": [{"name": "cpu", "nominalQuota": "1k"}, offer]})
    return [{"coveredResources": ["cpu", GPU], "flavors": flavors}] if flavors else []


def cohort(incident: "Incident", line: Line) -> None:
    spec: Object = {"resourceGroups": _groups(line)}
    if "parent" in line.options:
        spec["parentName"] = line.options["parent"]
    about = making.metadata(line, "Cohort", line.name)
    incident.add({"apiVersion": _API, "kind": "Cohort", "metadata": about, "spec": spec, "status": {}})


def cluster_queue(incident: "Incident", line: Line) -> None:
    api = "kueue.x-k8s.io/v1beta1" if "beta1" in line.words else _API
    spec: Object = {
        "resourceGroups": _groups(line),
        "queueingStrategy": "StrictFIFO" if "strict" in line.words else "BestEffortFIFO",
        "stopPolicy": _word(line, "stopped", "Hold", "None"),
        "preemption": {
            "reclaimWithinCohort": _word(line, "reclaim", "Any", "Never"),
            "withinClusterQueue": _word(line, "preempt", "LowerPriority", "Never"),
        },
    }
    reason, _, message = line.options.get("inactive", "").partition(": ")
    active = [_condition("Active", "False", reason, message, line.at_s)] if reason else []
    if "cohort" in line.options:
        spec["cohort" if "beta1" in line.words else "cohortName"] = line.options["cohort"]
    about = making.metadata(line, "ClusterQueue", line.name)
    status = {"conditions": active}
    incident.add({"apiVersion": api, "kind": "ClusterQueue", "metadata": about, "spec": spec, "status": status})
    for place in line.several("in"):
        namespace, _, name = place.partition("/")
        about = making.metadata(line, "LocalQueue", name or "main", namespace)
        local = {"clusterQueue": line.name, "stopPolicy": line.options.get("localstop", "None")}
        incident.add({"apiVersion": api, "kind": "LocalQueue", "metadata": about, "spec": local, "status": {}})


def _word(line: Line, word: str, said: str, unsaid: str) -> str:
    return line.options.get(word, said if word in line.words else unsaid)


def _condition(kind: str, status: str, reason: str, message: str, at_s: int) -> Object:
    found: Object = {"type": kind, "status": status, "reason": reason, "message": message}
    return {**found, "lastTransitionTime": stamp(at_s)}


def _totals(cards: int) -> Object:
    return {"cpu": str(cards or 1), GPU: str(cards)}


def _conditions(line: Line) -> list[Object]:
    since_s = line.moment_s("since", line.at_s)
    found = []
    if "admitted" in line.options:
        found.append(_condition("QuotaReserved", "True", "QuotaReserved", "Quota reserved", since_s))
        found.append(_condition("Admitted", "True", "Admitted", "The workload is admitted", since_s))
    elif "reserved" in line.options:
        found.append(_condition("QuotaReserved", "True", "QuotaReserved", "Quota reserved", since_s))
    elif "says" in line.options:
        reason = "Waiting" if line.options["says"].startswith("waiting for all") else "Pending"
        reason = line.options.get("reason", reason)
        found.append(_condition("QuotaReserved", "False", reason, line.options["says"], since_s))
    if "ready" in line.words:
        found.append(_condition("PodsReady", "True", "Started", "All pods reached readiness", since_s))
    if "unready" in line.words or "evicted" in line.options:
        first_s = line.moment_s("first", since_s)
        found.append(_condition("PodsReady", "False", "WaitForStart", "Not all pods are ready or succeeded", first_s))
    if "evicted" in line.options:
        text = f"Exceeded the PodsReady timeout {line.name}"
        found.append(_condition("QuotaReserved", "False", "Pending", text, since_s))
        found.append(_condition("Evicted", "True", line.options["evicted"], text, since_s))
    if "finished" in line.words:
        found.append(_condition("Finished", "True", "Succeeded", "Job finished successfully", since_s))
    return found


def workload(incident: "Incident", line: Line) -> None:
    kind, _, name = line.options["of"].partition("/")
    owner = incident.find(kind, line.namespace, name)
    about = making.metadata(Line(line.at_s, line.kind, line.name, (), {}, {}), "Workload", line.short, line.namespace)
    about["ownerReferences"] = [making.owner_reference(owner)]
    count, cards = line.number("pods", 1), line.number("pods", 1) * line.number("gpu")
    pod_set: Object = {"name": "main", "count": count, "template": {"spec": making.pod_spec(line, "Never")}}
    if "min" in line.options:
        pod_set["minCount"] = line.number("min")
    spec: Object = {"active": "inactive" not in line.words, "podSets": [pod_set]}
    spec["queueName"] = line.options.get("queue", "main")
    spec["priority"] = line.number("priority")
    if "limit" in line.options:
        spec["maximumExecutionTimeSeconds"] = line.number("limit")
    status: Object = {"conditions": _conditions(line)}
    if line.map("check"):
        checks = [(name, *said.partition(": ")[::2]) for name, said in line.map("check").items()]
        status["admissionChecks"] = [
            {"name": name, "state": state, "message": message, "lastTransitionTime": stamp(line.at_s)}
            for name, state, message in checks
        ]
    holder = line.options.get("admitted") or line.options.get("reserved")
    if holder is not None:
        flavor = line.options["flavor"]
        given = {"name": "main", "count": count, "flavors": {"cpu": flavor, GPU: flavor}}
        given["resourceUsage"] = _totals(cards)
        status["admission"] = {"clusterQueue": holder, "podSetAssignments": [given]}
        if "back" in line.options:
            status["reclaimablePods"] = [{"name": "main", "count": line.number("back")}]
    else:
        status["resourceRequests"] = [{"name": "main", "resources": _totals(cards)}]
    if "rounds" in line.options:
        rounds = line.number("rounds")
        status["requeueState"] = {"count": rounds}
        if "retry" in line.options:
            status["requeueState"]["requeueAt"] = stamp(line.moment_s("retry", 0))
        cause = {"count": rounds, "reason": line.options.get("evicted", "PodsReadyTimeout"), "underlyingCause": ""}
        status["schedulingStats"] = {"evictions": [cause]}
    incident.add({"apiVersion": _API, "kind": "Workload", "metadata": about, "spec": spec, "status": status})


BUILDERS = {"cohort": cohort, "clusterqueue": cluster_queue, "workload": workload}
