"""Warns of names that may be those of a tool that a check forbids, and that the check does not judge.

A called tool may end like it: `mcp__db__delete_user` may be a server's own copy. A span that is no call of a tool may
be named like it: the tracer may have recorded the function of the tool as another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.evaluators.core.evaluator import find_tool_fields
from evalgate.evaluators.core.queries import MAY_NAME_TOOLS, find_names_looked_for
from evalgate.evaluators.core.registry import evaluator_class
from evalgate.evaluators.core.shorthands import iter_checks, list_names_in
from evalgate.evaluators.kinds.calls.span_names import (
    find_denied_name,
    find_denied_span,
    find_span_names,
    is_outside,
)
from evalgate.measures.text.globs import matches_id
from evalgate.measures.text.similar_names import find_denied, find_pattern_for, find_pattern_within
from evalgate.measures.values.json_values import mark_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from evalgate.models.trace.trace import Trace, Warning_

MAX_FOUND = 50
"""Different names of a suite that are reported."""
BY_TOOL = "tool"
"""The field of checks that judge the calls of a tool; a `source` only says where an output is from."""


class _ScenarioNames(NamedTuple):
    """The tools that a scenario forbids or limits, those that it names in full, and those that it says are not meant.

    `forbidden` says of each tool whether `not_meant` is for its check; expressions compare those in `exact` as written.
    `allowed` are the lists of tools of which nothing else may be called.
    """

    forbidden: dict[str, bool]
    exact: dict[str, None]
    named: set[str]
    not_meant: dict[str, None]
    allowed: list[dict[str, None]]

    def find_advice(self, name: str) -> str | None:
        """What a called name is like, and what to do about it; None if it is not to be reported."""
        if name in self.named or any(matches_id(each, name) for each in self.not_meant):
            return None
        if find_denied([*self.forbidden], name) is not None:
            return None
        alike = find_denied([*self.exact], name)
        if alike is not None and not matches_id(alike, name):
            return f"is written like {mark_name(alike)}, which a check compares exactly: `forbidden_tools` counts both"
        found = (
            (each, pattern, how)
            for find, how in ((find_pattern_for, "ends like"), (find_pattern_within, "names"))
            for each in (*self.forbidden, *self.exact)
            if (pattern := find(each, name)) is not None
        )
        forbidden, pattern, how = next(found, ("", None, ""))
        if pattern is None:
            return None
        other = (
            mark_name(f"not_meant: [{name}]", 100) if self.forbidden.get(forbidden) else "name it in full in a check"
        )
        to_do = f"to include it, add {mark_name(pattern)}; if it is another tool, {other}"
        return f"{how} a tool that a check forbids or limits: {to_do}"

    def find_span_advice(self, name: str, *, is_defined: bool) -> str | None:
        """What to do about a span that is no call of a tool; None if no check denies a tool of its name."""
        if any(matches_id(each, name) for each in self.not_meant):
            return None
        denied = find_denied_span([*self.forbidden, *self.exact], name)
        if denied is None and not (is_defined and is_outside(self.allowed, name)):
            return None
        which = "do not allow that tool" if denied is None else f"forbid or limit {mark_name(denied)}"
        return f"checks that {which} judge tool calls only: record what runs a tool as a tool"

    def find_passed_advice(self, name: str, tool: str) -> str | None:
        """What to do about a denied name that a tool was called with; None if a check names that tool."""
        is_known = tool in self.named or any(matches_id(each, tool) for each in (*self.not_meant, *self.forbidden))
        denied = None if is_known else find_denied([*self.forbidden, *self.exact], name)
        if denied is None:
            return None
        to_do = f"they judge no call inside another: add a check of {mark_name(tool)}, which ends this warning"
        return f"which checks forbid or limit; {to_do}"

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
            if kind.orders.get(field) == "allowed" and fields.get(field) is not None and not is_negated:
                self.allowed.append(dict.fromkeys(list_names_in(fields, field)))
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
        self._spans: dict[str, Warning_] = {}
        self._passed: dict[str, Warning_] = {}

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

    def add_spans(self, place: int, where: str, checks: Iterable[Any], spans: Mapping[str, bool]) -> None:
        """Adds what `SpanNames` found in a trace; for the rest see `add`."""
        if place not in self._names:
            self._names[place] = _collect_names(checks)
        for name, is_defined in spans.items():
            advice = self._names[place].find_span_advice(name, is_defined=is_defined)
            if advice is not None and len(self._spans) < MAX_FOUND:
                message = f"{mark_name(name)} ran as a span that is no tool call, and {advice}"
                self._spans.setdefault(name, {"code": "span_like_tool", "message": message, "where": where})

    def add_passed(self, place: int, where: str, passed: Mapping[str, str]) -> None:
        """Adds what `SpanNames.choose_denied` left of a trace, after `add` of the same trace."""
        for name, tool in passed.items():
            advice = self._names[place].find_passed_advice(name, tool)
            if advice is not None and len(self._passed) < MAX_FOUND:
                message = f"{mark_name(tool)} was called with {mark_name(name)}, {advice}"
                self._passed.setdefault(message, {"code": "similar_tool", "message": message, "where": where})

    def explains(self, tool: str, called: str) -> bool:
        """Whether a warning says of a called name that it ends like this tool, or names it."""
        return called in self._found and any(find(tool, called) for find in (find_pattern_for, find_pattern_within))

    def list_warnings(self) -> list[Warning_]:
        """One warning a name, in order of appearance."""
        return [*self._found.values(), *self._spans.values(), *self._passed.values()]


class SpanNames:
    """The spans of traces that are named like a tool that one of the checks denies, and are no call of it."""

    def __init__(self, checks: Iterable[Any]) -> None:
        names = _collect_names(checks)
        self._patterns = list(dict.fromkeys((*names.forbidden, *names.exact)))
        self._has_allowed = bool(names.allowed)

    def find(self, trace: Trace) -> dict[str, bool]:
        """Each with whether the trace defines a tool of its name."""
        if not self._patterns and not self._has_allowed:
            return {}
        return find_span_names(trace, self._patterns, has_allowed=self._has_allowed)

    def choose_denied(self, passed: Mapping[str, str]) -> dict[str, str]:
        """Of names in arguments those that one of the checks denies, with the tool that was called with each."""
        return {name: tool for name, tool in passed.items() if find_denied_name(self._patterns, name) is not None}


def _collect_names(checks: Iterable[Any]) -> _ScenarioNames:
    found = _ScenarioNames({}, {}, set(), {}, [])
    for written in checks:
        for fields, is_negated in iter_checks(written):
            found.add(fields, is_negated=is_negated)
    return found
