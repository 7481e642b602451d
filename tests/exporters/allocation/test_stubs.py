"""The generated files of the kubelet's service are those of the description beside them."""

import re

from exporters.kubelet import podresources_pb2
from tests.architecture.source_tree import ROOT

PROTO = (ROOT / "exporters" / "kubelet" / "podresources.proto").read_text(encoding="utf-8")
MESSAGE = re.compile(r"^message (\w+) \{(.*?)\}$", re.MULTILINE | re.DOTALL)
FIELD = re.compile(r"^\s*(?:repeated |optional )?[\w.]+ (\w+) = (\d+);", re.MULTILINE)
CALL = re.compile(r"rpc (\w+)\((\w+)\) returns \((\w+)\)")


def test_messages_and_fields_are_those_described() -> None:
    described = {
        name: {field: int(number) for field, number in FIELD.findall(body)} for name, body in MESSAGE.findall(PROTO)
    }
    types = podresources_pb2.DESCRIPTOR.message_types_by_name
    assert {name: {field.name: field.number for field in types[name].fields} for name in types} == described


def test_calls_are_those_described() -> None:
    (service,) = podresources_pb2.DESCRIPTOR.services_by_name.values()
    found = {(each.name, each.input_type.name, each.output_type.name) for each in service.methods}
    assert found == set(CALL.findall(PROTO))
