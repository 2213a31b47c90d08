"""Spells a run state of the JavaScript SDK as the SDK for Python does; read from the code of its version 0.17."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.fields import FieldError, dict_or_empty, to_snake_case
from evalgate.adapters.formats.core.strict_json import decode
from evalgate.adapters.formats.messages.responses import CALL, OTHER_TYPES
from evalgate.adapters.formats.openai_agents import is_of_javascript
from evalgate.errors import TraceError

RESULTS = {"function_call_result": "function_call_output", "computer_call_result": "computer_call_output"}
"""Types of items that have another name in JavaScript."""
HOSTED, UNKNOWN = "hosted_tool_call", "unknown"
"""Types of items that the provider has another type for: it is among the provider's fields, if at all."""
NESTED = "pending_agent_tool_runs"
"""Its values are JSON as text."""


def respell_state(state: dict[str, Any]) -> dict[str, Any]:
    """The state with Python's names; raises FieldError for a nested value of another kind."""
    found = _respell(state)
    found["original_input"] = _respell_each(found["original_input"], _respell_item)
    found["generated_items"] = _respell_each(_list_items(found), _respell_run_item)
    found["model_responses"] = _respell_each(found.get("model_responses"), _respell_response)
    if isinstance(found.get(NESTED), dict):
        found[NESTED] = {key: _read_nested(run) for key, run in found[NESTED].items()}
    return found


def _read_nested(run: Any) -> dict[str, Any]:
    try:
        state = decode(run.encode()) if isinstance(run, str) else run
    except (TraceError, UnicodeEncodeError):
        state = None
    if not is_of_javascript(state):
        raise FieldError("pendingAgentToolRuns", "has a value that is no run state as JSON")
    return respell_state(state)


def _list_items(state: dict[str, Any]) -> Any:
    """What the run did so far, with what the last answer asked for and is not among it yet."""
    items = state.get("generated_items")
    latest = dict_or_empty(state.get("last_processed_response")).get("newItems")
    if not isinstance(items, list) or not isinstance(latest, list):
        return items
    known = {_identify(each) for each in items}
    return items + [each for each in latest if _identify(each) not in known | {None}]


def _identify(item: Any) -> str | None:
    """The id of a call and of its result; None for what has none."""
    raw = dict_or_empty(dict_or_empty(item).get("rawItem"))
    found = raw.get("callId") or raw.get("id")
    return f"{raw.get('type')} {found}" if isinstance(found, str) else None


def _respell_each(values: Any, respell: Any) -> Any:
    return (
        [respell(each) if isinstance(each, dict) else each for each in values] if isinstance(values, list) else values
    )


def _respell(recorded: dict[str, Any]) -> dict[str, Any]:
    return {to_snake_case(key): value for key, value in recorded.items()}


def _respell_run_item(item: dict[str, Any]) -> dict[str, Any]:
    found = _respell(item)
    raw = found.get("raw_item")
    return {**found, "raw_item": _respell_item(raw)} if isinstance(raw, dict) else found


def _respell_response(response: dict[str, Any]) -> dict[str, Any]:
    found = _respell(response)
    usage = found.get("usage")
    return {**found, "usage": _respell(usage)} if isinstance(usage, dict) else found


def _respell_item(item: dict[str, Any]) -> dict[str, Any]:
    """An item as the provider's API has it."""
    kind = item.get("type")
    if kind in (HOSTED, UNKNOWN):
        return _open_item(item)
    found = {key: value for key, value in _respell(item).items() if value is not None}
    if isinstance(kind, str):
        found["type"] = RESULTS.get(kind, kind)
    for key in ("action", "operation"):
        if isinstance(found.get(key), dict):
            found[key] = _respell(found[key])
    found["content"] = _respell_each(found.get("content"), _respell)
    if kind == "reasoning":
        found["summary"] = found.pop("content")
    return {key: value for key, value in found.items() if value is not None}


def _open_item(item: dict[str, Any]) -> dict[str, Any]:
    """A call of a provider's tool: of a type of the API, or named as a call of a server's tool is."""
    provided = dict_or_empty(item.get("providerData"))
    name = item.get("name")
    kind = provided.get("type", name)
    is_known = isinstance(kind, str) and (kind.endswith(CALL) or kind in OTHER_TYPES)
    found = {key: value for key, value in item.items() if key != "providerData" and not (key == "name" and is_known)}
    if item["type"] == UNKNOWN:
        return {**found, **provided}
    return {**found, **provided, "type": kind if is_known else "mcp_call"}
