"""Reads the content of a message: text, a list of parts, or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.fields import FieldError, listing, mapping, text
from evalgate.adapters.formats.core.strict_json import make_printable

if TYPE_CHECKING:
    from collections.abc import Iterable

SHOWN_CHARS = 60

TEXT_KEYS = ("text", "content", "refusal")
TEXT_TYPES = frozenset({"text", "input_text", "output_text", "refusal"})
MEDIA_TYPES = frozenset(
    {
        *("image_url", "image", "input_image", "input_audio", "audio", "file", "input_file", "document", "video"),
        *("thinking", "reasoning", "redacted_thinking"),
    }
)
HARMLESS_TYPES = frozenset(
    {
        *TEXT_TYPES,
        *MEDIA_TYPES,
        *("summary_text", "reasoning_content", "reasoningContent", "reasoning-file", "redacted", "encrypted_content"),
        *("output_audio", "video_url", "input_video", "audio_url", "media", "image-data", "image-url", "file-data"),
        *("file-url", "audio-url", "video-url", "document-url", "computer_screenshot", "inline_data", "file_data"),
        *("blob", "uri", "binary", "uploaded-file", "data", "search_result", "resource", "resource_link"),
        *("cache-point", "cache_point", "cachePoint", "guardContent", "citation", "citationsContent", "compaction"),
        *("container_upload", "fallback", "tool_reference", "tool_addition", "tool_removal", "mcp_tool_listing"),
        *("step-start", "non_standard_annotation", "text-plain"),
    }
)
"""Types of parts that are no calls: text, reasoning, media, sources and settings."""
HARMLESS_PREFIXES = ("source-", "data-")
"""Of the Vercel AI SDK's parts with sources, and with data that an interface shows."""
JSON_STARTS = ("{", "[")
PART_FIELDS = frozenset({"type", "text", "annotations", "cache_control", "logprobs"})
"""Fields of a part with text; a part with others may be a call."""


def read_content(value: Any, path: str) -> tuple[str | None, list[dict[str, Any]] | None]:
    """The text of a message, and its parts if some are not text.

    Only the type of an image or a file is kept: its data does not belong in a report.
    """
    if value is None or type(value) is str:
        return value, None
    if type(value) is not list:
        raise FieldError(path, "is neither text nor a list of parts")
    parts = [_read_part(part, f"{path}[{number}]") for number, part in enumerate(listing(value, path))]
    texts = [part["text"] for part in parts if "text" in part]
    content = "\n".join(texts) if texts else None
    return content, None if len(texts) == len(parts) else parts


def may_hold_calls(value: Any) -> bool:
    """True for objects, lists and JSON as text; the value of an unknown field may hold a call."""
    return type(value) in (dict, list) or (type(value) is str and value.lstrip()[:1] in JSON_STARTS)


def find_unknown_part(messages: Iterable[Any]) -> str | None:
    """Describes the first part of the messages that is not known to be text, reasoning or media; None without one."""
    for message in messages:
        for part in message["parts"] or () if message["role"] != "tool" else ():
            kind = part.get("type")
            if type(kind) is str and kind not in HARMLESS_TYPES and not kind.startswith(HARMLESS_PREFIXES):
                shown = make_printable(kind[:SHOWN_CHARS])
                return f"message {message['index'] + 1} has a content part of the unknown type `{shown}`"
    return None


def _read_part(value: Any, path: str) -> dict[str, Any]:
    if type(value) is str:
        return {"type": "text", "text": value}
    part = mapping(value, path)
    kind = text(part.get("type"), f"{path}.type")
    if kind and kind not in TEXT_TYPES:
        return {"type": kind}
    for key in TEXT_KEYS:
        if part.get(key) is not None:
            return {"type": "text", "text": text(part[key], f"{path}.{key}")}
    return {"type": kind or name_part(part)}


def name_part(part: dict[str, Any]) -> str:
    """Names a part without a type and text after its first field that holds something."""
    return next((key for key, value in part.items() if value and key != "type"), "text")
