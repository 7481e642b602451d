"""The JSON Schema of the report, made from its types: `python -m analyzer.codec.schema > docs/report.schema.json`."""

import sys

import msgspec

from analyzer.codec.report import Report

_TITLE = "knotwatch.report/v1"
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema_text() -> str:
    """The schema, as it is checked in."""
    schema = {"$schema": _DIALECT, "title": _TITLE} | msgspec.json.schema(Report)
    return msgspec.json.format(msgspec.json.encode(schema), indent=2).decode() + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
