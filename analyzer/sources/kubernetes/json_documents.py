"""JSON documents of the API: lists, objects, arrays and watches, to listings and changes."""

from collections.abc import Iterable

import msgspec

from analyzer.sources.kubernetes.decoding import REFUSED, BrokenObjectError, Buffer, decode_list, decode_object
from analyzer.sources.kubernetes.gathering import Gathered
from analyzer.sources.kubernetes.json_records import JsonRecord, json_records
from analyzer.sources.kubernetes.reading import OBJECTS, WATCH, Change, Listing, Reading

_CHANGES = {"ADDED": False, "MODIFIED": False, "DELETED": True}


def read_json(document: int, content: Buffer) -> Reading:
    """Read the whole document. What cannot be understood costs a complaint with its line, nothing else."""
    reading = Reading(document=document, kind=OBJECTS)
    at_once = decode_list(content)
    if at_once is not None:
        count = len(at_once.objects)
        reading.records = count
        reading.listings.append(
            Listing(
                objects=at_once.objects,
                records=range(count),
                whole=at_once.whole,
                resource_version=at_once.resource_version,
            )
        )
        return reading
    _read_records(reading, content, json_records(content))
    return reading


def _read_records(reading: Reading, content: Buffer, records: Iterable[JsonRecord]) -> None:
    view = memoryview(content)
    gathered = Gathered()
    for number, record in enumerate(records):
        reading.records = number + 1
        around = record.within
        try:
            if record.problem:
                raise BrokenObjectError(record.problem)
            if record.change:
                reading.kind = WATCH
                _read_entry(reading, view[record.start : record.end], record.change, number)
                continue
            kind, api_version = (around.kind, around.api_version) if around is not None else ("", "")
            found = decode_object(view[record.start : record.end], kind, api_version)
            if around is None:
                gathered.alone(found, number)
            else:
                gathered.listed(around.start, found, number, whole=around.whole, version=around.resource_version)
        except BrokenObjectError as error:
            reading.skipped += 1
            reading.complain_at(content, record.start, f"{error}.")
    gathered.into(reading)


def _read_entry(reading: Reading, content: memoryview, change: str, number: int) -> None:
    """An entry of a watch. A bookmark only moves the reader on; an error says that the watch broke, not the object."""
    gone = _CHANGES.get(change)
    if gone is not None:
        reading.changes.append(Change(decode_object(content), gone, number))
    elif change == "ERROR":
        raise BrokenObjectError(f"the watch ended with an error ({_status_message(content)})")
    elif change != "BOOKMARK":
        raise BrokenObjectError(f"a watch entry of an unknown type, {change}")


class _Status(msgspec.Struct):
    message: str = ""
    reason: str = ""


def _status_message(content: memoryview) -> str:
    try:
        status = msgspec.json.decode(content, type=_Status)
    except REFUSED:
        return "no reason given"
    return status.message or status.reason or "no reason given"
