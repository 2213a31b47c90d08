"""Rollouts of Codex's sub-agents, which lie beside that of the session, and how each is joined into it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.codex.forks import SESSION, find_parent, is_another, mark_history
from evalgate.adapters.formats.core.builder.copied_history import is_copied, mark_copied
from evalgate.adapters.formats.core.fields import dict_or_empty
from evalgate.adapters.formats.core.format import BesideRule, PartFolder, RunOfFile

if TYPE_CHECKING:
    from collections.abc import Sequence

PREFIX, LINES = "rollout-", ".jsonl"
THREAD = "evalgate.thread"
"""The field of a joined line that names the sub-agent's thread."""


def describe(documents: Sequence[Any]) -> RunOfFile:
    """The thread of a rollout, or of a sub-agent's its parent and session; none for a file of several threads."""
    settings = list_settings(documents)
    if not settings:
        return RunOfFile()
    own = settings[0]
    identity, parent = own.get("id"), find_parent(own)
    if not isinstance(identity, str) or any(is_another(own, each) for each in settings[1:]):
        return RunOfFile()
    if parent is None:
        return RunOfFile((identity,), identity, is_whole=True)
    return RunOfFile([each for each in (parent, own.get("session_id")) if isinstance(each, str)], identity)


def list_settings(documents: Sequence[Any]) -> list[dict[str, Any]]:
    """The settings of threads that lines hold."""
    lines = (line for line in documents if isinstance(line, dict) and line.get("type") == SESSION)
    return [dict_or_empty(line.get("payload")) for line in lines]


def list_folders(folder: str, stem: str, runs: Sequence[str]) -> list[PartFolder]:
    """Sub-agents write into the folder of the day, as their session does."""
    del stem, runs
    return [PartFolder(folder)]


def find_outer(folder: str) -> str:
    """The folder of the session's file, for the folder of a sub-agent's."""
    return folder


def is_rollout(name: str) -> bool:
    """Whether a file has the name of a rollout."""
    return name.startswith(PREFIX) and name.endswith(LINES)


def join(documents: Sequence[Any], files: Sequence[tuple[str, list[Any]]]) -> list[Any]:
    """The lines of a session and of its sub-agents, each with its thread, what they inherited marked as copied."""
    found = list(documents)
    known = {key for line in documents if (key := _find_key(line))}
    for _, lines in files:
        settings = list_settings(lines)
        thread = settings[0].get("id")
        marked = mark_history(lines)
        if len(settings) > 1:  # a copy of its parent's lines follows its own settings
            marked = [mark_copied(line) if _find_key(line) in known else line for line in marked]
        known.update(key for line in marked if not is_copied(line) and (key := _find_key(line)))
        found += [{**line, THREAD: thread} if isinstance(line, dict) else line for line in marked]
    return found


def _find_key(line: Any) -> tuple[str, str] | None:
    """What is the same in an item and its copies; None for what has no id."""
    payload = dict_or_empty(line.get("payload")) if isinstance(line, dict) else {}
    item = dict_or_empty(payload.get("item"))
    kind, about = (f"{payload.get('type')} {item.get('type')}", item) if item else (payload.get("type"), payload)
    identity = about.get("call_id") or about.get("callId") or about.get("id")
    return (kind, identity) if isinstance(kind, str) and isinstance(identity, str) else None


def group_threads(lines: Sequence[Any]) -> dict[str | None, list[Any]]:
    """The lines of each sub-agent by its thread, under None those of the session itself."""
    found: dict[str | None, list[Any]] = {None: []}
    for line in lines:
        thread = line.get(THREAD) if isinstance(line, dict) else None
        found.setdefault(thread if isinstance(thread, str) else None, []).append(line)
    return found


BESIDE = BesideRule(
    prefix=PREFIX,
    head_lines=1,
    is_part=is_rollout,
    describe=describe,
    list_folders=list_folders,
    find_outer=find_outer,
    join=join,
)
