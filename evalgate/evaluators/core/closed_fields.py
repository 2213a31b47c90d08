"""Finds in an expression what no trace can have: fields outside of closed objects and lists, and values of closed sets.

Also finds the names of tools and agents that it looks for, which may be misspelt.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from evalgate.evaluators.core.field_problems import suggest
from evalgate.measures.jmespath.query import Query, QueryError
from evalgate.models.trace.trace import (
    CallRef,
    CallStatus,
    CallVersion,
    Cost,
    CostSource,
    EvidenceState,
    Latency,
    LatencySource,
    LlmCall,
    Message,
    ModelError,
    Requestor,
    Role,
    RunStatus,
    ToolCall,
    TraceScore,
    Usage,
    UsageSource,
)
from evalgate.models.trace.trace_view import CLOSED_OBJECTS, METADATA, SECTIONS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from evalgate.measures.jmespath.parse_tree import Node


class Fields(NamedTuple):
    """An object with these fields, and no others unless it is open; None is the shape of what may hold anything."""

    named: Mapping[str, Shape]
    is_open: bool = False


class ListOf(NamedTuple):
    """A list of entries of one shape."""

    entry: Shape


class Words(NamedTuple):
    """One of the `known` texts, or the name of a tool or an agent; `argument`: an object whose fields are arguments."""

    known: tuple[str, ...] = ()
    of: Literal["word", "tool", "agent", "argument"] = "word"


Shape = Fields | ListOf | Words | None


def _fields_of(record: type, **shapes: Shape) -> Fields:
    return Fields({**dict.fromkeys(record.__annotations__), **shapes})


def _words(closed: Any) -> Words:
    return Words(get_args(closed))


_TOOL, _AGENT, _ARGUMENTS = Words(of="tool"), Words(of="agent"), Words(of="argument")
_VERSION, _ERROR = _fields_of(CallVersion, name=_TOOL, arguments=_ARGUMENTS), _fields_of(ModelError)
_USAGE = _fields_of(Usage, source=_words(UsageSource))
_ACTS: dict[str, Shape] = {"agent": _AGENT, "actor": _AGENT}
_CALLS = ListOf(
    _fields_of(
        ToolCall,
        **_ACTS,
        name=_TOOL,
        arguments=_ARGUMENTS,
        status=_words(CallStatus),
        requestor=_words(Requestor),
        error=_ERROR,
        requested=_VERSION,
        executed=_VERSION,
    )
)
_EXCHANGE: dict[str, Shape] = {
    **dict.fromkeys(("turn", "user", "response", "cost_usd", "latency_ms", "usage")),
    "tool_calls": _CALLS,
}
CLOSED: dict[str, Shape] = {
    "tool_calls": _CALLS,
    "turns": ListOf(
        _fields_of(
            Message,
            **_ACTS,
            role=_words(Role),
            tool_name=_TOOL,
            tool_calls=ListOf(_fields_of(CallRef, name=_TOOL, arguments=_ARGUMENTS)),
        )
    ),
    "exchanges": ListOf(Fields(_EXCHANGE)),
    "llm_calls": ListOf(_fields_of(LlmCall, usage=_USAGE, error=_ERROR)),
    "evaluations": ListOf(_fields_of(TraceScore)),
    "errors": ListOf(Fields({**dict.fromkeys(("index", *ModelError.__annotations__)), "tool": _TOOL})),
}
"""The lists of the view whose entries have the same fields in every trace, as have the objects of CLOSED_OBJECTS."""
_BY_ENTRY = frozenset({"sort_by", "max_by", "min_by"})


class Impossible(NamedTuple):
    """A field or a value that nothing can have where it stands, and what may be meant."""

    what: Literal["field", "value"]
    name: str
    hint: str | None


def find_unknown(tree: Node, shape: Fields) -> Impossible | None:
    """The first field or value of the expression that no value of this shape can have."""
    search = _Search()
    search.visit(tree, shape)
    return search.found


def list_findable(tree: Node) -> list[Any]:
    """All texts of which the expression finds one in every trace, or lists of one; none if it finds anything else."""
    found = _Search().visit(tree, VIEW)
    if isinstance(found, ListOf):
        return [[each] for each in found.entry.known] if isinstance(found.entry, Words) else []
    return list(found.known) if isinstance(found, Words) else []


@lru_cache(maxsize=1_024)
def find_names(expression: str, texts: tuple[str, ...] = ()) -> tuple[tuple[str, str, str], ...]:
    """The names that an expression looks for, each after what has it; its result is compared with `texts`.

    In between stands the function that looks for it as a part of a name, if one does.

    >>> find_names("length(tool_calls[?name == 'pay'])"), find_names("tool_calls[0].agent", ("clerk",))
    ((('tool', '', 'pay'),), (('agent', '', 'clerk'),))
    >>> find_names("tool_calls[?starts_with(name, 'pay_')]")
    (('tool', 'starts_with', 'pay_'),)
    """
    search = _Search()
    try:
        found = search.visit(Query(expression).tree, VIEW)
    except QueryError:  # not of a trace: the suite is valid
        return ()
    search.compare(found, [*texts])
    return tuple(dict.fromkeys(search.names))


_METADATA: dict[str, Shape] = {**dict.fromkeys(METADATA), "status": _words(RunStatus)}
_OBJECTS: dict[str, Shape] = {
    **{name: Fields(dict.fromkeys(fields)) for name, fields in CLOSED_OBJECTS.items()},
    "usage": _USAGE,
    "cost": _fields_of(Cost, source=_words(CostSource)),
    "latency": _fields_of(Latency, source=_words(LatencySource)),
    "evidence": Fields(dict.fromkeys(CLOSED_OBJECTS["evidence"], _words(EvidenceState))),
    "metadata": Fields(_METADATA, is_open=True),
}
VIEW = Fields({**dict.fromkeys(SECTIONS), **_OBJECTS, **CLOSED})
PREVIOUS = Fields({"baseline": None, "trial": VIEW})
_ANSWER = dict.fromkeys(("content", "text", "answer", "output"), "response.content")
_ELSEWHERE = {**{name: f"metadata.{name}" for name in METADATA}, **_ANSWER, "messages": "turns"}
"""Where a trace has what expressions look for in its first level."""


_EQUAL, _PARTS = frozenset({"eq", "ne"}), frozenset({"contains", "starts_with", "ends_with"})


def _suggest(name: str, shape: Fields | ListOf | Words) -> str | None:
    if isinstance(shape, ListOf):
        return f"it stands in a list: write `[].{name}`"
    if isinstance(shape, Words):
        return "a text has no fields"
    if shape is VIEW and name in _ELSEWHERE:
        return f"did you mean `{_ELSEWHERE[name]}`?"
    return suggest(name, shape.named)


def _list_texts(value: Any) -> Iterator[str]:
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, str):
            yield each


def _literal(node: Node) -> Any:
    return node["value"] if node["type"] == "literal" else None


class _Search:
    """Follows the shape of what each part of an expression finds.

    It keeps the first field or value that cannot be there, and the names that it is compared with.
    """

    def __init__(self) -> None:
        self.found: Impossible | None = None
        self.names: list[tuple[str, str, str]] = []

    def compare(self, shape: Shape, value: Any, *, part: str = "") -> None:
        """Notes a comparison of what has this shape, or of entries that have it, with a literal value.

        `part` is the function that asks for a part of a text, such as its start.
        """
        shape, part = (shape.entry, "") if isinstance(shape, ListOf) else (shape, part)
        if not isinstance(shape, Words) or shape is _ARGUMENTS:
            return
        for text in _list_texts(value):
            if shape.known:
                self._compare_word(shape.known, text, is_part=bool(part))
            else:
                self.names.append((shape.of, part, text))

    def _compare_word(self, known: Collection[str], text: str, *, is_part: bool) -> None:
        is_known = any(text in each for each in known) if is_part else text in known
        if not is_known and self.found is None:
            self.found = Impossible("value", text, f"it is one of {', '.join(known)}")

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
        if shape is _ARGUMENTS:
            self.names.append(("argument", "", node["value"]))
            return None
        name, named = node["value"], shape.named if isinstance(shape, Fields) else {}
        is_open = isinstance(shape, Fields) and shape.is_open
        if name not in named and not is_open and self.found is None:
            self.found = Impossible("field", name, _suggest(name, shape))
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

    def _visit_comparator(self, node: Node, shape: Shape) -> Shape:
        left, right = (self.visit(child, shape) for child in node["children"])
        if node["value"] in _EQUAL:
            for found, other in zip((left, right), reversed(node["children"]), strict=True):
                self.compare(found, _literal(other))
        return None

    def _visit_function_expression(self, node: Node, shape: Shape) -> Shape:
        if node["value"] not in _BY_ENTRY:
            found = [self.visit(each, None if each["type"] == "expref" else shape) for each in node["children"]]
            if node["value"] in _PARTS:
                first, second = map(_literal, node["children"])
                self.compare(found[0], second, part=node["value"])
                self.compare(found[1], first if isinstance(first, list) else None)
            return None
        items = self.visit(node["children"][0], shape)
        entry = items.entry if isinstance(items, ListOf) else None
        self.visit(node["children"][1], entry)
        return items if node["value"] == "sort_by" else entry
