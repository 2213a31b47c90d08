"""Guesses where calls of tools are, and where their results are: by their fields, and by the ids they share."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from evalgate.features.learn.application.format_help.places import EACH, Place, follow, walk, write, write_literal
from evalgate.features.learn.application.format_help.texts import KIND_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from collections.abc import Set as AbstractSet

NAMES = ("name", "tool_name", "toolName", "tool", "function_name", "functionName", "fn")
ARGUMENTS = ("arguments", "args", "input", "parameters", "params", "tool_input", "toolInput", "kwargs")
IDS = (
    *("call_id", "callId", "callID", "tool_call_id", "toolCallId", "toolCallID"),
    *("toolUseId", "toolUseID", "tool_use_id", "id", "uuid", "of"),
)
RESULTS = ("result", "output", "content", "value", "response", "out", "run")
ERRORS = ("is_error", "isError", "error", "failure", "failed")
INNER = ("state", "function", "result", "data")
"""Objects inside a call or result that may hold its fields."""


class Found(Struct):
    """Calls or results of one shape. `place` leads to one from its entry; the others lead on from there.

    `id` leads from the entry of the list that a call is in, if it is in one, which is `outer` levels further out.
    """

    place: Place
    fields: dict[str, Place]
    outer: int = 0
    kind: tuple[str, str] | None = None

    @property
    def is_listed(self) -> bool:
        """Whether an entry has a list of them."""
        return EACH in self.place

    def write_list(self) -> str:
        """The expression that finds the list in an entry."""
        at = len(self.place) - 1 - self.place[::-1].index(EACH)
        chosen = EACH if self.kind is None else f"[?{self.kind[0]} == {write_literal(self.kind[1])}]"
        rest = self.place[at + 1 : len(self.place) - self.outer]
        return f"{write(self.place[:at])}{chosen}{'.' + write(rest) if rest else ''}"

    def write_field(self, name: str) -> str | None:
        """The expression that finds a field: from the entry, or from one of the list."""
        if name not in self.fields:
            return None
        inside = self.place[len(self.place) - self.outer :] if self.is_listed else self.place
        above = () if self.is_listed and name == "id" and self.outer else inside
        return write((*above, *self.fields[name]))


def find_calls(entries: Sequence[Any]) -> list[Found]:
    """The shapes of calls: at most one in a list, and one that is an entry, those that occur most."""
    counts: Counter[Place] = Counter()
    found: dict[Place, Found] = {}
    for entry in entries:
        for place, value in walk(entry):
            fields = _find_call_fields(value)
            if fields is not None:
                counts[place] += 1
                shape = found.setdefault(place, _describe(entry, place, value, fields))
                shape.fields = {**fields, **shape.fields}
    shapes = [found[place] for place, _ in counts.most_common()]
    return [each for is_listed in (True, False) for each in [s for s in shapes if s.is_listed == is_listed][:1]]


def _find_call_fields(value: Any) -> dict[str, Place] | None:
    """The name and arguments of a call, in the object or one inside it; None for any other object."""
    if not isinstance(value, dict):
        return None
    name = next((key for key in NAMES if isinstance(value.get(key), str) and value[key]), None)
    arguments = _find_field(value, ARGUMENTS, _is_arguments)
    if name is None or arguments is None or ("description" in value and "parameters" in arguments):
        return None
    own = {"name": (name,), "arguments": arguments}
    identifier = next((key for key in IDS if _is_id(value.get(key))), None)
    found = {**own, **({} if identifier is None else {"id": (identifier,)})}
    return {**found, **_find_end(value, taken=arguments)}


def _is_arguments(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, str) and value.startswith("{"))


def _is_id(value: Any) -> bool:
    return (isinstance(value, str) and bool(value)) or type(value) is int


def _find_field(value: dict[str, Any], names: Sequence[str], is_it: Any) -> Place | None:
    """The first of the names that has such a value, in the object or one inside it."""
    places = [*((name,) for name in names), *((inner, name) for inner in INNER for name in names)]
    return next((place for place in places if is_it(follow(value, place))), None)


def _find_end(value: Any, taken: Place = ()) -> dict[str, Place]:
    """The fields of how a call ended, as far as an object has them."""
    places = {
        "result": _find_field(
            value, [name for name in RESULTS if (name,) != taken], lambda each: each not in (None, "")
        ),
        "error": _find_field(value, ERRORS, lambda each: each is not None),
    }
    if places["result"] is not None and isinstance(inner := follow(value, places["result"]), dict):
        deeper = next((name for name in ("output", "content", "result") if isinstance(inner.get(name), str)), None)
        places["result"] = places["result"] if deeper is None else (*places["result"], deeper)
    if type(value.get("success")) is bool:
        places["status"] = ("success",)
    return {name: place for name, place in places.items() if place is not None}


def _describe(entry: Any, place: Place, value: Any, fields: dict[str, Place]) -> Found:
    found = Found(place, fields)
    if EACH not in place:
        return found
    for holder in _find_holders(entry, place, value):
        found.kind = next(((key, holder[key]) for key in KIND_NAMES if isinstance(holder.get(key), str)), None)
        identifier = next((key for key in IDS if _is_id(holder.get(key))), None)
        if "id" not in fields and identifier is not None:
            found.outer = place[::-1].index(EACH)
            found.fields = {**fields, "id": (identifier,)}
    return found


def _find_holders(entry: Any, place: Place, value: Any) -> Iterator[dict[str, Any]]:
    """The entry of the innermost list that holds the value."""
    at = len(place) - place[::-1].index(EACH)
    for where, each in walk(entry):
        if where == place[:at] and isinstance(each, dict) and follow(each, place[at:]) is value:
            yield each
            return


def find_results(entries: Sequence[Any], calls: Sequence[Found]) -> Found | None:
    """The shape of results: objects beside calls that have the id of one."""
    ids = set(_list_ids(entries, calls))
    counts: Counter[tuple[Place, str]] = Counter()
    found: dict[tuple[Place, str], Found] = {}
    for entry in entries:
        for place, value in walk(entry):
            key = None if _is_in_call(place, calls) else _find_known_id(value, ids)
            end = {} if key is None else _find_end(value)
            if key is not None and ("result" in end or "error" in end):
                counts[place, key] += 1
                shape = found.setdefault((place, key), _describe(entry, place, value, {"id": (key,)}))
                shape.fields = {**end, **shape.fields}
    best = counts.most_common(1)
    return found[best[0][0]] if best else None


def _is_in_call(place: Place, calls: Sequence[Found]) -> bool:
    return any(call.is_listed and place[: len(call.place)] == call.place != place for call in calls)


def _find_known_id(value: Any, ids: AbstractSet[Any]) -> str | None:
    """The field of an object that has the id of a call, unless the object is one or holds one."""
    if not isinstance(value, dict) or _find_call_fields(value) is not None or _holds_call(value):
        return None
    return next((key for key in IDS if _is_id(value.get(key)) and value[key] in ids), None)


def _holds_call(value: dict[str, Any]) -> bool:
    return any(_find_call_fields(each) is not None for each in value.values())


def _list_ids(entries: Sequence[Any], calls: Sequence[Found]) -> Iterator[Any]:
    for entry in entries:
        for place, value in walk(entry):
            for call in calls:
                at = call.place[: len(call.place) - call.outer]
                if "id" in call.fields and place == at and _is_id(found := follow(value, call.fields["id"])):
                    yield found
