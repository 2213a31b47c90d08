"""Finds checks that hold on every trace that has what they read, such as `max_tool_calls: 99999`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ValidationError

from evalgate.errors import Problem
from evalgate.evaluators.core.registry import evaluator_class
from evalgate.evaluators.core.shorthands import iter_checks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from evalgate.errors import Location
    from evalgate.suite.models import Suite

MESSAGE = "this check holds on every trace that has what it reads, so that it checks nothing"
HINT = "demand what could fail, or remove it"


def find_idle_checks(suites: Sequence[Suite]) -> Iterator[Problem]:
    """A warning for each entry that is or contains such a check; one of defaults once."""
    places: dict[Location | None, None] = {}
    for assertion in (each for suite in suites for scenario in suite.scenarios for each in scenario.assertions):
        if assertion.location not in places and any(map(_holds_always, _list_positive(assertion.written))):
            places[assertion.location] = None
            yield Problem(MESSAGE, assertion.location, HINT)


def _list_positive(written: Any) -> list[Mapping[str, Any]]:
    """The checks of an entry that must pass."""
    return [fields for fields, is_negated in iter_checks(written) if not is_negated]


def _holds_always(fields: Mapping[str, Any]) -> bool:
    kind = evaluator_class(str(fields.get("type")))
    try:
        return kind is not None and kind.model_validate(fields).holds_always()
    except ValidationError:  # of a plugin whose settings are completed while they are read
        return False
