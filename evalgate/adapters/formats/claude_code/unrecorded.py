"""Finds what lines of Claude Code name and do not hold: calls that ran, agents, what was before the first line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.copied_history import is_copied
from evalgate.adapters.formats.core.builder.evidence_gaps import shorten
from evalgate.adapters.formats.core.fields import count, dict_or_empty, mapping, text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet

TASKS = ("task_started", "task_progress", "task_notification")
"""Subtypes of lines about what runs beside the main agent: a command in the background, or an agent."""
AGENTS, WORKFLOWS = ("agent", "teammate"), "workflow"
"""Words in the type of a task that is an agent's, and of one whose agents have files of their own."""
CUT = "the first message follows `{}`, which is not in the file: record the session from its start"
COMPACTED = "the file begins with a summary of what was before: record the session from its start"
TURNS = "its results count {} turns and the lines hold {}: record all lines of the session"
MISSING_TEXT = "its result has a text that no message has: record all lines of the session"
OF_CALLS = "ToolUse"
"""In the name of a hook's event: it ran because of a call."""
UNRECORDED = "a line reports on `{}`, whose call is not recorded: record all lines of the session"


def read_uses(line: dict[str, Any]) -> int | None:
    """How many tools a task called so far, where its lines count them."""
    usage = mapping(line.get("usage"), "usage")
    return count(usage.get("tool_uses"), "usage.tool_uses")


def is_agents(line: dict[str, Any]) -> bool:
    """Whether a task is that of an agent: by its type, or since it called tools."""
    kind = text(line.get("task_type"), "task_type") or ""
    return WORKFLOWS not in kind and (any(word in kind for word in AGENTS) or bool(read_uses(line)))


def find_unrecorded(reported: Mapping[str, str], known: AbstractSet[str]) -> str | None:
    """The first call that lines report on and that is none of the known ones, as a sentence."""
    found = next((shown for call_id, shown in reported.items() if call_id not in known), None)
    return None if found is None else UNRECORDED.format(shorten(found))


def find_cut_head(lines: Sequence[Any]) -> str | None:
    """Why what was before the first message is missing, as a sentence; None in a stream, and where that was copied."""
    for line in lines:
        if not isinstance(line, dict) or "parentUuid" not in line:
            continue
        if is_copied(line) or line.get("isSidechain") is True:
            return None
        if line.get("subtype") == "compact_boundary" or line.get("isCompactSummary") is True:
            return COMPACTED
        if isinstance(line.get("message"), dict):
            parent = text(line["parentUuid"], "parentUuid")
            is_here = any(isinstance(each, dict) and each.get("uuid") == parent for each in lines)
            return CUT.format(shorten(parent)) if parent and not is_here else None
    return None


def find_hooked(line: dict[str, Any]) -> dict[str, Any]:
    """The call that a line of a session file reports on, while it runs or about its hook; empty without one."""
    about = dict_or_empty(line.get("data") or line.get("attachment"))
    event = about.get("hookEvent")
    is_calls = OF_CALLS in event if isinstance(event, str) else line.get("type") == "progress"
    call_id = line.get("parentToolUseID", about.get("toolUseID"))
    return {"tool_use_id": call_id, "name": about.get("hookName")} if is_calls and call_id else {}


def find_missing_turns(lines: Sequence[Any], results: Sequence[dict[str, Any]], version: Any) -> str | None:
    """Why turns are missing that the result lines count, as a sentence.

    A result counts one turn, and one for each message with results of calls; before it wrote its version, Claude Code
    counted otherwise, and a compaction adds messages of its own.
    """
    counted = sum(count(result.get("num_turns"), "num_turns") or 0 for result in results)
    if version is None or any(isinstance(line, dict) and line.get("subtype") == "compact_boundary" for line in lines):
        return None
    own = [line for line in lines if isinstance(line, dict) and line.get("parent_tool_use_id") is None]
    answers = sum(line.get("type") == "user" for line in own)
    uses = sum(map(_count_uses, own))
    here = len(results) + max(answers, uses)
    return TURNS.format(counted, here) if counted > here else None


def find_missing_text(lines: Sequence[Any], results: Sequence[dict[str, Any]]) -> str | None:
    """Why a message is missing whose text is that of a result, as a sentence."""
    written = [words for line in lines if (words := _read_words(line)) is not None]
    shown = "\n".join(written)
    answers = [each for each in results if each.get("is_error") is not True and each.get("structured_output") is None]
    texts = [answer.get("result") for answer in answers]
    is_missing = any(isinstance(each, str) and each.strip() not in shown for each in texts)
    return MISSING_TEXT if written and is_missing else None


def _list_blocks(line: Any) -> list[dict[str, Any]]:
    """The blocks of an answer of the model."""
    message = dict_or_empty(line.get("message")) if isinstance(line, dict) and line.get("type") == "assistant" else {}
    content = message.get("content")
    given = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return [block for block in given if isinstance(block, dict)] if isinstance(given, list) else []


def _count_uses(line: dict[str, Any]) -> int:
    return sum(block.get("type") == "tool_use" for block in _list_blocks(line))


def _read_words(line: Any) -> str | None:
    """The texts of an answer; None for any other line."""
    blocks = _list_blocks(line)
    return "".join(words for block in blocks if isinstance(words := block.get("text"), str)) if blocks else None
