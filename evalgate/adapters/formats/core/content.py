"""Reads the content of a message: text, a list of parts, or nothing."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.fields import FieldError, listing, mapping, text
from evalgate.adapters.formats.core.format import words

TEXT_KEYS = ("text", "content", "refusal")
TEXT_TYPES = frozenset({"text", "input_text", "output_text", "refusal"})
MEDIA_TYPES = words("""
    image_url image input_image input_audio audio file input_file document video thinking reasoning
    redacted_thinking
""")
HARMLESS_TYPES = (
    TEXT_TYPES
    | MEDIA_TYPES
    | words("""
    summary_text reasoning_content reasoningContent reasoning-file redacted encrypted_content output_audio video_url
    input_video audio_url media image-data image-url file-data file-url audio-url video-url document-url
    computer_screenshot inline_data file_data blob uri binary uploaded-file data search_result resource
    resource_link cache-point cache_point cachePoint guardContent citation citationsContent compaction
    container_upload fallback tool_reference tool_addition tool_removal mcp_tool_listing step-start
    non_standard_annotation text-plain
""")
)
"""Types of parts that are no calls: text, reasoning, media, sources and settings."""
HARMLESS_PREFIXES = ("source-", "data-")
"""Of the Vercel AI SDK's parts with sources, and with data that an interface shows."""
JSON_STARTS = ("{", "[")


def may_hold(value: Any) -> bool:
    """True for an object, a list, and a text that may be one as JSON."""
    return value.__class__ in (dict, list) or (value.__class__ is str and value.lstrip().startswith(JSON_STARTS))


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
