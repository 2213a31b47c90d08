"""Files in which sub-agents of Claude Code write: in a folder beside the session, before 2.1.2 next to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.claude_code import find_session_id, list_claude_lines
from evalgate.adapters.formats.claude_code.resumed import find_first_message, mark_copies
from evalgate.adapters.formats.core.format import BesideRule, PartFolder, RunOfFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PREFIX, LINES, META = "agent-", ".jsonl", ".meta.json"
FOLDER, WORKFLOWS = "subagents", "workflows"
"""The agents of a workflow write into `subagents/workflows/RUN`."""
JOURNAL = "journal.jsonl"
"""Which agents a workflow started, and what each returned to its script."""
WORKFLOW = "evalgate.workflow"
"""The field of an agent's description that names the run of its workflow."""
META_LINE = "evalgate.agent"
"""The type of the line that a sub-agent's description becomes."""
MOST_SESSIONS = 8
"""Sessions of one file that have sub-agents beside it."""
SPOKEN = ("user", "assistant")
"""Types of lines that a sub-agent's file adds: its other lines are about that run, not about the session."""


def find_sessions(documents: Iterable[Any]) -> list[str]:
    """The ids of the sessions that lines belong to, each once."""
    lines = (line for document in documents for line in list_claude_lines(document))
    return list(dict.fromkeys(filter(None, map(find_session_id, lines))))


def describe(documents: Sequence[Any]) -> RunOfFile:
    """The sessions that lines belong to."""
    return RunOfFile(find_sessions(documents)[:MOST_SESSIONS], start=find_first_message(documents))


def list_folders(folder: str, stem: str, sessions: Sequence[str]) -> list[PartFolder]:
    """Folders in which the sub-agents of a session's file write; they may also write in the same one."""
    names = dict.fromkeys([stem, *sessions])
    below = [f"{folder}/{name}/{FOLDER}" for name in names if "/" not in name and name not in (".", "..")]
    return [PartFolder(folder), *(PartFolder(path, is_of_run=True) for path in below)]


def find_outer(folder: str) -> str:
    """The folder of the session's file, for the folder of a sub-agent's."""
    session, found, _ = f"{folder}/".rpartition(f"/{FOLDER}/")
    return session.rpartition("/")[0] if found else folder


def is_sub_agent(name: str) -> bool:
    """Whether a file has the name of a sub-agent's, or of the description of one."""
    return name.startswith(PREFIX) and name.endswith((LINES, META))


def join(documents: Sequence[Any], files: Sequence[tuple[str, list[Any]]]) -> list[Any]:
    """The lines of a session and of its sub-agents, each by the path of its file."""
    sessions = find_sessions(documents)
    found = list(documents)
    for path, lines in files:
        folder, _, name = path.rpartition("/")
        if name == JOURNAL:
            continue
        own = next((session for session in find_sessions(lines) if session in sessions), sessions[0])
        agent = name.removeprefix(PREFIX).removesuffix(META).removesuffix(LINES)
        marks = {"sessionId": own, "agentId": agent}
        if f"/{FOLDER}/{WORKFLOWS}/" in folder:
            found.append({**marks, "type": META_LINE, WORKFLOW: folder.rpartition("/")[2]})
        if name.endswith(META):
            found += [{**marks, **_without_session(one), "type": META_LINE} for one in lines if isinstance(one, dict)]
        else:
            found += [{**_without_session(one), **marks, "isSidechain": True} for one in lines if _is_spoken(one)]
    return found


def _without_session(line: dict[str, Any]) -> dict[str, Any]:
    """A line without the field of streams that names its session, and those that say which agent it is of."""
    return {key: value for key, value in line.items() if key not in ("session_id", "sessionId", "agentId")}


def _is_spoken(line: Any) -> bool:
    return isinstance(line, dict) and (line.get("type") in SPOKEN or isinstance(line.get("message"), dict))


BESIDE = BesideRule(
    prefix=PREFIX,
    head_lines=20,
    is_part=is_sub_agent,
    describe=describe,
    list_folders=list_folders,
    find_outer=find_outer,
    join=join,
    mark_copies=mark_copies,
    journal=JOURNAL,
)
