"""Rewrites a recorded document in small ways, such as other recorders write it; no tool's name is removed.

JSON within text is decoded when the document is loaded, so that its keys are rewritten as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from random import Random

KIND_KEYS = (
    *("type", "kind", "part_kind", "block_type", "event_kind", "run_type", "object", "role", "subtype", "event"),
    *("message_type", "source", "from", "state", "status"),
)
NAMES = ("name", "tool_name", "toolName", "tool", "function_name", "fn", "action", "recipient_name")
ARGUMENTS = ("arguments", "args", "input", "parameters", "tool_input", "kwargs", "params", "tool_args", "payload")
WRAPPERS = ("payload", "data", "call", "wrapper", "value", "request", "item", "step", "toolCall")
SPAN_KEYS = frozenset({"span_id", "spanId", "spanID", "context", "run_type", "span_data", "parentObservationId"})
TOOL_KINDS = ("tool", "TOOL", "execute_tool", "ai.toolCall", "function", "execute_tool_call")


class JsonText:
    """JSON that was recorded as text."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Step(NamedTuple):
    """An entry of an object or list: its container, and its key or index."""

    container: Any
    key: Any

    @property
    def value(self) -> Any:
        return self.container.value if isinstance(self.container, JsonText) else self.container[self.key]

    def replace(self, value: Any) -> None:
        if isinstance(self.container, JsonText):
            self.container.value = value
        else:
            self.container[self.key] = value


class Spot(NamedTuple):
    """The steps from the document to the name of a call."""

    steps: list[Step]

    @property
    def objects(self) -> list[Step]:
        """The steps out of objects."""
        return [step for step in self.steps if isinstance(step.container, dict)]


def load(line: bytes, name: str) -> Any:
    """The document, with text decoded that is JSON with the name."""
    return _decode_texts(orjson.loads(line), name)


def dump(document: Any) -> bytes:
    """The document as one line."""
    return orjson.dumps(document, default=lambda text: dump(text.value).decode()) + b"\n"


def find_spots(document: Any, name: str) -> list[Spot]:
    """Every place where a value is the name."""
    return [Spot(steps) for steps in _walk(document, []) if steps and steps[-1].value == name]


def rewrite(document: Any, name: str, random: Random) -> str | None:
    """Changes the document; what was done, or None if there is nothing to change."""
    spots = find_spots(document, name)
    if not spots:
        return _rename_anywhere(document, random)
    way = random.choice(WAYS)
    return way(document, random.choice(spots), random)


def _decode_texts(value: Any, name: str) -> Any:
    if isinstance(value, dict):
        return {key: _decode_texts(each, name) for key, each in value.items()}
    if isinstance(value, list):
        return [_decode_texts(each, name) for each in value]
    if isinstance(value, str) and value[:1] in "{[" and name in value:
        try:
            return JsonText(_decode_texts(orjson.loads(value), name))
        except orjson.JSONDecodeError:
            return value
    return value


def _walk(value: Any, steps: list[Step]) -> Iterator[list[Step]]:
    yield steps
    if isinstance(value, JsonText):
        yield from _walk(value.value, [*steps, Step(value, None)])
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from _walk(each, [*steps, Step(value, key)])
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from _walk(each, [*steps, Step(value, index)])


def _list_objects(document: Any) -> list[dict[str, Any]]:
    return [document] * isinstance(document, dict) + [
        steps[-1].value for steps in _walk(document, []) if steps and isinstance(steps[-1].value, dict)
    ]


def _respell(key: str, random: Random) -> str:
    """Another spelling of a key, or an unknown key."""
    camel = "".join(word if index == 0 else word.capitalize() for index, word in enumerate(key.split("_")))
    snake = "".join(f"_{char.lower()}" if char.isupper() else char for char in key)
    other = random.choice([camel, snake, f"my_{key}", f"{key}_v2", key.upper(), f"{key}s", key.replace(".", "_")])
    return other if other != key else f"{key}_x"


def _rename_key(container: dict[str, Any], key: str, other: str) -> None:
    """Renames a key; the order stays."""
    if other in container:
        other = f"{other}_x"
    entries = [(other if each == key else each, value) for each, value in container.items()]
    container.clear()
    container.update(entries)


def _rename_everywhere(document: Any, key: str, other: str, random: Random, only: dict[str, Any]) -> str:
    """Renames the key in all objects that have it, or in one."""
    if random.random() < 0.6:
        for each in _list_objects(document):
            if key in each:
                _rename_key(each, key, other)
        return "everywhere"
    _rename_key(only, key, other)
    return "once"


def _rename_anywhere(document: Any, random: Random) -> str | None:
    found = [each for each in _list_objects(document) if each]
    if not found:
        return None
    container = random.choice(found)
    key = random.choice(list(container))
    other = _respell(key, random)
    return f"{key} -> {other}, {_rename_everywhere(document, key, other, random, container)}"


def _rename_any_key(document: Any, spot: Spot, random: Random) -> str | None:
    del spot
    return _rename_anywhere(document, random)


def _rename_near(document: Any, spot: Spot, random: Random) -> str:
    """Renames a key on the way to the call."""
    step = random.choice(spot.objects[-6:])
    other = _respell(step.key, random)
    return f"{step.key} -> {other}, {_rename_everywhere(document, step.key, other, random, step.container)}"


def _rename_neighbour(document: Any, spot: Spot, random: Random) -> str:
    """Renames a key beside the call or beside what holds it."""
    container = random.choice(spot.objects[-3:]).container
    key = random.choice(list(container))
    other = _respell(key, random)
    return f"{key} -> {other} beside, {_rename_everywhere(document, key, other, random, container)}"


def _rename_call_field(document: Any, spot: Spot, random: Random) -> str:
    """Gives the field of the name another usual name."""
    step = spot.objects[-1]
    start, dot, last = step.key.rpartition(".")
    other = start + dot + random.choice([name for name in NAMES if name != last])
    return f"{step.key} -> {other}, {_rename_everywhere(document, step.key, other, random, step.container)}"


def _rename_arguments(document: Any, spot: Spot, random: Random) -> str | None:
    """Gives the arguments another usual name."""
    for step in reversed(spot.objects[-3:]):
        for key in ARGUMENTS:
            if key in step.container:
                other = random.choice([name for name in ARGUMENTS if name != key])
                done = _rename_everywhere(document, key, other, random, step.container)
                return f"{key} -> {other}, {done}"
    return None


def _retype(document: Any, spot: Spot, random: Random) -> str | None:
    """Changes or drops the type of what holds the call."""
    found = [
        (step.container, key) for step in spot.objects[-6:] for key in KIND_KEYS if type(step.container.get(key)) is str
    ]
    if not found:
        return None
    container, key = random.choice(found)
    kind = container[key]
    everywhere = random.random() < 0.6
    drops = random.random() < 0.5
    for each in _list_objects(document) if everywhere else [container]:
        if each.get(key) == kind:
            if drops:
                del each[key]
            else:
                each[key] = f"{kind}_v2"
    return f"{key} {kind} {'dropped' if drops else 'changed'} {'everywhere' if everywhere else 'once'}"


def _rename_attribute(document: Any, spot: Spot, random: Random) -> str | None:
    """Renames an attribute of a span, written as `key` and `value`."""
    found = [step.container for step in spot.objects if type(step.container.get("key")) is str]
    if not found:
        return None
    key = found[-1]["key"]
    other = _respell(key, random)
    everywhere = random.random() < 0.6
    for each in _list_objects(document) if everywhere else [found[-1]]:
        if each.get("key") == key:
            each["key"] = other
    return f"attribute {key} -> {other} {'everywhere' if everywhere else 'once'}"


def _wrap(document: Any, spot: Spot, random: Random) -> str | None:
    """Puts the call, or what holds it, into an unknown object."""
    del document
    found = [step for step in spot.steps[-6:] if isinstance(step.value, dict | list)]
    if not found:
        return None
    step = random.choice(found)
    key = random.choice(WRAPPERS)
    step.replace({key: step.value})
    return f"{step.key} wrapped in {key}"


def _write_as_text(document: Any, spot: Spot, random: Random) -> str | None:
    """Writes the call, or what holds it, as JSON text."""
    del document
    found = [step for step in spot.steps[-4:] if isinstance(step.value, dict | list)]
    if not found:
        return None
    step = random.choice(found)
    step.replace(JsonText(step.value))
    return f"{step.key} as text"


def _unwrap(document: Any, spot: Spot, random: Random) -> str | None:
    """Moves the fields of the call's object into the object around it."""
    del document, random
    for outer, inner in zip(spot.steps[-3:], spot.steps[-2:], strict=False):
        if isinstance(outer.container, dict) and outer.value is inner.container and isinstance(inner.container, dict):
            fields = outer.container.pop(outer.key)
            for key, value in fields.items():
                outer.container.setdefault(key, value)
            if isinstance(inner.key, str) and outer.container.get(inner.key) is not fields[inner.key]:
                outer.container[f"{outer.key}_{inner.key}"] = fields[inner.key]
            return f"{outer.key} unwrapped"
    return None


def _unlist(document: Any, spot: Spot, random: Random) -> str | None:
    """Replaces a list with one entry by its entry."""
    del document, random
    for step in reversed(spot.steps):
        if isinstance(step.value, list) and len(step.value) == 1:
            step.replace(step.value[0])
            return f"{step.key} without a list"
    return None


def _drop_tool_spans(document: Any, spot: Spot, random: Random) -> str | None:
    """Drops all spans of tools, as an instrumentation without tools."""
    del spot, random
    dropped = 0
    lists = [steps[-1].value if steps else document for steps in _walk(document, [])]
    for value in lists:
        if isinstance(value, list):
            kept = [each for each in value if not _is_tool_span(each)]
            dropped += len(value) - len(kept)
            value[:] = kept
    return f"{dropped} tool spans dropped" if dropped else None


def _is_tool_span(value: Any) -> bool:
    if not isinstance(value, dict) or SPAN_KEYS.isdisjoint(value):
        return False
    kinds = [value.get("type"), value.get("run_type"), value.get("span_kind")]
    data = value.get("span_data")
    kinds += [data.get("type")] if isinstance(data, dict) else []
    attributes = value.get("attributes", value.get("tags"))
    if isinstance(attributes, dict):
        kinds += [each for key, each in attributes.items() if "kind" in key or "operation" in key]
    elif isinstance(attributes, list):
        for each in attributes:
            if isinstance(each, dict) and ("kind" in str(each.get("key")) or "operation" in str(each.get("key"))):
                held = each.get("value")
                kinds += list(held.values()) if isinstance(held, dict) else [held]
    return any(kind in TOOL_KINDS for kind in kinds if isinstance(kind, str))


WAYS: tuple[Callable[[Any, Spot, Random], str | None], ...] = (
    _rename_near,
    _rename_near,
    _rename_any_key,
    _rename_neighbour,
    _rename_call_field,
    _rename_arguments,
    _retype,
    _retype,
    _rename_attribute,
    _wrap,
    _write_as_text,
    _unwrap,
    _unlist,
    _drop_tool_spans,
)
