"""Amazon Bedrock's Converse API and Strands Agents. Entry points: `BEDROCK`, `reader`."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.format import Format, claim_one_or_list, get_first_messages, has_message_role

OWN_BLOCKS = frozenset(
    {"toolUse", "toolResult", "reasoningContent", "cachePoint", "guardContent", "citationsContent", "searchResult"}
)
"""Content blocks that no other format has; `text` and media are not among them."""
REQUEST_KEYS = frozenset({"modelId", "toolConfig", "inferenceConfig", "additionalModelRequestFields"})
SNAPSHOT_KEYS = frozenset({"scope", "schema_version", "data"})


def is_bedrock(value: Any) -> bool:
    """True for a request, a response, or both; for messages with Bedrock's blocks; and for Strands' own records."""
    if isinstance(value, dict):
        return _is_bedrock_document(value)
    if not isinstance(value, list):
        return False
    messages = [unwrap_session_message(message) for message in get_first_messages(value)]
    return any(map(_has_own_content, messages)) or (bool(messages) and all(map(is_session_message, value[:1])))


def is_converse_response(value: Any) -> bool:
    """True for a response of the Converse API."""
    output = value.get("output") if isinstance(value, dict) else None
    return isinstance(output, dict) and isinstance(output.get("message"), dict) and "stopReason" in value


def is_agent_result(value: dict[str, Any]) -> bool:
    """True for the result of a Strands agent, which holds only its last message."""
    return value.get("type") == "agent_result" and isinstance(value.get("message"), dict)


def is_snapshot(value: dict[str, Any]) -> bool:
    """True for a snapshot of a Strands agent."""
    return value.keys() >= SNAPSHOT_KEYS and isinstance(value["data"], dict)


def is_session_message(value: Any) -> bool:
    """True for a message of a Strands session, with its index and times."""
    return isinstance(value, dict) and isinstance(value.get("message"), dict) and "message_id" in value


def unwrap_session_message(value: dict[str, Any]) -> dict[str, Any]:
    """The message itself; of a redacted one, what replaced it."""
    if not is_session_message(value):
        return value
    redacted = value.get("redact_message")
    found: dict[str, Any] = redacted if isinstance(redacted, dict) else value["message"]
    return found


def _is_bedrock_document(value: dict[str, Any]) -> bool:
    if any(map(is_converse_response, (value, value.get("response")))) or is_agent_result(value):
        return True
    if is_snapshot(value):
        return isinstance(value["data"].get("messages"), list)
    request = value["request"] if isinstance(value.get("request"), dict) else value
    messages = [unwrap_session_message(message) for message in get_first_messages(request, ("messages",))]
    if any(map(_has_own_content, messages)):
        return True
    return not REQUEST_KEYS.isdisjoint(request) and bool(messages) and all(map(_has_untyped_blocks, messages))


def _list_blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content")
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _has_own_content(message: dict[str, Any]) -> bool:
    """True for a message with a block that only Bedrock has, or with the fields that Strands adds."""
    if not has_message_role(message):
        return False
    blocks = _list_blocks(message)
    if any("type" not in block and not OWN_BLOCKS.isdisjoint(block) for block in blocks):
        return True
    metadata = message.get("metadata")
    usage = metadata.get("usage") if isinstance(metadata, dict) else None
    is_strands = "tracking_id" in message or (isinstance(usage, dict) and "inputTokens" in usage)
    return is_strands and _has_untyped_blocks(message)


def _has_untyped_blocks(message: dict[str, Any]) -> bool:
    blocks = _list_blocks(message)
    return bool(blocks) and all("type" not in block for block in blocks)


BEDROCK = Format(
    name="bedrock",
    needs="messages with `toolUse` and `toolResult` blocks, or a response with `output.message` and `stopReason`",
    claims=claim_one_or_list(is_bedrock),
    module="bedrock.reader",
)
