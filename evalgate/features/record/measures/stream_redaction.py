"""Redacts the events of a stream: also a secret that begins in one event and ends in a later one.

Whatever the provider: texts at one place of the events, such as `choices[0].delta.content`, are parts of one text.
"""

from __future__ import annotations

import json
from collections import defaultdict
from copy import deepcopy
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from evalgate.features.record.measures.canonical import is_deep
from evalgate.features.record.measures.event_stream import DATA, read_data, split_lines
from evalgate.features.record.measures.provider_json import decode_json
from evalgate.features.record.measures.repeated_names import has_repeated_names
from evalgate.measures.redaction.redact import get_project_secrets, redact, redact_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Place = tuple[Any, ...]
PLACES = ("index", "item_id", "output_index", "content_index", "summary_index")
"""Members of an object that say which one of several it is."""
TOKENS, TOKEN = "logprobs", "token"
"""Where a text stands token by token, each in an object of a list; such a token is no secret, as its name says."""
TOKEN_COPIES = ("bytes", "top_logprobs")
"""Members of such an object that repeat its token."""


class Datum(NamedTuple):
    """What one event says: a JSON value, or other text; in a list, so that it can be replaced."""

    holder: list[Any]
    is_json: bool


class Part(NamedTuple):
    """A text in a datum: the datum's number, and the object or list that holds the text under a key."""

    number: int
    holder: Any
    key: Any


def redact_events(events: Sequence[str]) -> list[str]:
    """The events with secrets redacted; an event without a secret is unchanged.

    Texts that come in parts are redacted as a whole: the first part then holds all of it, the others are empty.
    """
    data = [read_data(event) for event in events]
    clean = redact_lines(["" if each is None else each for each in data])
    return [_write_event(*each) for each in zip(events, data, clean, strict=True)]


def redact_lines(lines: Sequence[str]) -> list[str]:
    """The lines of a stream of JSON lines, redacted as events are."""
    found = [_decode(line) for line in lines]
    changed = _redact_joined([each.holder for each in found])
    clean = [_redact(each.holder[0], has_tokens=TOKENS in line) for line, each in zip(lines, found, strict=True)]
    return [
        line if number not in changed and clean[number] == each.holder[0] else _encode(clean[number], each)
        for number, (line, each) in enumerate(zip(lines, found, strict=True))
    ]


def redact_body(value: Any, body: bytes) -> Any:
    """The JSON value of the body of an answer that is no stream, redacted."""
    has_tokens = TOKENS.encode() in body
    if has_tokens:
        value = deepcopy(value)
        _redact_joined([[value]])
    return _redact(value, has_tokens=has_tokens)


def _redact(value: Any, *, has_tokens: bool) -> Any:
    clean = redact_value(value)
    has_fields = get_project_secrets() is not None  # a project may redact whole fields, within which nothing is kept
    if has_tokens and not has_fields and clean != value:
        _keep_tokens(value, clean, is_within=False)
    return clean


def _keep_tokens(value: Any, clean: Any, *, is_within: bool) -> None:
    """Puts tokens of a text back that were redacted only for the name of their field."""
    if type(value) is dict:
        for name, inner in value.items():
            if is_within and name == TOKEN and type(inner) is str:
                clean[name] = redact(inner)
            else:
                _keep_tokens(inner, clean.get(name), is_within=is_within or name == TOKENS)
    elif type(value) is list and type(clean) is list:
        for inner, other in zip(value, clean, strict=True):
            _keep_tokens(inner, other, is_within=is_within)


def _decode(data: str) -> Datum:
    """The JSON of a datum; as text what is no JSON, or of which its value would not show all."""
    try:
        value = decode_json(data).value
    except ValueError:
        try:  # bytes that are no UTF-8 are halves here, which only this decoder takes
            value = json.loads(data)
        except (ValueError, RecursionError):
            return Datum([data], is_json=False)
    if is_deep(value) or has_repeated_names(data.encode("utf-8", "surrogateescape"), value):
        return Datum([data], is_json=False)
    return Datum([value], is_json=True)


def _encode(value: Any, datum: Datum) -> str:
    if not datum.is_json:
        return str(value)
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # half characters, and numbers of more than 64 bits
        return json.dumps(value)


def _write_event(event: str, data: str | None, clean: str) -> str:
    """An event with other data, in the first of its lines with data; its other lines redacted."""
    waiting = [] if data is None or clean == data else clean.split("\n")
    is_changed = bool(waiting)
    parts: list[str] = []
    for line in split_lines(event):
        if line.data is None:
            parts.append(redact(line.text) + line.end)
        elif not is_changed:
            parts.append(line.text + line.end)
        else:
            parts += (f"{DATA}: {part}{line.end}" for part in waiting)
            waiting = []
    return "".join(parts)


def _redact_joined(holders: Sequence[list[Any]]) -> set[int]:
    """Replaces texts that hold a secret only together; returns the numbers of the data that were changed."""
    places: dict[Place, list[Part]] = defaultdict(list)
    for number, holder in enumerate(holders):
        for place, inner, key in _find_texts(holder, 0, (), 0):
            places[place].append(Part(number, inner, key))
    changed: set[int] = set()
    for parts in places.values():
        texts = [part.holder[part.key] for part in parts]
        whole = "".join(texts) if len(texts) > 1 else ""
        clean = redact(whole)
        if clean != whole and clean != "".join(map(redact, texts)):
            _replace(parts, clean)
            changed.update(part.number for part in parts)
    return changed


def _replace(parts: Sequence[Part], clean: str) -> None:
    for index, part in enumerate(parts):
        part.holder[part.key] = "" if index else clean
        for name in TOKEN_COPIES:
            if part.key == TOKEN and name in part.holder:
                part.holder[name] = []


def _find_texts(holder: Any, key: Any, place: Place, level: int) -> Iterator[tuple[Place, Any, Any]]:
    """The texts of a value: the place that their parts share, what holds them, and under which key."""
    value = holder[key]
    if type(value) is str:
        yield place, holder, key
    elif type(value) is dict:
        known = ("type", *PLACES) if level == 0 else PLACES
        own = tuple((name, value[name]) for name in known if type(value.get(name)) in (str, int))
        for name in value:
            yield from _find_texts(value, name, (*place, *own, name), level + 1)
    elif type(value) is list:
        for number, each in enumerate(value):
            is_numbered = TOKENS in place or (type(each) is dict and type(each.get("index")) is int)
            yield from _find_texts(value, number, (*place, None if is_numbered else number), level + 1)
