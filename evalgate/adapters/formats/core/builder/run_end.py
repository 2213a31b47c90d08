"""Marks how a run ended: the final response, the call that ended it, missing results, incomplete runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.adapters.formats.core.call_arguments import Arguments
from evalgate.models.trace.trace import MAX_ID_LENGTH

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evalgate.adapters.formats.core.builder.conversation import Conversation
    from evalgate.models.trace.trace import Message, ToolCall, Trace, Warning_


def set_final_response(trace: Trace, answer: str | None, message: Message | None = None) -> None:
    """Makes the answer that an agent submitted its final response; an empty one only if there is no other."""
    if answer or (answer is not None and trace.response["content"] is None):
        trace.response = {
            "content": answer,
            "finish_reason": None if message is None else message["finish_reason"],
            "message_index": None if message is None else message["index"],
        }


def mark_final_call(call: ToolCall) -> None:
    """Marks the call that ends a run as ok: it has no result, and needs none."""
    if call["status"] == "missing":
        call["status"] = "ok"


def warn_of_missing_results(calls: Iterable[ToolCall]) -> list[Warning_]:
    """A warning if calls have no recorded result."""
    missing = sum(call["status"] == "missing" for call in calls)
    if not missing:
        return []
    subject = "a tool call has" if missing == 1 else f"{missing} tool calls have"
    return [{"code": "results_missing", "message": f"{subject} no recorded result", "where": "tool_calls"}]


def mark_incomplete(trace: Trace, reason: str) -> None:
    """Marks a run that stopped early, with a warning that says why."""
    trace.status = "incomplete"
    trace.warnings.append({"code": "incomplete", "message": reason, "where": None})


def add_command_call(conversation: Conversation, message: Message, command: str, name: str) -> ToolCall:
    """Adds a call that a message requests as the text of a command."""
    return conversation.add_call(message, None, name, Arguments({"command": command}))


def command_word(command: str) -> str:
    """The first word of a command line after its variable assignments.

    >>> command_word("PAGER=cat git diff")
    'git'
    """
    for word in command[: 4 * MAX_ID_LENGTH].split():
        name, equals, _ = word.partition("=")
        if not (equals and name.isidentifier()):
            return word[:MAX_ID_LENGTH]
    return "shell"
