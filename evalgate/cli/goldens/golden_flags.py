"""The flags for the fields of a golden, shared by `goldens add` and `goldens update`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator


class _FieldFlag(NamedTuple):
    flag: str
    field: str
    metavar: str
    meaning: str
    is_list: bool = False


FIELDS = (
    _FieldFlag("--title", "title", "TEXT", "a short title"),
    _FieldFlag("--description", "description", "TEXT", "a longer description"),
    _FieldFlag("--conversation-id", "conversation_id", "ID", "the conversation it was taken from"),
    _FieldFlag("--intent", "intent", "WORD", "what the user wants, such as task_execution"),
    _FieldFlag("--stance", "primary_stance", "WORD", "the attitude that the agent should show, such as helpful"),
    _FieldFlag("--second-stance", "secondary_stances", "WORD", "another stance of the agent", is_list=True),
    _FieldFlag("--memory", "required_memory_recall", "WORD", "what the agent must remember", is_list=True),
    _FieldFlag("--tool", "required_tool_usage", "WORD", "which tools must be called, or how", is_list=True),
    _FieldFlag("--refusal", "required_refusal", "WORD", "what must be refused or allowed", is_list=True),
    _FieldFlag("--user", "user_messages", "TEXT", "the user's message, one per turn", is_list=True),
    _FieldFlag("--response", "golden_responses", "TEXT", "the agent's expected answer, one per turn", is_list=True),
    _FieldFlag("--tag", "tags", "WORD", "a tag", is_list=True),
    _FieldFlag("--creator", "creator", "NAME", "who wrote it"),
)


def add_fields(parser: argparse.ArgumentParser) -> None:
    """Adds a flag for each field; a flag of a list field may be repeated."""
    group = parser.add_argument_group("fields", "a flag marked + may be repeated")
    for each in FIELDS:
        words = f"{each.meaning} +" if each.is_list else each.meaning
        action = "append" if each.is_list else "store"
        group.add_argument(each.flag, dest=each.field, metavar=each.metavar, action=action, help=words)


def collect_fields(arguments: argparse.Namespace) -> dict[str, Any]:
    """The fields whose flags were given."""
    return dict(_iter_fields(arguments))


def _iter_fields(arguments: argparse.Namespace) -> Iterator[tuple[str, Any]]:
    for each in FIELDS:
        value = getattr(arguments, each.field)
        if value is not None:
            yield (
                each.field,
                [replace_invalid_bytes(text) for text in value] if each.is_list else replace_invalid_bytes(value),
            )


def replace_invalid_bytes(text: str) -> str:
    """The text of an argument with bytes that are not UTF-8 replaced."""
    return text.encode("utf-8", "replace").decode()
