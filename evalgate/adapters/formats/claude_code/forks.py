"""Sessions of Claude Code that began as a copy of another: by `--fork-session`, `/branch` or `--resume`."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.claude_code import is_claude_line
from evalgate.adapters.formats.core.builder.copied_history import is_copied, mark_copied, unmark


def join_quiet(sessions: list[list[Any]]) -> list[list[Any]]:
    """The sessions of a file; lines of one that says nothing in it, such as its title, are read with the one before."""
    found: list[list[Any]] = []
    for lines in sessions:
        if found and not any(map(is_claude_line, lines)):
            found[-1] += lines
        elif found and not any(map(is_claude_line, found[-1])):
            found[-1] = [*lines, *found[-1]]
        else:
            found.append(lines)
    return found


def join_forks(sessions: list[list[Any]]) -> list[list[Any]]:
    """The sessions of a file; one that goes on from an earlier one begins with its lines, marked as copied.

    A line is copied if it says so (`forkedFrom`), if it stands before an answer that another session requested
    (`requestSessionId`), if an earlier session of the file holds it too, or if it is of the session in which the first
    line of this one has its parent.
    """
    if len(sessions) == 1 and not any(_says_copied(line) or _was_requested_elsewhere(line) for line in sessions[0]):
        return sessions
    found: list[list[Any]] = []
    seen: dict[str, Any] = {}
    for session in sessions:
        inherited = max((number for number, line in enumerate(session) if _was_requested_elsewhere(line)), default=-1)
        own = [
            mark_copied(line) if number <= inherited or _says_copied(line) or _is_known(line, seen) else line
            for number, line in enumerate(session)
        ]
        earlier = next((each for each in reversed(found) if _goes_on_from(session, each)), None)
        if earlier is None:
            found.append(own)
        else:
            found[found.index(earlier)] = [*(mark_copied(line) for line in earlier), *own]
        seen |= {line["uuid"]: line["message"] for line in session if _has_message(line)}
    return [session if any(map(_is_own_message, session)) else unmark(session) for session in found]


def _goes_on_from(session: list[Any], earlier: list[Any]) -> bool:
    """True if the first message of the session names one of the earlier session as its parent."""
    first = next((line for line in session if isinstance(line, dict) and isinstance(line.get("message"), dict)), {})
    parent = first.get("parentUuid")
    return isinstance(parent, str) and any(isinstance(line, dict) and line.get("uuid") == parent for line in earlier)


def _says_copied(line: Any) -> bool:
    return isinstance(line, dict) and isinstance(line.get("forkedFrom"), dict)


def _was_requested_elsewhere(line: Any) -> bool:
    """True for an answer that `--fork-session` copied: its session's id is the new one, that of its request is not."""
    requested = line.get("requestSessionId") if isinstance(line, dict) else None
    return isinstance(requested, str) and requested != line.get("sessionId")


def _is_own_message(line: Any) -> bool:
    return not is_copied(line) and not (isinstance(line, dict) and line.get("message") is None)


def _is_known(line: Any, seen: dict[str, Any]) -> bool:
    return _has_message(line) and seen.get(line["uuid"]) == line["message"]


def _has_message(line: Any) -> bool:
    return isinstance(line, dict) and isinstance(line.get("uuid"), str) and isinstance(line.get("message"), dict)
