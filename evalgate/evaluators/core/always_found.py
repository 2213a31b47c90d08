"""What an expression finds in every trace, whatever the agent did, and what more calls do to what it finds."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from evalgate.evaluators.core.closed_fields import CLOSED
from evalgate.measures.jmespath.parse_tree import field_names, path_of
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
"""Figures of a run that only grow; its time is none of them, since an outage makes a run wait."""
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
    elif kind in (*_LISTS, "json_text"):
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
