"""Reads one facts text as a run would, for tests."""

from analyzer.model.events import ActorObserved, Event, ResourceObserved
from analyzer.sources.facts.source import SOURCE
from analyzer.sources.options import ReadOptions
from analyzer.sources.recording import Complaint, Document, Recording

DECLARED = "schema: knotwatch.facts/v1\nas_of: 2026-01-14T09:00:00Z\nresources: {gpu/n1: 8, gpu/n2: 8, lock/a: 1}\n"


def recording(*texts: str) -> Recording:
    documents = [Document(index, f"{index}.facts", text.encode()) for index, text in enumerate(texts)]
    assert all(SOURCE.recognises(document) == "facts" for document in documents)
    return SOURCE.read(documents, options=ReadOptions())


def events(*texts: str) -> list[Event]:
    return [event for batch in recording(*texts).batches for event in batch.events]


def complaints(*texts: str) -> list[Complaint]:
    return [complaint for note in recording(*texts).notes for complaint in note.complaints]


def actor(text: str, name: str = "a") -> ActorObserved:
    found = [event for event in events(text) if isinstance(event, ActorObserved) and event.actor == name]
    assert found, complaints(text)
    return found[-1]


def resources(*texts: str) -> dict[str, int]:
    return {event.resource: event.units for event in events(*texts) if isinstance(event, ResourceObserved)}
