"""Rollouts that began as a copy of another thread's: which lines were copied, and what the counter held before."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.builder.copied_history import mark_copied
from evalgate.adapters.formats.core.fields import dict_or_empty, time_if_valid

SESSION = "session_meta"


def is_second_meta(run: list[Any], line: Any) -> bool:
    """True for the settings of the thread that a run was forked from, or of the run itself, once more."""
    own = _settings(run[0]) if run else {}
    identity = _settings(line).get("id")
    return bool(own) and identity is not None and identity in (own.get("id"), find_origin(own))


def find_origin(settings: dict[str, Any]) -> Any:
    """The id of the thread that a fork or a sub-agent's thread was copied from; None if it is not marked as one."""
    spawn = dict_or_empty(dict_or_empty(dict_or_empty(settings.get("source")).get("subagent")).get("thread_spawn"))
    return settings.get("forked_from_id", spawn.get("parent_thread_id"))


def mark_history(run: list[Any]) -> list[Any]:
    """The lines of a run; in a fork those that are older than it are marked as copied."""
    own = _settings(run[0]) if run else {}
    started = time_if_valid(own.get("timestamp") or dict_or_empty(run[0]).get("timestamp")) if own else None
    if started is None or find_origin(own) is None:
        return run
    return [run[0], *(mark_copied(line) if _is_before(line, started) else line for line in run[1:])]


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
