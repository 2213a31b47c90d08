"""Finds fields in an expression that no trace can have: sections, and names outside of closed objects and lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.evaluators.core.field_problems import suggest
from evalgate.models.trace.trace import CallRef, CallVersion, LlmCall, Message, ModelError, ToolCall, TraceScore, Usage
from evalgate.models.trace.trace_view import CLOSED_OBJECTS, METADATA, SECTIONS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.measures.jmespath.parse_tree import Node


class Fields(NamedTuple):
    """An object with these fields and no others; None is the shape of what may hold anything."""

    named: Mapping[str, Shape]


class ListOf(NamedTuple):
    """A list of entries of one shape."""

    entry: Shape


Shape = Fields | ListOf | None


def _fields_of(record: type, **shapes: Shape) -> Fields:
    return Fields({**dict.fromkeys(record.__annotations__), **shapes})


_VERSION, _ERROR, _USAGE = _fields_of(CallVersion), _fields_of(ModelError), _fields_of(Usage)
_CALLS = ListOf(_fields_of(ToolCall, error=_ERROR, requested=_VERSION, executed=_VERSION))
_EXCHANGE: dict[str, Shape] = {
    **dict.fromkeys(("turn", "user", "response", "cost_usd", "latency_ms", "usage")),
    "tool_calls": _CALLS,
}
CLOSED: dict[str, Shape] = {
    "tool_calls": _CALLS,
    "turns": ListOf(_fields_of(Message, tool_calls=ListOf(_fields_of(CallRef)))),
    "exchanges": ListOf(Fields(_EXCHANGE)),
    "llm_calls": ListOf(_fields_of(LlmCall, usage=_USAGE, error=_ERROR)),
    "evaluations": ListOf(_fields_of(TraceScore)),
    "errors": ListOf(Fields(dict.fromkeys(("tool", "index", *ModelError.__annotations__)))),
}
"""The lists of the view whose entries have the same fields in every trace, as have the objects of CLOSED_OBJECTS."""
_BY_ENTRY = frozenset({"sort_by", "max_by", "min_by"})


class UnknownField(NamedTuple):
    """A name that nothing can have where it stands, and what may be meant."""

    name: str
    hint: str | None


def find_unknown_field(tree: Node, shape: Fields) -> UnknownField | None:
    """The first field of the expression that no value of this shape can have."""
    search = _Search()
    search.visit(tree, shape)
    return search.found


_OBJECTS: dict[str, Shape] = {name: Fields(dict.fromkeys(fields)) for name, fields in CLOSED_OBJECTS.items()}
VIEW = Fields({**dict.fromkeys(SECTIONS), **_OBJECTS, **CLOSED})
PREVIOUS = Fields({"baseline": None, "trial": VIEW})
_ANSWER = dict.fromkeys(("content", "text", "answer", "output"), "response.content")
_ELSEWHERE = {**{name: f"metadata.{name}" for name in METADATA}, **_ANSWER, "messages": "turns"}
"""Where a trace has what expressions look for in its first level."""


def _suggest(name: str, shape: Fields | ListOf) -> str | None:
    if isinstance(shape, ListOf):
        return f"it stands in a list: write `[].{name}`"
    if shape is VIEW and name in _ELSEWHERE:
        return f"did you mean `{_ELSEWHERE[name]}`?"
    return suggest(name, shape.named)


class _Search:
    """Follows the shape of what each part of an expression finds, and keeps the first field that it can't have."""

    def __init__(self) -> None:
        self.found: UnknownField | None = None

    def visit(self, node: Node, shape: Shape) -> Shape:
        """The shape of what a part finds in a value of this shape."""
        follow = getattr(self, f"_visit_{node['type']}", None)
        if follow is not None:
            found: Shape = follow(node, shape)
            return found
        for child in node["children"]:
            if isinstance(child, dict):
                self.visit(child, shape)
        return None

    def _visit_field(self, node: Node, shape: Shape) -> Shape:
        if shape is None:
            return None
        name, named = node["value"], shape.named if isinstance(shape, Fields) else {}
        if name not in named and self.found is None:
            self.found = UnknownField(name, _suggest(name, shape))
        return named.get(name)

    def _visit_current(self, node: Node, shape: Shape) -> Shape:
        del node
        return shape

    _visit_identity = _visit_current

    def _visit_subexpression(self, node: Node, shape: Shape) -> Shape:
        for child in node["children"]:
            shape = self.visit(child, shape)
        return shape

    _visit_index_expression = _visit_pipe = _visit_subexpression

    def _visit_index(self, node: Node, shape: Shape) -> Shape:
        del node
        return shape.entry if isinstance(shape, ListOf) else None

    def _visit_slice(self, node: Node, shape: Shape) -> Shape:
        del node
        return shape

    def _visit_flatten(self, node: Node, shape: Shape) -> Shape:
        found = self.visit(node["children"][0], shape)
        is_nested = isinstance(found, ListOf) and isinstance(found.entry, ListOf)
        return found.entry if is_nested and isinstance(found, ListOf) else found

    def _visit_projection(self, node: Node, shape: Shape) -> Shape:
        left, right, *conditions = node["children"]
        found = self.visit(left, shape)
        entry = found.entry if isinstance(found, ListOf) else None
        for condition in conditions:
            self.visit(condition, entry)
        return ListOf(self.visit(right, entry))

    _visit_filter_projection = _visit_projection

    def _visit_value_projection(self, node: Node, shape: Shape) -> Shape:
        left, right = node["children"]
        self.visit(left, shape)
        self.visit(right, None)
        return None

    def _visit_function_expression(self, node: Node, shape: Shape) -> Shape:
        if node["value"] not in _BY_ENTRY:
            for child in node["children"]:
                self.visit(child, None if child["type"] == "expref" else shape)
            return None
        items = self.visit(node["children"][0], shape)
        entry = items.entry if isinstance(items, ListOf) else None
        self.visit(node["children"][1], entry)
        return items if node["value"] == "sort_by" else entry
