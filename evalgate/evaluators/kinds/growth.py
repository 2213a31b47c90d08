"""What more calls do to what an expression finds, and to a check of it: a count grows, a first entry stays."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, Any, Literal

from evalgate.evaluators.core.operators import resolve_alias
from evalgate.evaluators.core.queries import JSON_FIELDS
from evalgate.measures.jmespath.parse_tree import field_names, path_of
from evalgate.measures.jmespath.query import Query
from evalgate.models.trace.trace_view import METADATA

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.measures.jmespath.parse_tree import Node

Settled = Literal["passed", "failed", "skipped"]
Trend = Literal["list", "number", "true", "false", "fixed"]
"""What more calls do to what an expression finds: a list or a number grows, it may turn true, or false, or stays.

What is `fixed` stays once it is there: until then it is null.
"""
Roots = Callable[[tuple[str, ...]], Trend | None]
"""The trend of what a plain path finds in a trace."""
_TURNED: dict[Trend, Trend] = {"true": "false", "false": "true", "list": "false", "fixed": "false"}
_USED = ("input_tokens", "output_tokens", "total_tokens")
_NUMBERS = frozenset(
    {
        *(("metadata", name) for name in ("tool_call_count", "turn_count", "cost_usd", *_USED)),
        *(("usage", name) for name in _USED),
        ("cost", "usd"),
    }
)
"""Figures of a run that only grow; not its time, since an outage makes a run wait."""
_SET_BEFORE = frozenset({"scenario_id", "trial", "trace_id", "conversation_id", "tags", "started_at", "commit"})
_CHANGING = frozenset({"status", "error", "result", "result_text", "exit_code", "duration_ms", "is_final"})
"""Fields of a call that may be known later than the call."""
_OF_INPUTS = frozenset({"exchanges", "user", "turn"})
_COMPARED: dict[str, Trend] = {"lt": "false", "lte": "false", "gt": "true", "gte": "true"}
_WITH_NONE: dict[str, Trend] = {"eq": "false", "ne": "true"}
"""What becomes of a comparison of a number that grows, with any number, and with 0."""
_OF_FIXED: dict[str, Trend] = {"eq": "true", "ne": "false"}
"""What becomes of a comparison of what stays once it is there, with a value."""
_SEARCHES = frozenset({"contains", "starts_with", "ends_with"})
_LISTS = frozenset({"projection", "filter_projection", "flatten", "json_text"})
_STEPS = frozenset({"pipe", "subexpression", "index_expression"})
_FLIPPED = {"lt": "gt", "lte": "gte", "gt": "lt", "gte": "lte"}


def find_trend(tree: Node, *, is_given: bool = False) -> Trend | None:
    """What more calls do to what an expression finds; None if that is not known.

    `is_given`: what was said and recorded about the run before it ended stays as it is.
    """
    names = field_names(tree)
    if names & _CHANGING:
        return None
    if not is_given:
        return _find(tree, _read_calls)
    return _find(tree, lambda path: _read_given(path, names))


def _read_calls(path: tuple[str, ...]) -> Trend | None:
    if path == ("tool_calls",):
        return "list"
    if path in _NUMBERS:
        return "number"
    return "fixed" if path[:1] == ("metadata",) and path[1:2] and path[1] in _SET_BEFORE else None


def _read_given(path: tuple[str, ...], names: set[str]) -> Trend | None:
    if path == ("turns",) or (path == ("exchanges",) and names <= _OF_INPUTS):
        return "list"
    is_recorded = len(path) > 1 and path[0] == "metadata" and (path[1] not in METADATA or path[1] == "custom")
    return "fixed" if is_recorded else _read_calls(path)


def _find(node: Node, roots: Roots, current: Trend | None = None) -> Trend | None:
    """The trend of what a tree finds; `current` is the trend of what it is applied to, None for a trace."""
    kind, children = node["type"], node["children"]
    found: Trend | None
    if current == "fixed" or kind == "literal":
        found = "fixed"
    elif current is None and (found := roots(path_of(node))) is not None:
        pass
    elif kind == "field":
        found = None
    elif kind in ("identity", "current"):
        found = current
    elif kind in _LISTS:
        found = "list" if _find(children[0], roots, current) == "list" else None
    elif kind in _STEPS:
        found = _follow(children, roots, current)
    else:
        trends = [_find(each, roots, current) for each in children]
        is_function = kind == "function_expression"
        found = _apply(node["value"], trends) if is_function else _find_truth(node, trends)
    return found


def _follow(steps: list[Node], roots: Roots, current: Trend | None) -> Trend | None:
    """The trend of steps of which each is applied to what the one before finds."""
    for number, step in enumerate(steps):
        if step["type"] == "index" and current == "list" and step["value"] >= 0:
            current = "fixed"
        elif number and current is None:
            return None
        else:
            current = _find(step, roots, current)
    return current


def _apply(function: str, arguments: list[Trend | None]) -> Trend | None:
    if arguments == ["list"] and function in ("length", "max"):
        return "number"
    is_found = function in _SEARCHES and arguments in (["list", "fixed"], ["fixed", "fixed"])
    return "true" if is_found else None


def _find_truth(node: Node, found: list[Trend | None]) -> Trend | None:
    """The trend of a comparison, of a negation, and of parts joined by `and` or `or`."""
    kind = node["type"]
    if kind == "not_expression":
        return _TURNED.get(found[0]) if found[0] is not None else None
    if kind in ("and_expression", "or_expression"):
        return found[0] if found[0] == found[1] and found[0] in ("true", "false") else None
    bounds = [each.get("value") for each in node["children"] if each["type"] == "literal"]
    if kind != "comparator" or len(bounds) != 1:
        return None
    operator, other = (
        node["value"],
        next(trend for each, trend in zip(node["children"], found, strict=True) if each["type"] != "literal"),
    )
    if other == "fixed" and bounds[0] is not None:
        return _OF_FIXED.get(operator)
    if other != "number":
        return None
    if node["children"][0]["type"] == "literal":
        operator = _FLIPPED.get(operator, operator)
    return _COMPARED.get(operator) or (_WITH_NONE.get(operator) if bounds[0] == 0 else None)


def settle_growth(fields: Mapping[str, Any]) -> Settled | None:
    """What an expression's check, as written but not negated, comes to with ever more calls; None if not known."""
    trend = find_trend(Query(fields["expression"], JSON_FIELDS).tree)
    operator, value = resolve_alias(fields["operator"]), fields.get("value")
    if trend in ("true", "false") and operator in ("eq", "ne"):
        return "passed" if (value is (trend == "true")) is (operator == "eq") else "failed"
    if (trend, operator) in (("list", "contains"), ("fixed", "exists")):
        return "failed" if value is False else "passed"
    return None if trend is None else settle_size(trend, operator, value, inf)


def settle_size(trend: Trend, operator: str, value: Any, size: Any) -> Settled | None:
    """What stays of a comparison of what grows: it is above a limit, or above each value that it could still reach."""
    if trend == "list" and operator in ("eq", "ne"):
        is_other = not isinstance(value, list) or size > len(value)
        return None if not is_other else "failed" if operator == "eq" else "passed"
    if (trend == "list") != (operator == "length"):
        return None
    bounds = value if trend == "list" else {operator: value}
    if not isinstance(bounds, dict):
        bounds = {"eq": bounds}
    found = [_settle_bound(resolve_alias(name), bound, size) for name, bound in bounds.items()]
    if "failed" in found:
        return "failed"
    return None if None in found else "passed"


def _settle_bound(operator: str, bound: Any, size: Any) -> Settled | None:
    """What a bound says of a number and of all above it; None if that may change."""
    listed = bound if isinstance(bound, list) else [bound]
    if not all(type(each) in (int, float) for each in (size, *listed)) or not listed:
        return None
    if operator in ("lt", "lte"):
        return "failed" if (size > bound or (operator == "lt" and size == bound)) else None
    if operator in ("gt", "gte"):
        return "passed" if (size > bound or (operator == "gte" and size == bound)) else None
    if size <= max(listed):
        return None
    return "failed" if operator in ("eq", "in") else "passed" if operator in ("ne", "not_in") else None
