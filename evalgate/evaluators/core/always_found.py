"""What an expression finds in every trace, whatever the agent did, and what more calls do to what it finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from evalgate.evaluators.core.closed_fields import CLOSED
from evalgate.measures.jmespath.parse_tree import path_of
from evalgate.models.trace.trace_view import METADATA, SECTIONS

if TYPE_CHECKING:
    from evalgate.measures.jmespath.parse_tree import Node
    from evalgate.measures.jmespath.query import Query

_LISTS = frozenset({"projection", "filter_projection", "flatten"})
"""Nodes that find a list in a list, if only an empty one."""
_SIZES = frozenset(name for name in METADATA if name.endswith(("_count", "_tokens", "_usd", "_ms", "_seconds")))
_OF_SIZES = frozenset({"usage", "cost", "latency"})


def finds_always(tree: Node) -> bool:
    """Whether the expression finds something in every trace: a section, entries of its lists, or a truth value."""
    kind, children = tree["type"], tree["children"]
    if kind == "field":
        return tree["value"] in SECTIONS
    if kind == "comparator":
        return tree["value"] in ("eq", "ne") or _is_length(children[0])
    return kind == "not_expression" or _is_length(tree) or _finds_list(tree)


def _finds_list(tree: Node) -> bool:
    kind, children = tree["type"], tree["children"]
    if kind == "field":
        return tree["value"] in CLOSED
    is_slice = kind == "index_expression" and children[1]["type"] == "slice"
    return (kind in _LISTS or is_slice) and _finds_list(children[0])


def _is_length(tree: Node) -> bool:
    return bool(tree["type"] == "function_expression" and tree["value"] == "length")


def finds_size(query: Query) -> bool:
    """Whether the expression finds nothing but numbers from 0: a length, or a figure of the run."""
    section, *names = query.path or ("",)
    is_figure = section in _OF_SIZES or (section == "metadata" and bool(_SIZES.intersection(names)))
    return _is_length(query.tree) or is_figure


def fits_all_sizes(operator: str, bound: Any) -> bool:
    """Whether every number from 0 compares to the bound as the operator demands."""
    if isinstance(bound, bool) or not isinstance(bound, int | float):
        return False
    return bound <= 0 if operator == "gte" else operator in ("gt", "ne") and bound < 0


Trend = Literal["list", "number", "true", "false", "fixed"]
"""What more calls do to what an expression finds: a list or a number grows, it may turn true, or false, or stays."""
_TURNED: dict[Trend, Trend] = {"true": "false", "false": "true", "list": "false", "fixed": "fixed"}
COUNT = ("metadata", "tool_call_count")
_COMPARED: dict[str, Trend] = {"lt": "false", "lte": "false", "gt": "true", "gte": "true"}
_WITH_NONE: dict[str, Trend] = {"eq": "false", "ne": "true"}
"""What becomes of a comparison of a number that grows, with any number, and with 0."""
_LISTS = frozenset({"projection", "filter_projection", "flatten", "json_text"})
_STEPS = frozenset({"pipe", "subexpression", "index_expression"})
_FLIPPED = {"lt": "gt", "lte": "gte", "gt": "lt", "gte": "lte"}


def find_trend(node: Node, current: Trend | None = None) -> Trend | None:
    """What more calls do to what a tree finds; `current` is the trend of what it is applied to, None for a trace."""
    kind, children = node["type"], node["children"]
    found: Trend | None
    if current == "fixed" or kind == "literal":
        found = "fixed"
    elif current is None and path_of(node) in (("tool_calls",), COUNT):
        found = "list" if kind == "field" else "number"
    elif kind == "field":
        found = None
    elif kind in ("identity", "current"):
        found = current
    elif kind in _LISTS:
        found = "list" if find_trend(children[0], current) == "list" else None
    elif kind in _STEPS:
        found = _follow(children, current)
    else:
        trends = [find_trend(each, current) for each in children]
        is_function = kind == "function_expression"
        found = _apply(node["value"], trends) if is_function else _find_truth(node, trends)
    return found


def _follow(steps: list[Node], current: Trend | None) -> Trend | None:
    """The trend of steps of which each is applied to what the one before finds."""
    for number, step in enumerate(steps):
        if step["type"] == "index" and current == "list" and step["value"] >= 0:
            current = "fixed"
        elif number and current is None:
            return None
        else:
            current = find_trend(step, current)
    return current


def _apply(function: str, arguments: list[Trend | None]) -> Trend | None:
    if arguments == ["list"] and function in ("length", "max"):
        return "number"
    return "true" if function == "contains" and arguments == ["list", "fixed"] else None


def _find_truth(node: Node, found: list[Trend | None]) -> Trend | None:
    """The trend of a comparison, of a negation, and of parts joined by `and` or `or`."""
    kind = node["type"]
    if kind == "not_expression":
        return _TURNED.get(found[0]) if found[0] is not None else None
    if kind in ("and_expression", "or_expression"):
        return found[0] if found[0] == found[1] and found[0] in ("true", "false") else None
    if kind != "comparator" or sorted(map(str, found)) != ["fixed", "number"]:
        return None
    operator = node["value"] if found[0] == "number" else _FLIPPED.get(node["value"], node["value"])
    bound = next(each.get("value") for each, trend in zip(node["children"], found, strict=True) if trend == "fixed")
    return _COMPARED.get(operator) or (_WITH_NONE.get(operator) if bound == 0 else None)
