"""Whether a check that fails by the calls so far fails whatever calls come after them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from evalgate.evaluators.core.agents import ANY, select_agent
from evalgate.evaluators.core.operators import resolve_alias
from evalgate.evaluators.core.queries import JSON_FIELDS, build_getter
from evalgate.measures.jmespath.parse_tree import field_names, path_of
from evalgate.measures.jmespath.query import Query, QueryFailedError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.measures.jmespath.parse_tree import Node
    from evalgate.models.trace.trace import Trace

LOOK_BACK = frozenset({"grounded_arguments", "no_flow", "no_loops"})
"""Types of checks that judge each call by what stands before it: one that failed stays so."""
CHANGING = frozenset({"status", "error", "result", "result_text", "exit_code", "duration_ms", "is_final"})
"""Fields of a call that may be known later than the call."""

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


def stays_failed(fields: Mapping[str, Any], trace: Trace, *, is_negated: bool) -> bool:
    """Whether a check that fails on the trace fails on each that goes on from it; `fields` are its canonical form."""
    if fields.get("type") in LOOK_BACK:
        return not is_negated
    if fields.get("type") != "jmespath":
        return False
    query = Query(fields["expression"], JSON_FIELDS)
    trend = None if field_names(query.tree) & CHANGING else find_trend(query.tree)
    own = trace if fields.get("agent", ANY) == ANY else select_agent(trace, fields["agent"])
    if trend is None or own is None:
        return False
    try:
        actual = build_getter(query)(own)
    except QueryFailedError:
        return False
    if trend in ("true", "false", "fixed"):
        return actual is not None if trend == "fixed" else actual is (trend == "true")
    return _stays_beyond(trend, resolve_alias(fields["operator"]), fields.get("value"), actual, is_negated=is_negated)


def _stays_beyond(trend: Trend, operator: str, value: Any, actual: Any, *, is_negated: bool) -> bool:
    """Whether what grows fails for good: it is above a limit, or above each value that it could still reach."""
    if trend == "list" and operator == "contains":
        return is_negated
    if trend == "list" and operator == "eq":
        return not is_negated and isinstance(value, list) and len(actual) > len(value)
    if trend == "list" and operator != "length":
        return False
    size, bounds = (len(actual), value) if trend == "list" else (actual, {operator: value})
    if not isinstance(bounds, dict):
        bounds = {"eq": bounds}
    found = [_is_beyond(resolve_alias(name), bound, size) for name, bound in bounds.items()]
    return all(each == "holds" for each in found) if is_negated else "fails" in found


def _is_beyond(operator: str, bound: Any, size: Any) -> Literal["fails", "holds"] | None:
    """What a bound says of a number and of all above it; None if that may change."""
    listed = bound if isinstance(bound, list) else [bound]
    if not all(type(each) in (int, float) for each in (size, *listed)) or not listed:
        return None
    if operator in ("lt", "lte"):
        return "fails" if (size > bound or (operator == "lt" and size == bound)) else None
    if operator in ("gt", "gte"):
        return "holds" if (size > bound or (operator == "gte" and size == bound)) else None
    if size <= max(listed):
        return None
    return "fails" if operator in ("eq", "in") else "holds" if operator in ("ne", "not_in") else None


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
