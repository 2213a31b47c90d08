"""Rules about the calls of a trace, from which the checks of tool use are built.

Most need only the names of tools, which a trace has without building its call objects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.evaluators.core.evaluator import Check, Finding
from evalgate.evaluators.core.evidence import (
    CALLS,
    FAILED,
    PASSED,
    EvidenceCheck,
    careful_form,
    combine_undecided,
    plain_form,
    require_evidence,
)
from evalgate.evaluators.kinds.calls.call_selection import format_calls
from evalgate.evaluators.kinds.calls.tool_called import format_names
from evalgate.measures.text.globs import matches_id
from evalgate.measures.values.json_values import shorten, show

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.trace.trace import ToolCall, Trace


def combine(findings: Sequence[Finding]) -> Finding:
    """Combines the findings of several rules: failed decides, then not_evaluable."""
    for outcome in ("failed", "not_evaluable"):
        reasons = list(dict.fromkeys(found.reason for found in findings if found.outcome == outcome))
        if reasons:
            return combine_undecided(Finding(outcome, "; ".join(reasons)), findings)
    return Finding("passed", "; ".join(found.reason for found in findings))


def combine_rules(rules: Sequence[Check]) -> Check:
    """Builds a check of several rules, all of which must hold."""
    plain, careful = [plain_form(rule) for rule in rules], [careful_form(rule) for rule in rules]
    return EvidenceCheck(
        lambda trace: combine([rule(trace) for rule in plain]), lambda trace: combine([rule(trace) for rule in careful])
    )


def build_count_rule(tool: str | None, least: int, most: int | None) -> Check:
    """Builds a rule: `least` to `most` calls (None: no limit) of `tool` (a name or glob; None: of all tools)."""
    expected = _format_bounds(least, most, None if tool is None else shorten(tool, 60))

    def judge(trace: Trace) -> Finding:
        found = _count_calls(trace.called, tool)
        is_within = least <= found and (most is None or found <= most)
        return Finding("passed" if is_within else "failed", f"expected {expected}, got {found:,}")

    if most is None:
        return require_evidence(judge, CALLS, PASSED)
    if not least:
        return require_evidence(judge, CALLS, FAILED)
    return require_evidence(judge, CALLS, is_decided=lambda _, trace: _count_calls(trace.called, tool) > most)


def _count_calls(names: Sequence[str], tool: str | None) -> int:
    if tool is None:
        return len(names)
    return sum(matches_id(tool, name) for name in names) if "*" in tool else names.count(tool)


def _format_bounds(least: int, most: int | None, tool: str | None) -> str:
    if most is None:
        return f"at least {format_calls(least, tool)}"
    if least == most:
        return f"exactly {format_calls(most, tool)}" if most else format_calls("no", tool)
    return f"{least:,} to {format_calls(most, tool)}" if least else f"at most {format_calls(most, tool)}"


def build_forbidden_rule(globs: Sequence[str]) -> Check:
    """Builds a rule: no name matches one of the globs."""
    passed = Finding("passed", "no forbidden tool was called")

    def judge(trace: Trace) -> Finding:
        first_calls = _find_first_calls(trace.called)
        matches = [(name, glob) for name in first_calls if (glob := _find_glob(name, globs)) is not None]
        if not matches:
            return passed
        name, glob = matches[0]
        by = "" if glob == name else f" (forbidden by {shorten(glob, 60)})"
        others = f"; also forbidden: {format_names([each for each, _ in matches[1:]])}" if matches[1:] else ""
        return Finding("failed", f"expected no call of {shorten(name, 60)}, got call {first_calls[name]}{by}{others}")

    return require_evidence(judge, CALLS, FAILED)


def build_allowed_rule(globs: Sequence[str]) -> Check:
    """Builds a rule: every name matches one of the globs."""
    expected = f"only calls of {format_names(globs)}" if globs else "no tool call"
    passed = Finding("passed", "only allowed tools were called")

    def judge(trace: Trace) -> Finding:
        first_calls = _find_first_calls(trace.called)
        others = [name for name in first_calls if _find_glob(name, globs) is None]
        if not others:
            return passed
        return Finding(
            "failed", f"expected {expected}, got {format_names(others)} (the first is call {first_calls[others[0]]})"
        )

    return require_evidence(judge, CALLS, FAILED)


def _find_first_calls(names: Sequence[str]) -> dict[str, int]:
    first_calls: dict[str, int] = {}
    for number, name in enumerate(names, 1):
        first_calls.setdefault(name, number)
    return first_calls


def _find_glob(name: str, globs: Sequence[str]) -> str | None:
    return next((glob for glob in globs if matches_id(glob, name)), None)


def build_error_rule(most: int) -> Check:
    """Builds a rule: at most `most` calls failed; a call without a recorded result may have failed."""

    def judge(trace: Trace) -> Finding:
        calls = trace.agent_calls
        failed = [call for call in calls if call["status"] == "error"]
        unknown = sum(call["status"] == "missing" for call in calls)
        reason = f"{len(failed):,} of {len(calls):,} tool calls failed, limit {most:,}"
        if len(failed) > most:
            return Finding("failed", f"{reason}; first {_describe_error(failed[0])}")
        if len(failed) + unknown > most:
            return Finding("not_evaluable", f"{reason}, but {unknown:,} have no recorded result")
        return Finding("passed", reason)

    return require_evidence(judge, ("calls", "errors"), FAILED)


def _describe_error(call: ToolCall) -> str:
    message = call["error"]["message"] if call["error"] else None
    name = shorten(call["name"], 60)
    return f"{name}: {show(message, 80)}" if message else name
