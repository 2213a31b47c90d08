"""Decodes OTLP protobuf: one export request, several concatenated, or each after its length."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.spans.encodings.container import MAX_SPANS
from evalgate.errors import TraceError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.adapters.formats.core.read_limits import TraceLimits

LENGTH = 4
DETAILS = 5
LISTED = ("attributes", "events", "links")
NAMES = {
    "TracesData": ("resource_spans", "scope_spans", "spans"),
    "LogsData": ("resource_logs", "scope_logs", "log_records"),
}
ID_OF_SPAN = frozenset({16})
ID_OF_LOG = frozenset({0, 16})
DAMAGED = "the file looks like OTLP in protobuf and is damaged"
MISSING = "OTLP in protobuf needs an extra: install evalgate-action[otlp], or record OTLP as JSON"


class Room:
    """The number of nested messages a file may still have; raises TraceError if exceeded."""

    def __init__(self) -> None:
        self._records = 2 * MAX_SPANS
        self._details = DETAILS * MAX_SPANS

    def take(self, messages: int) -> None:
        """Counts this many more requests, resources, scopes, spans or log records."""
        self._records -= messages
        self._require()

    def take_listed(self, message: Any) -> None:
        """Counts the attributes, events and links of one message."""
        self._details -= sum(len(getattr(message, name, ())) for name in LISTED)
        self._require()

    def _require(self) -> None:
        if self._records < 0 or self._details < 0:
            raise TraceError("the file has too many spans, attributes or events in protobuf")


def unpack(data: bytes, limits: TraceLimits) -> Iterator[Any]:
    """Yields the documents of a file as OTLP's JSON; raises TraceError.

    Two bytes may encode a span or attribute that takes hundreds in memory, so both are counted before they
    are converted to JSON. A message has no more bytes than `limits.record_bytes`.
    """
    try:
        from google.protobuf.json_format import MessageToDict
        from google.protobuf.message import DecodeError
        from opentelemetry.proto.logs.v1.logs_pb2 import LogsData
        from opentelemetry.proto.trace.v1.trace_pb2 import TracesData
    except ImportError:
        raise TraceError(MISSING) from None
    room = Room()
    for part in _parts(data):
        if len(part) > limits.record_bytes:
            raise TraceError(f"a message in protobuf is larger than {limits.record_bytes:,} bytes")
        room.take(1)
        for kind, lengths in ((TracesData, ID_OF_SPAN), (LogsData, ID_OF_LOG)):
            try:
                message = kind.FromString(part)
            except DecodeError:
                continue
            if {len(record.trace_id) for record in _records(message, room)} <= lengths:
                yield MessageToDict(message)
                break
        else:
            raise TraceError(DAMAGED)


def _parts(data: bytes) -> Iterator[bytes]:
    """Yields the messages of a file; requests without a length are one, since protobuf joins them."""
    if data[:1] != b"\0":
        yield data
        return
    at = 0
    while at < len(data):
        size = int.from_bytes(data[at : at + LENGTH], "big")
        at += LENGTH
        if not size or at + size > len(data):
            raise TraceError(DAMAGED)
        yield data[at : at + size]
        at += size


def _records(message: Any, room: Room) -> Iterator[Any]:
    """Yields spans or log records; bytes of the wrong kind also parse, but give ids of a wrong length."""
    resources, scopes, records = NAMES[message.DESCRIPTOR.name]
    room.take(len(getattr(message, resources)))
    for resource in getattr(message, resources):
        room.take_listed(resource.resource)
        room.take(len(getattr(resource, scopes)))
        for scope in getattr(resource, scopes):
            room.take(len(getattr(scope, records)))
            for record in getattr(scope, records):
                room.take_listed(record)
                yield record
