"""Answers of providers as a cassette stores them, redacted, and back."""

from __future__ import annotations

import base64
import re
from typing import Any, NamedTuple

import orjson

from evalgate.features.record.application.misses import find_difference
from evalgate.features.record.measures.canonical import encode, is_deep
from evalgate.features.record.measures.event_stream import begins_like_stream, split_events
from evalgate.features.record.measures.repeated_names import has_repeated_names
from evalgate.features.record.measures.stream_redaction import redact_body, redact_events, redact_lines
from evalgate.features.record.models.exchange import EVENT_STREAM, JSON, NO_ANSWER, ProviderAnswer
from evalgate.measures.redaction.redact import redact

OCTETS = "application/octet-stream"
_LARGE_NUMBER = re.compile(rb"[0-9]{19}|[0-9][eE][+-]?[0-9]{3}")
"""Numbers that a decoder may change; such a body is kept as text."""
ESCAPED = "surrogateescape"
TRANSIENT = frozenset({401, 403, 408, 409, 429, *range(500, 600)})
"""Statuses that don't depend on the request alone."""


class StoredResponse(NamedTuple):
    """A response, and the place where redaction changed it first, if it did."""

    response: dict[str, Any]
    redacted_at: str | None


def is_storable(answer: ProviderAnswer, *, with_errors: bool) -> bool:
    """Whether an answer belongs into a cassette: complete, and no error that another try may not meet."""
    if answer.status == NO_ANSWER and answer.is_broken and not answer.chunks[0][1].strip():
        return False
    return with_errors or (not answer.is_broken and answer.status not in TRANSIENT)


def store_response(answer: ProviderAnswer) -> StoredResponse:
    """An answer as a cassette stores it."""
    kind = answer.content_type.partition(";")[0].strip().lower()
    kind = kind if kind in (JSON, EVENT_STREAM) else OCTETS
    found: dict[str, Any] = {"status": answer.status, "headers": {"content-type": kind}}
    if answer.is_broken:
        found["broken"] = True
    name, value, clean = _store_events(answer) if answer.is_stream else _store_body(answer.body, kind)
    changed = find_difference(value, clean)
    if changed is not None:
        return StoredResponse({**found, name: clean}, f"{name}.{changed.path}".replace(".[", "["))
    if name == "json" and encode(value) != answer.body:
        found["text"] = answer.body.decode()
    return StoredResponse({**found, name: clean}, None)


def load_response(response: dict[str, Any]) -> ProviderAnswer:
    """The answer that a cassette stores."""
    answer = ProviderAnswer(response["status"], response["headers"]["content-type"])
    answer.is_broken = bool(response.get("broken"))
    if "events" in response:
        answer.chunks = [(milliseconds, _load_event(event)) for milliseconds, event in response["events"]]
    elif "text" in response:
        answer.chunks = [(0.0, response["text"].encode())]
    elif "json" in response:
        answer.chunks = [(0.0, encode(response["json"]))]
    else:
        answer.chunks = [(0.0, base64.b64decode(response["base64"]))]
    return answer


def _store_body(body: bytes, kind: str) -> tuple[str, Any, Any]:
    if kind == JSON and not _LARGE_NUMBER.search(body):
        try:
            value = orjson.loads(body)
            if not is_deep(value) and not has_repeated_names(body, value):
                return "json", value, redact_body(value, body)
        except ValueError:
            pass
    text = _decode(body)
    if begins_like_stream(body):
        clean = "".join(redact_events([_decode(event) for event in split_events(body)]))
    else:
        clean = _redact_lines(text)
    if _is_unicode(text):
        return "text", text, clean
    return "base64", _encode_bytes(text), _encode_bytes(clean)


def _redact_lines(text: str) -> str:
    """A body without secrets: lines of JSON as events, which they are in the streams of some servers."""
    clean = redact(text)
    return clean if clean != text else "\n".join(redact_lines(text.split("\n")))


def _store_events(answer: ProviderAnswer) -> tuple[str, Any, Any]:
    times, texts = [time for time, _ in answer.chunks], [_decode(chunk) for _, chunk in answer.chunks]
    clean = redact_events(texts)
    pairs = [zip(times, map(_store_event, each), strict=True) for each in (texts, clean)]
    stored, redacted = ([[*pair] for pair in each] for each in pairs)
    return "events", stored, redacted


def _store_event(text: str) -> Any:
    return text if _is_unicode(text) else {"$base64": _encode_bytes(text)}


def _decode(data: bytes) -> str:
    """Bytes as text; those that are no UTF-8 as halves of surrogate pairs."""
    return data.decode("utf-8", ESCAPED)


def _encode_bytes(text: str) -> str:
    return base64.b64encode(text.encode("utf-8", ESCAPED)).decode()


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _load_event(event: Any) -> bytes:
    return event.encode() if isinstance(event, str) else base64.b64decode(event["$base64"])
