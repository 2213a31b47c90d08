"""Calls that a script of the model made: those that its output lists, and the tools that its text names.

A rollout need not record what a script ran: commands that it starts have neither an item nor, by default, an event.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from evalgate.adapters.formats.codex.started_agents import as_text
from evalgate.adapters.formats.core.builder.conversation import ToolRequest
from evalgate.adapters.formats.core.builder.evidence_gaps import shorten
from evalgate.adapters.formats.core.fields import dict_or_empty

if TYPE_CHECKING:
    from collections.abc import Collection

SCRIPT = "exec"
"""The tool of Codex that runs a script of the model, which calls tools."""
PASSED = "internal_chat_message_metadata_passthrough"
CUT = "_codex_executed_tool_call_truncated"
NAMED = re.compile(r"\btools\s*\.\s*([A-Za-z_]\w*)")
UNNAMED = re.compile(r"\btools\s*\[|[=(,.]\s*tools\b(?!\s*\.)")
"""Where a script takes a tool without its name, or all of them."""
NOT_LISTED = "a script of the model calls {}, and no such call is recorded"


class Scripts(Struct):
    """The scripts of a rollout by the ids of their calls, and whether all calls of each are listed."""

    texts: dict[str, str] = field(default_factory=dict)
    cells: dict[str, str] = field(default_factory=dict)
    complete: set[str] = field(default_factory=set)
    """The cells, which are shared by the outputs of a script, of which all calls are listed."""
    ran: Counter[str] = field(default_factory=Counter)
    """How many executions, known from events, of each tool no output has listed yet."""

    def note(self, item: dict[str, Any]) -> None:
        """Notes a script, or what an output says of the calls of one."""
        call_id, text = item.get("call_id"), item.get("input")
        if not isinstance(call_id, str):
            return
        if item.get("name") == SCRIPT and isinstance(text, str):
            self.texts[call_id] = text
        about = dict_or_empty(item.get(PASSED))
        cell = as_text(about.get("cell_id")) or call_id
        if call_id in self.texts:
            self.cells[call_id] = cell
        if about.get("tool_calls_complete") is True:
            self.complete.add(cell)

    def list_calls(self, item: dict[str, Any], asked: str | None) -> list[ToolRequest]:
        """The calls that an output lists, without its own, of the tool `asked`, and those known from events."""
        listed = dict_or_empty(item.get(PASSED)).get("executed_tool_calls")
        found = []
        for each in listed if isinstance(listed, list) else []:
            name = dict_or_empty(each).get("name")
            if not isinstance(name, str) or name in ("", asked):
                continue
            if self.ran[name]:
                self.ran[name] -= 1
            else:
                found.append(ToolRequest(None, name, _read_arguments(each.get("arguments"))))
        return found

    def find_unlisted(self, names: Collection[str]) -> str | None:
        """Why calls of scripts may be missing among calls of these names; None if nothing says so."""
        open_ones = [text for call, text in self.texts.items() if self.cells.get(call, call) not in self.complete]
        for text in open_ones:
            missing = next((name for name in NAMED.findall(text) if name not in names), None)
            if missing is not None:
                return NOT_LISTED.format(f"`{shorten(missing)}`")
            if UNNAMED.search(text):
                return NOT_LISTED.format("tools whose names it does not say")
        return None


def _read_arguments(value: Any) -> Any:
    """The arguments; unknown if they were too long to be kept."""
    if isinstance(value, dict) and CUT in value:
        return None
    return value if isinstance(value, dict | str) else None
