"""Which tools are taken as look-ups and which change something: as a person says, else as their names and hints do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from evalgate.errors import Problem, SettingError
from evalgate.measures.text.similar_names import find_similar_name
from evalgate.measures.text.tool_words import changes_something, unwrap_definition

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evalgate.models.trace.trace import Trace

OPTIONS = {True: "--lookup", False: "--no-lookup"}
"""By whether the tools that an option names are look-ups."""


def read_kinds(lookups: Iterable[str], others: Iterable[str]) -> dict[str, bool]:
    """For each tool that a person named, whether it is a look-up; raises SettingError if both are said."""
    kinds = dict.fromkeys(lookups, True)
    for name in others:
        if kinds.get(name):
            raise SettingError(f"{name!r} is named by both --lookup and --no-lookup")
        kinds[name] = False
    return kinds


def mark_tools(trace: Trace, kinds: Mapping[str, bool]) -> Trace:
    """The trace with hints of its tools' kinds in their definitions, as if they had been recorded."""
    left = {name: _hint(is_look_up) for name, is_look_up in kinds.items() if name in trace.called}
    if not left:
        return trace
    definitions: list[dict[str, Any]] = []
    for recorded in trace.tool_definitions:
        name = unwrap_definition(recorded).get("name")
        hint = left.pop(name, None) if isinstance(name, str) else None
        definitions.append(recorded if hint is None else {**unwrap_definition(recorded), **hint})
    definitions += [{"name": name, **hint} for name, hint in left.items()]
    return replace(trace, tool_definitions=definitions)


def _hint(is_look_up: bool) -> dict[str, Any]:  # noqa: FBT001
    return {"annotations": {"readOnlyHint": is_look_up}}


def refuse_unknown(kinds: Mapping[str, bool], traces: Sequence[Trace]) -> None:
    """Raises SettingError if a person named a tool that no trace calls."""
    called = {name for trace in traces for name in trace.called}
    for name, is_look_up in kinds.items():
        if name not in called:
            similar = find_similar_name(name, sorted(called))
            hint = f"did you mean {similar}?" if similar else "see `evalgate traces`"
            raise SettingError(Problem(f"{OPTIONS[is_look_up]}: no trace calls {name!r}", None, hint))


def list_kinds(traces: Sequence[Trace]) -> tuple[list[str], list[str]]:
    """The called tools that are taken as changing something, and the others, which are look-ups."""
    called = {name for trace in traces for name in trace.called}
    changing = {name for each in traces for name in set(each.called) if changes_something(name, each.tool_definitions)}
    return sorted(changing), sorted(called - changing)
