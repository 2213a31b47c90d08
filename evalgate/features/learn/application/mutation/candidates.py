"""Checks that might notice a change: a short list for each kind, to be tried before one is suggested."""

from __future__ import annotations

import re
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.features.learn.application.mutation.skill_changes import find_skill_at
from evalgate.features.learn.application.mutation.source_changes import Argument, take_from_result
from evalgate.features.learn.application.mutation.state_changes import list_changed_paths
from evalgate.features.learn.measures.usable_names import is_usable_name, list_named_tools
from evalgate.measures.redaction.redact import redact, redact_field
from evalgate.measures.values.outputs import ended_in_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evalgate.models.mutation import Mutation
    from evalgate.models.trace.trace import ToolCall, Trace

    Check = dict[str, Any]

MAX_NAME, MAX_TEXT, MAX_ITEMS = 100, 40, 5
"""Longer names and values are not suggested."""
MAX_STEPS = 4
"""Most calls of a tool whose arguments one check expects."""
MAX_CUT_TOOLS = 3
FACTOR = 2
LEAST_SECONDS = 1.0
"""If all runs took less, they were replayed, or depend on the machine: no limit on their time is proposed."""
_GENERATED = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\d{4}-\d\d-\d\d.*|\d{9,}", re.IGNORECASE
)
"""Ids and times that differ in each run."""


class Facts:
    """What the traces that a check must pass have in common."""

    def __init__(self, traces: Sequence[Trace]) -> None:
        self._called = [trace.called for trace in traces]
        self.tools: Sequence[str] = sorted({name for names in self._called for name in names})
        self.errors = max((sum(map(ended_in_error, trace.agent_calls)) for trace in traces), default=0)
        self.usd = [trace.cost["usd"] for trace in traces]
        self.ms = [trace.latency["total_ms"] for trace in traces]
        self.changed = sorted({path for trace in traces for path in list_changed_paths(trace)})
        self._ranges: dict[str, Range] = {}

    def count_calls(self, tool: str) -> Range:
        """The least and the most calls of a tool."""
        found = self._ranges.get(tool)
        if found is None:
            counts = [names.count(tool) for names in self._called]
            found = self._ranges[tool] = Range(min(counts, default=0), max(counts, default=0))
        return found


class Range(NamedTuple):
    """The least and the most of a number."""

    least: int
    most: int


def list_candidates(change: Mutation, trace: Trace, facts: Facts) -> Iterator[Check]:
    """Checks for one change of a trace, the plainest first; none with a name or value that a suite should not have."""
    for check in _propose(change, trace, facts):
        if all(map(_is_plain_name, list_named_tools(check))):
            yield {**check, "required": True}


def _propose(change: Mutation, trace: Trace, facts: Facts) -> Iterator[Check]:
    if change.operator in ("invented_argument", "steered_recipient"):
        yield from _expect_sources(change, trace)
    elif change.operator == "second_record":
        yield {"type": "state_unchanged", **({"except": facts.changed} if facts.changed else {})}
    elif change.operator == "other_skill":
        yield from _expect_skill(change, trace)
    elif change.operator == "failed_run":
        yield {"path": "metadata.status", "eq": "ok"}
    else:
        yield from _propose_behaviour(change, trace, facts)


def _expect_skill(change: Mutation, trace: Trace) -> Iterator[Check]:
    """The skill that was used, or not the other one."""
    skill = find_skill_at(trace, change.at)
    if skill is not None and _is_plain_name(skill):
        yield {"type": "skill_used", "skill": skill}
    if _is_plain_name(change.other):
        yield {"type": "no_skill", "skill": [change.other]}


def _expect_sources(change: Mutation, trace: Trace) -> Iterator[Check]:
    """Where the changed argument came from."""
    target = {"tools": [change.tool], "arguments": [change.other]}
    if change.operator == "invented_argument":
        yield {"type": "grounded_arguments", "tools": [change.tool]}
        yield {"type": "grounded_arguments", **target}
        return
    found = take_from_result(trace, Argument(change.at, change.other))
    if found is not None:
        yield {"type": "no_flow", "from": {"tools": [found.tool]}, "to": target}


def _propose_behaviour(change: Mutation, trace: Trace, facts: Facts) -> Iterator[Check]:
    operator, tool = change.operator, change.tool
    if operator == "swap_calls":
        yield {"not": {"type": "tool_sequence", "sequence": [change.other, tool]}}
        yield {"type": "tool_sequence", "sequence": [tool, change.other]}
    elif operator in ("change_argument", "known_argument"):
        yield from _expect_arguments(trace, change)
    elif operator == "truncated_run":
        yield {"type": "not_empty"}
        for name in list(dict.fromkeys(reversed(trace.called)))[:MAX_CUT_TOOLS]:
            yield from _expect_calls(name, facts)
    elif operator == "ignored_error":
        yield {"type": "max_tool_errors", "max": facts.errors}
    elif operator == "empty_answer":
        yield {"type": "not_empty"}
    elif operator == "refusal":
        yield {"not": {"type": "is_refusal"}}
    elif operator == "triple_cost":
        yield from _limit("cost_limit", "max_usd", facts.usd)
    elif operator == "triple_latency":
        yield from _limit("latency_limit", "max_seconds", [ms and ms / 1000 for ms in facts.ms], least=LEAST_SECONDS)
    else:
        yield from _expect_calls(tool, facts)


def _expect_calls(tool: str, facts: Facts) -> Iterator[Check]:
    """How often a tool is called, as in all traces."""
    least, most = facts.count_calls(tool)
    if not most:
        yield {"type": "forbidden_tools", "tools": [tool]}
        return
    if least:
        yield {"type": "tool_called", "tool": tool}
    if least == most:
        yield {"type": "tool_calls", "tool": tool, "exactly": most}
        return
    yield {"type": "tool_calls", "tool": tool, "max": most}
    if least > 1:
        yield {"type": "tool_calls", "tool": tool, "min": least}
    if least:
        yield {"type": "tool_calls", "tool": tool, "min": least, "max": most}


def forbid_tools(changes: Iterable[Mutation], facts: Facts) -> Iterator[Check]:
    """One check for all destructive tools that no trace calls."""
    names = {each.tool for each in changes if each.operator == "extra_destructive_call"}
    unused = sorted(name for name in names if _is_plain_name(name) and not facts.count_calls(name).most)
    if len(unused) > 1:
        yield {"type": "forbidden_tools", "tools": unused, "required": True}


def allow_tools(facts: Facts) -> Iterator[Check]:
    """The tools that the traces call, and no others."""
    if facts.tools and all(map(_is_plain_name, facts.tools)):
        yield {"type": "allowed_tools", "tools": [*facts.tools], "required": True}


def _limit(kind: str, field: str, amounts: Sequence[float | None], least: float = 0) -> Iterator[Check]:
    """A limit above all amounts; none if all are below `least`, as times that depend on the machine."""
    known = [amount for amount in amounts if amount is not None]
    if known and max(known) >= least:
        limit = float(f"{FACTOR * max(known):.2g}")
        yield {"type": kind, field: int(limit) if limit.is_integer() else limit}


def _expect_arguments(trace: Trace, change: Mutation) -> Iterator[Check]:
    """The arguments of the changed call, the changed one alone, then those of each call of the tool."""
    step = _build_step(trace.tool_calls[change.at])
    if change.other not in step["args"]:
        return
    yield {"type": "tool_sequence", "sequence": [step]}
    if len(step["args"]) > 1:
        only = {change.other: step["args"][change.other]}
        yield {"type": "tool_sequence", "sequence": [{**step, "args": only}]}
    steps = [_build_step(call) for call in trace.agent_calls if call["name"] == change.tool]
    if 1 < len(steps) <= MAX_STEPS:
        yield {
            "type": "tool_sequence",
            "mode": "any_order",
            "sequence": [each if each["args"] else each["tool"] for each in steps],
        }


def _build_step(call: ToolCall) -> Check:
    """A call with those of its arguments that may be expected literally."""
    arguments = call["arguments"] if isinstance(call["arguments"], dict) else {}
    kept = {name: value for name, value in arguments.items() if _is_plain_name(name) and _is_plain(name, value)}
    return {"tool": call["name"], "args": kept}


def _is_plain_name(name: str) -> bool:
    """Whether a check that is printed can name this: it is short, prints, and is no matcher."""
    return 0 < len(name) <= MAX_NAME and name.isprintable() and not name.startswith("$") and is_usable_name(name)


def _is_plain(name: str, value: Any) -> bool:
    """Whether an argument is a short value that is no secret and does not differ in each run."""
    if isinstance(value, list):
        return len(value) <= MAX_ITEMS and not any(
            isinstance(each, list) or not _is_plain(name, each) for each in value
        )
    if isinstance(value, str):
        is_short = len(value) <= MAX_TEXT and value.isprintable() and not _GENERATED.fullmatch(value)
        return is_short and redact(value) == value and redact_field(name, value) == value
    return isinstance(value, bool | int) or (isinstance(value, float) and isfinite(value))
