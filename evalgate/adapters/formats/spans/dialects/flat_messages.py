"""Reads messages that are flattened into one attribute for each field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import RawMessage, ToolRequest, ToolResult
from evalgate.adapters.formats.messages.genai import parse_calls
from evalgate.adapters.formats.messages.roles import ROLES
from evalgate.adapters.formats.spans.dialects.attributes import decode, first, first_text, unflatten

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.models.trace.trace import Role

THOUGHTS = frozenset({"reasoning", "thinking"})
SHOWN_CALL, SHOWN_ANSWER = "tool-call", "tool-response"


def read_openinference(entries: Sequence[Mapping[str, Any]]) -> list[RawMessage]:
    """Reads messages of `llm.input_messages` or `llm.output_messages`."""
    parsed: list[RawMessage] = []
    for entry in entries:
        message = {key.removeprefix("message."): value for key, value in entry.items()}
        found = _openinference_message(message)
        is_shown = message.get("role") == SHOWN_CALL
        if parsed and is_shown and found.calls and parsed[-1].role == "assistant" and not parsed[-1].calls:
            parsed[-1].calls = found.calls
        elif parsed and _continues(parsed[-1], found):
            parsed[-1].calls += found.calls  # blocks of one message that were recorded one by one
        elif parsed and _is_thought(parsed[-1]) and found.role == "assistant" and found.reasoning is None:
            found.reasoning = parsed.pop().reasoning
            parsed.append(found)
        else:
            parsed.append(found)
    return parsed


def _openinference_message(message: Mapping[str, Any]) -> RawMessage:
    texts, thoughts, others = _read_contents(message)
    content = "\n".join(texts) if texts else None
    role = first_text(message, "role") or "assistant"
    calls = [_read_call(call) for call in unflatten(message, "tool_calls")]
    known: Role = ROLES.get(role, "assistant")
    if role == SHOWN_CALL and content is not None:
        shown = parse_calls(content)
        return RawMessage("assistant", None if shown else content, calls=shown)
    if known == "tool" or role == SHOWN_ANSWER:
        name = first_text(message, "name")
        return RawMessage("tool", answers=[ToolResult(first_text(message, "tool_call_id"), name, content)])
    legacy = first_text(message, "function_call_name")
    if legacy is not None:
        calls.append(ToolRequest(None, legacy, message.get("function_call_arguments_json")))
    reasoning = "\n".join(thoughts) if thoughts else None
    kept = [call for call in calls if call is not None]
    parts = [*({"type": "text", "text": one} for one in texts), *others] if others else None
    return RawMessage(known, content, calls=kept, reasoning=reasoning, parts=parts)


def _read_contents(message: Mapping[str, Any]) -> tuple[list[str], list[str], list[dict[str, Any]]]:
    """Texts, thoughts, and the kinds of everything else."""
    texts: list[str] = []
    thoughts: list[str] = []
    others: list[dict[str, Any]] = []
    plain = first_text(message, "content")
    if plain is not None:
        texts.append(plain)
    for entry in unflatten(message, "content"):
        texts += [entry[""]] if type(entry.get("")) is str else []
    for entry in unflatten(message, "contents"):
        kind = first_text(entry, "message_content.type") or "text"
        found = first_text(entry, "message_content.text")
        if kind in THOUGHTS:
            thoughts += [found] if found else []
        elif found is not None:
            texts.append(found)
        elif kind != "text":
            others.append({"type": kind})
    return texts, thoughts, others


def _read_call(entry: Mapping[str, Any]) -> ToolRequest | None:
    name = first_text(entry, "tool_call.function.name")
    if name is None:
        return None
    return ToolRequest(first_text(entry, "tool_call.id"), name, entry.get("tool_call.function.arguments"))


def _continues(before: RawMessage, found: RawMessage) -> bool:
    """True for two messages in a row with calls only: the calls were requested together."""
    return (
        before.role == found.role == "assistant"
        and bool(before.calls)
        and bool(found.calls)
        and found.content is None
        and found.reasoning is None
    )


def _is_thought(message: RawMessage) -> bool:
    return message.reasoning is not None and message.content is None and not message.calls


def read_traceloop(entries: Sequence[Mapping[str, Any]], speaker: Role) -> list[RawMessage]:
    """Reads messages of `gen_ai.prompt` or `gen_ai.completion`, as OpenLLMetry wrote them up to 0.5."""
    return [_traceloop_message(entry, speaker) for entry in entries]


def _traceloop_message(entry: Mapping[str, Any], speaker: Role) -> RawMessage:
    content = _join_text(decode(entry.get("content")))
    role: Role = ROLES.get(first_text(entry, "role") or "", speaker)
    if role == "tool":
        return RawMessage(
            "tool",
            answers=[ToolResult(first_text(entry, "tool_call_id"), first_text(entry, "name"), content)],
        )
    calls = []
    for call in unflatten(entry, "tool_calls"):
        name = first_text(call, "name", "function.name")
        if name is not None:
            calls.append(ToolRequest(first_text(call, "id"), name, first(call, "arguments", "function.arguments")))
    legacy = first_text(entry, "function_call.name")
    if legacy is not None:
        calls.append(ToolRequest(None, legacy, entry.get("function_call.arguments")))
    reason = first_text(entry, "finish_reason")
    thought = first_text(entry, "reasoning")
    return RawMessage(role, content, calls=calls, finish_reason=reason, reasoning=thought)


def _join_text(value: Any) -> str | None:
    """Text, or the text of a list of parts."""
    if value is None or type(value) is str:
        return value
    if type(value) is list:
        texts = [part.get("text") for part in value if type(part) is dict]
        known = [one for one in texts if type(one) is str]
        if known:
            return "\n".join(known)
    from evalgate.adapters.formats.core.strict_json import encode_json

    return encode_json(value)
