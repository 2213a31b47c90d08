"""Decodes OTLP protobuf: one export request, several concatenated, or each after its length."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.spans.encodings.container import MAX_SPANS
from evalgate.errors import TraceError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.adapters.formats.core.format import TraceLimits

LENGTH_BYTES = 4
DETAILS_PER_SPAN = 5
DETAIL_FIELDS = ("attributes", "events", "links")
LIST_FIELDS = {
    "TracesData": ("resource_spans", "scope_spans", "spans"),
    "LogsData": ("resource_logs", "scope_logs", "log_records"),
}
SPAN_TRACE_ID_LENGTHS = frozenset({16})
LOG_TRACE_ID_LENGTHS = frozenset({0, 16})
DAMAGED = "the file looks like OTLP in protobuf but is damaged"
MISSING = "OTLP in protobuf needs an extra: install evalgate-action[otlp], or record OTLP as JSON"


class MessageBudget:
    """The number of nested messages a file may still have; raises TraceError if exceeded."""

    def __init__(self) -> None:
        self._records = 2 * MAX_SPANS
        self._details = DETAILS_PER_SPAN * MAX_SPANS

    def take(self, messages: int) -> None:
        """Counts this many more requests, resources, scopes, spans or log records."""
        self._records -= messages
        self._require_budget()

    def take_details(self, message: Any) -> None:
        """Counts the attributes, events and links of one message."""
        self._details -= sum(len(getattr(message, name, ())) for name in DETAIL_FIELDS)
        self._require_budget()

    def _require_budget(self) -> None:
        if self._records < 0 or self._details < 0:
            raise TraceError("the protobuf file has too many spans, attributes or events")


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
    budget = MessageBudget()
    for part in _split_messages(data):
        if len(part) > limits.record_bytes:
            raise TraceError(f"a protobuf message is larger than {limits.record_bytes:,} bytes (raise limit `record`)")
        budget.take(1)
        for kind, lengths in ((TracesData, SPAN_TRACE_ID_LENGTHS), (LogsData, LOG_TRACE_ID_LENGTHS)):
            try:
                message = kind.FromString(part)
            except DecodeError:
                continue
            if {len(record.trace_id) for record in _iter_records(message, budget)} <= lengths:
                yield MessageToDict(message)
                break
        else:
            raise TraceError(DAMAGED)


def _split_messages(data: bytes) -> Iterator[bytes]:
    """Yields the messages of a file; requests without a length are one, since protobuf joins them."""
    if data[:1] != b"\0":
        yield data
        return
    at = 0
    while at < len(data):
        size = int.from_bytes(data[at : at + LENGTH_BYTES], "big")
        at += LENGTH_BYTES
        if not size or at + size > len(data):
            raise TraceError(DAMAGED)
        yield data[at : at + size]
        at += size


def _iter_records(message: Any, budget: MessageBudget) -> Iterator[Any]:
    """Yields spans or log records; bytes of the wrong kind also parse, but give ids of a wrong length."""
    resources, scopes, records = LIST_FIELDS[message.DESCRIPTOR.name]
    budget.take(len(getattr(message, resources)))
    for resource in getattr(message, resources):
        budget.take_details(resource.resource)
        budget.take(len(getattr(resource, scopes)))
        for scope in getattr(resource, scopes):
            budget.take(len(getattr(scope, records)))
            for record in getattr(scope, records):
                budget.take_details(record)
                yield record
