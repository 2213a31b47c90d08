"""Reads pi, and agents built on it, such as OpenClaw: session files, and the events of `--mode json`.

A session is a tree. All of its branches count, in the order they were written, since their calls were made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.agent_session import AgentSession
from evalgate.adapters.formats.core.builder.conversation import RawMessage, ToolRequest, ToolResult
from evalgate.adapters.formats.core.builder.evidence_gaps import find_unknown, note_unknown
from evalgate.adapters.formats.core.builder.run import add_warning, build_model_error
from evalgate.adapters.formats.core.content import read_content
from evalgate.adapters.formats.core.fields import (
    amount,
    dict_or_empty,
    do_each,
    flag,
    mapping,
    prefix_errors,
    read_at,
    required_text,
    text,
    time_if_valid,
    whole_number,
)
from evalgate.adapters.formats.core.format import EACH, Reader, Shape, no_identity, words
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.core.usage import TokenTable, none_if_uncounted
from evalgate.adapters.formats.pi import is_session

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalgate.models.trace.trace import Trace

NAME = "pi"
ABORTED = "the run was aborted"
FORKED = "the session was forked from another one, whose messages may be copied into it"
SHELL = "bash"
NO_ANSWER = ("error", "aborted")
"""Reasons of a request that may have ended before a token was used."""
FINISH_REASONS = {"toolUse": "tool_calls"}
USAGE = TokenTable(
    "pi",
    input_tokens="input",
    output_tokens="output",
    cache_read_input_tokens="cacheRead",
    cache_write_input_tokens="cacheWrite",
)


def split(documents: Any) -> Sequence[Any]:
    """The lines of each session of a file."""
    sessions: list[list[Any]] = [[]]
    for line in (each for one in documents for each in (one if isinstance(one, list) else [one])):
        if is_session(line) and sessions[-1]:
            sessions.append([])
        sessions[-1].append(line)
    return [session for session in sessions if session]


def build(record: Any) -> Trace:
    """Builds one session."""
    require_shallow(record)
    session = AgentSession()
    do_each(record, "lines", lambda line: _add_line(session, line))
    trace = session.build_session(NAME)
    trace.name = next((text(line.get("name"), "name") for line in record if line.get("type") == "session_info"), None)
    if any(is_session(line) and line.get("parentSession") for line in record):
        add_warning(trace, "history_may_be_copied", FORKED, "lines")
    carriers = [line for line in record if line.get("type") in CARRIES_MESSAGES]
    note_unknown(trace, find_unknown(carriers, MESSAGE_SHAPES))
    return trace


def _add_line(session: AgentSession, line: dict[str, Any]) -> None:
    kind, when = text(line.get("type"), "type"), time_if_valid(line.get("timestamp"))
    if kind == "session":
        session.id = text(line.get("id"), "id")
    elif kind == "model_change":
        session.model, session.provider = text(line.get("modelId"), "modelId"), text(line.get("provider"), "provider")
    elif kind == "custom_message":
        session.add_message(RawMessage("system", read_content(line.get("content"), "content")[0], timestamp=when))
    elif kind in CARRIES_MESSAGES:
        message = mapping(line.get("message"), "message")
        with prefix_errors("message"):
            role = text(message.get("role"), "role") or ""
            handle = HANDLERS.get(role)
            if handle is not None:
                handle(session, message, when or time_if_valid(message.get("timestamp")))


def _add_user(session: AgentSession, message: dict[str, Any], when: str | None) -> None:
    content, parts = read_content(message.get("content"), "content")
    session.add_message(RawMessage("user", content, parts=parts, timestamp=when))


def _add_context(session: AgentSession, message: dict[str, Any], when: str | None) -> None:
    """Adds what pi or an extension told the model."""
    content = message.get("content", message.get("summary"))
    session.add_message(RawMessage("system", read_content(content, "content")[0], timestamp=when))


def _add_answer(session: AgentSession, message: dict[str, Any], when: str | None) -> None:
    session.end_answer()
    model, reason = text(message.get("model"), "model"), text(message.get("stopReason"), "stopReason")
    blocks = message.get("content") or []
    if isinstance(blocks, str):
        session.add_text(blocks, when, model=model)
        blocks = []
    do_each(blocks, "content", lambda block: _add_block(session, block, when, model))
    usage = none_if_uncounted(USAGE.read(message.get("usage"), "usage"))
    if usage is not None or reason not in NO_ANSWER:
        session.add_model_call(
            usage,
            FINISH_REASONS.get(reason or "", reason),
            provider=text(message.get("provider"), "provider"),
            model=model,
            cost_usd=read_at(message, "usage.cost.total", amount) or None,
        )
    session.end_answer()
    session.model = session.model or model
    error = text(message.get("errorMessage"), "errorMessage")
    if reason == "error":
        session.error = error or "the request to the model failed"
        session.outage = build_model_error(None, error)
    elif reason == "aborted":
        session.end = ABORTED


def _add_block(session: AgentSession, block: dict[str, Any], when: str | None, model: str | None) -> None:
    kind = text(block.get("type"), "type")
    if kind == "text":
        session.add_text(text(block.get("text"), "text"), when, model=model)
    elif kind == "thinking":
        session.add_reasoning(text(block.get("thinking"), "thinking"), when, model=model)
    elif kind == "toolCall":
        name = required_text(block.get("name"), "name")
        session.add_call(ToolRequest(text(block.get("id"), "id"), name, block.get("arguments")), when, model=model)


def _add_result(session: AgentSession, message: dict[str, Any], when: str | None) -> None:
    content, _ = read_content(message.get("content"), "content")
    call_id, name = text(message.get("toolCallId"), "toolCallId"), text(message.get("toolName"), "toolName")
    code = dict_or_empty(message.get("details")).get("exitCode")
    failed = flag(message.get("isError"), "isError")
    result = ToolResult(call_id, name, content, failed, code if type(code) is int else None)
    session.add_result(result, when)


def _add_command_of_user(session: AgentSession, message: dict[str, Any], when: str | None) -> None:
    """Adds a command that a person ran."""
    session.add_call_of_user(ToolRequest(None, SHELL, {"command": message.get("command")}), when)
    code = whole_number(message.get("exitCode"), "exitCode")
    failed = flag(message.get("cancelled"), "cancelled") or (None if code is None else code != 0)
    session.add_result(ToolResult(None, SHELL, text(message.get("output"), "output"), failed, code), when)


HANDLERS: dict[str, Callable[[AgentSession, dict[str, Any], str | None], None]] = {
    "user": _add_user,
    "assistant": _add_answer,
    "toolResult": _add_result,
    "bashExecution": _add_command_of_user,
    "system": _add_context,
    "custom": _add_context,
    "hookMessage": _add_context,
    "branchSummary": _add_context,
    "compactionSummary": _add_context,
}
CARRIES_MESSAGES = ("message", "message_end")
LINES = words("""
    session model_change custom_message message message_end thinking_level_change compaction branch_summary custom
    label session_info agent_start agent_end turn_start turn_end message_start message_update tool_execution_start
    tool_execution_update tool_execution_end auto_compaction_start auto_compaction_end auto_retry_start auto_retry_end
    queue_update
""")
"""Types of lines; what is not read is about the session, or repeats its messages."""
BLOCK_KINDS = words("text thinking toolCall image")
MESSAGE_SHAPES = (
    Shape((EACH, "message"), words("content usage details"), frozenset(HANDLERS), "role"),
    Shape((EACH, "message", "content", EACH), frozenset({"arguments"}), BLOCK_KINDS),
)
SHAPES = (Shape((EACH,), None, LINES),)
READER = Reader(build=build, identify=no_identity, split=split, shapes=SHAPES, without_calls=frozenset({"details"}))
