"""Canonical requests: what of a request to a model provider counts, as a cassette stores it, and its key.

Dropped is what does not change an answer. Ids of calls and responses are renumbered; times and UUIDs in messages, and
what a suite's `normalise` matches, are masked; secrets are redacted. The key is the hash of what is left, so that
a reader of the cassette can check it, and no secret can be guessed from a hash.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from typing import TYPE_CHECKING, Any

import orjson

from evalgate.features.record.measures.provider_json import decode_repaired
from evalgate.measures.redaction.redact import redact, redact_value

if TYPE_CHECKING:
    from evalgate.features.record.measures.masks import Masks
    from evalgate.features.record.models.exchange import ProviderRequest

RULES_VERSION = 1
"""Goes up whenever requests get other keys."""
DROPPED = frozenset(
    [
        *("stream_options", "user", "safety_identifier", "prompt_cache_key", "prompt_cache_retention", "metadata"),
        *("store", "service_tier"),
    ]
)
ID_KEYS = frozenset({"tool_call_id", "tool_use_id", "call_id", "previous_response_id"})
CONVERSATION = frozenset({"messages", "input", "system", "instructions"})
"""Members of a request in which ids are renumbered and texts masked."""
MAX_LEVELS = 60
MAX_INLINE = 1_000
"""Characters of base64 that are kept; of more the digest is stored."""
_BASE64 = re.compile(r"(?:data:(?P<type>[\w.+/-]{1,100});base64,)?(?P<data>[A-Za-z0-9+/_\r\n-]+={0,2})")

Canonical = dict[str, Any]


def canonicalise(request: ProviderRequest, masks: Masks) -> Canonical:
    """The canonical request: `provider`, `method`, `path` without version, and `body`."""
    query = "&".join(f"{name}={value}" for name, value in request.query)
    return {
        "provider": request.provider,
        "method": request.method,
        "path": redact(f"{request.path}?{query}" if query else request.path),
        "body": _canonical_body(request, masks),
    }


def compute_key(canonical: Canonical) -> str:
    """The sha256 of a canonical request, with sorted keys."""
    return hashlib.sha256(encode(canonical)).hexdigest()


def encode(value: Any) -> bytes:
    """JSON with sorted keys, floats as given."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def is_deep(value: Any) -> bool:
    """Whether a JSON value has more levels than fit into a line of a cassette."""
    level = [value]
    for _ in range(MAX_LEVELS):
        if not level:
            return False
        level = [
            child
            for node in level
            if type(node) in (dict, list)
            for child in (node.values() if type(node) is dict else node)
        ]
    return bool(level)


def _canonical_body(request: ProviderRequest, masks: Masks) -> Any:
    if not request.body:
        return None
    try:
        body = decode_repaired(request.body).value
    except ValueError:
        body = None
    if body is None or is_deep(body):
        return _describe_bytes(_without_boundary(request), request.content_type.partition(";")[0])
    if type(body) is dict:
        body = {name: value for name, value in body.items() if name not in DROPPED}
        if "stream" in body:
            body["stream"] = bool(body["stream"])
        renumber = _Renumbering()
        for name in sorted(CONVERSATION.intersection(body) | {"previous_response_id"}.intersection(body)):
            value = (
                renumber.ids[body[name]] if name == "previous_response_id" and type(body[name]) is str else body[name]
            )
            body[name] = masks.apply(renumber.apply(value), name)
    return redact_value(_shorten_data(body))


class _Numbers(dict[str, str]):
    """The number of an id, by first appearance."""

    def __missing__(self, key: str) -> str:
        self[key] = f"id_{len(self) + 1}"
        return self[key]


class _Renumbering:
    """Replaces ids by their numbers; the `id` of an object counts if it is a call or an item, which has a type."""

    def __init__(self) -> None:
        self.ids = _Numbers()

    def apply(self, value: Any) -> Any:
        if type(value) is list:
            return [self.apply(item) for item in value]
        if type(value) is not dict:
            return value
        found: dict[str, Any] = {}
        is_item = type(value.get("type")) is str or "function" in value
        for name, item in value.items():
            if type(item) is str and (name in ID_KEYS or (name == "id" and is_item)):
                found[name] = self.ids[item]
            elif name in ("arguments", "output", "content", "text") and type(item) is str:
                found[name] = item
            elif name == "input" and value.get("type") in ("tool_use", "server_tool_use"):
                found[name] = item  # the arguments of a call, whose ids are data
            else:
                found[name] = self.apply(item)
        return found


def _shorten_data(value: Any) -> Any:
    """Long base64 replaced by its digest, size and type."""
    if type(value) is dict:
        return {name: _shorten_data(item) for name, item in value.items()}
    if type(value) is list:
        return [_shorten_data(item) for item in value]
    if type(value) is not str or len(value) <= MAX_INLINE:
        return value
    found = _BASE64.fullmatch(value)
    if found is None:
        return value
    try:
        data = base64.b64decode(found["data"].translate({ord("-"): "+", ord("_"): "/"}) + "==", validate=False)
    except (binascii.Error, ValueError):
        return value
    return _describe_bytes(data, found["type"] or "base64")


def _describe_bytes(data: bytes, kind: str) -> dict[str, Any]:
    return {"$bytes": len(data), "$sha256": hashlib.sha256(data).hexdigest(), "$type": kind}


def _without_boundary(request: ProviderRequest) -> bytes:
    """The body of a form without the random boundary between its parts."""
    _, is_form, boundary = request.content_type.partition("boundary=")
    boundary = boundary.partition(";")[0].strip('" ')
    return request.body.replace(boundary.encode(), b"boundary") if is_form and boundary else request.body
