"""AutoGen and Microsoft Agent Framework: messages, results and saved states. Entry points: `AUTOGEN`, `reader`."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.format import MAX_MESSAGES, Format, words

MESSAGE_TYPES = words("""
    TextMessage MultiModalMessage StopMessage HandoffMessage ToolCallSummaryMessage ToolCallRequestEvent
    ToolCallExecutionEvent CodeGenerationEvent CodeExecutionEvent UserInputRequestedEvent MemoryQueryEvent
    ModelClientStreamingChunkEvent ThoughtEvent SelectSpeakerEvent SelectorEvent
""")
"""Types of messages and events that AutoGen's agents send; all have a `source`."""
CONTEXT_TYPES = frozenset({"SystemMessage", "UserMessage", "AssistantMessage", "FunctionExecutionResultMessage"})
"""Types of the messages that an AutoGen agent sends to its model."""
STRUCTURED = "StructuredMessage"
FRAMEWORK_ROLES = frozenset({"system", "developer", "user", "assistant", "tool"})
FRAMEWORK_TYPES = frozenset({"message", "chat_message"})
STATE_KEYS = ("agent_states", "message_thread", "llm_context", "agent_state", "inner_team_state")


def is_autogen(value: Any) -> bool:
    """True for messages, a result or a saved state."""
    if isinstance(value, list):
        return bool(value) and all(map(is_message, value[:MAX_MESSAGES]))
    return isinstance(value, dict) and (is_message(value) or is_state(value) or _has_messages(value))


def is_message(value: Any) -> bool:
    """True for a message of either package."""
    return isinstance(value, dict) and (is_framework_message(value) or is_agent_message(value) or is_context(value))


def is_agent_message(value: dict[str, Any]) -> bool:
    """True for a message or event that an AutoGen agent sent, also of a type that an application defines."""
    kind, source = value.get("type"), value.get("source")
    if not isinstance(kind, str) or not isinstance(source, str):
        return False
    if kind in MESSAGE_TYPES or kind.startswith(STRUCTURED):
        return True
    return "models_usage" in value and "content" in value


def is_context(value: dict[str, Any]) -> bool:
    """True for a message that an AutoGen agent sends to its model."""
    kind = value.get("type")
    return isinstance(kind, str) and kind in CONTEXT_TYPES and "content" in value and "role" not in value


def is_framework_message(value: dict[str, Any]) -> bool:
    """True for a message of Agent Framework."""
    contents = value.get("contents")
    if get_role(value) not in FRAMEWORK_ROLES or not isinstance(contents, list) or "content" in value:
        return False
    kind = value.get("type")
    is_named = isinstance(kind, str) and kind in FRAMEWORK_TYPES
    return is_named or any(isinstance(one, dict) and isinstance(one.get("type"), str) for one in contents)


def get_role(value: dict[str, Any]) -> str | None:
    """The role of a message of Agent Framework, which early versions write as an object."""
    role = value.get("role")
    if isinstance(role, dict):
        role = role.get("value")
    return role if isinstance(role, str) else None


def is_state(value: dict[str, Any]) -> bool:
    """True for a saved state of a team, an agent, or a session."""
    if isinstance(value.get("agent_states"), dict) or isinstance(value.get("message_thread"), list):
        return True
    context = value.get("llm_context")
    if isinstance(context, dict) and isinstance(context.get("messages"), list):
        return True
    return ("session_id" in value and bool(list_session_messages(value))) or "chat_message_store_state" in value


def list_session_messages(value: dict[str, Any]) -> list[list[Any]]:
    """The lists of messages in a session of Agent Framework, by the provider that stored them."""
    found = []
    for key in ("state", "chat_message_store_state"):
        state = value.get(key)
        if isinstance(state, dict):
            found += [
                provider["messages"]
                for provider in (state, *state.values())
                if isinstance(provider, dict)
                and isinstance(provider.get("messages"), list)
                and any(map(is_message, provider["messages"][:MAX_MESSAGES]))
            ]
    return found


def _has_messages(value: dict[str, Any]) -> bool:
    response = value.get("response")
    for holder in (value, response):
        messages = holder.get("messages") if isinstance(holder, dict) else None
        if isinstance(messages, list) and any(map(is_message, messages[:MAX_MESSAGES])):
            return True
    return False


def _claims_autogen(value: Any) -> bool:
    if is_autogen(value):
        return True
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict | list) and is_autogen(value[0])


AUTOGEN = Format(
    name="autogen",
    needs="messages with `source` and a type such as `TextMessage`, or with `role` and `contents`, or a saved state",
    claims=_claims_autogen,
    module="autogen.reader",
    joins_lines=True,
)
