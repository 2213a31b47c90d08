"""Gemini: contents, requests and responses of `generateContent`. Entry points: `GEMINI`, `reader`."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.format import MAX_MESSAGES, Format, first_object, words

CONTENT_KEYS = ("contents", "history")
ROLES = frozenset({"user", "model", "system", "function", "tool"})
OWN_PARTS = words("""
    functionCall functionResponse inlineData fileData executableCode codeExecutionResult function_call
    function_response inline_data file_data executable_code code_execution_result text toolCall toolResponse tool_call
    tool_response
""")


def is_gemini(value: Any) -> bool:
    """True for contents, a request, a response, or both."""
    if isinstance(value, list):
        return is_stream(value) or (bool(value) and all(map(is_content, value[:MAX_MESSAGES])))
    if not isinstance(value, dict):
        return False
    if is_gemini_response(value) or is_gemini_response(value.get("response")):
        return True
    request = value.get("request")
    return _has_contents(value) or (isinstance(request, dict) and _has_contents(request))


def is_content(value: Any) -> bool:
    """True for a content: its parts are identified by their keys and have no `type`."""
    if not isinstance(value, dict) or not isinstance(value.get("parts"), list) or "content" in value:
        return False
    role, parts = value.get("role"), value["parts"]
    if role is not None and not (isinstance(role, str) and role in ROLES):
        return False
    return any(isinstance(part, dict) and "type" not in part and not OWN_PARTS.isdisjoint(part) for part in parts)


def is_gemini_response(value: Any) -> bool:
    """True for a response, also a blocked one without candidates."""
    if not isinstance(value, dict):
        return False
    if isinstance(value.get("candidates"), list):
        first = first_object(value["candidates"])
        return not value["candidates"] or not {"content", "finishReason", "finish_reason"}.isdisjoint(first)
    return isinstance(value.get("promptFeedback", value.get("prompt_feedback")), dict)


def is_stream(value: list[Any]) -> bool:
    """True for the chunks of one streamed response, which all have the same id."""
    if len(value) < 2 or not all(map(is_gemini_response, value)):  # noqa: PLR2004
        return False
    ids = [get_response_id(chunk) for chunk in value]
    return type(ids[0]) is str and ids.count(ids[0]) == len(ids)


def get_response_id(response: dict[str, Any]) -> Any:
    """The id of a response, in either spelling."""
    return response.get("responseId", response.get("response_id"))


def _has_contents(value: dict[str, Any]) -> bool:
    listed = [value[key] for key in CONTENT_KEYS if isinstance(value.get(key), list)]
    return any(is_content(one) for contents in listed for one in contents[:MAX_MESSAGES])


def _claims_gemini(value: Any) -> bool:
    if is_gemini(value):
        return True
    first = value[0] if isinstance(value, list) and value else None
    return isinstance(first, dict | list) and not is_content(first) and is_gemini(first)


GEMINI = Format(
    name="gemini",
    needs="`contents` with `parts`, or a response with `candidates`",
    claims=_claims_gemini,
    module="gemini.reader",
)
