"""Reads Claude Code: lines of `stream-json`, the Action's execution file, and session files."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.claude_code import find_session_id, is_of_qwen, list_claude_lines
from evalgate.adapters.formats.claude_code.forks import join_forks, join_quiet
from evalgate.adapters.formats.claude_code.results import add_results, find_failure, find_main_model
from evalgate.adapters.formats.claude_code.sessions import ClaudeSession, MessageDraft, name_side_chain
from evalgate.adapters.formats.claude_code.sub_agent_files import BESIDE
from evalgate.adapters.formats.claude_code.sub_agents import SideChain, join_side_chains
from evalgate.adapters.formats.claude_code.unrecorded import (
    find_cut_head,
    find_missing_text,
    find_missing_turns,
    find_unrecorded,
)
from evalgate.adapters.formats.core.builder.agent_session import note_elsewhere
from evalgate.adapters.formats.core.builder.copied_history import (
    COPIED,
    count_copied,
    is_copied,
    keep_texts,
    warn_of_copies,
)
from evalgate.adapters.formats.core.builder.evidence_gaps import OF_MESSAGES, add_gap
from evalgate.adapters.formats.core.builder.run import (
    MeteredConversation,
    add_warning,
    group_lines,
    measure_user_wait,
    set_cost,
    set_times,
)
from evalgate.adapters.formats.core.builder.run_end import TURN_OPEN, mark_incomplete
from evalgate.adapters.formats.core.fields import (
    FieldError,
    do_each,
    listing,
    objects,
    text,
)
from evalgate.adapters.formats.core.format import EACH, Reader, Shape, no_identity, words
from evalgate.adapters.formats.core.provider_response import ANTHROPIC_USAGE
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.core.usage import sum_call_costs
from evalgate.adapters.formats.messages.known_fields import PART_FIELDS, ROLE_FIELDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.trace.trace import Trace, Usage

OF_QWEN = "it looks like a session of Qwen Code; docs/custom-formats.md has a mapping for it"
"""Some lines of Qwen Code are the same as those of Claude Code."""
REQUESTS = ("api-request", "api-request-blob", "api-request-shape", "tools-used")
QUEUED = words("type prompt source_uuid delivery_id commandMode origin runId timestamp usage isMeta imagePasteIds")
"""Fields of words that waited for the agent, the user's or the notice of a task that ended: they call nothing."""
NAME = "claude-code"
PROVIDER = "anthropic"


def split(documents: Any) -> Sequence[Any]:
    """Splits a file into sessions; a line without a session id belongs to the session before it."""
    lines = (line for document in documents for line in list_claude_lines(document) if not _is_request(line))
    return join_forks(join_quiet(group_lines(map(_without_queued, lines), find_session_id)))


def _is_request(line: Any) -> bool:
    """Whether a line is about a request as it was sent to the model: messages and calls are in other lines."""
    return isinstance(line, dict) and line.get("type") in REQUESTS


def _without_queued(line: Any) -> Any:
    """A line without words that waited for the agent; what else it holds is judged as any field that nobody reads."""
    held = line.get("attachment") if isinstance(line, dict) else None
    if not isinstance(held, dict) or held.get("type") != "queued_command":
        return line
    return {**line, "attachment": {key: value for key, value in held.items() if key not in QUEUED}}


def build(record: Any) -> Trace:
    """Builds one session. Without a result line, its cost is known only if every answer has its own."""
    require_shallow(record)
    if any(is_of_qwen(line.get("message")) for line in record if isinstance(line, dict)):
        raise FieldError("", OF_QWEN)
    session = ClaudeSession()
    do_each(record, "lines", session.add)
    main, agents = _build_conversations(session)
    starts = {name_side_chain(agent): start for agent, start in session.starts.items()}
    unseen = join_side_chains(main, agents, starts, session.idle_starts)
    main.failure = session.failure or find_failure(session.results)
    trace = main.build_trace()
    warn_of_copies(trace, count_copied(record))
    own = (line for line in record if not is_copied(line))
    trace.conversation_id = next(filter(None, map(find_session_id, own)), None)
    trace.trace_id = trace.conversation_id or ""
    _add_settings(trace, session)
    note_elsewhere(trace, session.count_elsewhere() + unseen)
    _note_unrecorded(trace, session, record)
    set_times(trace)
    trace.latency = measure_user_wait(trace.messages)
    if session.results:
        add_results(trace, session.results)
        if session.is_after_result:
            mark_incomplete(trace, TURN_OPEN)
            trace.stopped_by = trace.error = None
    else:
        _add_open_end(trace, session, main.unmetered)
    if trace.messages and not any(m["content"] is not None or m["tool_calls"] or m["parts"] for m in trace.messages):
        add_warning(trace, "content_not_captured", "the lines record tokens but no messages", "messages")
    return trace


def _note_unrecorded(trace: Trace, session: ClaudeSession, record: Sequence[Any]) -> None:
    unrecorded = find_unrecorded(session.reported, session.tools.keys())
    if unrecorded is not None:
        add_gap(trace, "calls", unrecorded)
    missing = find_missing_turns(record, session.results, session.init.get("claude_code_version"))
    if missing is not None:  # no gap: what counts as a turn is Claude Code's to change
        add_warning(trace, "turns_not_recorded", missing, "num_turns")
    for reason in filter(None, (find_cut_head(record), find_missing_text(record, session.results))):
        for kind in OF_MESSAGES:
            add_gap(trace, kind, reason)


def _build_conversations(session: ClaudeSession) -> tuple[MeteredConversation, list[SideChain]]:
    """The conversations of the main agent and its sub-agents; a file may hold only a sub-agent."""
    is_alone = all(draft.owner is not None for draft in session.drafts)
    main, agents = MeteredConversation(), {}
    tools = session.tools
    for draft in session.drafts:
        chat = main
        if draft.owner is not None and not is_alone:
            if draft.owner not in agents:
                agents[draft.owner] = SideChain(
                    MeteredConversation(), draft.owner, _read_prompt(draft), main.conversation.step
                )
            chat = agents[draft.owner].metered
        if draft.is_copied:
            main.add_messages(keep_texts(draft.to_messages(tools)) if draft.owner is None else [])
            continue
        chat.add_messages(draft.to_messages(tools))
        if draft.role != "assistant":
            continue
        if not draft.usages:
            main.unmetered += 1
        else:
            chat.add_llm_call(
                _read_usage(draft, is_stream=session.is_stream),
                draft.reason,
                provider=PROVIDER,
                model=draft.model,
                response_id=draft.id,
                cost_usd=draft.cost_usd,
            )
    return main, list(agents.values())


def _read_prompt(draft: MessageDraft) -> str | None:
    if draft.text is not None or not draft.blocks:
        return draft.text
    first = draft.blocks[0]
    return first.get("text") if isinstance(first, dict) and isinstance(first.get("text"), str) else None


def _read_usage(draft: MessageDraft, *, is_stream: bool) -> Usage:
    """The largest usage is a message's last; a stream writes lines before the output is counted."""
    usages = [ANTHROPIC_USAGE.read(usage, "usage") for usage in draft.usages]
    usage = max(usages, key=lambda one: (one["output_tokens"] or 0, one["input_tokens"] or 0))
    if is_stream:
        usage["output_tokens"] = usage["total_tokens"] = None
    return usage


def _add_settings(trace: Trace, session: ClaudeSession) -> None:
    init = session.init
    trace.name = session.name
    trace.provider = PROVIDER
    trace.model = find_main_model(session.results) or _find_model(trace) or text(init.get("model"), "model")
    trace.agent = {"name": NAME, "framework": NAME}
    version = text(init.get("claude_code_version"), "claude_code_version")
    if version:
        trace.agent["version"] = version
    trace.tool_definitions = [{"name": tool} for tool in listing(init.get("tools"), "tools") if isinstance(tool, str)]
    servers = objects(init.get("mcp_servers"), "mcp_servers")
    server_statuses = {one["name"]: one.get("status") for one in servers if isinstance(one.get("name"), str)}
    mode = text(init.get("permissionMode"), "permissionMode")
    metadata = {"permission_mode": mode, "mcp_servers": server_statuses, "hooks": session.hooks}
    trace.metadata.update({key: value for key, value in metadata.items() if value})


def _find_model(trace: Trace) -> str | None:
    """The model with the most output tokens, as far as the lines record them."""
    output_tokens: Counter[str] = Counter()
    for call in trace.llm_calls:
        if call["model"] is not None:
            output_tokens[call["model"]] += 0 if call["usage"] is None else call["usage"]["output_tokens"] or 0
    return max(output_tokens, key=lambda name: (output_tokens[name], name), default=None)


def _add_open_end(trace: Trace, session: ClaudeSession, unmetered: int) -> None:
    """A stream ends with a result unless the run was stopped; a session file never has one.

    `unmetered` counts answers for which no line has tokens or cost.
    """
    set_cost(trace, None if unmetered else sum_call_costs(trace.llm_calls), "costUSD")
    if session.is_stream:
        mark_incomplete(trace, "there is no result line: the run was stopped")
        add_warning(trace, "tokens_incomplete", "without a result line the output tokens are not known", "usage")
    elif session.failure is not None:
        trace.status = "error"
        trace.error = {"type": "api_error", "message": session.failure["message"]}
    elif session.is_interrupted:
        mark_incomplete(trace, "a person interrupted the run")


LINES = words("""
    user assistant system result summary attachment progress stream_event compact file-history-snapshot
    file-history-delta queue-operation last-prompt ai-title custom-title mode permission-mode agent-name agent-color
    agent-setting tag pr-link worktree-state bridge-session atis-latch auth_status tool_progress tool_use_summary
    rate_limit_event prompt_suggestion control_request control_response control_cancel_request keep_alive
    evalgate.agent content-replacement marble-origami-commit marble-origami-snapshot marble-origami-reset task-summary
    speculation-accept queued_command frame-link relocated started cost-state attribution-snapshot fork-context-ref
    isolation-latch history-suppression session-meta agent_metadata conversation_reset
""")
"""Types of lines that are read, or are about the session itself."""
SHAPES = (
    Shape((EACH,), kinds=LINES),
    Shape((EACH, "message"), ROLE_FIELDS),
    Shape((EACH, "message", "content", EACH), PART_FIELDS),
)
READER = Reader(build=build, identify=no_identity, split=split, shapes=SHAPES, copy_flag=COPIED, beside=BESIDE)
