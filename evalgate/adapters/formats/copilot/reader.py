"""Reads GitHub Copilot CLI: `events.jsonl` of a session, or the same events from its SDK."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.agent_session import AgentSession
from evalgate.adapters.formats.core.builder.conversation import RawMessage, ToolRequest, ToolResult
from evalgate.adapters.formats.core.builder.evidence_gaps import find_unknown, note_unknown
from evalgate.adapters.formats.core.builder.run import add_warning, build_model_error
from evalgate.adapters.formats.core.fields import (
    count,
    dict_or_empty,
    do_each,
    flag,
    mapping,
    objects,
    required_text,
    text,
    time_if_valid,
    whole_number,
)
from evalgate.adapters.formats.core.format import EACH, Reader, Shape, no_identity, words
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.core.usage import TokenTable, none_if_uncounted, sum_usages
from evalgate.models.trace.actors import ROOT, ActorPaths

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalgate.models.trace.trace import Message, ToolCall, Trace

NAME = "copilot"
RESULT = "result"
"""The last line that the CLI prints, which has its fields beside its type."""
ABORTED = "the run was aborted"
OPEN = "the last turn has no end: the run was stopped, or its events end before it did"
SEVERAL_TOTALS = "the session was shut down several times, and each total may include the others"
USAGE = TokenTable(
    "copilot",
    input_tokens="inputTokens",
    output_tokens="outputTokens",
    cache_read_input_tokens="cacheReadTokens",
    cache_write_input_tokens="cacheWriteTokens",
    reasoning_output_tokens="reasoningTokens",
)


INNER = "subagent"
"""The name of a sub-agent whose own is not recorded."""
TASK = "task"
"""The tool that runs a sub-agent, whose events stand between its start and its end."""


class CopilotSession(AgentSession):
    """The run, the calls that it holds so far, and the totals that were written when it was shut down.

    A sub-agent is known by the id of the call that started it, or by its own until that is known; `started` maps its
    own to that of the call, `names` the call to the agent's name. `made` counts the calls of each, `stated` has how
    many the event of its end says, `acted` are those of which any other event is here.
    """

    def __init__(self) -> None:
        super().__init__()
        self.known: set[str] = set()
        self.totals: list[list[Any]] = []
        self.agent: str | None = None
        self.started: dict[str, str] = {}
        self.names: dict[str, str] = {}
        self.made: Counter[str] = Counter()
        self.stated: dict[str, int] = {}
        self.acted: set[str] = set()
        self.tasks: set[str] = set()
        self.is_open = False

    def add(self, event: dict[str, Any]) -> None:
        """Adds one event; raises FieldError."""
        kind = text(event.get("type"), "type") or ""
        handle = HANDLERS.get(kind)
        if handle is not None:
            data = event if kind == RESULT else mapping(event.get("data"), "data")
            self.agent = self._find_agent(event.get("agentId"), data)
            self.acted.update({self.agent} if self.agent and handle in BY_AGENT else ())
            handle(self, data, time_if_valid(event.get("timestamp")))

    def _find_agent(self, own_id: Any, data: dict[str, Any]) -> str | None:
        """The sub-agent that an event is of."""
        by_call = data.get("parentToolCallId") or data.get("parentAgentTaskId")
        if isinstance(own_id, str) and own_id and isinstance(by_call, str):
            self.started[own_id] = by_call
        found = own_id or data.get("parentToolCallId")
        return found if isinstance(found, str) and found else None

    def request(self, data: dict[str, Any], name_key: str, when: str | None) -> None:
        """Adds a call, unless it is known: its message and its execution both record it."""
        call_id, name = text(data.get("toolCallId"), "toolCallId"), required_text(data.get(name_key), name_key)
        if call_id is None or call_id not in self.known:
            self.known.update({call_id} if call_id else ())
            self.add_call(ToolRequest(call_id, name, data.get("arguments")), when, agent=self.agent)
            self.made.update({self.agent} if self.agent else ())
            self.tasks.update({call_id} if call_id and name == TASK else ())

    def count_elsewhere(self) -> int:
        """How many sub-agents made more calls than are here, or have no event here and may have made some."""
        made: Counter[str] = Counter()
        for agent, count_made in self.made.items():
            made[self.started.get(agent, agent)] += count_made
        acted = {self.started.get(agent, agent) for agent in self.acted}
        return sum(self.stated.get(call, call not in acted) > made[call] for call in self.tasks | self.stated.keys())

    def add_actors(self, trace: Trace) -> None:
        """Sets who made each call, and the call that started that agent."""
        paths = ActorPaths()
        actors: dict[str, str] = {}
        starters: dict[str, int | None] = {}
        by_id = {call["id"]: call["index"] for call in reversed(trace.tool_calls) if call["id"]}
        entries: list[Message | ToolCall] = [*trace.messages, *trace.tool_calls]
        for entry in entries:
            if entry["agent"] is None:
                continue
            starter = self.started.get(entry["agent"], entry["agent"])
            name = self.names.get(starter)
            if starter not in actors:
                actors[starter] = paths.add(ROOT, name or INNER)
            starters[actors[starter]] = by_id.get(starter)
            entry["agent"], entry["actor"] = name or INNER, actors[starter]
        for call in trace.tool_calls:
            call["started_by"] = starters.get(call["actor"] or "")


def split(documents: Any) -> Sequence[Any]:
    """The events of each session of a file; one begins with `session.start`."""
    sessions: list[list[Any]] = [[]]
    for event in (each for one in documents for each in (one if isinstance(one, list) else [one])):
        if isinstance(event, dict) and event.get("type") == "session.start" and sessions[-1]:
            sessions.append([])
        sessions[-1].append(event)
    return [session for session in sessions if session]


def build(record: Any) -> Trace:
    """Builds one session. What Copilot bills are not dollars, so the cost is not recorded."""
    require_shallow(record)
    session = CopilotSession()
    do_each(record, "events", session.add)
    session.end_answer()
    session.elsewhere = session.count_elsewhere()
    if session.is_open:
        session.end = session.end or OPEN
    if len(session.totals) == 1 and not session.llm_calls:
        session.total = none_if_uncounted({**sum_usages(session.totals[0]), "source": "recorded_total"})
    trace = session.build_session(NAME)
    session.add_actors(trace)
    if len(session.totals) > 1 and not session.llm_calls:
        add_warning(trace, "tokens_incomplete", SEVERAL_TOTALS, "usage")
    carriers = [event for event in record if event.get("type") in CARRIES_CALLS]
    note_unknown(trace, find_unknown(carriers, DATA_SHAPES))
    return trace


def _start(session: CopilotSession, data: dict[str, Any], when: str | None) -> None:
    del when
    session.id = text(data.get("sessionId"), "sessionId")
    session.version = text(data.get("copilotVersion"), "copilotVersion")
    session.model = text(data.get("selectedModel"), "selectedModel")


def _change_model(session: CopilotSession, data: dict[str, Any], when: str | None) -> None:
    del when
    session.model = text(data.get("newModel"), "newModel") or session.model


def _add_instructions(session: CopilotSession, data: dict[str, Any], when: str | None) -> None:
    session.add_message(RawMessage("system", text(data.get("content"), "content"), timestamp=when))


def _name_agent(session: CopilotSession, data: dict[str, Any], when: str | None) -> None:
    del when
    call_id, name = data.get("toolCallId"), text(data.get("agentName"), "agentName")
    if isinstance(call_id, str) and name:
        session.names[call_id] = name


def _end_agent(session: CopilotSession, data: dict[str, Any], when: str | None) -> None:
    """Notes how many calls a sub-agent made, which an event of newer versions says."""
    del when
    call_id, calls = data.get("toolCallId"), count(data.get("totalToolCalls"), "totalToolCalls")
    if isinstance(call_id, str) and calls is not None:
        session.stated[call_id] = calls


def _add_user(session: CopilotSession, data: dict[str, Any], when: str | None) -> None:
    """Adds what a person asked; what an agent asks its sub-agent is in the call."""
    if session.agent is None and not data.get("parentAgentTaskId"):
        session.add_message(RawMessage("user", text(data.get("content"), "content"), timestamp=when))


def _add_answer(session: CopilotSession, data: dict[str, Any], when: str | None) -> None:
    """Adds an answer; of a sub-agent only its calls."""
    if not count(data.get("chunkIndex"), "chunkIndex"):
        session.end_answer()
    model = text(data.get("model"), "model")
    if session.agent is None:
        session.add_text(text(data.get("content"), "content"), when, model=model or session.model)
        session.add_reasoning(text(data.get("reasoningText"), "reasoningText"))
    for request in objects(data.get("toolRequests"), "toolRequests"):
        session.request(request, "name", when)


def _start_turn(session: CopilotSession, data: dict[str, Any], when: str | None) -> None:
    del data, when
    session.end_answer()
    session.is_open = session.is_open or session.agent is None


def _end_turn(session: CopilotSession, data: dict[str, Any], when: str | None) -> None:
    del data, when
    session.is_open = session.is_open and session.agent is not None


def _add_execution(session: CopilotSession, data: dict[str, Any], when: str | None) -> None:
    session.request(data, "toolName", when)


def _add_call_of_user(session: CopilotSession, data: dict[str, Any], when: str | None) -> None:
    """Adds a call that a person made, not the agent."""
    call_id, name = text(data.get("toolCallId"), "toolCallId"), required_text(data.get("toolName"), "toolName")
    session.known.update({call_id} if call_id else ())
    session.add_call_of_user(ToolRequest(call_id, name, data.get("arguments")), when)


def _add_result(session: CopilotSession, data: dict[str, Any], when: str | None) -> None:
    result, error = mapping(data.get("result"), "result"), mapping(data.get("error"), "error")
    content = result.get("structuredContent")
    if content is None:
        content = text(result.get("content"), "result.content")
    has_failed = flag(data.get("success"), "success") is False
    if has_failed and content is None:
        content = text(error.get("message"), "error.message")
    codes = [one.get("exitCode") for one in objects(result.get("contents"), "result.contents") if "exitCode" in one]
    call_id = text(data.get("toolCallId"), "toolCallId")
    code = whole_number(codes[-1], "result.contents.exitCode") if codes else None
    session.add_result(ToolResult(call_id, None, content, has_failed, code), when, session.agent)
    session.tasks -= {call_id} if has_failed and call_id not in session.names else set()


def _add_app_call(session: CopilotSession, data: dict[str, Any], when: str | None) -> None:
    """Adds the call of an app that an MCP server shows, which is recorded when it has ended."""
    name = required_text(data.get("toolName"), "toolName")
    session.add_call(ToolRequest(None, name, data.get("arguments")), when)
    has_failed = flag(data.get("success"), "success") is False
    content = (
        text(mapping(data.get("error"), "error").get("message"), "error.message") if has_failed else data.get("result")
    )
    session.add_result(ToolResult(None, name, content, has_failed), when)


def _add_usage(session: CopilotSession, data: dict[str, Any], when: str | None) -> None:
    del when
    session.add_model_call(
        USAGE.read(data, ""),
        text(data.get("finishReason"), "finishReason"),
        model=text(data.get("model"), "model"),
        response_id=text(data.get("apiCallId"), "apiCallId"),
    )


def _shut_down(session: CopilotSession, data: dict[str, Any], when: str | None) -> None:
    del when
    if data.get("shutdownType") == "error":
        reason = text(data.get("errorReason"), "errorReason")
        session.error = session.error or reason or "the session was shut down by an error"
    metrics = mapping(data.get("modelMetrics"), "modelMetrics").values()
    recorded = [usage for one in metrics if (usage := dict_or_empty(one).get("usage")) is not None]
    if recorded:
        session.totals.append([USAGE.read(usage, "modelMetrics.usage") for usage in recorded])


def _add_error(session: CopilotSession, data: dict[str, Any], when: str | None) -> None:
    """A failed turn; it is the end of the run if nothing follows."""
    del when
    session.end_answer()
    kind, message = text(data.get("errorType"), "errorType"), text(data.get("message"), "message")
    session.error = message or kind or "the turn failed"
    session.outage = build_model_error(kind, message, whole_number(data.get("statusCode"), "statusCode"))


def _add_abort(session: CopilotSession, data: dict[str, Any], when: str | None) -> None:
    del data, when
    session.end_answer()
    session.end = ABORTED


def _end_run(session: CopilotSession, line: dict[str, Any], when: str | None) -> None:
    del when
    session.end_answer()
    session.id = session.id or text(line.get("sessionId"), "sessionId")
    code = whole_number(line.get("exitCode"), "exitCode")
    if code:
        session.error = session.error or f"copilot ended with exit code {code}"


HANDLERS: dict[str, Callable[[CopilotSession, dict[str, Any], str | None], None]] = {
    "session.start": _start,
    "session.model_change": _change_model,
    "system.message": _add_instructions,
    "user.message": _add_user,
    "assistant.turn_start": _start_turn,
    "subagent.started": _name_agent,
    "subagent.completed": _end_agent,
    "subagent.failed": _end_agent,
    "assistant.turn_end": _end_turn,
    "assistant.message": _add_answer,
    "assistant.usage": _add_usage,
    "tool.execution_start": _add_execution,
    "external_tool.requested": _add_execution,
    "tool.user_requested": _add_call_of_user,
    "tool.execution_complete": _add_result,
    "mcp_app.tool_call_complete": _add_app_call,
    "session.shutdown": _shut_down,
    "session.error": _add_error,
    "abort": _add_abort,
    RESULT: _end_run,
}
BY_AGENT = frozenset({_start_turn, _end_turn, _add_answer, _add_execution, _add_user, _add_result})
"""What an agent does itself; its start and end are events of who started it."""
HARMLESS = words("""
    session.resume session.remote_steerable_changed session.idle session.title_changed session.schedule_created
    session.schedule_cancelled session.schedule_rearmed session.autopilot_objective_changed session.info
    session.warning session.mode_changed session.session_limits_changed session.permissions_changed
    session.plan_changed session.todos_changed session.workspace_file_changed session.handoff session.truncation
    session.snapshot_rewind session.usage_checkpoint session.context_changed session.usage_info
    session.context_cleared session.compaction_start session.compaction_complete session.task_complete
    session.binary_asset session.custom_notification session.auto_mode_resolved session.managed_settings_resolved
    session.managed_settings_enforced session.tools_updated session.background_tasks_changed session.skills_loaded
    session.custom_agents_updated session.mcp_servers_loaded session.mcp_server_status_changed
    session.extensions_loaded session.canvas.opened session.canvas.registry_changed session.canvas.closed
    session.canvas.unavailable session.canvas.recorded session.canvas.removed session.extensions.attachments_pushed
    pending_messages.modified assistant.intent assistant.reasoning assistant.reasoning_delta
    assistant.tool_call_delta assistant.streaming_delta assistant.message_start assistant.message_delta
    assistant.turn_retry assistant.idle model.call_failure tool.execution_partial_result
    tool.execution_progress tool_search.activated skill.invoked subagent.started subagent.completed subagent.failed
    subagent.selected subagent.deselected hook.start hook.end hook.progress system.notification permission.requested
    permission.completed user_input.requested user_input.completed elicitation.requested elicitation.completed
    sampling.requested sampling.completed mcp.oauth_required mcp.oauth_completed mcp.headers_refresh_required
    mcp.headers_refresh_completed ui.ephemeral_query external_tool.completed command.queued command.execute
    command.completed auto_mode_switch.requested auto_mode_switch.completed session_limits_exhausted.requested
    session_limits_exhausted.completed commands.changed capabilities.changed exit_plan_mode.requested
    exit_plan_mode.completed mcp.tools.list_changed mcp.resources.list_changed mcp.prompts.list_changed
    agent.interrupted session.mode_notice_delivered session.fusion_route_started session.fusion_route_failed
    session.fusion_resolved session.fusion_handoff session.fusion_completed assistant.fusion_phase_started
    assistant.fusion_phase_completed assistant.fusion_phase_failed assistant.server_tool_progress model.call_start
    model.call_finished subagent.configured factory.run_started factory.run_updated factory.run_settled
    model.call_final_result session.usage_record session.quota_observation session.completion_receipt
    session.auto_tier_recommendation session.auto_tier_switch_failed session.autopilot_stopped
    session.fusion_change_checkpoint session.fusion_commit_started assistant.fusion_phase_activity
    session.indexed_search session.managed_plugin_progress session.mcp_server_needs_reconnect
    session.mcp_server_removed session.mcp_server_tools_loaded session.memory_changed session.model_deselected
    session.request_body_compression_disabled skill.context_delivered skill.context_delivered_ref skill.invoked_ref
    tool.shell_output human_response.recorded mcp.oauth_recovery_completed prompt_cache_break sandbox.decision
    permission.assentDetected permission.carriedForward permission.contextualAuthorization
    permission.messageAuthorization permission.messageAuthorizationDegraded permission.messageAuthorizationRead
""")
"""Types of events about the session, and of those that repeat what messages and executions record."""
MESSAGE_FIELDS = words("""
    content toolRequests reasoningText serverTools citations attachments supportedNativeDocumentMimeTypes
    nativeDocumentPathFallbackPaths arguments result error toolDescription toolTelemetry shellToolInfo toolMeta mcpMeta
    metadata
""")
"""Of the data of messages and executions; the data of other events is no call."""
CARRIES_CALLS = frozenset(
    {"user.message", "assistant.message", "system.message", "tool.execution_start", "tool.execution_complete"}
)
DATA_SHAPES = (Shape((EACH, "data"), MESSAGE_FIELDS),)
SHAPES = (
    Shape((EACH,), frozenset({"data"}), HARMLESS | HANDLERS.keys()),
    Shape((EACH, "data", "toolRequests", EACH), frozenset({"arguments"})),
    Shape((EACH, "data", "serverTools"), frozenset({"functionCallNamespaces"})),
)
READER = Reader(
    build=build,
    identify=no_identity,
    split=split,
    shapes=SHAPES,
    without_calls=frozenset({"permissionRequest", "promptRequest", "input", "toolArgs", "toolDescription"}),
)
