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
