"""Rules about the calls of a trace, from which the checks of tool use are built.

Most need only the names of tools, which a trace has without building its call objects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.evaluators.core.evaluator import Check, Finding
from evalgate.evaluators.kinds.calls.call_selection import times
from evalgate.evaluators.kinds.calls.tool_called import listed
from evalgate.measures.text.globs import matches_id
from evalgate.measures.values.json_values import shorten, show

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.trace.trace import ToolCall, Trace


def together(findings: Sequence[Finding]) -> Finding:
    """Combines the findings of several rules: failed decides, then not_evaluable."""
    for outcome in ("failed", "not_evaluable"):
        told = [found.reason for found in findings if found.outcome == outcome]
        if told:
            return Finding(outcome, "; ".join(told))
    return Finding("passed", "; ".join(found.reason for found in findings))


def count(tool: str | None, least: int, most: int | None) -> Check:
    """Builds a rule: `least` to `most` calls (None: no limit) of `tool` (None: of all tools)."""
    whose = "tools were called" if tool is None else f"{shorten(tool, 60)} was called"
    wanted = _bounds(least, most)

    def judge(trace: Trace) -> Finding:
        names = trace.called
        found = len(names) if tool is None else names.count(tool)
        held = least <= found and (most is None or found <= most)
        return Finding("passed" if held else "failed", f"{whose} {times(found)}, expected {wanted}")

    return judge


def _bounds(least: int, most: int | None) -> str:
    if most is None:
        return f"at least {times(least)}"
    if least == most:
        return f"exactly {times(most)}"
    return f"{least:,} to {most:,} times" if least else f"at most {times(most)}"


def forbidden(globs: Sequence[str]) -> Check:
    """Builds a rule: no name matches one of the globs."""
    fine = Finding("passed", "no forbidden tool was called")

    def judge(trace: Trace) -> Finding:
        places = _places(trace.called)
        caught = [(name, glob) for name in places if (glob := _glob_of(name, globs)) is not None]
        if not caught:
            return fine
        name, glob = caught[0]
        by = "" if glob == name else f", forbidden by {shorten(glob, 60)}"
        others = f"; forbidden too: {listed([each for each, _ in caught[1:]])}" if caught[1:] else ""
        return Finding(
            "failed", f"forbidden tool {shorten(name, 60)} was called (call {places[name]}{by}){others}"
        )

    return judge


def allowed(globs: Sequence[str]) -> Check:
    """Builds a rule: every name matches one of the globs."""
    among = f"allowed: {listed(globs)}" if globs else "none is allowed"
    fine = Finding("passed", "only allowed tools were called")

    def judge(trace: Trace) -> Finding:
        places = _places(trace.called)
        others = [name for name in places if _glob_of(name, globs) is None]
        if not others:
            return fine
        return Finding("failed", f"{listed(others)} called (first in call {places[others[0]]}), {among}")

    return judge


def _places(names: Sequence[str]) -> dict[str, int]:
    """Finds the number of each tool's first call, counted from 1."""
    places: dict[str, int] = {}
    for number, name in enumerate(names, 1):
        places.setdefault(name, number)
    return places


def _glob_of(name: str, globs: Sequence[str]) -> str | None:
    return next((glob for glob in globs if matches_id(glob, name)), None)


def error_count(most: int) -> Check:
    """Builds a rule: at most `most` calls failed; a call without a recorded result may have failed."""

    def judge(trace: Trace) -> Finding:
        calls = trace.agent_calls
        failed = [call for call in calls if call["status"] == "error"]
        unknown = sum(call["status"] == "missing" for call in calls)
        told = f"{len(failed):,} of {len(calls):,} tool calls failed, limit {most:,}"
        if len(failed) > most:
            return Finding("failed", f"{told}; first {_first_error(failed[0])}")
        if len(failed) + unknown > most:
            return Finding("not_evaluable", f"{told}, but {unknown:,} have no recorded result")
        return Finding("passed", told)

    return judge


def _first_error(call: ToolCall) -> str:
    message = call["error"]["message"] if call["error"] else None
    name = shorten(call["name"], 60)
    return f"{name}: {show(message, 80)}" if message else name
