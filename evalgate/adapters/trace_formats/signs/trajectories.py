"""Signs of what coding agents and agents of benchmarks leave behind."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.trace_formats.shapes import Format

LOOK_AT = 8
RETURN_CODE = "<returncode>"
EVENT_SOURCES = frozenset({"user", "agent", "environment"})
VIEW = frozenset({"response", "turns", "tool_calls", "metadata"})
SESSION_RESULT = frozenset({"session_id", "agent_cost", "execution_time", "steps"})


def _claims_swe_agent(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(history := value.get("history"), list) or not history:
        return False
    first = history[0]
    if not isinstance(first, dict) or "role" not in first:
        return False
    return isinstance(value.get("trajectory"), list) or "agent" in first or "message_type" in first


def _claims_mini_swe_agent(value: Any) -> bool:
    if isinstance(value, dict):
        named = value.get("trajectory_format")
        if isinstance(named, str) and named.startswith("mini-swe-agent"):
            return isinstance(value.get("messages"), list)
        return _claims_mini_swe_agent(value.get("messages")) if isinstance(value.get("info"), dict) else False
    if not isinstance(value, list):
        return False
    return any(map(_is_observation, value[:LOOK_AT]))


def _is_observation(message: Any) -> bool:
    if not isinstance(message, dict) or message.get("role") != "user":
        return False
    content = message.get("content")
    return isinstance(content, str) and content.startswith(RETURN_CODE)


def is_openhands_event(value: Any) -> bool:
    """True for one event of an OpenHands history, of any version."""
    if not isinstance(value, dict) or "role" in value:
        return False
    return isinstance(value.get("action"), str) or isinstance(value.get("observation"), str)


def _claims_openhands(value: Any) -> bool:
    if isinstance(value, dict):
        history = value.get("history")
        if not isinstance(history, list) or "metrics" not in value:
            return False
        first = history[0] if history else None
        if isinstance(first, list):
            first = first[0] if first else None
        return "instruction" in value if first is None else is_openhands_event(first)
    if not isinstance(value, list) or not value or not is_openhands_event(value[0]):
        return False
    source = value[0].get("source")
    return isinstance(source, str) and source in EVENT_SOURCES


def _claims_exgentic(value: Any) -> bool:
    if not isinstance(value, dict) or "session_id" not in value:
        return False
    if value.keys() >= SESSION_RESULT:
        return True
    event = value.get("event")
    return "step" in value and isinstance(event, str) and event in {"action", "observation"}


def _claims_toolbench(value: Any) -> bool:
    answer = value.get("answer_generation") if isinstance(value, dict) else None
    if not isinstance(answer, dict):
        return False
    return isinstance(answer.get("train_messages"), list) or answer.get("valid_data") is False


def _claims_salvo(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    if isinstance(value.get("messages"), list) and isinstance(value.get("tool_calls_made"), list):
        return True
    return value.keys() >= VIEW and isinstance(value["turns"], list) and isinstance(value["tool_calls"], list)


SWE_AGENT = Format(
    name="swe-agent",
    needs="an object with `history` and `trajectory`",
    claims=_claims_swe_agent,
    module="readers.swe_agent",
)
MINI_SWE_AGENT = Format(
    name="mini-swe-agent",
    needs="messages, of which some begin with <returncode>",
    claims=_claims_mini_swe_agent,
    module="readers.mini_swe_agent",
)
OPENHANDS = Format(
    name="openhands",
    needs="a list of events, or `history` and `metrics`",
    claims=_claims_openhands,
    module="readers.openhands",
)
EXGENTIC = Format(
    name="exgentic",
    needs="lines with `event`, `session_id` and `step`",
    claims=_claims_exgentic,
    module="readers.exgentic",
    together=True,
)
TOOLBENCH = Format(
    name="toolbench",
    needs="an object with `answer_generation`",
    claims=_claims_toolbench,
    module="readers.toolbench",
)
SALVO = Format(
    name="salvo",
    needs="`response`, `turns`, `tool_calls` and `metadata`",
    claims=_claims_salvo,
    module="readers.salvo",
)
