"""Reads Google ADK: sessions and events, results of `adk eval`, and eval sets.

Entry points: `ADK`, `ADK_EVAL`, `ADK_EVALSET`, `reader`, `evals`.
"""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.format import Format, first_object

INVOCATION_KEYS = frozenset({"invocation_id", "invocationId"})
APP_KEYS = frozenset({"app_name", "appName"})
EVAL_RESULT_START = ('{"eval_set_result_id"', '{"evalSetResultId"')
EXPECTATIONS = frozenset({"reference", "expected_tool_use"})


def is_adk_event(value: Any) -> bool:
    """True for one event of a session."""
    return isinstance(value, dict) and "author" in value and not INVOCATION_KEYS.isdisjoint(value)


def is_adk_session(value: Any) -> bool:
    """True for a session, also without events."""
    if not isinstance(value, dict) or not isinstance(value.get("events"), list):
        return False
    events = value["events"]
    return is_adk_event(events[0]) if events else not APP_KEYS.isdisjoint(value)


def _claims_adk(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and (is_adk_event(value[0]) or is_adk_session(value[0]))
    return is_adk_event(value) or is_adk_session(value)


def _claims_adk_eval(value: Any) -> bool:
    if isinstance(value, str):  # early versions wrote the JSON as text within JSON
        return value.startswith(EVAL_RESULT_START)
    return isinstance(value, dict) and isinstance(value.get("eval_case_results", value.get("evalCaseResults")), list)


def _claims_adk_evalset(value: Any) -> bool:
    if isinstance(value, dict):
        return isinstance(value.get("eval_cases", value.get("evalCases")), list)
    first = first_object(value)
    data = first.get("data")
    if isinstance(data, list) and "name" in first:
        first = first_object(data)
    return isinstance(value, list) and "query" in first and not EXPECTATIONS.isdisjoint(first)


ADK = Format(
    name="adk",
    needs="a session with `events`, or events with `author`",
    claims=_claims_adk,
    module="adk.reader",
    joins_lines=True,
)
ADK_EVAL = Format(
    name="adk-eval",
    needs="an object with `eval_case_results`",
    claims=_claims_adk_eval,
    module="adk.evals",
)
ADK_EVALSET = Format(
    name="adk-evalset",
    needs="an object with `eval_cases` (for goldens only)",
    claims=_claims_adk_evalset,
    module="adk.evals",
    reader_name="EVALSET_READER",
)
