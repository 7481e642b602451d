"""Events as JSON lines: one event, one line, read back to an equal value."""

import msgspec

from analyzer.model.events import Event

_ENCODER = msgspec.json.Encoder(order="deterministic")
_DECODER: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)


def encode_event(event: Event) -> bytes:
    """One line without its line end. Fields at their defaults are left out."""
    return _ENCODER.encode(event)


def decode_event(line: bytes) -> Event:
    """The event of one line. Raises msgspec.DecodeError, in its words, for a line that is none."""
    return _DECODER.decode(line)
