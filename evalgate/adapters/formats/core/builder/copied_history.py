"""A session that began as a copy of another: what was copied is context, the run is its own work.

A reader's `split` marks copied lines, so that its `build` keeps their texts and counts neither their calls nor tokens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.run import add_warning

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evalgate.adapters.formats.core.builder.conversation import RawMessage
    from evalgate.models.trace.trace import Trace

COPIED = "evalgate.copied"
MAYBE = "the session is marked as a fork, but nothing shows which of its lines were copied: all of them count"


def mark_copied(line: Any) -> Any:
    """The line, marked as one that another session's record holds too; what is no object stays as it is."""
    return {**line, COPIED: True} if isinstance(line, dict) else line


def unmark(lines: list[Any]) -> list[Any]:
    """The lines of a session that is nothing but copies, and so the only record of them: they are the run."""
    return [{key: value for key, value in line.items() if key != COPIED} if is_copied(line) else line for line in lines]


def is_copied(line: Any) -> bool:
    """Whether the line is marked as copied."""
    return isinstance(line, dict) and line.get(COPIED) is True


def count_copied(lines: Iterable[Any]) -> int:
    """How many lines are marked as copied."""
    return sum(map(is_copied, lines))


def keep_texts(messages: Iterable[RawMessage]) -> list[RawMessage]:
    """Copied messages as context: what was said, without calls, results and reasoning."""
    kept = [message for message in messages if message.content and message.role != "tool"]
    for message in kept:
        message.calls, message.answers, message.reasoning = [], [], None
        message.parts = message.timestamp = None
    return kept


def warn_of_copies(trace: Trace, copied: int, *, may_be_more: bool = False) -> None:
    """Says that copied lines are context, or that none is known although the session is a fork."""
    if copied:
        message = f"{copied:,} lines copied from an earlier session are context: their calls and tokens do not count"
        add_warning(trace, "copied_context", message, "lines")
    elif may_be_more:
        add_warning(trace, "history_may_be_copied", MAYBE, "lines")
