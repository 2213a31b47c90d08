"""Warns of called tools that end like one that a check forbids: `mcp__db__delete_user` may be a server's own copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.evaluators.core.evaluator import find_tool_fields
from evalgate.evaluators.core.queries import MAY_NAME_TOOLS, find_names_looked_for
from evalgate.evaluators.core.registry import evaluator_class
from evalgate.evaluators.core.shorthands import iter_checks, list_names_in
from evalgate.measures.text.globs import matches_id
from evalgate.measures.text.similar_names import find_denied, find_pattern_for
from evalgate.measures.values.json_values import mark_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from evalgate.models.trace.trace import Warning_

MAX_FOUND = 50
"""Different names of a suite that are reported."""
BY_TOOL = "tool"
"""The field of checks that judge the calls of a tool; a `source` only says where an output is from."""


class _ScenarioNames(NamedTuple):
    """The tools that a scenario forbids or limits, those that it names in full, and those that it says are not meant.

    `forbidden` says of each tool whether `not_meant` is for its check; expressions compare those in `exact` as written.
    """

    forbidden: dict[str, bool]
    exact: dict[str, None]
    named: set[str]
    not_meant: dict[str, None]

    def find_advice(self, name: str) -> str | None:
        """What a called name is like, and what to do about it; None if it is not to be reported."""
        if name in self.named or any(matches_id(each, name) for each in self.not_meant):
            return None
        if find_denied([*self.forbidden], name) is not None:
            return None
        alike = find_denied([*self.exact], name)
        if alike is not None and not matches_id(alike, name):
            return f"is written like {mark_name(alike)}, which a check compares exactly: `forbidden_tools` counts both"
        found = ((each, find_pattern_for(each, name)) for each in (*self.forbidden, *self.exact))
        forbidden, pattern = next((pair for pair in found if pair[1] is not None), ("", None))
        if pattern is None:
            return None
        other = (
            mark_name(f"not_meant: [{name}]", 100) if self.forbidden.get(forbidden) else "name it in full in a check"
        )
        to_do = f"to include it, add {mark_name(pattern)}; if it is another tool, {other}"
        return f"ends like a tool that a check forbids or limits: {to_do}"

    def add(self, fields: Mapping[str, Any], *, is_negated: bool) -> None:
        """Adds the names in a check as written."""
        kind = evaluator_class(str(fields.get("type")))
        if kind is None:
            return
        forbidden, needed = kind.find_unseen(fields, is_negated=is_negated)
        judged = [each for each in kind.judges_calls_of if each == BY_TOOL]
        for field in (*forbidden, *needed, *judged):
            is_exceptable = field in forbidden and "not_meant" in kind.model_fields
            for name in list_names_in(fields, field):
                self.forbidden[name] = self.forbidden.get(name, False) or is_exceptable
        for field in find_tool_fields(kind):
            self.named.update(list_names_in(fields, field))
        self.not_meant.update(dict.fromkeys(fields.get("not_meant") or ()))
        expression = fields.get("expression", fields.get("path"))
        if isinstance(expression, str) and MAY_NAME_TOOLS.search(expression):
            found = [each for each in find_names_looked_for(expression, fields, "tool") if "*" not in each]
            self.named.update(found)
            if fields["type"] == "jmespath" and _is_limit(fields, is_negated=is_negated):
                self.exact.update(dict.fromkeys(found))


def _is_limit(fields: Mapping[str, Any], *, is_negated: bool) -> bool:
    from evalgate.evaluators.kinds.growth import settle_growth  # only if an expression names a tool

    return settle_growth(fields) == ("passed" if is_negated else "failed")


class SimilarTools:
    """The tools that the traces of a suite call and that end like one that a check of their scenario forbids."""

    def __init__(self) -> None:
        self._names: dict[int, _ScenarioNames] = {}
        self._seen: set[tuple[int, str]] = set()
        self._found: dict[str, Warning_] = {}

    def add(self, place: int, where: str, checks: Iterable[Any], called: Iterable[str]) -> None:
        """Adds the names that a trace calls; of its scenario are the index in the suite, and the checks as written."""
        if place not in self._names:
            self._names[place] = _collect_names(checks)
        names = self._names[place]
        for name in dict.fromkeys(called) if names.forbidden or names.exact else ():
            if (place, name) not in self._seen and len(self._found) < MAX_FOUND:
                self._seen.add((place, name))
                advice = None if name in self._found else names.find_advice(name)
                if advice is not None:
                    message = f"{mark_name(name)} was called and {advice}"
                    self._found[name] = {"code": "similar_tool", "message": message, "where": where}

    def list_warnings(self) -> list[Warning_]:
        """One warning a name, in order of appearance."""
        return list(self._found.values())


def _collect_names(checks: Iterable[Any]) -> _ScenarioNames:
    found = _ScenarioNames({}, {}, set(), {})
    for written in checks:
        for fields, is_negated in iter_checks(written):
            found.add(fields, is_negated=is_negated)
    return found
