"""Decodes one request of OTLP over HTTP into spans and log records, and encodes the answer to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core import strict_json
from evalgate.adapters.formats.core.fields import mapping
from evalgate.adapters.formats.spans.encodings.otlp import MessageBudget, decode_message, iter_scopes
from evalgate.adapters.formats.spans.encodings.values import parse_id
from evalgate.adapters.formats.spans.span import MAX_SPANS
from evalgate.errors import TraceError
from evalgate.features.record.models.run import ReceivedRecord

if TYPE_CHECKING:
    from collections.abc import Iterator

PROTOBUF, JSON = "application/x-protobuf", "application/json"
MAX_BODY = 64 * 1024 * 1024
"""Bytes of a request, unpacked."""
MAX_MESSAGE = 200
"""Characters of an error in an answer."""
INVALID_ARGUMENT = 3
RESOURCES = {"traces": ("resourceSpans", "resource_spans"), "logs": ("resourceLogs", "resource_logs")}


def decode_request(signal: str, content_type: str, body: bytes) -> list[ReceivedRecord]:
    """The records of a request, at most 200,000; raises TraceError if it is damaged or too large.

    `signal` is `traces` or `logs`; `body` is unpacked.
    """
    if len(body) > MAX_BODY:
        raise TraceError("the request is larger than 64 MB")
    if content_type == PROTOBUF:
        document = decode_message(body, signal, MessageBudget())
        if document is None:
            raise TraceError(f"the request is no protobuf message of {signal}")
    else:
        document = strict_json.decode(body)
        strict_json.require_shallow(document)
    if not isinstance(document, dict) or not document.keys() <= set(RESOURCES[signal]):
        raise TraceError(f"the request is not an object with `{RESOURCES[signal][0]}`")
    records: list[ReceivedRecord] = []
    for record in _iter_records(document):
        if len(records) >= MAX_SPANS:
            raise TraceError(f"the request has more than {MAX_SPANS:,} records")
        records.append(record)
    return records


def _iter_records(document: dict[str, Any]) -> Iterator[ReceivedRecord]:
    for scope in iter_scopes(document, ""):
        resource = mapping(scope.resource, scope.resource_path)
        origin = mapping(scope.scope, f"{scope.path}: scope")
        for number, one in enumerate(scope.records):
            path = f"{scope.path}[{number}]"
            record = mapping(one, path)
            trace_id = parse_id(record.get("traceId", record.get("trace_id")), f"{path}.traceId")
            yield ReceivedRecord(record, resource, origin, scope.is_log, trace_id)


def encode_answer(content_type: str) -> bytes:
    """The empty answer to a request that was taken, in its content type."""
    return b"{}" if content_type == JSON else b""


def encode_error(content_type: str, message: str) -> bytes:
    """The answer to a request that was refused: a `google.rpc.Status` in its content type."""
    import orjson

    shown = message[:MAX_MESSAGE]
    if content_type == JSON:
        return orjson.dumps({"code": INVALID_ARGUMENT, "message": shown})
    text = shown.encode("utf-8", "replace")[:MAX_MESSAGE].decode("utf-8", "ignore").encode()
    return bytes([0x08, INVALID_ARGUMENT, 0x12, *_encode_length(len(text))]) + text


def _encode_length(length: int) -> Iterator[int]:
    """A length as protobuf's varint."""
    while length > 0x7F:  # noqa: PLR2004
        yield length & 0x7F | 0x80
        length >>= 7
    yield length
