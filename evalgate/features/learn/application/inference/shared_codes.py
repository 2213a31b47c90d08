"""Identifiers and numbers that all passing trials give to a tool with an effect: offered as comments, never checked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from evalgate.features.learn.application.inference.contrast import FEW, count_other_values
from evalgate.features.learn.application.inference.suite_text import COMMENT_LIMIT
from evalgate.features.learn.measures.usable_names import is_usable_name
from evalgate.measures.redaction.redact import redact_field, redact_value
from evalgate.measures.text.tool_words import has_effect
from evalgate.reporting.text.flow_style import format_value
from evalgate.reporting.text.wording import pluralize

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalgate.models.trace.trace import Trace

MAX_OFFERS = 3
_CODE = re.compile(r"[#A-Z0-9][A-Z0-9_-]{1,39}")
"""A code has no lower case, which names and texts of persons have."""


def offer_codes(trials: Sequence[Trace], failed: Sequence[Trace]) -> Iterator[str]:
    """Comments with checks that the author may add: whether another run may use another code, traces don't show.

    Several trials must agree, or several failed ones have others.
    """
    found = [
        text
        for tool in sorted(set.intersection(*(set(trace.called) for trace in trials)))
        if has_effect(tool) and is_usable_name(tool) and (text := _offer(tool, trials, failed))
    ]
    if found:
        yield "not checked, since another run may use another code or number; remove the # if none may:"
        yield from found[:MAX_OFFERS]


def _offer(tool: str, trials: Sequence[Trace], failed: Sequence[Trace]) -> str | None:
    calls = [[call["arguments"] for call in trace.agent_calls if call["name"] == tool] for trace in trials]
    if any(len(each) != 1 or not isinstance(each[0], dict) for each in calls):
        return None
    shared = {name: value for name, value in sorted(calls[0][0].items()) if _is_shared(name, value, calls)}
    others = {name: count_other_values(tool, failed, name, value) for name, value in shared.items()}
    chosen = {name: value for name, value in shared.items() if len(trials) >= FEW or others[name] >= FEW}
    if not chosen:
        return None
    entry = {"type": "tool_sequence", "sequence": [{"tool": tool, "args": chosen}], "required": True}
    counts = sorted({others[name] for name in chosen})
    reason = f", another in {counts[-1]} of {pluralize(len(failed), 'failed trial')}" if counts[-1] else ""
    text = f"- {format_value(entry)}  # in all {len(trials)}{reason}"
    return text if len(text) < COMMENT_LIMIT and redact_value(entry) == entry else None


def _is_shared(name: str, value: Any, calls: Sequence[Sequence[Mapping[str, Any]]]) -> bool:
    is_code = _CODE.fullmatch(value) is not None if isinstance(value, str) else type(value) in (int, float)
    is_open = redact_field(name, "x") == "x" and not name.startswith("$")
    return is_code and is_open and all(each[0].get(name) == value for each in calls)
