"""Compares the arguments that a suite's checks name with those of the calls in its traces.

A check that looks for what no call has finds nothing and passes; if a call has an argument with a similar name, the
first is a likely typo. As for tools it is a warning below the heading.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.evaluators.core.queries import MAY_NAME_ARGUMENTS, find_names_looked_for
from evalgate.evaluators.core.shorthands import iter_checks
from evalgate.measures.text.similar_names import find_similar_name
from evalgate.measures.values.json_values import mark_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from evalgate.errors import Location
    from evalgate.models.trace.trace import Trace, Warning_
    from evalgate.suite.models import Suite

MAX_NAMES = 1_000
MAX_KEYS = 200
"""Different arguments of a trace."""
FOLDED = ("grounded_arguments", "no_flow")
"""Checks for which `orderId` and `order_id` are one name."""


class _Named(NamedTuple):
    is_exact: bool
    location: Location | None


class NamedArguments:
    """The arguments that checks of a suite name, and those that its traces record or define."""

    def __init__(self, suite: Suite) -> None:
        self._suite = suite
        self._places: dict[str, _Named] = {}
        for assertion in (each for scenario in suite.scenarios for each in scenario.assertions):
            for name, is_exact in _iter_arguments(assertion.written):
                if len(self._places) < MAX_NAMES:
                    self._places.setdefault(name, _Named(is_exact, assertion.location))
        self._recorded: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._places)

    def find_recorded(self, trace: Trace) -> list[str]:
        """The names of the arguments of a trace's calls, and of those that its tools define."""
        found: dict[str, None] = {}
        waiting: list[Any] = [call["arguments"] for call in trace.tool_calls]
        waiting += [definition.get("parameters") for definition in trace.tool_definitions]
        while waiting and len(found) < MAX_KEYS:
            each = waiting.pop(0)
            if isinstance(each, dict):
                found |= dict.fromkeys(map(str, each))
                waiting += each.values()
            elif isinstance(each, list):
                waiting += each
        return list(found)[:MAX_KEYS]

    def add(self, recorded: Iterable[str]) -> None:
        """Adds the names of a trace."""
        if len(self._recorded) < MAX_NAMES:
            self._recorded.update(recorded)

    def list_warnings(self) -> Iterator[Warning_]:
        """Warns of each named argument that nothing has, while one with a similar name is there."""
        known = sorted(self._recorded)
        folded = set(map(_fold, known))
        for name, named in self._places.items():
            if name in self._recorded or (not named.is_exact and _fold(name) in folded):
                continue
            if (similar := find_similar_name(name, known)) is not None and similar not in self._places:
                yield self._build_warning(name, similar, named.location)

    def _build_warning(self, name: str, similar: str, location: Location | None) -> Warning_:
        message = (
            f"suite {self._suite.name}: no call has the argument {mark_name(name)} (a check may pass without it),"
            f" did you mean {mark_name(similar)}?"
        )
        where = self._suite.path if location is None else f"{location.file}:{location.line}"
        return {"code": "unknown_argument", "message": message, "where": where}


def _fold(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def _iter_arguments(written: Any) -> Iterator[tuple[str, bool]]:
    """The arguments that an entry of a suite names, and whether each is compared exactly."""
    for fields, _ in iter_checks(written):
        yield from ((name, True) for name in _list_in_expression(fields))
        target = fields.get("to") if fields.get("type") == "no_flow" else fields
        if fields.get("type") in FOLDED and isinstance(target, dict):
            named = target.get("arguments")
            listed = [named] if isinstance(named, str) else named or []
            yield from ((name, False) for name in listed if isinstance(name, str) and name.replace("_", "a").isalnum())
        schema = fields.get("schema") if fields.get("type") == "tool_arguments" else None
        properties = schema.get("properties") if isinstance(schema, dict) else None
        yield from ((name, True) for name in (properties if isinstance(properties, dict) else ()))


def _list_in_expression(fields: Mapping[str, Any]) -> list[str]:
    expression = fields.get("expression", fields.get("path"))
    if isinstance(expression, str) and MAY_NAME_ARGUMENTS.search(expression):
        return find_names_looked_for(expression, fields, "argument")
    return []
