"""JMESPath expressions: validated when compiled, bounded when searched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import jmespath
from jmespath import exceptions, functions

from evalgate.measures.jmespath.closures import UnsupportedExpression, compile_tree
from evalgate.measures.jmespath.interpreter import (
    AS_NUMBERS,
    MAX_ELEMENTS,
    MAX_SECONDS,
    Functions,
    Interpreter,
    QueryBudget,
    QueryFailedError,
    UnsureQueryError,
)
from evalgate.measures.jmespath.parse_tree import (
    FIXED_COST,
    SELECTIONS,
    Node,
    equality_of,
    mark_comparisons,
    mark_json_texts,
    may_compare_numbers,
    node_types,
    path_of,
    uses_root,
)
from evalgate.measures.values.json_values import json_equal, show

if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Set as AbstractSet

__all__ = ["MAX_ELEMENTS", "MAX_SECONDS", "Query", "QueryError", "QueryFailedError", "UnsureQueryError", "View"]

MAX_LENGTH = 1_000
MAX_NODES = 200
MAX_DEPTH = 50


class View(Protocol):
    """The input of a query: sections by name, or all of them."""

    def get(self, name: str, default: Any = None) -> Any:
        """Returns one section."""

    def field(self, section: str, name: str) -> Any:
        """Returns one field of a section; None if the section is not an object or lacks the field."""

    def whole(self) -> dict[str, Any]:
        """Returns all sections."""


class QueryError(ValueError):
    """The text is not an expression, or one that always fails. `position` counts characters from 1."""

    def __init__(self, message: str, position: int | None = None) -> None:
        super().__init__(message)
        self.position = position


class Query:
    """One compiled expression, used for a whole run, one search at a time.

    `path` has the names of a plain path; it is empty if the expression does anything else. `equality` is what a
    comparison of such a path with a text says, None for any other expression. `tree` is its parse tree. Text in one
    of the `json_fields` is decoded where the expression goes on into it.

    JMESPath has no order of `"5000"` and 100, and drops the comparison without a word. `takes_numbers` says whether
    text that is a number is one where it is compared with a number; without it, a search fails where that matters.
    """

    __slots__ = (
        "_as_number",
        "_as_text",
        "_budget",
        "_find",
        "_has_fixed_cost",
        "_may_multiply",
        "_needs_whole",
        "equality",
        "expression",
        "path",
        "tree",
    )

    def __init__(
        self,
        expression: str,
        json_fields: AbstractSet[str] = frozenset(),
        *,
        takes_numbers: bool | None = None,
    ) -> None:
        self.expression = expression
        self.tree = tree = mark_json_texts(_parse(expression), json_fields)
        _check(tree)
        self._as_text = self._as_number = None
        if takes_numbers:
            self.tree = tree = mark_comparisons(tree, AS_NUMBERS)
        elif takes_numbers is None and may_compare_numbers(tree):
            self._as_text = Query(expression, json_fields, takes_numbers=False)
            self._as_number = Query(expression, json_fields, takes_numbers=True)
        found = node_types(tree)
        self._needs_whole = uses_root(tree)
        self._may_multiply = bool(found & SELECTIONS)
        self._has_fixed_cost = found <= FIXED_COST
        self._budget = QueryBudget()
        self._find = _compile_tree(tree, self._budget)
        self.path, self.equality = path_of(tree), None if self._as_number else equality_of(tree)

    def list_readings(self) -> list[Query]:
        """The query that takes text as text, and if they may differ the one that takes text that is a number as one."""
        return [each for each in (self._as_text, self._as_number) if each is not None] or [self]

    def search(self, view: View) -> Any:
        """Returns what the expression finds, None for nothing. Raises QueryFailedError."""
        if len(self.path) > 1:
            return follow_path(view, *self.path)
        return self.search_value(view.whole() if self._needs_whole else view)

    def search_value(self, value: Any) -> Any:
        """Returns the same for plain JSON."""
        if self._as_text is not None and self._as_number is not None:
            found = self._as_text.search_value(value)
            if json_equal(found, self._as_number.search_value(value)):
                return found
            raise UnsureQueryError("a comparison of text with a number decides what it finds")
        if self._has_fixed_cost:
            return self._find(value)
        try:
            self._budget.reset()
            found = self._find(value)
            if self._may_multiply:
                self._budget.spend_on_value(found)
        except QueryFailedError:
            raise
        except exceptions.JMESPathTypeError as error:
            given = f"{error.actual_type} ({show(error.current_value, 40)})"
            raise QueryFailedError(f"function {error.function_name}() can't take {given}") from None
        except Exception as error:  # noqa: BLE001  (the library lets TypeError and MemoryError through)
            raise QueryFailedError(f"the expression failed on this trace ({type(error).__name__})") from None
        return found


def follow_path(view: View, section: str, name: str, *rest: str) -> Any:
    """Follows the names of a plain path, as most expressions are."""
    found = view.field(section, name)
    for each in rest:
        if not isinstance(found, dict):
            return None
        found = found.get(each)
    return found


def _compile_tree(tree: Node, budget: QueryBudget) -> Callable[[Any], Any]:
    try:
        return compile_tree(tree, budget)
    except UnsupportedExpression:
        interpreter = Interpreter(budget, Functions(budget))
        return lambda value: interpreter.visit(tree, value)


def _parse(expression: str) -> Node:
    if len(expression) > MAX_LENGTH:
        raise QueryError(f"an expression may have at most {MAX_LENGTH:,} characters, this one has {len(expression):,}")
    try:
        parsed: Node = jmespath.compile(expression).parsed
    except exceptions.EmptyExpressionError:
        raise QueryError("the expression is empty") from None
    except exceptions.IncompleteExpressionError:
        raise QueryError("the expression is incomplete", len(expression) + 1) from None
    except exceptions.LexerError as error:
        raise QueryError("unexpected character", error.lexer_position + 1) from None
    except exceptions.ParseError as error:
        raise QueryError(f"unexpected {show(error.token_value, 40)}", error.lex_position + 1) from None
    except Exception:  # noqa: BLE001  (RecursionError and worse: the text is untrusted)
        raise QueryError("this is not a JMESPath expression") from None
    return parsed


def _check(root: Node) -> None:
    """Rejects expressions that would fail on every trace, or are too large."""
    stack, count = [(root, 1)], 0
    while stack:
        node, depth = stack.pop()
        count += 1
        if count > MAX_NODES or depth > MAX_DEPTH:
            raise QueryError(f"the expression has more than {MAX_NODES} parts or {MAX_DEPTH} levels")
        if node["type"] == "function_expression":
            _check_function(node)
        if node["type"] == "slice" and node["children"][2] == 0:
            raise QueryError("the step of a slice can't be 0")
        stack.extend((child, depth + 1) for child in node["children"] if isinstance(child, dict))


def _check_function(node: Node) -> None:
    name, given = node["value"], len(node["children"])
    known = functions.Functions.FUNCTION_TABLE
    if name not in known:
        import difflib

        close = difflib.get_close_matches(name, known, 1)
        raise QueryError(f"unknown function {show(name, 40)}" + (f", did you mean {close[0]}?" if close else ""))
    signature = known[name]["signature"]
    variadic = bool(signature and signature[-1].get("variadic"))
    if given < len(signature) or (given > len(signature) and not variadic):
        arguments = "argument" if len(signature) == 1 else "arguments"
        raise QueryError(f"{name}() takes {len(signature)} {arguments}, not {given}")
