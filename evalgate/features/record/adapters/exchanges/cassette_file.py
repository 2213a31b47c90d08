"""Reads and writes cassettes; one that is damaged, too large, or changed by hand in its requests is refused."""

from __future__ import annotations

import base64
from datetime import datetime
from typing import TYPE_CHECKING, Any

import msgspec
import orjson

from evalgate.adapters.formats.core.strict_json import decode, require_shallow
from evalgate.errors import InvalidInput, Location, OverLimit, Problem, TraceError
from evalgate.features.record.measures.canonical import RULES_VERSION, compute_key, encode
from evalgate.features.record.models.cassette import (
    MAX_BYTES,
    MAX_EXCHANGES,
    Cassette,
    CassetteHeader,
    RecordedExchange,
)
from evalgate.features.record.models.exchange import MAX_TRIAL
from evalgate.models.results.document_names import EXCHANGE_SCHEMA

if TYPE_CHECKING:
    from evalgate.features.record.models.exchange import TrialId

CONTENT_TYPES = frozenset({"application/json", "text/event-stream", "application/octet-stream"})
BODIES = frozenset({"json", "text", "base64", "events"})
AS_RECORDED = frozenset({"json", "text"})
"""The two forms of a body of which the value does not give the same bytes."""
STATUSES = range(200, 600)
YEARS = range(1971, 9999)
LONGEST_MS = 86_400_000
"""The longest time of an agent: one day."""
REFRESH_HINT = "record it again: evalgate cassettes refresh"


def encode_cassette(cassette: Cassette) -> bytes:
    """The lines of a cassette: keys sorted, unknown values of the header left out."""
    header = {name: value for name, value in msgspec.to_builtins(cassette.header).items() if value is not None}
    lines = [encode({"schema": EXCHANGE_SCHEMA, **header}), *map(encode_exchange, cassette.exchanges)]
    return b"\n".join([*lines, b""])


def encode_exchange(exchange: RecordedExchange) -> bytes:
    """The line of one exchange."""
    return encode(msgspec.to_builtins(exchange))


def decode_cassette(data: bytes, path: str, trial: TrialId | None = None) -> Cassette:
    """The cassette of a file; raises InvalidInput with the line. `trial` is the one that it must be of."""
    if len(data) > MAX_BYTES:
        raise OverLimit(Problem(f"a cassette is larger than {MAX_BYTES:,} bytes", Location(path)))
    lines = data.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    if len(lines) > MAX_EXCHANGES + 1:
        raise OverLimit(Problem(f"a cassette has more than {MAX_EXCHANGES:,} exchanges", Location(path)))
    header = _decode_header(lines[0] if lines else b"", Location(path, 1))
    if trial is not None and header.trial_id != trial:
        raise _error("it was recorded for another scenario, variant or trial", Location(path, 1))
    if header.rules_version != RULES_VERSION:
        raise _error("it was recorded by other rules for requests", Location(path, 1))
    exchanges = [_decode_exchange(line, Location(path, number)) for number, line in enumerate(lines[1:], 2)]
    _require_numbered(exchanges, path)
    return Cassette(header, exchanges)


def _decode_header(line: bytes, location: Location) -> CassetteHeader:
    value = _decode_object(line, location)
    if value.pop("schema", None) != EXCHANGE_SCHEMA:
        raise _error(f"the first line is not the header of a cassette: no schema {EXCHANGE_SCHEMA}", location)
    header: CassetteHeader = _convert(value, CassetteHeader, location)
    if not _is_time(header.created) or not 0 <= header.trial <= MAX_TRIAL:
        raise _error("`created` is not a time with its zone, or `trial` is out of its range", location)
    return header


def _decode_exchange(line: bytes, location: Location) -> RecordedExchange:
    exchange: RecordedExchange = _convert(_decode_object(line, location), RecordedExchange, location)
    if compute_key(exchange.canonical) != exchange.key:
        raise _error("the key is not that of the request: one of them was changed", location)
    _check_response(exchange.response, location)
    if not _is_time(exchange.recorded_at):
        raise _error("`recorded_at` is not a time with its zone", location)
    if not 0 <= exchange.duration_ms <= LONGEST_MS or exchange.n < 1:
        raise _error("a number is out of its range", location)
    return exchange


def _is_time(text: str) -> bool:
    """Whether it is a time with its zone, of a year with which times can be computed."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return False
    return found.tzinfo is not None and found.year in YEARS


def _check_response(response: dict[str, Any], location: Location) -> None:
    headers, status = response.get("headers"), response.get("status")
    if type(status) is not int or status not in STATUSES:
        raise _error("the status of the response is not from 200 to 599", location)
    if type(headers) is not dict or [*headers] != ["content-type"] or headers["content-type"] not in CONTENT_TYPES:
        raise _error("the response has other headers than a known content-type", location)
    bodies = BODIES.intersection(response)
    if (len(bodies) != 1 and bodies != AS_RECORDED) or response.keys() - BODIES - {"status", "headers", "broken"}:
        raise _error("the response has no body, several, or unknown fields", location)
    if "events" in bodies and not _are_events(response["events"]):
        raise _error("the events of the response are not pairs of milliseconds and text", location)
    if not isinstance(response.get("text", ""), str) or not _is_base64(response.get("base64", "")):
        raise _error("the body of the response is not text", location)
    if bodies == AS_RECORDED and not _is_json_of(response["text"], response["json"]):
        raise _error("the text of the response is not its json", location)


def _is_json_of(text: str, value: Any) -> bool:
    try:
        return encode(orjson.loads(text)) == encode(value)
    except ValueError:
        return False


def _are_events(events: Any) -> bool:
    return isinstance(events, list) and all(
        isinstance(event, list)
        and len(event) == len(("ms", "text"))
        and type(event[0]) in (int, float)
        and 0 <= event[0] <= LONGEST_MS
        and (isinstance(event[1], str) or (isinstance(event[1], dict) and _is_base64(event[1].get("$base64"))))
        for event in events
    )


def _is_base64(text: Any) -> bool:
    try:
        return isinstance(text, str) and isinstance(base64.b64decode(text, validate=True), bytes)
    except ValueError:
        return False


def _require_numbered(exchanges: list[RecordedExchange], path: str) -> None:
    counts: dict[str, int] = {}
    for number, exchange in enumerate(exchanges, 2):
        counts[exchange.key] = counts.get(exchange.key, 0) + 1
        if exchange.n != counts[exchange.key]:
            raise _error("`n` does not count the equal requests in order", Location(path, number))


def _decode_object(line: bytes, location: Location) -> dict[str, Any]:
    try:
        value = decode(line)
        require_shallow(value)
    except TraceError as error:
        raise _error(str(error), location) from None
    if not isinstance(value, dict):
        raise _error("the line is not an object", location)
    return value


def _convert(value: dict[str, Any], kind: Any, location: Location) -> Any:
    unknown = value.keys() - set(kind.__struct_fields__)
    if unknown:
        raise _error("the line has unknown fields", location)
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError:
        raise _error("the line lacks a field, or one has the wrong type", location) from None


def _error(message: str, location: Location) -> InvalidInput:
    return InvalidInput(Problem(f"this cassette is refused: {message}", location, REFRESH_HINT))
