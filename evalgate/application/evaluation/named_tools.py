"""Compares the tools and the arguments that a suite names with those that its traces call and record.

A named tool that no trace knows, although one with a similar name is called, is a likely typo: a check that forbids it
passes, and one that demands it fails as if the agent were wrong. So is an argument that no call has if one with a
similar name is there.
"""

from __future__ import annotations

import re
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.errors import Problem
from evalgate.evaluators.core.queries import MAY_NAME_ARGUMENTS, MAY_NAME_TOOLS, find_names_looked_for
from evalgate.evaluators.core.registry import evaluator_class
from evalgate.evaluators.core.shorthands import iter_checks, list_names_in, list_steps_in
from evalgate.measures.text.globs import matches_id
from evalgate.measures.text.similar_names import find_similar_name, find_similar_part
from evalgate.measures.text.tool_words import changes_something, unwrap_definition
from evalgate.measures.values.json_values import mark_name
from evalgate.models.trace.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from evalgate.errors import Location
    from evalgate.models.trace.trace import TraceRecord, Warning_
    from evalgate.ports import TraceSource
    from evalgate.suite.models import Suite

MAX_NAMES = 1_000
MAX_TRACES = 500
"""Of more recordings not all tools are read: nothing is said then."""
FORBIDDEN, NEEDED = "the forbidden tool ", "the tool "
LISTED = " (listed in `tools`)"
PASSES = " (a check passes or is skipped without it)"
_OTHER_PATTERN = re.compile(r"[|{}^$%,\\]|[_-]\.\*|^\.\*")
"""Shows that a name was meant as an expression, or as several names; hardly a tool is called like that."""


class NamedTool(NamedTuple):
    """A tool that a check names; `is_forbidden` if it is one that must not be called.

    `beside`: all names of its expression or its alternatives, which may be the spellings of one tool. `is_part`: the
    name is a glob for a part of a name that an expression looks for. `is_demanded`: the check is not silent without it.
    `is_listed`: no check names it, but the suite's `tools`.
    """

    name: str
    is_forbidden: bool
    beside: tuple[str, ...] = ()
    is_part: bool = False
    is_demanded: bool = False
    is_listed: bool = False


class LikelyTypo(NamedTuple):
    """A tool that nothing calls, and the similar one that is called; None for a pattern that no name fits."""

    tool: NamedTool
    similar: str | None
    location: Location | None


class NamedTools:
    """The tools that checks of a suite name, by their whole name, and what its traces call and define."""

    def __init__(self, suite: Suite) -> None:
        self._places: dict[str, tuple[NamedTool, Location | None]] = {}
        self.forbids = False
        demanded: dict[str, tuple[NamedTool, Location | None]] = {}
        for assertion in (each for scenario in suite.scenarios for each in scenario.assertions):
            for tool in _find_tools(assertion.written, is_negated=False):
                self.forbids = self.forbids or tool.is_forbidden
                is_named = tool.is_part or "*" not in tool.name or _is_other_pattern(tool)
                places = demanded if tool.is_demanded else self._places
                if is_named and len(places) < MAX_NAMES:
                    places.setdefault(tool.name, (tool, assertion.location))
        self._names_of_words = [name for name in self._places if "_" in name]
        listed = ((each, place) for each, place in suite.listed_tools.items() if "*" not in each)
        demanded |= {name: (NamedTool(name, is_forbidden=False, is_listed=True), place) for name, place in listed}
        self._places |= {name: place for name, place in demanded.items() if name not in self._places}
        self._parts = [name for name, (tool, _) in self._places.items() if tool.is_part]
        self._names_arguments = may_name_arguments(suite)
        self._called: set[str] = set()
        self._defined: set[str] = set()

    @property
    def is_empty(self) -> bool:
        """Whether the suite names no tool."""
        return not self._places

    def find_known(self, trace: Trace) -> tuple[list[str], list[str]]:
        """The named tools that a trace defines, and the arguments that it has, if the suite names any."""
        arguments = list_arguments(trace) if self._names_arguments else []
        if not self._places:
            return [], arguments
        names = (unwrap_definition(each).get("name") for each in trace.tool_definitions)
        return [name for name in names if isinstance(name, str) and self._is_named(name)], arguments

    def _is_named(self, name: str) -> bool:
        return name in self._places or any(matches_id(part, name) for part in self._parts)

    def list_names(self) -> list[str]:
        """The names of several words without which checks pass."""
        return self._names_of_words

    def add(self, called: Iterable[str], defined: Iterable[str]) -> None:
        """Adds what a trace calls and defines."""
        if self._places and len(self._called) < MAX_NAMES:
            self._called.update(called)
            self._defined.update(defined)

    def find_typos(self) -> Iterator[LikelyTypo]:
        """The named tools that no trace calls or defines, and whose name is similar to that of a called one."""
        called = sorted(self._called)
        for name, (tool, location) in self._places.items():
            if self._knows(tool):
                continue
            if _is_other_pattern(tool):
                yield LikelyTypo(tool, None, location)
                continue
            similar = find_similar_part(name, called) if tool.is_part else find_similar_name(name, called)
            if similar is not None and similar not in tool.beside:
                yield LikelyTypo(tool, similar, location)

    def _knows(self, tool: NamedTool) -> bool:
        known = self._called | self._defined if tool.is_part else set[str]()
        is_known = tool.name in self._called or tool.name in self._defined
        return is_known or any(matches_id(tool.name, each) for each in known)


def _is_other_pattern(tool: NamedTool) -> bool:
    return tool.is_forbidden and _OTHER_PATTERN.search(tool.name) is not None


def build_typo_warning(typo: LikelyTypo, suite: Suite) -> Warning_:
    """A check that forbids a misspelt tool passes whatever the agent does."""
    where = suite.path if typo.location is None else f"{typo.location.file}:{typo.location.line}"
    return {"code": "unknown_tool", "message": f"suite {suite.name}: {_describe_typo(typo)}", "where": where}


def _describe_typo(typo: LikelyTypo) -> str:
    name = mark_name(typo.tool.name)
    tool = f"{FORBIDDEN if typo.tool.is_forbidden else NEEDED}{name}"
    if typo.tool.is_listed:
        tool += LISTED
    elif not typo.tool.is_forbidden and not typo.tool.is_demanded:
        tool += PASSES
    meant = ": only `*` matches other characters, and each tool is a name of its own"
    if typo.similar is not None:
        meant = f", did you mean {mark_name(typo.similar)}?"
    return f"no trace calls or defines {tool}{meant}"


def _find_tools(written: Any, *, is_negated: bool) -> Iterator[NamedTool]:
    """The tools that an entry of a suite names, also inside groups."""
    checks = list(iter_checks(written, is_negated=is_negated))
    demanded = [found for fields, is_opposite in checks for found in _list_demanded(fields, is_negated=is_opposite)]
    are_alternatives = isinstance(written, dict) and ("any_of" in written or "at_least" in written)
    for names in [tuple(chain.from_iterable(demanded))] if are_alternatives else demanded:
        yield from (NamedTool(name, is_forbidden=False, beside=names, is_demanded=True) for name in names)
    for fields, is_opposite in checks:
        yield from _list_tools(fields, is_negated=is_opposite)


def _list_demanded(fields: Mapping[str, Any], *, is_negated: bool) -> Iterator[tuple[str, ...]]:
    """The tools of a check that is not silent without a call of them, those together that may stand for each other.

    Not those that alone may be called: another that is called is named.
    """
    kind = evaluator_class(str(fields.get("type")))
    if kind is None:
        return
    unseen = chain(*kind.find_unseen(fields, is_negated=is_negated))
    silent = {*unseen, *(name for name, order in kind.orders.items() if order == "allowed")}
    for name in (*kind.forbids, *kind.demands, *kind.judges_calls_of):
        if name not in silent:
            yield from list_steps_in(fields, name)


def _list_tools(fields: Mapping[str, Any], *, is_negated: bool) -> Iterator[NamedTool]:
    kind = evaluator_class(str(fields.get("type")))
    if kind is None:
        return
    forbidden, needed = kind.find_unseen(fields, is_negated=is_negated)
    for names, is_forbidden in ((forbidden, not kind.forbids_only_some), (needed, False)):
        for name in names:
            yield from (NamedTool(each, is_forbidden) for each in list_names_in(fields, name))
    expression = fields.get("expression", fields.get("path"))
    if isinstance(expression, str) and MAY_NAME_TOOLS.search(expression):
        found = tuple(find_names_looked_for(expression, fields, "tool"))
        yield from (NamedTool(each, is_forbidden=False, beside=found, is_part="*" in each) for each in found)


ARGUMENTS = "arguments"
"""Stands in every check that names one."""
MAX_KEYS = 200
"""Different arguments of a trace."""
FOLDED = ("grounded_arguments", "no_flow")
"""Checks for which `orderId` and `order_id` are one name."""


class _Named(NamedTuple):
    is_exact: bool
    location: Location | None


def may_name_arguments(suite: Suite) -> bool:
    """Whether a check of the suite may name an argument."""
    return any(ARGUMENTS in str(each.written) for scenario in suite.scenarios for each in scenario.assertions)


def list_arguments(trace: Trace) -> list[str]:
    """The names of the arguments of a trace's calls, and of those that its tools define."""
    found: dict[str, None] = {}
    waiting: list[Any] = [call["arguments"] for call in trace.tool_calls]
    waiting += [unwrap_definition(each).get("parameters") for each in trace.tool_definitions]
    while waiting and len(found) < MAX_KEYS:
        each = waiting.pop(0)
        if isinstance(each, dict):
            found |= dict.fromkeys(map(str, each))
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each
    return list(found)[:MAX_KEYS]


NAMING = frozenset(("name", "tool", "tool_name", "toolName", "function", "function_name", "recipient_name"))
"""Arguments in which a tool that calls others is told which."""
MAX_VALUES, MAX_NAME = 100, 200
_SEVERAL_WORDS = re.compile(r"[^_-][_-][^_-]|[a-z][A-Z]")


def list_passed_names(trace: Trace) -> dict[str, str]:
    """Texts that may name a tool, in the arguments of calls, each with the first tool that was called with it."""
    found: dict[str, str] = {}
    for call in trace.agent_calls[:MAX_NAMES]:
        if call["arguments"] and changes_something(call["name"], trace.tool_definitions, trace.tool_kinds):
            for name in _iter_passed_names(call["arguments"]):
                found.setdefault(name, call["name"])
    return found


def _may_be_tool(key: str, value: str) -> bool:
    """Whether an argument may hold the name of a tool; other things have names, too."""
    return len(value) <= MAX_NAME and (key != "name" or _SEVERAL_WORDS.search(value) is not None)


def _iter_passed_names(arguments: Any) -> Iterator[str]:
    waiting = [arguments]
    for each in islice(waiting, MAX_VALUES):  # which grows
        if isinstance(each, dict):
            for key, value in islice(each.items(), MAX_VALUES):
                if isinstance(value, dict | list):
                    waiting.append(value)
                elif key in NAMING and isinstance(value, str) and _may_be_tool(key, value):
                    yield value
        elif isinstance(each, list):
            waiting += each[:MAX_VALUES]


class NamedArguments:
    """The arguments that checks of a suite name."""

    def __init__(self, suite: Suite) -> None:
        self._suite = suite
        self._places: dict[str, _Named] = {}
        found = (each for scenario in suite.scenarios for each in scenario.assertions)
        for assertion in (each for each in found if ARGUMENTS in str(each.written)):
            for name, is_exact in _iter_arguments(assertion.written):
                if len(self._places) < MAX_NAMES:
                    self._places.setdefault(name, _Named(is_exact, assertion.location))

    def find_typos(self, known: Sequence[str]) -> Iterator[Warning_]:
        """Warns of each named argument that is not among the known ones, while one with a similar name is."""
        exact, folded = set(known), set(map(_fold, known))
        for name, named in self._places.items():
            if name in exact or (not named.is_exact and _fold(name) in folded):
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


def find_misspelt_tools(suite: Suite, traces: TraceSource) -> Iterator[Problem]:
    """A warning for each likely typo, where it is written; raises what reading the recordings raises."""
    tools = NamedTools(suite)
    if tools.is_empty or not suite.traces:
        return
    if _read_tools(tools, traces.read(suite.traces, suite.traces_folder, suite.form)):
        for typo in tools.find_typos():
            yield Problem(_describe_typo(typo), typo.location, code="unknown_tool")


def _read_tools(tools: NamedTools, records: Iterable[TraceRecord]) -> bool:
    """Adds what all recordings call and define; False if not all of them are known."""
    for number, record in enumerate(records):
        if number >= MAX_TRACES or not isinstance(record, Trace):
            return False
        tools.add(record.called, tools.find_known(record)[0])
    return True
