"""Facts about a trace's conversation that are known before its messages are built."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Glance(NamedTuple):
    """All that most assertions need of a conversation; `read` builds the rest on demand.

    The reader has checked that the conversation is valid, that every call is the agent's and has a result,
    and that every result has a call.
    """

    called: list[str]
    """Names of the calls, in order."""
    messages: int
    turns: int
    response: Any
    """The final answer, a models.trace.trace.Response."""
    instructions: str | None
    """The text of the first system message."""
    read: Callable[[], tuple[list[Any], list[Any]]]
    """Builds the messages and the tool calls, see models.trace.trace."""
    recorded: Sequence[Any]
    """The messages as recorded, from which `read` builds canonical ones."""
    opening: str | None = None
    """The text of the first user message."""
