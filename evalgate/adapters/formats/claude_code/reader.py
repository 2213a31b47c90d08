"""Reads Claude Code: lines of `stream-json`, the Action's execution file, and session files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.claude_code import claude_lines
from evalgate.adapters.formats.claude_code.result_line import add_results, model_of
from evalgate.adapters.formats.claude_code.sessions import ClaudeSession, MessageDraft
from evalgate.adapters.formats.claude_code.sub_agents import SubAgent, take_in
from evalgate.adapters.formats.core.build.llm_calls import MeteredConversation, waited
from evalgate.adapters.formats.core.build.run_end import incomplete
from evalgate.adapters.formats.core.fields import FieldError, listing, mapping, text
from evalgate.adapters.formats.core.format import Reader, no_identity
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.core.usage.provider_response import anthropic_usage
from evalgate.adapters.formats.core.usage.totals import cost_of_calls
from evalgate.adapters.formats.core.usage.usage_fields import recorded_cost

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.trace.trace import Trace, Usage

NAME = "claude-code"
PROVIDER = "anthropic"


def split(documents: Any) -> Sequence[Any]:
    """Splits a file into sessions; a line without a session id belongs to the session before it."""
    lines: list[Any] = []
    for document in documents:
        lines += claude_lines(document)
    sessions: dict[str, list[Any]] = {}
    waiting: list[Any] = []
    current = ""
    for line in lines:
        named = _session_id(line)
        if named is None and not sessions:
            waiting.append(line)
        else:
            current = named if named is not None else current
            sessions.setdefault(current, []).append(line)
    first = next(iter(sessions.values()), [])
    first[:0] = waiting
    return list(sessions.values()) or ([waiting] if waiting else [])


def build(record: Any) -> Trace:
    """Builds one session. Without a result line, its cost is known only if every answer has its own."""
    require_shallow(record)
    session = ClaudeSession()
    for number, line in enumerate(record):
        try:
            session.add(mapping(line, ""))
        except FieldError as error:
            raise error.under(f"lines[{number}]") from None
    main, agents = _stories(session)
    take_in(main, agents)
    trace = main.trace()
    trace.conversation_id = next(filter(None, map(_session_id, record)), None)
    trace.trace_id = trace.conversation_id or ""
    _add_settings(trace, session)
    _add_times(trace)
    if session.results:
        add_results(trace, session.results)
    else:
        _add_open_end(trace, session, main.silent)
    if all(m["content"] is None and not m["tool_calls"] and m["parts"] is None for m in trace.messages):
        said = "the lines tell tokens but not what was said"
        trace.warnings.append({"code": "content_not_captured", "message": said, "where": "messages"})
    return trace


def _session_id(line: Any) -> str | None:
    if not isinstance(line, dict):
        return None
    found = line.get("session_id", line.get("sessionId"))
    return found if isinstance(found, str) and found else None


def _stories(session: ClaudeSession) -> tuple[MeteredConversation, list[SubAgent]]:
    """The conversations of the main agent and its sub-agents; a file may hold only a sub-agent."""
    is_alone = all(draft.owner is not None for draft in session.drafts)
    main, agents = MeteredConversation(), {}
    tools = session.tools
    for draft in session.drafts:
        story = main
        if draft.owner is not None and not is_alone:
            if draft.owner not in agents:
                agents[draft.owner] = SubAgent(
                    MeteredConversation(), draft.owner, _words(draft), main.conversation.step
                )
            story = agents[draft.owner].story
        story.say(draft.said(tools))
        if draft.role != "assistant":
            continue
        if not draft.usages:
            main.silent += 1
        else:
            call = story.meter(
                _usage(draft, is_stream=session.is_stream),
                provider=PROVIDER,
                model=draft.model,
                response_id=draft.id,
                reason=draft.reason,
            )
            call["cost_usd"] = draft.cost_usd
    return main, list(agents.values())


def _words(draft: MessageDraft) -> str | None:
    if draft.words is not None or not draft.blocks:
        return draft.words
    first = draft.blocks[0]
    return first.get("text") if isinstance(first, dict) and isinstance(first.get("text"), str) else None


def _usage(draft: MessageDraft, *, is_stream: bool) -> Usage:
    """The largest usage is a message's last; a stream writes lines before the output is counted."""
    usages = [anthropic_usage(usage) for usage in draft.usages]
    usage = max(usages, key=lambda one: (one["output_tokens"] or 0, one["input_tokens"] or 0))
    if is_stream:
        usage["output_tokens"] = usage["total_tokens"] = None
    return usage


def _add_settings(trace: Trace, session: ClaudeSession) -> None:
    init = session.init
    trace.name = session.name
    trace.provider = PROVIDER
    trace.model = model_of(session.results) or _model(trace) or text(init.get("model"), "model")
    trace.agent = {"name": NAME, "framework": NAME}
    version = text(init.get("claude_code_version"), "claude_code_version")
    if version:
        trace.agent["version"] = version
    trace.tool_definitions = [
        {"name": tool} for tool in listing(init.get("tools"), "tools") if isinstance(tool, str)
    ]
    servers = [mapping(one, "mcp_servers") for one in listing(init.get("mcp_servers"), "mcp_servers")]
    named = {one["name"]: one.get("status") for one in servers if isinstance(one.get("name"), str)}
    mode = text(init.get("permissionMode"), "permissionMode")
    told = {"permission_mode": mode, "mcp_servers": named, "hooks": session.hooks}
    trace.metadata.update({key: value for key, value in told.items() if value})


def _model(trace: Trace) -> str | None:
    """The model with the most output tokens, as far as the lines record them."""
    most: dict[str, int] = {}
    for call in trace.llm_calls:
        if call["model"] is not None:
            tokens = 0 if call["usage"] is None else call["usage"]["output_tokens"] or 0
            most[call["model"]] = most.get(call["model"], 0) + tokens
    return max(most, key=lambda name: (most[name], name)) if most else None


def _add_times(trace: Trace) -> None:
    times = [message["timestamp"] for message in trace.messages if message["timestamp"] is not None]
    trace.started_at, trace.ended_at = (min(times), max(times)) if times else (None, None)
    trace.latency = waited(trace.messages)


def _add_open_end(trace: Trace, session: ClaudeSession, silent: int) -> None:
    """A stream ends with a result unless the run was stopped; a session file never has one.

    `unmetered` counts answers for which no line has tokens or cost.
    """
    told = None if silent else cost_of_calls(trace.llm_calls)
    trace.cost, warnings = recorded_cost(told, trace.usage, "costUSD")
    trace.warnings += warnings
    last = session.drafts[-1] if session.drafts else None
    if session.is_stream:
        incomplete(trace, "there is no result line: the run was stopped")
        said = "without a result line the output tokens are not known"
        trace.warnings.append({"code": "tokens_incomplete", "message": said, "where": "usage"})
    elif session.api_error is not None:
        trace.status = "error"
        trace.error = {"type": "api_error", "message": session.api_error}
    elif last is not None and (last.role == "user" or trace.messages[-1]["tool_calls"]):
        incomplete(trace, "the session ends before the agent answered")


READER = Reader(build=build, identify=no_identity, split=split)
