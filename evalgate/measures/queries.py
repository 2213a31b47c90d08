"""JMESPath behind one door: checked when compiled, bounded when searched."""

from __future__ import annotations

from math import isfinite
from time import monotonic
from typing import Any, Protocol

import jmespath
from jmespath import exceptions, functions, visitor

from evalgate.measures.json_values import show

MAX_LENGTH = 1_000
MAX_NODES = 200
MAX_DEPTH = 50
MAX_ELEMENTS = 1_000_000
MAX_SECONDS = 1.0

Node = Any  # jmespath's own tree: dictionaries with type, children and value


class View(Protocol):
    """What a query looks at: sections by name, or all of them."""

    def get(self, name: str, default: Any = None) -> Any:
        """One section."""

    def whole(self) -> dict[str, Any]:
        """All sections."""


class QueryError(ValueError):
    """The text is no expression, or one that could never work. `position` counts characters from 1."""

    def __init__(self, message: str, position: int | None = None) -> None:
        super().__init__(message)
        self.position = position


class QueryFailedError(ValueError):
    """The expression is fine, this input is not: a wrong type for a function, or too much work."""


class Query:
    """One compiled expression; one serves a whole run, a search at a time."""

    __slots__ = ("_ast", "_interpreter", "_names", "_needs_whole", "expression")

    def __init__(self, expression: str) -> None:
        self.expression = expression
        self._ast = _parse(expression)
        _check(self._ast)
        self._needs_whole = _sees_root(self._ast)
        self._names = _plain_names(self._ast)
        self._interpreter = _Bounded()  # kept: making one costs more than most searches

    def search(self, view: View) -> Any:
        """What the expression finds, None for nothing. Raises QueryFailedError."""
        return self.search_value(view.whole() if self._needs_whole else view)

    def search_value(self, value: Any) -> Any:
        """The same on plain JSON."""
        if self._names is not None:
            for name in self._names:
                value = value.get(name) if hasattr(value, "get") else None
            return value
        try:
            self._interpreter.begin()
            return self._interpreter.visit(self._ast, value)
        except QueryFailedError:
            raise
        except exceptions.JMESPathTypeError as error:
            given = f"{error.actual_type} ({show(error.current_value, 40)})"
            raise QueryFailedError(f"function {error.function_name}() can't take {given}") from None
        except Exception as error:  # noqa: BLE001  (the library lets TypeError and MemoryError through)
            raise QueryFailedError(f"the expression failed on this trace ({type(error).__name__})") from None


def _parse(expression: str) -> Node:
    if len(expression) > MAX_LENGTH:
        raise QueryError(f"an expression may have {MAX_LENGTH:,} characters, this has {len(expression):,}")
    try:
        parsed: Node = jmespath.compile(expression).parsed
    except exceptions.EmptyExpressionError:
        raise QueryError("the expression is empty") from None
    except exceptions.IncompleteExpressionError:
        raise QueryError("the expression ends too early", len(expression) + 1) from None
    except exceptions.LexerError as error:
        raise QueryError("a character that JMESPath doesn't know", error.lexer_position + 1) from None
    except exceptions.ParseError as error:
        raise QueryError(
            f"{show(error.token_value, 40)} is not expected here", error.lex_position + 1
        ) from None
    except Exception:  # noqa: BLE001  (RecursionError and worse: the text is a stranger's)
        raise QueryError("this is no JMESPath expression") from None
    return parsed


def _check(root: Node) -> None:
    """Refuses what would fail on every trace, and what is too big to be meant."""
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
        raise QueryError(
            f"there is no function {show(name, 40)}" + (f", did you mean {close[0]}?" if close else "")
        )
    signature = known[name]["signature"]
    variadic = bool(signature and signature[-1].get("variadic"))
    if given < len(signature) or (given > len(signature) and not variadic):
        raise QueryError(f"{name}() takes {len(signature)} arguments, not {given}")


def _plain_names(node: Node) -> list[str] | None:
    """The names of an expression like `a.b.c`, which most are and which need no interpreter."""
    if node["type"] == "field":
        return [node["value"]]
    if node["type"] == "subexpression" and all(child["type"] == "field" for child in node["children"]):
        return [child["value"] for child in node["children"]]
    return None


def _sees_root(node: Node) -> bool:
    """True where the expression looks at the view itself (`@`, `*`) and not only at named sections."""
    kind, children = node["type"], node["children"]
    if kind in {"current", "identity"}:
        return True
    if kind in {"field", "literal", "expref", "index", "slice"}:
        return False
    if kind in {
        "subexpression",
        "index_expression",
        "pipe",
        "projection",
        "value_projection",
        "filter_projection",
    }:
        return _sees_root(children[0])
    return any(_sees_root(child) for child in children)


class _Bounded(visitor.TreeInterpreter):
    """jmespath's own interpreter, counting what it produces and refusing numbers that are none."""

    def begin(self) -> None:
        """A new search has the whole budget."""
        self._left = MAX_ELEMENTS
        self._until = 0.0

    def visit(self, node: Any, *args: Any, **kwargs: Any) -> Any:
        value = super().visit(node, *args, **kwargs)
        if isinstance(value, float) and not isfinite(value):  # to_number('NaN'): true in no comparison
            raise QueryFailedError("the expression makes a number that is not finite")
        size = len(value) if isinstance(value, list) else len(value) >> 4 if isinstance(value, str) else 0
        before = self._left
        self._left = before - 1 - size
        if self._left >> 12 != before >> 12:
            self._look_at_the_clock()
        return value

    def _look_at_the_clock(self) -> None:
        now = monotonic()
        self._until = self._until or now + MAX_SECONDS
        if self._left < 0 or now > self._until:
            raise QueryFailedError(
                f"the expression needs more than {MAX_ELEMENTS:,} elements or {MAX_SECONDS:g} s"
            )
