"""Where volumes may be made, and how many a node can attach.

Lines:

    storageclass NAME provisioner=csi.example.com immediate zones=a,b
    csinode NODE csi.example.com=2      the most volumes of each driver
"""

from typing import TYPE_CHECKING

from tests.kubernetes.scenarios import making
from tests.kubernetes.scenarios.lines import Line
from tests.kubernetes.scenarios.making import Object

if TYPE_CHECKING:
    from tests.kubernetes.scenarios.incident import Incident

_ZONE = "topology.kubernetes.io/zone"


def storage_class(incident: "Incident", line: Line) -> None:
    mode = "Immediate" if "immediate" in line.words else "WaitForFirstConsumer"
    made: Object = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "volumeBindingMode": mode}
    made["metadata"] = making.metadata(line, "StorageClass", line.name)
    made["provisioner"] = line.options.get("provisioner", "csi.example.com")
    if "zones" in line.options:
        made["allowedTopologies"] = [{"matchLabelExpressions": [{"key": _ZONE, "values": line.several("zones")}]}]
    incident.add(made)


def csi_node(incident: "Incident", line: Line) -> None:
    about = making.metadata(line, "CSINode", line.name)
    drivers = [
        {"name": name, "nodeID": line.name, "topologyKeys": [], "allocatable": {"count": int(count)}}
        for name, count in line.options.items()
    ]
    made: Object = {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": about}
    incident.add({**made, "spec": {"drivers": drivers}})


BUILDERS = {"storageclass": storage_class, "csinode": csi_node}
