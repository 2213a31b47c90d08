"""Reads messages that are flattened into one attribute for each field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.build.raw_message import RawMessage, ToolRequest, ToolResult
from evalgate.adapters.formats.messages.python_calls import calls_in
from evalgate.adapters.formats.messages.roles import ROLES
from evalgate.adapters.formats.spans.dialects.attributes import decoded, first, flattened, words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.models.trace.trace import Role

THOUGHTS = frozenset({"reasoning", "thinking"})
SHOWN_CALL, SHOWN_ANSWER = "tool-call", "tool-response"


def openinference_said(entries: Sequence[Mapping[str, Any]]) -> list[RawMessage]:
    """Reads messages of `llm.input_messages` or `llm.output_messages`."""
    said: list[RawMessage] = []
    for entry in entries:
        message = {key.removeprefix("message."): value for key, value in entry.items()}
        found = _openinference(message)
        is_shown = message.get("role") == SHOWN_CALL
        if said and is_shown and found.calls and said[-1].role == "assistant" and not said[-1].calls:
            said[-1].calls = found.calls
        elif said and _continues(said[-1], found):
            said[-1].calls += found.calls  # blocks of one message that were recorded one by one
        elif said and _is_thought(said[-1]) and found.role == "assistant" and found.reasoning is None:
            found.reasoning = said.pop().reasoning
            said.append(found)
        else:
            said.append(found)
    return said


def _openinference(message: Mapping[str, Any]) -> RawMessage:
    texts, thoughts, others = _contents(message)
    content = "\n".join(texts) if texts else None
    role = words(message, "role") or "assistant"
    calls = [_call(call) for call in flattened(message, "tool_calls")]
    known: Role = ROLES.get(role, "assistant")
    if role == SHOWN_CALL and content is not None:
        shown = calls_in(content)
        return RawMessage("assistant", None if shown else content, calls=shown)
    if known == "tool" or role == SHOWN_ANSWER:
        name = words(message, "name")
        return RawMessage("tool", answers=[ToolResult(words(message, "tool_call_id"), name, content)])
    legacy = words(message, "function_call_name")
    if legacy is not None:
        calls.append(ToolRequest(None, legacy, message.get("function_call_arguments_json")))
    reasoning = "\n".join(thoughts) if thoughts else None
    kept = [call for call in calls if call is not None]
    parts = [*({"type": "text", "text": one} for one in texts), *others] if others else None
    return RawMessage(known, content, calls=kept, reasoning=reasoning, parts=parts)


def _contents(message: Mapping[str, Any]) -> tuple[list[str], list[str], list[dict[str, Any]]]:
    """Texts, thoughts, and the kinds of everything else."""
    texts: list[str] = []
    thoughts: list[str] = []
    others: list[dict[str, Any]] = []
    plain = words(message, "content")
    if plain is not None:
        texts.append(plain)
    for entry in flattened(message, "content"):
        texts += [entry[""]] if type(entry.get("")) is str else []
    for entry in flattened(message, "contents"):
        kind = words(entry, "message_content.type") or "text"
        found = words(entry, "message_content.text")
        if kind in THOUGHTS:
            thoughts += [found] if found else []
        elif found is not None:
            texts.append(found)
        elif kind != "text":
            others.append({"type": kind})
    return texts, thoughts, others


def _call(entry: Mapping[str, Any]) -> ToolRequest | None:
    name = words(entry, "tool_call.function.name")
    if name is None:
        return None
    return ToolRequest(words(entry, "tool_call.id"), name, entry.get("tool_call.function.arguments"))


def _continues(before: RawMessage, found: RawMessage) -> bool:
    """True for two messages in a row with calls only: the calls were requested together."""
    return (
        before.role == found.role == "assistant"
        and bool(before.calls)
        and bool(found.calls)
        and found.content is None
        and found.reasoning is None
    )


def _is_thought(said: RawMessage) -> bool:
    return said.reasoning is not None and said.content is None and not said.calls


def traceloop_said(entries: Sequence[Mapping[str, Any]], speaker: Role) -> list[RawMessage]:
    """Reads messages of `gen_ai.prompt` or `gen_ai.completion`, as OpenLLMetry wrote them up to 0.5."""
    return [_traceloop(entry, speaker) for entry in entries]


def _traceloop(entry: Mapping[str, Any], speaker: Role) -> RawMessage:
    content = _text(decoded(entry.get("content")))
    role: Role = ROLES.get(words(entry, "role") or "", speaker)
    if role == "tool":
        return RawMessage(
            "tool", answers=[ToolResult(words(entry, "tool_call_id"), words(entry, "name"), content)]
        )
    calls = []
    for call in flattened(entry, "tool_calls"):
        name = words(call, "name", "function.name")
        if name is not None:
            calls.append(ToolRequest(words(call, "id"), name, first(call, "arguments", "function.arguments")))
    legacy = words(entry, "function_call.name")
    if legacy is not None:
        calls.append(ToolRequest(None, legacy, entry.get("function_call.arguments")))
    reason = words(entry, "finish_reason")
    thought = words(entry, "reasoning")
    return RawMessage(role, content, calls=calls, finish_reason=reason, reasoning=thought)


def _text(value: Any) -> str | None:
    """Text, or the text of a list of parts."""
    if value is None or type(value) is str:
        return value
    if type(value) is list:
        texts = [part.get("text") for part in value if type(part) is dict]
        known = [one for one in texts if type(one) is str]
        if known:
            return "\n".join(known)
    from evalgate.adapters.formats.core.build.raw_message import written

    return written(value)
