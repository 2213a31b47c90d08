"""Merges tool calls requested in messages with the spans that executed them, each call once."""

from __future__ import annotations

from collections import defaultdict, deque
from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.build.call_identity import key_as_recorded, key_of
from evalgate.adapters.formats.core.build.conversation import BLANK_CALL
from evalgate.adapters.formats.core.build.raw_message import converse, written
from evalgate.adapters.formats.core.call_arguments import read_arguments
from evalgate.adapters.formats.spans.aggregate import duration_ms
from evalgate.adapters.formats.spans.span_clock import rfc3339
from evalgate.adapters.formats.spans.tree import UNKNOWN
from evalgate.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalgate.adapters.formats.core.build.call_identity import Key
    from evalgate.adapters.formats.core.build.conversation import Conversation
    from evalgate.adapters.formats.core.build.raw_message import RawMessage, ToolRequest
    from evalgate.adapters.formats.spans.aggregate import ModelCall
    from evalgate.adapters.formats.spans.timeline import Timeline
    from evalgate.adapters.formats.spans.tree import Node
    from evalgate.models.trace.trace import ToolCall

Place = tuple[str, str] | tuple[str, str, str] | tuple[str, None] | str
"""Key of a queue of unmatched calls: name and arguments, id and name, name only, or id only."""


@dataclass(slots=True, eq=False)
class SpanToolCall:
    """A tool call being merged; `asked_by` is the model call that requested it, `node` its execution span."""

    call: ToolCall
    is_main: bool  # it is part of the conversation
    asked_by: ModelCall | None = None
    node: Node | None = None
    is_claimed: bool = False


def tool_calls(
    conversation: Conversation, calls: Sequence[ModelCall], tools: Sequence[Node], timeline: Timeline
) -> list[ToolCall]:
    """Merges calls of the conversation, of sub-agents and of spans, each once and in time order."""
    known = conversation.calls
    merging = _Merging([SpanToolCall(call, True, timeline.spoken_by.get(call["step"])) for call in known])
    merging.add_asked(calls)
    merging.add_run(tools)
    entries = merging.entries
    for entry in entries:
        if entry.asked_by is None and entry.node is not None and not entry.is_main:
            entry.asked_by = timeline.call_before(entry.node)
    alone = [one.node for one in entries if one.asked_by is None and not one.is_main]
    timeline.number([node for node in alone if node is not None], _times(entries))
    return _numbered(entries, timeline)


def _times(entries: list[SpanToolCall]) -> dict[int, int]:
    """When the first tool of each of the conversation's responses began."""
    found: dict[int, int] = {}
    for entry in entries:
        if entry.is_main and entry.node is not None and entry.node.start != UNKNOWN:
            step = entry.call["step"]
            found[step] = min(found.get(step, UNKNOWN), entry.node.start)
    return found


class _Merging:
    """The tool calls found so far, looked up by id, else by name and arguments in call order."""

    def __init__(self, entries: list[SpanToolCall]) -> None:
        self.entries: list[SpanToolCall] = []
        self._ids: set[str] = set()
        self._same: dict[tuple[str, Key], SpanToolCall] = {}
        self._unasked: dict[Place, deque[SpanToolCall]] = defaultdict(deque)
        self._unrun: dict[Place, deque[SpanToolCall]] = defaultdict(deque)
        for entry in entries:
            self._add(entry)

    def add_asked(self, calls: Sequence[ModelCall]) -> None:
        """Adds the calls requested in model outputs; most are already in the conversation."""
        answers = _Answers(calls)
        for call in calls:
            for said in call.told("output") or []:
                for asked in said.calls:
                    self._add_one_asked(call, asked, said, answers)

    def _add_one_asked(
        self, call: ModelCall, asked: ToolRequest, said: RawMessage, answers: _Answers
    ) -> None:
        known = self._asked_before(call, asked)
        if known is not None:
            known.is_claimed = True
            known.asked_by = known.asked_by or call
            return
        blank = _blank(asked.name, asked.id, asked.arguments, said.agent or _agent_of(call.best))
        blank["started_at"] = said.timestamp
        answers.fill(call, blank)
        self._add(SpanToolCall(blank, False, asked_by=call, is_claimed=True))

    def _asked_before(self, call: ModelCall, asked: ToolRequest) -> SpanToolCall | None:
        key = key_as_recorded(asked.name, asked.arguments)
        if asked.id is not None:
            fresh = _next_unasked(self._unasked.get((asked.id, asked.name, "id")))
            known = fresh or self._same.get((asked.id, key))
            if known is not None:
                return known
        waiting = self._unasked.get(key)
        _next_unasked(waiting)
        return next((one for one in waiting or () if _may_be(one, call)), None)

    def add_run(self, tools: Sequence[Node]) -> None:
        """Adds execution spans: each completes a known call, or becomes a call that no message contains."""
        ids = {node.facts.tool_call_id for node in tools if node.facts.tool_call_id is not None}
        strange = [node for node in tools if not self._found(node, self._asked_for(node), ids)]
        for node in strange:
            by_name = None if node.facts.tool_call_id in self._ids else (_name_of(node), None)
            if by_name is None or not self._found(node, self._unrun.get(by_name), ids, of_owner=True):
                entry = SpanToolCall(_blank_run(node), False, node=node)
                self.entries.append(entry)
                _run(entry.call, node)

    def _asked_for(self, node: Node) -> deque[SpanToolCall] | None:
        """The calls a span may execute: those of its id, else of its name and arguments, or of its name."""
        facts = node.facts
        if facts.tool_call_id in self._ids:
            return self._unrun.get(facts.tool_call_id)
        if facts.arguments is None:
            return self._unrun.get((_name_of(node), None))
        return self._unrun.get(key_as_recorded(_name_of(node), facts.arguments))

    def _found(
        self, node: Node, waiting: deque[SpanToolCall] | None, ids: set[str], *, of_owner: bool = False
    ) -> bool:
        """Adds a span to the first matching call; skips calls whose id belongs to another span."""
        while waiting and waiting[0].node is not None:
            waiting.popleft()
        called = node.facts.tool_call_id
        for entry in waiting or ():
            identity = entry.call["id"]
            is_other = identity in ids and identity != called
            if entry.node is None and not is_other and (not of_owner or _is_of(entry, node)):
                entry.node = node
                _run(entry.call, node)
                return True
        return False

    def _add(self, entry: SpanToolCall) -> None:
        self.entries.append(entry)
        call, key = entry.call, _key_of(entry.call)
        identity = call["id"]
        if identity is not None:
            self._ids.add(identity)
            self._same.setdefault((identity, key), entry)
            self._unasked[identity, call["name"], "id"].append(entry)
            self._unrun[identity].append(entry)
        self._unasked[key].append(entry)
        self._unrun[key].append(entry)
        self._unrun[call["name"], None].append(entry)


def _next_unasked(waiting: deque[SpanToolCall] | None) -> SpanToolCall | None:
    while waiting and waiting[0].is_claimed:
        waiting.popleft()
    return waiting[0] if waiting else None


class _Answers:
    """Results of sub-agents' tool calls, found in the input of their later model calls."""

    def __init__(self, calls: Sequence[ModelCall]) -> None:
        self._last: dict[int, ModelCall] = {id(call.owner): call for call in calls}
        self._known: dict[int, dict[str | Key, deque[ToolCall]]] = {}

    def fill(self, call: ModelCall, blank: ToolCall) -> None:
        """Copies the result into a call if a later model call of the same agent contains it."""
        owner = id(call.owner)
        if owner not in self._known:
            self._known[owner] = _answered(self._last[owner])
        answers = self._known[owner].get(_key_of(blank) if blank["id"] is None else blank["id"])
        if not answers:
            return
        told = answers.popleft()
        for name in ("result", "result_text", "status", "error", "exit_code"):
            blank[name] = told[name]


def _answered(last: ModelCall) -> dict[str | Key, deque[ToolCall]]:
    """The answered calls in a model's input, by id, else by name and arguments."""
    found: dict[str | Key, deque[ToolCall]] = defaultdict(deque)
    for call in converse(last.told("input") or []).calls:
        key = _key_of(call) if call["id"] is None else call["id"]
        if call["status"] != "missing":
            found[key].append(call)
    return found


def _may_be(entry: SpanToolCall, call: ModelCall) -> bool:
    return not entry.is_claimed and entry.asked_by in (None, call)


def _blank(name: str, call_id: str | None, arguments: Any, agent: str | None) -> ToolCall:
    value, raw, error = read_arguments(arguments)
    return {
        **BLANK_CALL,
        "id": call_id,
        "name": name,
        "arguments": value,
        "arguments_raw": raw,
        "arguments_error": error,
        "agent": agent,
    }


def _name_of(node: Node) -> str:
    return node.facts.tool_name or node.span.name


def _is_of(entry: SpanToolCall, node: Node) -> bool:
    """True unless another agent requested the call."""
    return entry.asked_by is None or entry.asked_by.owner is node.owner


def _blank_run(node: Node) -> ToolCall:
    facts = node.facts
    return _blank(_name_of(node), facts.tool_call_id, facts.arguments, _agent_of(node))


def _run(call: ToolCall, node: Node) -> None:
    """Adds times, result and status of an execution span to its call."""
    facts, span = node.facts, node.span
    call["duration_ms"] = duration_ms([node])
    call["started_at"] = rfc3339(span.start_ns) or call["started_at"]
    call["agent"] = call["agent"] or _agent_of(node)
    if call["exit_code"] is None:
        call["exit_code"] = facts.exit_code
    if call["arguments"] is None and call["arguments_raw"] is None:
        call["arguments"], call["arguments_raw"], call["arguments_error"] = read_arguments(facts.arguments)
    if call["status"] == "missing" and facts.result is not None:
        call["result"] = facts.result
        call["result_text"] = facts.result if isinstance(facts.result, str) else written(facts.result)
    if span.has_failed or facts.error_type:
        call["status"] = "error"
        call["error"] = {"type": facts.error_type, "message": span.status_message or call["result_text"]}
    elif call["status"] == "missing" and (span.end_ns is not None or facts.result is not None):
        call["status"] = "ok"


def _agent_of(node: Node) -> str | None:
    """The name of the agent that a span ran under."""
    owner = node.owner
    return node.facts.agent if owner is None else owner.facts.agent or node.facts.agent


def _numbered(entries: Iterable[SpanToolCall], timeline: Timeline) -> list[ToolCall]:
    """Sorts calls by time, keeps the conversation's order, and sets index, step and turn."""
    line: list[tuple[int, bool, int, SpanToolCall]] = []
    time = -1
    for number, entry in enumerate(entries):
        known = _time(entry)
        if entry.is_main:
            time = time if known == UNKNOWN else max(time, known)
            known = time
        line.append((known, not entry.is_main, number, entry))
    found = []
    for index, (_, _, _, entry) in enumerate(sorted(line, key=lambda one: one[:3])):
        call = entry.call
        call["index"] = index
        call["step"], call["turn"] = _place(entry, timeline)
        found.append(call)
    return found


def _time(entry: SpanToolCall) -> int:
    if entry.node is not None:
        return entry.node.start
    return UNKNOWN if entry.asked_by is None else entry.asked_by.end


def _place(entry: SpanToolCall, timeline: Timeline) -> tuple[int, int]:
    if entry.is_main:
        return timeline.of_message(entry.call["step"])
    if entry.asked_by is not None:
        return timeline.of_call(entry.asked_by)
    return timeline.of_tool(entry.node)


def _key_of(call: ToolCall) -> Key:
    return key_of(call["name"], call["arguments"])
