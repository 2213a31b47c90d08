"""Which tools are taken as look-ups and which change something: as a person says, else as their names and hints do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.errors import Problem, SettingError
from evalgate.measures.text.globs import matches_id
from evalgate.measures.text.similar_names import find_similar_name
from evalgate.measures.text.tool_words import changes_something
from evalgate.models.trace.trace import ToolKinds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.trace.trace import Trace

OPTIONS = {"lookups": "--lookup", "changing": "--no-lookup"}
"""By the keys of `tools` in a suite."""


def read_kinds(lookups: Sequence[str], others: Sequence[str]) -> ToolKinds:
    """What a person says of tools; raises SettingError if both are said of one."""
    for name in others:
        if name in lookups:
            raise SettingError(f"{name!r} is named by both --lookup and --no-lookup")
    return ToolKinds(tuple(dict.fromkeys(lookups)), tuple(dict.fromkeys(others)))


def refuse_unknown(kinds: ToolKinds, traces: Sequence[Trace]) -> None:
    """Raises SettingError if a person named a tool that no trace calls."""
    called = {name for trace in traces for name in trace.called}
    for key, option in OPTIONS.items():
        for name in getattr(kinds, key):
            if not any(matches_id(name, each) for each in called):
                similar = find_similar_name(name, sorted(called))
                hint = f"did you mean {similar}?" if similar else "see `evalgate traces`"
                raise SettingError(Problem(f"{option}: no trace calls {name!r}", None, hint))


def list_kinds(traces: Sequence[Trace]) -> tuple[list[str], list[str]]:
    """The called tools that are taken as changing something, and the others, which are look-ups."""
    called = {name for trace in traces for name in trace.called}
    changing = {
        name
        for each in traces
        for name in set(each.called)
        if changes_something(name, each.tool_definitions, each.tool_kinds)
    }
    return sorted(changing), sorted(called - changing)
