"""LangGraph: the state of a graph, its history, and checkpoints. Entry points: `LANGGRAPH`, `reader`."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.format import MAX_MESSAGES, Format, claim_one_or_list

CHECKPOINT_VALUES, STATE_VALUES = "channel_values", "values"


def is_langgraph(value: Any) -> bool:
    """True for a state or checkpoint with messages, and for the history of one thread."""
    if isinstance(value, list):
        return is_history(value)
    return isinstance(value, dict) and get_state(value) is not None


def get_state(document: dict[str, Any]) -> tuple[dict[str, Any], str] | None:
    """The object that holds the channels, and the key of the channels; None if it is no state."""
    for holder in (document, document.get("checkpoint")):
        if not isinstance(holder, dict):
            continue
        for key in (CHECKPOINT_VALUES, STATE_VALUES):
            values = holder.get(key)
            messages = values.get("messages") if isinstance(values, dict) else None
            if isinstance(messages, list) and (key == CHECKPOINT_VALUES or _are_messages(messages)):
                return holder, key
    return None


def get_thread(document: dict[str, Any]) -> str | None:
    """The id of the thread that a state belongs to."""
    for key in ("config", "checkpoint"):
        place = document.get(key)
        inner = place.get("configurable", place) if isinstance(place, dict) else None
        found = inner.get("thread_id") if isinstance(inner, dict) else None
        if isinstance(found, str) and found:
            return found
    return None


def is_history(value: list[Any]) -> bool:
    """True for several states of one thread."""
    if len(value) < 2 or not all(isinstance(one, dict) and get_state(one) is not None for one in value):  # noqa: PLR2004
        return False
    threads = {get_thread(one) for one in value}
    return len(threads) == 1 and None not in threads


def _are_messages(messages: list[Any]) -> bool:
    found = [message for message in messages[:MAX_MESSAGES] if isinstance(message, dict)]
    return len(found) == len(messages[:MAX_MESSAGES]) and all(
        not {"role", "type", "kwargs"}.isdisjoint(message) for message in found
    )


LANGGRAPH = Format(
    name="langgraph",
    needs="a state with `values.messages`, or a checkpoint with `channel_values.messages`",
    claims=claim_one_or_list(is_langgraph),
    module="langgraph.reader",
)
