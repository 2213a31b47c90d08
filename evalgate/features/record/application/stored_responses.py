"""Answers of providers as a cassette stores them, redacted, and back."""

from __future__ import annotations

import base64
import re
from typing import Any, NamedTuple

import orjson

from evalgate.features.record.application.misses import find_difference
from evalgate.features.record.measures.canonical import is_deep
from evalgate.features.record.measures.stream_redaction import redact_events
from evalgate.features.record.models.exchange import EVENT_STREAM, JSON, NO_ANSWER, ProviderAnswer
from evalgate.measures.redaction.redact import redact, redact_value

OCTETS = "application/octet-stream"
_LARGE_NUMBER = re.compile(rb"[0-9]{19}|[0-9][eE][+-]?[0-9]{3}")
"""Numbers that a decoder may change; such a body is kept as text."""
FIRST_ERROR = 400
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
    place = None if changed is None else f"{name}.{changed.path}".replace(".[", "[")
    return StoredResponse({**found, name: clean}, place)


def load_response(response: dict[str, Any]) -> ProviderAnswer:
    """The answer that a cassette stores."""
    answer = ProviderAnswer(response["status"], response["headers"]["content-type"])
    answer.is_broken = bool(response.get("broken"))
    if "events" in response:
        answer.chunks = [(milliseconds, _load_event(event)) for milliseconds, event in response["events"]]
    elif "json" in response:
        answer.chunks = [(0.0, orjson.dumps(response["json"]))]
    elif "base64" in response:
        answer.chunks = [(0.0, base64.b64decode(response["base64"]))]
    else:
        answer.chunks = [(0.0, response["text"].encode())]
    return answer


def _store_body(body: bytes, kind: str) -> tuple[str, Any, Any]:
    if kind == JSON and not _LARGE_NUMBER.search(body):
        try:
            value = orjson.loads(body)
            if not is_deep(value):
                return "json", value, redact_value(value)
        except ValueError:
            pass
    try:
        text = body.decode()
    except ValueError:
        return "base64", _encode_bytes(body), _encode_bytes(_redact_bytes(body))
    return "text", text, redact(text)


def _store_events(answer: ProviderAnswer) -> tuple[str, Any, Any]:
    texts: list[str] = []
    encoded: dict[int, dict[str, str]] = {}
    redacted: dict[int, dict[str, str]] = {}
    for index, (_, chunk) in enumerate(answer.chunks):
        try:
            texts.append(chunk.decode())
        except ValueError:
            texts.append("")
            encoded[index] = {"$base64": _encode_bytes(chunk)}
            redacted[index] = {"$base64": _encode_bytes(_redact_bytes(chunk))}
    times = [milliseconds for milliseconds, _ in answer.chunks]
    clean = redact_events(texts)
    return "events", _join(times, texts, encoded), _join(times, clean, redacted)


def _encode_bytes(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _redact_bytes(data: bytes) -> bytes:
    """Bytes that are no text, without the secrets among them."""
    text = data.decode("utf-8", "surrogateescape")
    clean = redact(text)
    return data if clean == text else clean.encode("utf-8", "surrogateescape")


def _join(times: list[float], texts: list[str], encoded: dict[int, dict[str, str]]) -> list[list[Any]]:
    return [[time, encoded.get(index, text)] for index, (time, text) in enumerate(zip(times, texts, strict=True))]


def _load_event(event: Any) -> bytes:
    return event.encode() if isinstance(event, str) else base64.b64decode(event["$base64"])
