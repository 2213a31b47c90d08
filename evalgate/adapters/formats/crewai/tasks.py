"""Reads the outputs of CrewAI's tasks: the messages between each agent and its model."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import mark_failed
from evalgate.adapters.formats.core.builder.raw_message import RawMessage, ToolRequest, ToolResult
from evalgate.adapters.formats.core.fields import listing, mapping, prefix_errors, required_text, text
from evalgate.adapters.formats.messages import roles
from evalgate.adapters.formats.messages.known_fields import CHAT_FIELDS

if TYPE_CHECKING:
    from evalgate.adapters.formats.core.builder.llm_calls import MeteredConversation
    from evalgate.adapters.formats.core.builder.unknown_parts import UnknownParts

MESSAGE_FIELDS = CHAT_FIELDS | {"tool_call_id", "raw_tool_call_parts", "files"}
TASK_FIELDS = frozenset(
    {
        *("description", "name", "expected_output", "summary", "raw", "pydantic", "json_dict", "agent"),
        *("output_format", "messages", "tool_failures"),
    }
)
ACTION = re.compile(r"Action[ \t]*\d*[ \t]*:(.*?)Action[ \t]*\d*[ \t]*Input[ \t]*\d*[ \t]*:(.*)", re.DOTALL)
OBSERVATION = "\nObservation:"
FINAL_ANSWER = "Final Answer:"
CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")


def add_task(chat: MeteredConversation, task: dict[str, Any], earlier: list[Any], unknown: UnknownParts) -> bool:
    """Adds the messages of a task but for earlier ones, which an agent keeps; false if none are recorded."""
    unknown.check_fields(task, TASK_FIELDS, "")
    agent = text(task.get("agent"), "agent")
    messages = listing(task.get("messages"), "messages")
    if not messages:
        prompt, raw = text(task.get("description"), "description"), text(task.get("raw"), "raw")
        chat.add_messages([RawMessage("user", prompt), RawMessage("assistant", raw, agent=agent)])
        return False
    start = len(earlier) if earlier and messages[: len(earlier)] == earlier else 0
    for number, value in enumerate(messages[start:], start):
        with prefix_errors(f"messages[{number}]"):
            chat.add_messages(read_message(mapping(value, ""), agent, unknown, f"messages[{number}]"))
    _mark_failures(chat, listing(task.get("tool_failures"), "tool_failures"))
    return True


def read_message(message: dict[str, Any], agent: str | None, unknown: UnknownParts, path: str) -> list[RawMessage]:
    """One message with a role; a call that the model wrote as text is a call."""
    unknown.check_fields(message, MESSAGE_FIELDS, path)
    found = roles.read_message(message)
    for one in [one for one in found if one.role == "assistant"]:
        one.agent = agent
        if not one.calls:
            found += read_text_call(one)
    return found


def read_text_call(message: RawMessage) -> list[RawMessage]:
    """Reads the call in a text of the form `Action: ... Action Input: ...`; returns its result, if it is there."""
    words, found, observation = (message.content or "").partition(OBSERVATION)
    action = None if FINAL_ANSWER in words else ACTION.search(words)
    name = "" if action is None else clean_name(action.group(1))
    if action is None or not name:
        return []
    message.calls = [ToolRequest(None, name, action.group(2).strip().strip("`").strip())]
    return (
        [RawMessage("tool", answers=[ToolResult(None, name, observation.strip())], agent=message.agent)]
        if found
        else []
    )


def clean_name(name: str) -> str:
    """The name under which CrewAI finds a tool: in lower case, with underscores."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return NOT_IN_NAMES.sub("_", CAPITAL.sub("_", plain.strip()).lower().replace("'", "")).strip("_")


def _mark_failures(chat: MeteredConversation, failures: list[Any]) -> None:
    """Marks the calls whose tools reported a failure."""
    for number, value in enumerate(failures):
        path = f"tool_failures[{number}]"
        failure = mapping(value, path)
        name = required_text(failure.get("tool_name"), f"{path}.tool_name")
        calls = chat.conversation.calls
        failed = next((call for call in calls if call["name"] == name and call["status"] == "ok"), None)
        if failed is not None:
            mark_failed(failed)
