"""From a scenario in several snapshots to watch streams, as `kubectl get -w --output-watch-events` prints them.

Sections are divided by a line `then MOMENT`: what stands below is the whole cluster from that moment on. An object that
is new in a section becomes ADDED, one that differs MODIFIED, one that is missing DELETED.
"""

import json
import re
from pathlib import Path

from tests.kubernetes.scenarios.incident import Incident
from tests.kubernetes.scenarios.lines import seconds, stamp
from tests.kubernetes.scenarios.making import Object

_THEN = re.compile(r"^then (\w+)$", re.MULTILINE)
_FIRST_VERSION = 1000


def watch_entries(text: str) -> list[Object]:
    """All entries of all kinds, in the order in which they happened."""
    first, *rest = _THEN.split(text)
    sections = [(0, first), *((seconds(rest[n]), rest[n + 1]) for n in range(0, len(rest), 2))]
    entries: list[Object] = []
    known: dict[str, Object] = {}
    for at_s, section in sections:
        current = {made["metadata"]["uid"]: made for made in Incident(section).objects}
        for key, made in list(known.items()):
            if key not in current and made["kind"] != "Event":
                gone = {**made, "metadata": {**made["metadata"], "deletionTimestamp": stamp(at_s)}}
                _enter(entries, "DELETED", gone)
                del known[key]
        for key, made in current.items():
            made["metadata"].pop("resourceVersion")
            if made != known.get(key):
                known[key] = json.loads(json.dumps(made))
                _enter(entries, "MODIFIED" if key in known and _seen(entries, key) else "ADDED", made)
    return entries


def _enter(entries: list[Object], kind: str, made: Object) -> None:
    numbered = {**made, "metadata": {**made["metadata"], "resourceVersion": str(_FIRST_VERSION + len(entries))}}
    entries.append({"type": kind, "object": numbered})


def _seen(entries: list[Object], key: str) -> bool:
    return any(entry["object"]["metadata"]["uid"] == key for entry in entries)


def write_history(text: str, folder: Path) -> Path:
    """One stream a kind into the folder, which must not exist."""
    folder.mkdir(parents=True)
    streams: dict[str, list[str]] = {}
    for entry in watch_entries(text):
        streams.setdefault(entry["object"]["kind"].lower(), []).append(json.dumps(entry))
    for kind, lines in streams.items():
        (folder / f"watch-{kind}.json").write_text("\n".join(lines) + "\n", "utf-8")
    return folder
