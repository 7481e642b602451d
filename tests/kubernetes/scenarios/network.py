"""Services, webhooks and disruption budgets, made from a line.

service   NS/NAME select:app=db headless early (publishNotReadyAddresses) external
endpoints NS/SERVICE ready=POD,POD unready=POD
webhook   CONFIG service=NS/NAME policy=Ignore notin=NS,NS mutating     its name is CONFIG.example.com
budget    NS/NAME select:app=llm min=100% | max=0 expected=2 healthy=2 desired=2 always (AlwaysAllow)
namespace NAME label:k=v
"""

from typing import TYPE_CHECKING

from tests.kubernetes.scenarios import making
from tests.kubernetes.scenarios.lines import Line, stamp
from tests.kubernetes.scenarios.making import Object

if TYPE_CHECKING:
    from tests.kubernetes.scenarios.incident import Incident


def service(incident: "Incident", line: Line) -> None:
    spec: Object = {"clusterIP": "None" if "headless" in line.words else "10.0.0.17", "type": "ClusterIP"}
    spec["ports"] = [{"port": 443, "protocol": "TCP", "targetPort": 8443}]
    if line.map("select"):
        spec["selector"] = dict(line.map("select"))
    if "early" in line.words:
        spec["publishNotReadyAddresses"] = True
    if "external" in line.words:
        spec = {"type": "ExternalName", "externalName": "db.example.com"}
    about = making.metadata(line, "Service", line.short, line.namespace)
    incident.add({"apiVersion": "v1", "kind": "Service", "metadata": about, "spec": spec})


def endpoints(incident: "Incident", line: Line) -> None:
    about = making.metadata(line, "EndpointSlice", f"{line.short}-{making.suffix(line.name)}", line.namespace)
    about["labels"] = {"kubernetes.io/service-name": line.short}
    found: list[Object] = [
        {
            "addresses": [f"10.244.0.{number}"],
            "conditions": {"ready": state == "ready", "serving": state == "ready", "terminating": False},
            "targetRef": {"kind": "Pod", "namespace": line.namespace, "name": name},
        }
        for state in ("ready", "unready")
        for number, name in enumerate(line.several(state))
    ]
    made: Object = {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4"}
    incident.add({**made, "metadata": about, "endpoints": found or None, "ports": []})


def webhook(incident: "Incident", line: Line) -> None:
    namespace, _, name = line.options["service"].partition("/")
    one: Object = {
        "name": f"{line.name}.example.com",
        "clientConfig": {"service": {"namespace": namespace, "name": name, "path": "/mutate", "port": 443}},
        "failurePolicy": line.options.get("policy", "Fail"),
        "namespaceSelector": {},
        "objectSelector": {},
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}],
        "timeoutSeconds": 10,
    }
    if "notin" in line.options:
        term = {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": line.several("notin")}
        one["namespaceSelector"] = {"matchExpressions": [term]}
    kind = "MutatingWebhookConfiguration" if "mutating" in line.words else "ValidatingWebhookConfiguration"
    about = making.metadata(line, kind, line.name)
    api = "admissionregistration.k8s.io/v1"
    incident.add({"apiVersion": api, "kind": kind, "metadata": about, "webhooks": [one]})


def budget(incident: "Incident", line: Line) -> None:
    limits = {"min": "minAvailable", "max": "maxUnavailable"}
    spec: Object = {"selector": {"matchLabels": dict(line.map("select"))}}
    for key, field in limits.items():
        if key in line.options:
            value = line.options[key]
            spec[field] = value if value.endswith("%") else int(value)
    if "always" in line.words:
        spec["unhealthyPodEvictionPolicy"] = "AlwaysAllow"
    healthy, desired = line.number("healthy"), line.number("desired")
    status: Object = {"expectedPods": line.number("expected"), "currentHealthy": healthy, "desiredHealthy": desired}
    status["disruptionsAllowed"] = max(0, healthy - desired)
    about = making.metadata(line, "PodDisruptionBudget", line.short, line.namespace)
    incident.add(
        {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": about, "spec": spec, "status": status}
    )


def namespace(incident: "Incident", line: Line) -> None:
    about = making.metadata(line, "Namespace", line.name)
    about["labels"] = {"kubernetes.io/metadata.name": line.name, **about.get("labels", {})}
    phase = "Terminating" if "deleted" in line.options else "Active"
    conditions = [
        {"type": kind, "status": "True", "message": said, "lastTransitionTime": stamp(line.moment_s("since", 0))}
        for kind, said in line.map("says").items()
    ]
    status: Object = {"phase": phase, **({"conditions": conditions} if conditions else {})}
    spec = {"finalizers": ["kubernetes"]}
    incident.add({"apiVersion": "v1", "kind": "Namespace", "metadata": about, "spec": spec, "status": status})


BUILDERS = {
    "service": service,
    "endpoints": endpoints,
    "webhook": webhook,
    "budget": budget,
    "namespace": namespace,
}
