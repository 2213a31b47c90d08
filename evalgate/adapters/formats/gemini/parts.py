"""Reads one content of Gemini and lists its parts that are not known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.fields import dict_or_empty, listing, mapping, prefix_errors, required_text
from evalgate.adapters.formats.messages import gemini

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.adapters.formats.core.builder.raw_message import RawMessage
    from evalgate.adapters.formats.core.builder.unknown_parts import UnknownParts

CONTENT_FIELDS = frozenset({"role", "parts"})
DATA = ("text", "function_call", "function_response", "executable_code", "code_execution_result")
MEDIA = ("inline_data", "file_data")
TOOLS_OF_GOOGLE = {"tool_call": ("function_call", "args"), "tool_response": ("function_response", "response")}
"""Calls that Google runs have a type of tool in place of a name."""
ABOUT_A_PART = frozenset(
    {
        *("thought", "thought_signature", "video_metadata", "media_resolution", "part_metadata"),
        *("audio_transcription", "media_processing", "speech_metadata", "document_metadata"),
        *("spreadsheet_metadata", "audio_metadata"),
    }
)
PART_FIELDS = ABOUT_A_PART.union(DATA, MEDIA, TOOLS_OF_GOOGLE)


def to_snake_case(key: str) -> str:
    """The key as the Python package spells it.

    >>> to_snake_case("usageMetadata")
    'usage_metadata'
    """
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in key)


def plain_keys(value: dict[str, Any]) -> dict[str, Any]:
    """An object with keys in snake case and without fields that are None."""
    return {to_snake_case(key): inner for key, inner in value.items() if inner is not None}


def read_content(recorded: dict[str, Any], unknown: UnknownParts, path: str) -> list[RawMessage]:
    """One content, as several messages if it holds results; errors are relative to the content."""
    unknown.check_fields(recorded, CONTENT_FIELDS, path)
    parts: list[dict[str, Any]] = []
    for number, value in enumerate(listing(recorded.get("parts"), "parts")):
        place = f"parts[{number}]"
        with prefix_errors(place):
            part = plain_keys(mapping(value, ""))
            unknown.check_fields(part, PART_FIELDS, f"{path}.{place}")
            _check_call(part, unknown, f"{path}.{place}")
            parts += _split_part(part)
    return gemini.read_message({"role": recorded.get("role"), "parts": parts})


def _check_call(part: dict[str, Any], unknown: UnknownParts, path: str) -> None:
    """Notes arguments that were recorded in pieces, which are not put together."""
    call = plain_keys(dict_or_empty(part.get("function_call")))
    if call.get("partial_args"):
        unknown.add(path, "function_call.partial_args")


def _split_part(part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """One part for each value in it: recorders put several into one."""
    about = {key: part[key] for key in ("thought",) if key in part}
    for kind in (*DATA, *MEDIA):
        if kind in part:
            yield {kind: part[kind], **about}
    for kind, (read_as, field) in TOOLS_OF_GOOGLE.items():
        if kind in part:
            found = plain_keys(mapping(part[kind], kind))
            name = required_text(found.get("tool_type"), f"{kind}.tool_type").lower()
            yield {read_as: {"id": found.get("id"), "name": name, field: found.get(field)}}
