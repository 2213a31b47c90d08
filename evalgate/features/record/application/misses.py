"""A request that a cassette does not hold: what differs from the nearest one it holds, and what the agent gets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import orjson
from msgspec import Struct

from evalgate.features.record.models.exchange import JSON, ProviderAnswer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.features.record.models.cassette import RecordedExchange

MISS = "evalgate_cassette_miss"
SHOWN = 60
LISTS = ("messages", "input")
ORDER = ("model", "system", "instructions", *LISTS)
SHORT_KEY = 12


class Difference(NamedTuple):
    """The first place in which two requests differ; `old` and `new` are texts, None where there is nothing."""

    path: str
    old: str | None
    new: str | None


class Miss(Struct):
    """A missing request; without a `nearest` one, none of the cassette has its provider and path."""

    key: str
    is_used_up: bool
    recorded: int
    difference: Difference | None

    def describe(self) -> list[str]:
        """Lines for the log."""
        head = f"cassette miss: no recorded answer for the request {self.key[:SHORT_KEY]}"
        if self.is_used_up:
            times = "once" if self.recorded == 1 else f"{self.recorded:,} times"
            return [f"{head}: it was recorded {times}, and is made once more"]
        if self.difference is None:
            return [f"{head}: the cassette holds none for this provider and path"]
        path, old, new = self.difference
        return [
            f"{head}: it differs from the nearest one in {path}",
            f"  old: {'(nothing)' if old is None else old}",
            f"  new: {'(nothing)' if new is None else new}",
        ]


def find_miss(canonical: dict[str, Any], key: str, exchanges: Sequence[RecordedExchange]) -> Miss:
    """Compares a request with those of a cassette."""
    equal = sum(exchange.key == key for exchange in exchanges)
    if equal:
        return Miss(key, is_used_up=True, recorded=equal, difference=None)
    near = [each for each in exchanges if (each.provider, each.path) == (canonical["provider"], canonical["path"])]
    if not near:
        return Miss(key, is_used_up=False, recorded=0, difference=None)
    body = canonical["body"]
    nearest = max(near, key=lambda each: _likeness(each.request, body))
    return Miss(key, is_used_up=False, recorded=0, difference=find_difference(nearest.request, body))


def build_answer(miss: Miss, provider: str) -> ProviderAnswer:
    """The error that the agent gets, in the provider's shape; SDKs don't send the request again."""
    error: dict[str, Any] = {"type": MISS, "message": miss.describe()[0]}
    body = (
        {"type": "error", "error": error}
        if provider == "anthropic"
        else {"error": {**error, "param": None, "code": MISS}}
    )
    return ProviderAnswer(500, JSON, [(0.0, orjson.dumps(body))], {"x-should-retry": "false"})


def _likeness(recorded: Any, body: Any) -> tuple[bool, int, int]:
    """The model is the same, how many messages from the start are, and how many there are at most."""
    if not isinstance(recorded, dict) or not isinstance(body, dict):
        return False, 0, 0
    old, new = _messages(recorded), _messages(body)
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    return recorded.get("model") == body.get("model"), same, -abs(len(old) - len(new))


def _messages(body: dict[str, Any]) -> list[Any]:
    found: Any = next((body[name] for name in LISTS if name in body), [])
    return found if isinstance(found, list) else [found]


def find_difference(old: Any, new: Any) -> Difference | None:
    """The first difference, the conversation before other members; None if there is none."""
    return next(_differences(old, new, ""), None)


def _differences(old: Any, new: Any, path: str) -> Iterator[Difference]:
    if isinstance(old, dict) and isinstance(new, dict):
        names = sorted(old.keys() | new.keys())
        for name in sorted(names, key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER)):
            inner = f"{path}.{name}" if path else name
            yield from _differences(old.get(name), new.get(name), inner)
    elif isinstance(old, list) and isinstance(new, list):
        for index in range(max(len(old), len(new))):
            one, other = (each[index] if index < len(each) else None for each in (old, new))
            yield from _differences(one, other, f"{path}[{index}]{_role(old, new, index)}")
    elif type(old) is not type(new) or old != new:
        yield Difference(path or "the body", *_excerpts(old, new))


def _role(old: list[Any], new: list[Any], index: int) -> str:
    """The role of a message, to show with its place."""
    for each in (new, old):
        message = each[index] if index < len(each) else None
        if isinstance(message, dict) and isinstance(message.get("role"), str):
            return f" ({message['role']})"
    return ""


def _excerpts(old: Any, new: Any) -> tuple[str | None, str | None]:
    """Both values; of long texts the part around the first character that differs."""
    texts = [each if isinstance(each, str) or each is None else orjson.dumps(each).decode() for each in (old, new)]
    if None in texts:
        return _cut(texts[0], 0), _cut(texts[1], 0)
    one, other = texts
    same = 0
    while same < min(len(one or ""), len(other or "")) and (one or "")[same] == (other or "")[same]:
        same += 1
    start = max(0, same - SHOWN // 2)
    return _cut(one, start), _cut(other, start)


def _cut(text: str | None, start: int) -> str | None:
    if text is None:
        return None
    end = start + 2 * SHOWN
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"
