"""Every evaluator states its facts at its class: built-in ones, one as CONTRIBUTING describes it, an installed one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pytest

from evalgate.evaluators.base import Check, Evaluator, Finding
from evalgate.evaluators.core.evaluator import ToolName, find_tool_fields
from evalgate.evaluators.core.registry import BUILT_IN_TYPES, evaluator_class

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Trace


class ToolOnce(Evaluator):
    """The tool is called at most once: as the guide says, but its author forgot what the names of tools mean."""

    type: Literal["tool_once"]
    name_of_it: ToolName
    tool: str = ""
    words = "{name_of_it} at most once"

    def compile(self) -> Check:
        """Counts."""

        def check(trace: Trace) -> Finding:
            return Finding("failed" if list(trace.called).count(self.name_of_it) > 1 else "passed", "")

        return check


def _class_of(name: str) -> type[Evaluator]:
    found = evaluator_class(name)
    assert found is not None
    return found


def _roles(kind: type[Evaluator]) -> set[str]:
    return {each.partition(".")[0] for each in (*kind.forbids, *kind.demands, *kind.judges_calls_of)}


@pytest.mark.parametrize("name", BUILT_IN_TYPES)
def test_each_field_that_names_tools_has_a_role(name: str) -> None:
    assert set(find_tool_fields(_class_of(name))) == _roles(_class_of(name))


@pytest.mark.parametrize("name", BUILT_IN_TYPES)
def test_roles_and_orders_name_fields(name: str) -> None:
    kind = _class_of(name)
    assert {*_roles(kind), *kind.orders} <= kind.model_fields.keys() | kind.merged.keys()
    assert {name for names in kind.merged.values() for name in names} <= kind.model_fields.keys()
    assert ("operator" in kind.model_fields) == (kind.compares_with in kind.model_fields)
    assert kind.words or "label" in {
        member for base in kind.__mro__[: kind.__mro__.index(Evaluator)] for member in vars(base)
    }
    assert (kind.__doc__ or "").strip()


def test_a_field_that_names_tools_and_has_no_role_is_never_silent() -> None:
    for is_negated in (False, True):
        found = ToolOnce.find_unseen({"name_of_it": "a"}, is_negated=is_negated)
        assert (found.forbidden, found.needed) == ([], ["name_of_it", "tool"])
