"""Finds tools that a suite forbids and no trace knows, although one with a similar name is called: likely typos."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.measures.values.json_values import shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from evalgate.errors import Location
    from evalgate.models.trace.trace import Trace, Warning_
    from evalgate.suite.models import Suite

FIELDS = {"forbidden_tools": "tools", "no_tool": "tool", "tool_calls": "forbidden_tools"}
"""The field of each type that names tools which must not be called."""
MAX_NAMES = 1_000
MIN_SIMILARITY = 0.85


class LikelyTypo(NamedTuple):
    """A forbidden tool that nothing calls, and the similar one that is called."""

    name: str
    similar: str
    location: Location | None


class DeniedTools:
    """The tools that a suite forbids by their whole name, and what its traces call and define."""

    def __init__(self, suite: Suite) -> None:
        self._places: dict[str, Location | None] = {}
        for assertion in (each for scenario in suite.scenarios for each in scenario.assertions):
            for name in _find_names(assertion.written):
                if "*" not in name and len(self._places) < MAX_NAMES:
                    self._places.setdefault(name, assertion.location)
        self._called: set[str] = set()
        self._defined: set[str] = set()

    def find_defined(self, trace: Trace) -> list[str]:
        """The forbidden tools that a trace defines."""
        if not self._places:
            return []
        names = (definition.get("name") for definition in trace.tool_definitions)
        return [name for name in names if isinstance(name, str) and name in self._places]

    def add(self, called: Iterable[str], defined: Iterable[str]) -> None:
        """Adds what a trace calls and defines."""
        if self._places and len(self._called) < MAX_NAMES:
            self._called.update(called)
            self._defined.update(defined)

    def find_typos(self) -> Iterator[LikelyTypo]:
        """The forbidden tools that no trace calls or defines, and whose name is similar to that of a called one."""
        from difflib import get_close_matches

        called = sorted(self._called)
        for name, location in self._places.items():
            if name not in self._called and name not in self._defined:
                for similar in get_close_matches(name, called, 1, MIN_SIMILARITY):
                    yield LikelyTypo(name, similar, location)


def build_typo_warning(typo: LikelyTypo, suite: Suite) -> Warning_:
    """A check that forbids a misspelt tool passes whatever the agent does."""
    name, similar = shorten(typo.name, 60), shorten(typo.similar, 60)
    message = f"suite {suite.name}: no trace calls or defines the forbidden tool {name}, did you mean {similar}?"
    where = suite.path if typo.location is None else f"{typo.location.file}:{typo.location.line}"
    return {"code": "unknown_tool", "message": message, "where": where}


def _find_names(written: Any) -> Iterator[str]:
    """The tools that an entry of a suite forbids, also inside groups."""
    if isinstance(written, list):
        for each in written:
            yield from _find_names(each)
    elif isinstance(written, dict):
        yield from _list_forbidden({**written, **_get_params(written)})
        for each in written.values():
            yield from _find_names(each)


def _get_params(written: Mapping[str, Any]) -> Mapping[str, Any]:
    params = written.get("params")
    return params if isinstance(params, dict) else {}


def _list_forbidden(entry: Mapping[str, Any]) -> list[str]:
    kind = entry.get("type")
    named = entry.get(FIELDS[kind]) if isinstance(kind, str) and kind in FIELDS else None
    return [each for each in (named if isinstance(named, list) else [named]) if isinstance(each, str)]
