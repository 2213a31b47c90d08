"""Merges tool calls requested in messages with the spans that executed them, each call once."""

from __future__ import annotations

from collections import defaultdict, deque
from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import (
    NOT_CAPTURED,
    build_call,
    build_call_key,
    build_recorded_call_key,
    conversation_from_messages,
    note_execution,
    read_arguments,
)
from evalgate.adapters.formats.core.python_literals import unwrap_text
from evalgate.adapters.formats.core.strict_json import encode_text
from evalgate.adapters.formats.spans.actors import add_actors
from evalgate.adapters.formats.spans.aggregate import duration_ms
from evalgate.adapters.formats.spans.call_order import SpanToolCall, number_calls
from evalgate.adapters.formats.spans.request_copies import has_dropped, list_copies, note_other_version, take_others
from evalgate.adapters.formats.spans.span import UNKNOWN
from evalgate.adapters.formats.spans.sub_agent_results import SubAgentResults
from evalgate.adapters.formats.spans.timeline import format_rfc3339

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.adapters.formats.core.builder.conversation import CallKey, Conversation, RawMessage, ToolRequest
    from evalgate.adapters.formats.spans.aggregate import ModelCall
    from evalgate.adapters.formats.spans.span import SpanNode
    from evalgate.adapters.formats.spans.timeline import Timeline
    from evalgate.models.trace.trace import ToolCall

QueueKey = tuple[str, str] | tuple[str, str, str] | tuple[str, None] | str
"""Key of a queue of unmatched calls: name and arguments, id and name, name only, or id only."""

OwnerKey = tuple[int, "CallKey"]


def merge_tool_calls(
    conversation: Conversation,
    calls: Sequence[ModelCall],
    tools: Sequence[SpanNode],
    agents: Sequence[SpanNode],
    timeline: Timeline,
) -> list[ToolCall]:
    """Merges calls of the conversation, of sub-agents and of spans, each once and in time order."""
    known = conversation.calls
    merging = _CallMerger([SpanToolCall(call, True, timeline.response_calls.get(call["step"])) for call in known])
    merging.add_requests(calls)
    merging.add_dropped(calls)
    merging.note_answers(agents)
    merging.add_executions(tools)
    merging.add_other_versions()
    entries = merging.entries
    for entry in entries:
        if entry.asked_by is None and entry.node is not None and not entry.is_main:
            entry.asked_by = timeline.find_requesting_call(entry.node)
    unrequested = [one.node for one in entries if one.asked_by is None and not one.is_main]
    timeline.assign_steps([node for node in unrequested if node is not None], _start_times(entries))
    for entry in entries:
        if entry.asked_by is not None:
            entry.call["agent"] = entry.call["agent"] or _agent_of(entry.asked_by.best)
    found = number_calls(entries, timeline)
    add_actors([(entry.call, _find_node(entry), entry.node) for entry in entries], calls)
    return found


def _find_node(entry: SpanToolCall) -> SpanNode | None:
    """A span of the agent that made the call."""
    return entry.node if entry.asked_by is None else entry.asked_by.best


def _start_times(entries: list[SpanToolCall]) -> dict[int, int]:
    """When the first tool of each of the conversation's responses began."""
    found: dict[int, int] = {}
    for entry in entries:
        if entry.is_main and entry.node is not None and entry.node.start != UNKNOWN:
            step = entry.call["step"]
            found[step] = min(found.get(step, UNKNOWN), entry.node.start)
    return found


class _CallMerger:
    """The tool calls found so far, looked up by id, else by name and arguments in call order."""

    def __init__(self, entries: list[SpanToolCall]) -> None:
        self.entries: list[SpanToolCall] = []
        self._ids: set[str] = set()
        self._by_id_and_key: dict[tuple[str, CallKey], SpanToolCall] = {}
        self._unclaimed: dict[QueueKey, deque[SpanToolCall]] = defaultdict(deque)
        self._pending: dict[QueueKey, deque[SpanToolCall]] = defaultdict(deque)
        self._other_versions: list[tuple[SpanToolCall, ToolRequest]] = []
        for entry in entries:
            self._add(entry)

    def add_requests(self, calls: Sequence[ModelCall]) -> None:
        """Adds the calls requested in model outputs; most are already in the conversation."""
        answers = SubAgentResults(calls)
        for call in calls:
            for message in call.get_fact("output") or []:
                for request in message.calls:
                    self._add_request(call, request, message, answers)
            if len(call.nodes) > 1:
                self._add_copies(call, answers)

    def _add_copies(self, call: ModelCall, answers: SubAgentResults) -> None:
        """Adds what other spans of the same request record of its answer: of equal calls once."""
        for output in list_copies(call):
            known = deque(entry for entry in self.entries if entry.asked_by is call)
            for message in output:
                for request in take_others(message.calls, known):
                    same = next((entry for entry in known if entry.call["name"] == request.name), None)
                    if same is None:
                        self._add_request(call, request, message, answers)
                    else:
                        known.remove(same)
                        self._other_versions.append((same, request))

    def add_dropped(self, calls: Sequence[ModelCall]) -> None:
        """Adds the calls of a history that a later request of the same agent no longer has, as after a compaction."""
        latest: dict[int, ModelCall] = {}
        for call in calls:
            before = latest.get(id(call.owner))
            latest[id(call.owner)] = call
            if before is None or not has_dropped(before, call):
                continue
            for asked in conversation_from_messages(before.get_fact("input") or []).calls:
                is_known = (asked["id"], asked["name"], "id") in self._unclaimed or _key_of(asked) in self._unclaimed
                if not is_known:
                    self._add(SpanToolCall(asked, False, asked_by=before))

    def note_answers(self, agents: Sequence[SpanNode]) -> None:
        """Notes the calls in what agents answered, which their model calls record too."""
        requests = [each for node in agents for message in node.facts.output or [] for each in message.calls]
        by_id: dict[tuple[str | None, str], list[SpanToolCall]] = defaultdict(list)
        for entry in self.entries if requests else ():
            by_id[entry.call["id"], entry.call["name"]].append(entry)
        for request in requests:
            known = by_id[request.id, request.name] if request.id is not None else []
            key = build_recorded_call_key(request.name, request.arguments)
            if known and all(_key_of(entry.call) != key for entry in known):
                self._other_versions.append((known[0], request))

    def add_other_versions(self) -> None:
        """Keeps the arguments with which another span or a message records a call, if they differ."""
        for entry, request in self._other_versions:
            if not note_other_version(entry.call, request):
                blank = _new_call(request.name, request.id, request.arguments, entry.call["agent"])
                self._add(SpanToolCall(blank, False, asked_by=entry.asked_by, is_claimed=True))

    def _add_request(
        self, call: ModelCall, request: ToolRequest, message: RawMessage, answers: SubAgentResults
    ) -> None:
        known = self._find_request(call, request)
        if known is not None:
            known.is_claimed = True
            known.asked_by = known.asked_by or call
            if request.arguments not in (known.call["arguments_raw"], known.call["arguments"]):
                self._other_versions.append((known, request))
            return
        blank = _new_call(request.name, request.id, request.arguments, message.agent or _agent_of(call.best))
        blank["started_at"] = message.timestamp
        answers.fill(call, blank)
        self._add(SpanToolCall(blank, False, asked_by=call, is_claimed=True))

    def _find_request(self, call: ModelCall, request: ToolRequest) -> SpanToolCall | None:
        key = build_recorded_call_key(request.name, request.arguments)
        if request.id is not None:
            fresh = _next_unclaimed(self._unclaimed.get((request.id, request.name, "id")))
            known = fresh or self._by_id_and_key.get((request.id, key))
            if known is not None:
                return known
        waiting = self._unclaimed.get(key)
        _next_unclaimed(waiting)
        return next((one for one in waiting or () if _is_candidate(one, call)), None)

    def add_executions(self, tools: Sequence[SpanNode]) -> None:
        """Adds execution spans: each completes a known call, or becomes a call that no message contains."""
        ids = {node.facts.tool_call_id for node in tools if node.facts.tool_call_id is not None}
        others = [node for node in tools if not self._join_span(node, self._find_equal(node), ids)]
        own = self._group_by_owner()
        others = [node for node in others if not self._join_span(node, own.get(_key_of_owner(node)), ids)]
        unmatched = [node for node in others if not self._join_span(node, self._candidates(node), ids)]
        for node in unmatched:
            by_name = None if node.facts.tool_call_id in self._ids else (_name_of(node), None)
            if by_name is None or not self._join_span(node, self._pending.get(by_name), ids, of_owner=True):
                entry = SpanToolCall(_call_from_span(node), False, node=node)
                self.entries.append(entry)
                _add_execution(entry.call, node)

    def _group_by_owner(self) -> dict[OwnerKey | None, deque[SpanToolCall]]:
        """The calls that no span executed yet, by the agent that requested them, with name and arguments."""
        found: dict[OwnerKey | None, deque[SpanToolCall]] = defaultdict(deque)
        for entry in self.entries:
            if entry.node is None and entry.asked_by is not None:
                found[id(entry.asked_by.owner), _key_of(entry.call)].append(entry)
        return found

    def _find_equal(self, node: SpanNode) -> deque[SpanToolCall] | None:
        """The calls with the id, name and arguments of a span: an id may be that of several calls."""
        facts = node.facts
        if facts.tool_call_id is None or facts.arguments is None:
            return None
        return self._pending.get((facts.tool_call_id, *build_recorded_call_key(_name_of(node), facts.arguments)))

    def _candidates(self, node: SpanNode) -> deque[SpanToolCall] | None:
        """The calls a span may execute: those of its id, else of its name and arguments, or of its name."""
        facts = node.facts
        if facts.tool_call_id in self._ids:
            return self._pending.get(facts.tool_call_id)
        if facts.arguments is None:
            return self._pending.get((_name_of(node), None))
        return self._pending.get(build_recorded_call_key(_name_of(node), facts.arguments))

    def _join_span(
        self, node: SpanNode, waiting: deque[SpanToolCall] | None, ids: set[str], *, of_owner: bool = False
    ) -> bool:
        """Adds a span to the first matching call; skips calls whose id belongs to another span."""
        while waiting and waiting[0].node is not None:
            waiting.popleft()
        call_id = node.facts.tool_call_id
        for entry in waiting or ():
            entry_id = entry.call["id"]
            is_other = entry_id in ids and entry_id != call_id
            if entry.node is None and not is_other and (not of_owner or _is_same_owner(entry, node)):
                entry.node = node
                _add_execution(entry.call, node)
                return True
        return False

    def _add(self, entry: SpanToolCall) -> None:
        self.entries.append(entry)
        call, key = entry.call, _key_of(entry.call)
        entry_id = call["id"]
        if entry_id is not None:
            self._ids.add(entry_id)
            self._by_id_and_key.setdefault((entry_id, key), entry)
            self._unclaimed[entry_id, call["name"], "id"].append(entry)
            self._pending[entry_id].append(entry)
            self._pending[(entry_id, *key)].append(entry)
        self._unclaimed[key].append(entry)
        self._pending[key].append(entry)
        self._pending[call["name"], None].append(entry)


def _next_unclaimed(waiting: deque[SpanToolCall] | None) -> SpanToolCall | None:
    while waiting and waiting[0].is_claimed:
        waiting.popleft()
    return waiting[0] if waiting else None


def _is_candidate(entry: SpanToolCall, call: ModelCall) -> bool:
    return not entry.is_claimed and entry.asked_by in (None, call)


def _new_call(name: str, call_id: str | None, arguments: Any, agent: str | None) -> ToolCall:
    call = build_call(name, arguments, call_id)
    call["agent"] = agent
    return call


def _name_of(node: SpanNode) -> str:
    return node.facts.tool_name or node.span.name


def _is_same_owner(entry: SpanToolCall, node: SpanNode) -> bool:
    """True unless another agent requested the call."""
    return entry.asked_by is None or entry.asked_by.owner is node.owner


def _call_from_span(node: SpanNode) -> ToolCall:
    facts = node.facts
    return _new_call(_name_of(node), facts.tool_call_id, facts.arguments, _agent_of(node))


def _add_execution(call: ToolCall, node: SpanNode) -> None:
    """Adds times, result and status of an execution span to its call."""
    facts, span = node.facts, node.span
    call["duration_ms"] = duration_ms([node])
    call["started_at"] = format_rfc3339(span.start_ns) or call["started_at"]
    call["agent"] = call["agent"] or _agent_of(node)
    if call["exit_code"] is None:
        call["exit_code"] = facts.exit_code
    executed = read_arguments(facts.arguments)
    if executed.error is not None and isinstance(value := unwrap_text(facts.arguments), dict):
        executed = executed._replace(value=value)
    if call["arguments"] is None and call["arguments_raw"] is None:
        call["arguments"], call["arguments_raw"], call["arguments_error"] = executed
    is_blank = isinstance(facts.arguments, str) and not facts.arguments.strip()
    note_execution(call, facts.tool_name, NOT_CAPTURED if is_blank else executed)
    if call["status"] == "missing" and facts.result is not None:
        call["result"] = facts.result
        call["result_text"] = encode_text(facts.result)
    if span.has_failed or facts.error_type:
        call["status"] = "error"
        call["error"] = {"type": facts.error_type, "message": span.status_message or call["result_text"]}
    elif call["status"] in ("missing", "unknown") and (span.end_ns is not None or facts.result is not None):
        call["status"] = "ok"


def _agent_of(node: SpanNode) -> str | None:
    """The name of the agent that a span ran under."""
    owner = node.owner
    return node.facts.agent if owner is None else owner.facts.agent or node.facts.agent


def _key_of_owner(node: SpanNode) -> OwnerKey | None:
    """The agent that a span ran under, its name and arguments; None for a span with an id, or without arguments."""
    facts = node.facts
    if facts.tool_call_id is not None or facts.arguments is None:
        return None
    return id(node.owner), build_recorded_call_key(_name_of(node), facts.arguments)


def _key_of(call: ToolCall) -> CallKey:
    return build_call_key(call["name"], call["arguments"])
