"""Reads Codex: the events of `codex exec --json`, and rollouts of its sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import field

from evalgate.adapters.formats.codex import list_codex_lines
from evalgate.adapters.formats.codex.command_outputs import has_unknown_outcome
from evalgate.adapters.formats.codex.forks import SESSION, is_second_meta, mark_history
from evalgate.adapters.formats.codex.requests import find_requests
from evalgate.adapters.formats.codex.rollout import CodexRun, Rollout, read_total_usage
from evalgate.adapters.formats.codex.started_agents import keep_ids
from evalgate.adapters.formats.codex.sub_agent_files import BESIDE, THREAD, group_threads
from evalgate.adapters.formats.codex.sub_agents import build_run, count_elsewhere, join_threads, sum_threads
from evalgate.adapters.formats.core.builder.agent_session import note_elsewhere
from evalgate.adapters.formats.core.builder.call_outcomes import note_unknown_outcomes
from evalgate.adapters.formats.core.builder.conversation import (
    RawMessage,
    ToolRequest,
    ToolResult,
)
from evalgate.adapters.formats.core.builder.copied_history import COPIED, warn_of_copies
from evalgate.adapters.formats.core.builder.evidence_gaps import add_gap, describe_unknown, note_unknown, pick_worse
from evalgate.adapters.formats.core.builder.run import (
    add_failed_call,
    add_warning,
    build_model_error,
    build_trace,
    measure_user_wait,
    set_final_response,
    set_times,
)
from evalgate.adapters.formats.core.builder.run_end import mark_incomplete
from evalgate.adapters.formats.core.fields import do_each, mapping, read_at, required_text, text, whole_number
from evalgate.adapters.formats.core.format import EACH, Reader, Shape, no_identity
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.messages.blocks import parse_result
from evalgate.adapters.formats.messages.known_fields import ITEM_FIELDS, PART_FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evalgate.models.trace.trace import Trace

IN_PROGRESS = "in_progress"
FAILED = frozenset({"failed", "declined", "errored"})
TOOLS = {
    "command_execution": ("command",),
    "file_change": ("changes",),
    "web_search": ("query", "action"),
    "collab_tool_call": ("tool", "prompt", "receiver_thread_ids"),
}
HARMLESS_ITEMS = frozenset({"todo_list", "error", "user_message", "plan"})
HARMLESS_EVENTS = frozenset({"thread.resumed", "thread.completed", "session.created", "error"})
"""An error within a turn may still be retried."""
LATE_ARGUMENTS = frozenset({"action", "receiver_thread_ids"})
"""Arguments that may differ between the start and the completion of an item."""
META = frozenset({"id", "type", "item_type", "status", "result", "error", "aggregated_output", "exit_code"})


class Execution(CodexRun):
    """The run that the events describe, collected in order."""

    is_over: bool = False
    calls_by_item: dict[str, ToolRequest] = field(default_factory=dict)
    answered_items: set[str] = field(default_factory=set)

    @property
    def incomplete_reason(self) -> str | None:
        """Why the run is incomplete; in a complete run every turn has completed or failed."""
        return None if self.is_over else "no turn was completed: the run was stopped, or its trace was cut off"

    def add(self, event: dict[str, Any]) -> None:
        """Adds one event; raises FieldError."""
        kind = text(event.get("type"), "type") or ""
        if kind == "thread.started":
            self.id = text(event.get("thread_id"), "thread_id")
        elif kind == "turn.started":
            self.is_over, self.error = False, None
        elif kind == "turn.completed":
            self.is_over = True
            self.usage = read_total_usage(event.get("usage"), "usage") or self.usage
        elif kind == "turn.failed":
            self.is_over = True
            self.error = read_at(event, "error.message", text) or "the turn failed"
        elif kind.startswith("item."):
            self._add_item(mapping(event.get("item"), "item"), is_done=kind == "item.completed")
        elif kind not in HARMLESS_EVENTS:
            self.unknown = pick_worse(self.unknown, describe_unknown("an event", kind, event))

    def _add_item(self, item: dict[str, Any], *, is_done: bool) -> None:
        kind = text(item.get("type", item.get("item_type")), "item.type") or ""
        if kind in ("agent_message", "assistant_message", "reasoning"):
            if is_done:
                self._add_text(kind, text(item.get("text"), "item.text"))
            return
        if kind == "collab_tool_call" and item.get("status") not in FAILED:
            self.spawned.update(keep_ids(item.get("receiver_thread_ids")))
            self.has_others = True
        is_tool = kind in TOOLS or kind == "mcp_tool_call"
        if is_tool or (kind and "status" in item):
            self._add_tool_item(kind, item, is_done=is_done)
        if not is_tool and kind not in HARMLESS_ITEMS:
            self.unknown = pick_worse(self.unknown, describe_unknown("an item", kind, item))

    def _add_text(self, kind: str, content: str | None) -> None:
        last = self.messages[-1] if self.messages else None
        if kind == "reasoning":
            self.messages.append(RawMessage("assistant", reasoning=content))
        elif last is not None and last.role == "assistant" and last.content is None and not last.calls:
            last.content = content
        else:
            self.messages.append(RawMessage("assistant", content))

    def _add_tool_item(self, kind: str, item: dict[str, Any], *, is_done: bool) -> None:
        """Start and completion belong to one call; calls that overlap are requested in one message."""
        item_id = required_text(item.get("id"), "item.id")
        name = required_text(item.get("tool"), "item.tool") if kind == "mcp_tool_call" else kind
        arguments = _read_arguments(kind, item)
        call = self.calls_by_item.get(item_id)
        if call is None or _is_other_call(call, name, arguments):
            if not self.messages or self.messages[-1].role != "assistant":
                self.messages.append(RawMessage("assistant"))
            call = self.calls_by_item[item_id] = ToolRequest(item_id, name, arguments)
            self.answered_items.discard(item_id)
            self.messages[-1].calls.append(call)
        elif isinstance(arguments, dict) and isinstance(call.arguments, dict | None):
            known = {key: value for key, value in arguments.items() if value}
            call.arguments = {**arguments, **(call.arguments or {}), **known}
        status = text(item.get("status"), "item.status")
        if is_done and status != IN_PROGRESS and item_id not in self.answered_items:
            self.answered_items.add(item_id)
            if not self.messages or self.messages[-1].role != "tool":
                self.messages.append(RawMessage("tool"))
            self.messages[-1].answers.append(_build_result(item, item_id, name, status))


def _is_other_call(call: ToolRequest, name: str, given: Any) -> bool:
    """True if an item with this name and arguments can't be a later state of the call."""
    if call.name != name or not (isinstance(call.arguments, dict) and isinstance(given, dict)):
        return call.name != name
    keys = [key for key in call.arguments.keys() - LATE_ARGUMENTS if call.arguments[key] and given.get(key)]
    return any(call.arguments[key] != given[key] for key in keys)


def _read_arguments(kind: str, item: dict[str, Any]) -> Any:
    if kind == "mcp_tool_call":
        return item.get("arguments")
    keys = TOOLS.get(kind) or [key for key in item if key not in META]
    return {key: item[key] for key in keys if item.get(key) is not None}


def _build_result(item: dict[str, Any], item_id: str, name: str, status: str | None) -> ToolResult:
    code = whole_number(item.get("exit_code"), "item.exit_code")
    error = mapping(item.get("error"), "item.error")
    has_failed = status in FAILED or bool(error)
    content: Any = item.get("aggregated_output")
    if name != "command_execution":
        result = mapping(item.get("result"), "item.result")
        content = text(error.get("message"), "item.error.message") if error else _read_result(result)
    return ToolResult(item_id, name, content, has_failed, code)


def _read_result(result: dict[str, Any]) -> Any:
    """The result of an MCP server: its structured content if present, else its text."""
    if result.get("structured_content") is not None:
        return result["structured_content"]
    return parse_result(result.get("content"))[0]


NAME = "codex"
STARTED = "thread.started"


def split(documents: Any) -> Sequence[Any]:
    """Splits a file into runs; each begins with its thread or session line."""
    runs: list[list[Any]] = [[]]
    for document in documents:
        for line in list_codex_lines(document) or [document]:
            kind = line.get("type") if isinstance(line, dict) else None
            begins = kind == STARTED or (kind == SESSION and THREAD not in line)
            if begins and runs[-1] and not is_second_meta(runs[-1], line):
                runs.append([])
            runs[-1].append(line)
    return [mark_history(run) for run in runs if run]


def build(record: Any) -> Trace:
    """Builds one run. Codex records no cost, and the prompt only in rollouts."""
    require_shallow(record)
    lines = group_threads(record)
    kinds = [line.get("type") for line in lines[None] if isinstance(line, dict)]
    events = [kind for kind in kinds if isinstance(kind, str) and kind.startswith(("thread.", "turn.", "item."))]
    run: Rollout | Execution = Execution() if events else Rollout()
    if isinstance(run, Rollout):
        run.requests = find_requests(lines[None])
    do_each(lines.pop(None), "lines", run.add)
    threads = {thread: Rollout(requests=find_requests(lines[thread])) for thread in lines if thread is not None}
    for thread, other in threads.items():
        do_each(lines[thread], "lines", other.add)
        run.unknown = pick_worse(run.unknown, other.unknown)
    trace = _build_trace(run, threads)
    note_unknown(trace, run.unknown)
    note_elsewhere(trace, count_elsewhere(run, threads, trace.tool_calls))
    _note_scripts(trace, (run, *threads.values()))
    if isinstance(run, Rollout):
        warn_of_copies(trace, run.copied, may_be_more=run.may_have_copies)
        note_unknown_outcomes(trace, [call for call in trace.tool_calls if has_unknown_outcome(call)])
    return trace


def _note_scripts(trace: Trace, runs: Iterable[CodexRun]) -> None:
    """Makes calls incomplete if a script of the model calls tools whose calls are not recorded."""
    names = {call["name"] for call in trace.tool_calls}
    for run in runs:
        reason = run.scripts.find_unlisted(names) if isinstance(run, Rollout) else None
        if reason is not None:
            add_gap(trace, "calls", reason)


def _build_trace(run: Rollout | Execution, threads: Mapping[str, Rollout]) -> Trace:
    main = build_run(run)
    if threads:
        join_threads(main, run, threads)
    conversation = main.conversation
    trace = build_trace(
        conversation,
        run.id,
        conversation_id=run.id,
        agent={"name": NAME, "framework": NAME, **({"version": run.version} if run.version else {})},
        provider=run.provider,
        model=run.model,
        usage=sum_threads(run.usage, threads),
        llm_calls=main.llm_calls,
        metadata=run.metadata,
    )
    if isinstance(run, Rollout) and run.answer != trace.response["content"]:
        set_final_response(trace, run.answer)
    trace.latency = measure_user_wait(conversation.messages)
    set_times(trace)
    if not trace.messages and run.error is None:
        add_warning(trace, "content_not_captured", "the lines record tokens but no messages", "messages")
    if run.error is not None:
        trace.status, trace.error = "error", {"type": "turn_failed", "message": run.error}
        add_failed_call(trace, build_model_error(run.error_cause, run.error, run.error_status))
    elif run.incomplete_reason is not None:
        mark_incomplete(trace, run.incomplete_reason)
    return trace


SHAPES = (
    Shape((EACH, "payload", "content", EACH), PART_FIELDS),
    Shape((EACH, "item"), ITEM_FIELDS | {"changes", "items", "result", "receiver_thread_ids", "agents_states"}),
)
INVOCATIONS = frozenset({"invocation"})
"""What an MCP server was asked for: read as a call, unless the model's own call of that id is."""
READER = Reader(
    build=build,
    identify=no_identity,
    split=split,
    shapes=SHAPES,
    copy_flag=COPIED,
    without_calls=INVOCATIONS,
    beside=BESIDE,
)
