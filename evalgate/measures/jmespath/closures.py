"""Compiles paths and simple filters of JMESPath into nested functions; other expressions are interpreted.

Most expressions are paths, or filters that compare a field with a literal: compiled they take a tenth of the time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.measures.jmespath.interpreter import Functions, build_comparisons
from evalgate.measures.jmespath.parse_tree import JSON_TEXT, Node, cost_of, is_finite, links
from evalgate.measures.values.json_values import decode_json_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalgate.measures.jmespath.interpreter import QueryBudget

    Step = Callable[[Any], Any]

SIZED = frozenset({str, list, dict})


class UnsupportedExpression(Exception):
    """Only the interpreter can evaluate this tree."""


def compile_tree(node: Node, budget: QueryBudget) -> Step:
    """A function that finds the value of the tree; raises UnsupportedExpression."""
    build = _BUILDERS.get(node["type"])
    if build is None:
        raise UnsupportedExpression(node["type"])
    return build(node, budget)


def _build_field(node: Node, _: QueryBudget) -> Step:
    name = node["value"]

    def find(value: Any) -> Any:
        try:
            return value.get(name)
        except AttributeError:
            return None

    return find


def _build_chain(node: Node, budget: QueryBudget) -> Step:
    steps = [compile_tree(link, budget) for link in links(node)]

    def find(value: Any) -> Any:
        for step in steps:
            value = step(value)
        return value

    return find


def _build_index(node: Node, _: QueryBudget) -> Step:
    index = node["value"]

    def find(value: Any) -> Any:
        try:
            return value[index] if isinstance(value, list) else None
        except IndexError:
            return None

    return find


def _build_projection(node: Node, budget: QueryBudget) -> Step:
    """What the body finds in each member of a list for which the condition holds, without nulls."""
    base, body, *conditions = node["children"]
    find_members, find_each = compile_tree(base, budget), compile_tree(body, budget)
    holds = _compile_condition(conditions[0], budget) if conditions else lambda _: True
    cost, spend = sum(map(cost_of, (body, *conditions))), budget.spend

    def find(value: Any) -> Any:
        members = find_members(value)
        if not isinstance(members, list):
            return None
        spend(len(members) * cost)
        return [found for member in members if holds(member) and (found := find_each(member)) is not None]

    return find


def _compile_condition(node: Node, budget: QueryBudget) -> Step:
    """A function that is true for members of which the condition holds: comparisons with a literal."""
    kind = node["type"]
    if kind == "and_expression":
        first, second = (_compile_condition(child, budget) for child in node["children"])
        return lambda value: first(value) and second(value)
    if kind != "comparator" or node["children"][1]["type"] != "literal" or not is_finite(node["children"][1]["value"]):
        raise UnsupportedExpression(kind)
    name, literal = node["value"], node["children"][1]["value"]
    find = compile_tree(node["children"][0], budget)
    if name == "eq" and isinstance(literal, str):
        return lambda value: find(value) == literal
    compare = build_comparisons(budget)[name]
    return lambda value: compare(find(value), literal)


def _build_length(node: Node, budget: QueryBudget) -> Step:
    if node["value"] != "length":
        raise UnsupportedExpression(node["value"])
    find_value, call = compile_tree(node["children"][0], budget), Functions(budget).call_function

    def find(value: Any) -> Any:
        found = find_value(value)
        return len(found) if type(found) in SIZED else call("length", [found])

    return find


def _build_json_text(node: Node, budget: QueryBudget) -> Step:
    find_text = compile_tree(node["children"][0], budget)

    def find(value: Any) -> Any:
        found = find_text(value)
        if type(found) is str:
            budget.spend_on_text(found)
        return decode_json_text(found)

    return find


_BUILDERS: dict[str, Callable[[Node, QueryBudget], Step]] = {
    "field": _build_field,
    "identity": lambda _, __: lambda value: value,
    "current": lambda _, __: lambda value: value,
    "index": _build_index,
    "subexpression": _build_chain,
    "index_expression": _build_chain,
    "pipe": _build_chain,
    "projection": _build_projection,
    "filter_projection": _build_projection,
    "function_expression": _build_length,
    JSON_TEXT: _build_json_text,
}
