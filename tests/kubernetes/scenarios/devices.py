"""Devices and claims for them (DRA), made from a line.

    class   NAME driver=gpu.nvidia.com
    slice   NODE driver=gpu.nvidia.com devices=8 shared (counters)
    claim   NS/NAME class=NAME devices=8 on=NODE for=POD,POD first (firstAvailable)
A pod or Job of the scenario has claims by `device=CLAIM` (an existing one) or by `devices=8 class=NAME` (a template).
"""

from typing import TYPE_CHECKING

from tests.kubernetes.scenarios import making
from tests.kubernetes.scenarios.lines import Line
from tests.kubernetes.scenarios.making import Object

if TYPE_CHECKING:
    from tests.kubernetes.scenarios.incident import Incident

_API = "resource.k8s.io/v1"
_DRIVER = "gpu.nvidia.com"


def device_class(incident: "Incident", line: Line) -> None:
    expression = f"device.driver == '{line.options.get('driver', _DRIVER)}'"
    spec: Object = {"selectors": [{"cel": {"expression": expression}}]}
    about = making.metadata(line, "DeviceClass", line.name)
    incident.add({"apiVersion": _API, "kind": "DeviceClass", "metadata": about, "spec": spec})


def resource_slice(incident: "Incident", line: Line) -> None:
    driver = line.options.get("driver", _DRIVER)
    devices: list[Object] = [{"name": f"gpu-{n}"} for n in range(line.number("devices", 8))]
    spec: Object = {"driver": driver, "nodeName": line.name, "devices": devices}
    spec["pool"] = {"name": line.name, "generation": 1, "resourceSliceCount": 1}
    if "shared" in line.words:
        for device in devices:
            device["consumesCounters"] = [{"counterSet": "card", "counters": {"memory": {"value": "40Gi"}}}]
    about = making.metadata(line, "ResourceSlice", f"{line.name}-{driver}")
    incident.add({"apiVersion": _API, "kind": "ResourceSlice", "metadata": about, "spec": spec})


def add_claim(incident: "Incident", line: Line, name: str, on: str, users: list[str]) -> Object:
    """One claim, allocated on the node if there is one."""
    count = line.number("devices", 8)
    exactly = {"deviceClassName": line.options.get("class", _DRIVER), "allocationMode": "ExactCount", "count": count}
    request: Object = {"name": "gpus", "exactly": exactly}
    if "first" in line.words:
        request = {"name": "gpus", "firstAvailable": [{**exactly, "name": "a"}, {**exactly, "name": "b"}]}
    made: Object = {"apiVersion": _API, "kind": "ResourceClaim", "spec": {"devices": {"requests": [request]}}}
    made["metadata"] = making.metadata(Line(line.at_s, "", "", (), {}, {}), "ResourceClaim", name, line.namespace)
    made["status"] = {}
    if on:
        driver = line.options.get("driver", _DRIVER)
        results = [{"driver": driver, "pool": on, "device": f"gpu-{n}", "request": "gpus"} for n in range(count)]
        field = {"key": "metadata.name", "operator": "In", "values": [on]}
        made["status"]["allocation"] = {
            "devices": {"results": results},
            "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [field]}]},
        }
        made["status"]["reservedFor"] = [{"resource": "pods", "name": user, "uid": user} for user in users]
    return incident.add(made)


def claim(incident: "Incident", line: Line) -> None:
    add_claim(incident, line, line.short, line.options.get("on", ""), line.several("for"))


def claims_of_pod(incident: "Incident", line: Line, pod: Object, on: str) -> None:
    """Give the pod its claims: existing ones by name, or one that is made for it from a template."""
    if line.kind not in {"pod", "job", "statefulset"}:
        return
    name, claims = pod["metadata"]["name"], []
    for number, existing in enumerate(line.several("device")):
        claims.append({"name": f"shared-{number}", "resourceClaimName": existing})
    if "devices" in line.options:
        made = f"{name}-own-{making.suffix(name)}"
        claims.append({"name": "own", "resourceClaimTemplateName": "some"})
        pod["status"]["resourceClaimStatuses"] = [{"name": "own", "resourceClaimName": made}]
        if "unmade" not in line.words:
            add_claim(incident, line, made, on, [name])
    if claims:
        pod["spec"]["resourceClaims"] = claims


BUILDERS = {"class": device_class, "slice": resource_slice, "claim": claim}
