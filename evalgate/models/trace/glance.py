"""What one look at a recording tells of its conversation, before any message of it is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Glance(NamedTuple):
    """Most checks ask no more of a conversation than this; `read` makes the rest when something does.

    Whoever glances has seen that nothing in the conversation is wrong, that every call is the agent's own and
    has its result, and that every result has its call.
    """

    called: list[str]
    """Names of the calls, in order."""
    messages: int
    turns: int
    response: Any
    """The final answer, a models.trace.trace.Response."""
    instructions: str | None
    """What the system said first."""
    read: Callable[[], tuple[list[Any], list[Any]]]
    """The messages and the tool calls, see models.trace.trace."""
    recorded: Sequence[Any]
    """The messages as they were recorded, out of which `read` makes its own."""
    opening: str | None = None
    """What the user said first."""
