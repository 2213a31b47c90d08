"""Finds what lines of Claude Code name and do not hold: calls that ran, agents, what was before the first line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.copied_history import is_copied
from evalgate.adapters.formats.core.builder.evidence_gaps import shorten
from evalgate.adapters.formats.core.fields import count, mapping, text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet

TASKS = ("task_started", "task_progress", "task_notification")
"""Subtypes of lines about what runs beside the main agent: a command in the background, or an agent."""
AGENTS, WORKFLOWS = ("agent", "teammate"), "workflow"
"""Words in the type of a task that is an agent's, and of one whose agents have files of their own."""
CUT = "the first message follows `{}`, which is not in the file: record the session from its start"
COMPACTED = "the file begins with a summary of what was before: record the session from its start"
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
