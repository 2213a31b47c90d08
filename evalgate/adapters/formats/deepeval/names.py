"""Gives tools the names that the agent knows them by, where DeepEval's integrations put words before them."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.fields import in_both_spellings
from evalgate.adapters.formats.deepeval import SPANS

BEFORE_NAMES = ("Function tool: ", "execute_tool ")
"""Of OpenAI's Agents SDK, and of Strands and AgentCore; from the code of DeepEval 4.1."""
NO_CALLS = ("MCP tool", "(merged tools)")
"""How the names of spans begin that list the tools of a server, or repeat what several tools returned."""
SPAN_LISTS = in_both_spellings(SPANS)
TOOL_LISTS = in_both_spellings(["tool_spans"])
CALL_LISTS = in_both_spellings(["tools_called"])
OTHER = "base"


def name_tools(record: dict[str, Any]) -> dict[str, Any]:
    """A test case or a trace with the names of its tools, in its spans and in the lists of calls."""
    found: dict[str, Any] = _name_listed(record)
    for key in SPAN_LISTS.intersection(record):
        if isinstance(record[key], list):
            named = [_name_listed(span) for span in record[key]]
            found[key] = [_name_tool(span) for span in named] if key in TOOL_LISTS else named
    if isinstance(record.get("trace"), dict):
        found["trace"] = name_tools(record["trace"])
    return found


def _name_listed(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    lists = {key: value[key] for key in CALL_LISTS.intersection(value) if isinstance(value[key], list)}
    return {**value, **{key: [_rename(call) for call in calls] for key, calls in lists.items()}}


def _name_tool(span: Any) -> Any:
    name = span.get("name") if isinstance(span, dict) else None
    if isinstance(name, str) and name.startswith(NO_CALLS):
        return {**span, "type": OTHER}
    return _rename(span)


def _rename(value: Any) -> Any:
    name = value.get("name") if isinstance(value, dict) else None
    if not isinstance(name, str) or not name.startswith(BEFORE_NAMES):
        return value
    start = next(each for each in BEFORE_NAMES if name.startswith(each))
    return {**value, "name": name.removeprefix(start)}
