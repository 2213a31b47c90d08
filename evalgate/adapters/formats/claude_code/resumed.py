"""Sessions of Claude Code that `--resume` wrote into a file of their own: it begins with another one's lines.

Earlier versions gave these lines the new session's id, and nothing else in them says that they were copied.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.copied_history import mark_copied

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def find_first_message(lines: Iterable[Any]) -> str | None:
    """The id of the first message, which a copy of the session has too."""
    return next((line["uuid"] for line in lines if is_message(line)), None)


def is_message(line: Any) -> bool:
    """Whether a line is a message with an id."""
    return isinstance(line, dict) and isinstance(line.get("uuid"), str) and isinstance(line.get("message"), dict)


def mark_copies(lines: Sequence[Any], others: Iterable[Sequence[Any]]) -> list[Any]:
    """The lines of a session; those that it has from an earlier one of the others are marked as copied."""
    copied = {uuid for other in others for uuid in _find_copied(lines, other)}
    return [mark_copied(line) if is_message(line) and line["uuid"] in copied else line for line in lines]


def _find_copied(lines: Sequence[Any], other: Sequence[Any]) -> set[str]:
    """The ids of messages that both sessions hold, if the other is the earlier: it parted first, or holds no others.

    So of two that hold the same messages exactly one counts them.
    """
    own_lines, other_lines = ({line["uuid"]: line for line in each if is_message(line)} for each in (lines, other))
    shared = {uuid for uuid, line in own_lines.items() if uuid in other_lines and _is_copy(line, other_lines[uuid])}
    own, beyond = (_find_parting(each, shared) for each in (own_lines, other_lines))
    return shared if own is not None and (beyond is None or beyond < own) else set()


def _is_copy(line: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two lines are one message in two sessions."""
    return line["message"] == other["message"] and line.get("sessionId") != other.get("sessionId")


def _find_parting(messages: dict[str, Any], shared: set[str]) -> tuple[str, str] | None:
    """Time and id of the first message that only this session holds; None if there is none."""
    found = ((str(line.get("timestamp")), uuid) for uuid, line in messages.items() if uuid not in shared)
    return next(found, None)
