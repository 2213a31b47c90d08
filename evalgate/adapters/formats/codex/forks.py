"""Rollouts that began as a copy of another thread's: which lines were copied, and what the counter held before."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.builder.copied_history import mark_copied
from evalgate.adapters.formats.core.fields import dict_or_empty, time_if_valid

SESSION = "session_meta"


def is_second_meta(run: list[Any], line: Any) -> bool:
    """True for the settings of the thread that a run was forked from, or of the run itself, once more."""
    own = _settings(run[0]) if run else {}
    other = _settings(line)
    return bool(own) and other.get("id") is not None and not is_another(own, other)


def is_another(own: dict[str, Any], settings: dict[str, Any]) -> bool:
    """Whether settings are those of a run of its own, not once more of this one or of what it was copied from."""
    return settings.get("id") not in (own.get("id"), find_origin(own), own.get("session_id"))


def find_origin(settings: dict[str, Any]) -> Any:
    """The id of the thread that a fork or a sub-agent's thread was copied from; None if it is not marked as one."""
    return settings.get("forked_from_id", find_parent(settings))


def find_parent(settings: dict[str, Any]) -> Any:
    """The id of the thread that started this one as a sub-agent; None for a thread that a user started."""
    return settings.get("parent_thread_id", get_spawn(settings).get("parent_thread_id"))


def get_spawn(settings: dict[str, Any]) -> dict[str, Any]:
    """What the settings of a sub-agent's thread say of how it was started."""
    return dict_or_empty(dict_or_empty(dict_or_empty(settings.get("source")).get("subagent")).get("thread_spawn"))


def mark_history(run: list[Any]) -> list[Any]:
    """The lines of a run; in a fork those that it inherited, or that are older than it, are marked as copied."""
    own = _settings(run[0]) if run else {}
    started = time_if_valid(own.get("timestamp") or dict_or_empty(run[0]).get("timestamp")) if own else None
    if started is None or find_origin(own) is None:
        return run
    inherited = max((number for number, line in enumerate(run) if _is_inherited(line)), default=0)
    return [
        mark_copied(line) if 0 < number <= inherited or (number and _is_before(line, started)) else line
        for number, line in enumerate(run)
    ]


def _is_inherited(line: Any) -> bool:
    """Whether a line says so; Codex gives such lines new times, and says it of items only."""
    return isinstance(line, dict) and dict_or_empty(line.get("metadata")).get("inherited_user_message") is True


def _is_before(line: Any, started: str) -> bool:
    when = time_if_valid(line.get("timestamp")) if isinstance(line, dict) else None
    return when is not None and when < started


def _settings(line: Any) -> dict[str, Any]:
    return dict_or_empty(line.get("payload")) if isinstance(line, dict) and line.get("type") == SESSION else {}


def find_inherited(total: dict[str, Any], last: Any, *, is_fork: bool) -> dict[str, Any] | None:
    """What the counter held before its first own turn: the total without that turn; None if no line shows it.

    Without the turn's own numbers an ordinary rollout's first total is its first turn.
    """
    if isinstance(last, dict):
        return {
            key: number - last.get(key, 0) for key, number in total.items() if _are_counts(number, last.get(key, 0))
        }
    return None if is_fork else {}


def subtract_inherited(total: dict[str, Any], inherited: dict[str, Any]) -> dict[str, Any] | None:
    """The counter without what it inherited; None if it is below that."""
    own = {key: number - inherited.get(key, 0) if type(number) is int else number for key, number in total.items()}
    return None if any(type(number) is int and number < 0 for number in own.values()) else own


def _are_counts(number: Any, other: Any) -> bool:
    return type(number) is int and type(other) is int and number > other >= 0
