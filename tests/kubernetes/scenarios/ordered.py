"""How far the roll-out of a StatefulSet is: `revision=OLD update=NEW updated=2 partition=1 ondelete`."""

from tests.kubernetes.scenarios.lines import Line
from tests.kubernetes.scenarios.making import Object


def with_revision(line: Line, made: Object) -> Line:
    """Give the StatefulSet its revisions; the line with the label that its pods of the former template have."""
    revision, update = line.options["revision"], line.options.get("update", line.options["revision"])
    strategy: Object = {"type": "OnDelete"}
    if "ondelete" not in line.words:
        strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": line.number("partition")}}
    made["spec"]["updateStrategy"] = strategy
    made["status"] = {"currentRevision": revision, "updateRevision": update, "updatedReplicas": line.number("updated")}
    label = {**line.map("label"), "controller-revision-hash": revision}
    return Line(line.at_s, line.kind, line.name, line.words, line.options, {**line.maps, "label": label})
