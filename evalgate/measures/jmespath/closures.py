"""Compiles a JMESPath tree once into nested functions, one per node."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from evalgate.measures.jmespath import loops
from evalgate.measures.jmespath.functions import Expression, Functions, build_call, takes_expression
from evalgate.measures.jmespath.logic import (
    ORDERS,
    build_equality,
    build_field_equality,
    build_literal_equality,
    build_number_ordering,
    build_ordering,
    is_falsy,
)
from evalgate.measures.jmespath.parse_tree import Node, cost_of, is_boolean, is_finite, links, text_conditions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.measures.jmespath.budget import QueryBudget

Step = Callable[[Any], Any]
Maker = Callable[["Compiler", Node], Step]


class UnsupportedExpression(Exception):
    """Only the library's interpreter can evaluate this tree."""


class Compiler:
    """Compiles one tree; its functions spend from `budget`, which must be reset before."""

    def __init__(self, budget: QueryBudget, functions: Functions) -> None:
        self.budget = budget
        self.functions = functions

    def step(self, node: Node) -> Step:
        """Builds a function that finds the value of the tree. Raises UnsupportedExpression."""
        make = _MAKERS.get(node["type"])
        if make is None:
            raise UnsupportedExpression(node["type"])
        return make(self, node)

    def steps(self, node: Node) -> list[Step]:
        """Builds the same for all its children."""
        return [self.step(child) for child in node["children"]]

    def condition(self, node: Node) -> Step:
        """Builds a function whose value is true in Python if the tree's value is true in JMESPath."""
        kind = node["type"]
        if kind == "and_expression":
            first, second = map(self.condition, node["children"])
            return lambda value: first(value) and second(value)
        if kind == "or_expression":
            first, second = map(self.condition, node["children"])
            return lambda value: first(value) or second(value)
        find = self.step(node)
        return find if is_boolean(node) else lambda value: not is_falsy(find(value))


def _field(_: Compiler, node: Node) -> Step:
    return loops.field(node["value"])


def _same(_: Compiler, __: Node) -> Step:
    return lambda value: value


def _literal(_: Compiler, node: Node) -> Step:
    literal = node["value"]
    if not is_finite(literal):
        raise UnsupportedExpression("a number that is not finite")
    return lambda _: literal


def _index(_: Compiler, node: Node) -> Step:
    index = node["value"]

    def step(value: Any) -> Any:
        if not isinstance(value, list):
            return None
        try:
            return value[index]
        except IndexError:
            return None

    return step


def _slice(compiler: Compiler, node: Node) -> Step:
    part, spend = slice(*node["children"]), compiler.budget.spend

    def step(value: Any) -> Any:
        if not isinstance(value, list):
            return None
        found = value[part]
        spend(len(found))
        return found

    return step


def _chain(compiler: Compiler, node: Node) -> Step:
    steps: list[Step] = []
    names: list[str] = []
    for link in [*links(node), None]:
        if link is not None and link["type"] == "field":
            names.append(link["value"])
            continue
        if names:
            steps.append(loops.fields(names))
            names = []
        if link is not None:
            steps.append(compiler.step(link))
    return _in_turn(steps)


def _in_turn(steps: Sequence[Step]) -> Step:
    if not steps:
        return lambda value: value
    first, *others = steps
    if not others:
        return first
    if len(others) == 1:
        second = others[0]
        return lambda value: second(first(value))

    def step(value: Any) -> Any:
        for each in steps:
            value = each(value)
        return value

    return step


def _projection(compiler: Compiler, node: Node) -> Step:
    base, body = node["children"]
    find, spend = compiler.step(base), compiler.budget.spend
    if body["type"] == "identity":
        return loops.not_null(find, spend)
    if body["type"] == "field":
        return loops.each_field(find, body["value"], spend)
    return loops.each(find, compiler.step(body), cost_of(body), spend)


def _value_projection(compiler: Compiler, node: Node) -> Step:
    base, body = node["children"]
    return loops.each_value(compiler.step(base), compiler.step(body), cost_of(body), compiler.budget.spend)


def _filter_projection(compiler: Compiler, node: Node) -> Step:
    base, body, condition = node["children"]
    find, spend = compiler.step(base), compiler.budget.spend
    is_whole = body["type"] == "identity"
    cost = cost_of(condition) + (0 if is_whole else cost_of(body))
    texts = text_conditions(condition)
    if texts:
        kept = loops.filter_by_text(find, texts, cost, spend)
        return kept if is_whole else loops.each(kept, compiler.step(body), 0, spend)
    holds = compiler.condition(condition)
    if is_whole:
        return loops.filter_members(find, holds, cost, spend)
    return loops.each_kept(find, holds, compiler.step(body), cost, spend)


def _flatten(compiler: Compiler, node: Node) -> Step:
    return loops.flatten_members(compiler.step(node["children"][0]), compiler.budget.spend)


def _comparator(compiler: Compiler, node: Node) -> Step:
    name, (left, right), budget = node["value"], node["children"], compiler.budget
    if name in ORDERS:
        return _ordering(compiler, name, left, right)
    if left["type"] == "literal":
        left, right = right, left
    step = None
    if right["type"] == "literal" and left["type"] != "literal":
        wanted = compiler.step(right)(None)
        if left["type"] == "field" and isinstance(wanted, str):
            step = build_field_equality(left["value"], wanted)
        else:
            step = build_literal_equality(compiler.step(left), wanted, budget)
    return _equality(compiler, left, right, step, is_wanted=name == "eq")


def _equality(compiler: Compiler, left: Node, right: Node, step: Step | None, *, is_wanted: bool) -> Step:
    if step is None:
        first, second, equals = compiler.step(left), compiler.step(right), build_equality(compiler.budget)
        if is_wanted:
            return lambda value: equals(first(value), second(value))
        return lambda value: not equals(first(value), second(value))
    return step if is_wanted else lambda value: not step(value)


def _ordering(compiler: Compiler, name: str, left: Node, right: Node) -> Step:
    first, second = compiler.step(left), compiler.step(right)
    if right["type"] == "literal" and type(right["value"]) in {int, float}:
        return build_number_ordering(name, first, right["value"])
    ordered = build_ordering(name, compiler.budget)
    return lambda value: ordered(first(value), second(value))


def _and(compiler: Compiler, node: Node) -> Step:
    first, second = compiler.steps(node)
    if is_boolean(node["children"][0]):
        return lambda value: first(value) and second(value)

    def step(value: Any) -> Any:
        found = first(value)
        return found if is_falsy(found) else second(value)

    return step


def _or(compiler: Compiler, node: Node) -> Step:
    first, second = compiler.steps(node)

    def step(value: Any) -> Any:
        found = first(value)
        return second(value) if is_falsy(found) else found

    return step


def _not(compiler: Compiler, node: Node) -> Step:
    holds = compiler.condition(node["children"][0])
    return lambda value: not holds(value)


def _multi_select_list(compiler: Compiler, node: Node) -> Step:
    steps = compiler.steps(node)
    return lambda value: None if value is None else [step(value) for step in steps]


def _multi_select_dict(compiler: Compiler, node: Node) -> Step:
    pairs = [(pair["value"], compiler.step(pair["children"][0])) for pair in node["children"]]
    return lambda value: None if value is None else {name: step(value) for name, step in pairs}


def _function(compiler: Compiler, node: Node) -> Step:
    name, arguments = node["value"], list[Step]()
    for place, child in enumerate(node["children"]):
        if child["type"] == "expref" and takes_expression(name, place):
            arguments.append(_expression(compiler, child["children"][0]))
        else:
            arguments.append(compiler.step(child))
    return build_call(name, arguments, compiler.functions, compiler.budget)


def _expression(compiler: Compiler, node: Node) -> Step:
    expression = Expression(compiler.step(node), cost_of(node), compiler.budget)
    return lambda _: expression


_MAKERS: dict[str, Maker] = {
    "field": _field,
    "identity": _same,
    "current": _same,
    "literal": _literal,
    "index": _index,
    "slice": _slice,
    "subexpression": _chain,
    "index_expression": _chain,
    "pipe": _chain,
    "projection": _projection,
    "value_projection": _value_projection,
    "filter_projection": _filter_projection,
    "flatten": _flatten,
    "comparator": _comparator,
    "and_expression": _and,
    "or_expression": _or,
    "not_expression": _not,
    "multi_select_list": _multi_select_list,
    "multi_select_dict": _multi_select_dict,
    "function_expression": _function,
}
