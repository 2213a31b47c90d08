"""Builds the native trace of a trial: the main thread's messages, and the model calls of all threads."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.adapters.formats.core.builder.conversation import RawMessage
from evalgate.adapters.formats.core.builder.evidence_gaps import OF_MESSAGES, add_gap
from evalgate.adapters.formats.core.builder.run import BLANK_LLM_CALL, MeteredConversation, add_warning
from evalgate.adapters.formats.core.builder.sub_agents import merge_sub_agents
from evalgate.adapters.formats.core.usage import finish_reason, none_if_uncounted, sum_call_usages, warn_of_doubts
from evalgate.adapters.formats.messages.kept_elsewhere import note_elsewhere
from evalgate.features.record.adapters.exchanges.agents import (
    find_agents,
    list_instructions,
    number_answers,
    time_answers,
)
from evalgate.features.record.adapters.exchanges.beside import note_beside, note_own_events
from evalgate.features.record.adapters.exchanges.model_calls import ExchangeCall, Seen, read_model_call
from evalgate.features.record.adapters.exchanges.model_settings import join_settings
from evalgate.features.record.adapters.exchanges.sent_back import note_sent_back, restore_answers
from evalgate.features.record.adapters.exchanges.threads import CallThread, Threads, find_threads, list_messages
from evalgate.features.record.models.exchange import format_time
from evalgate.models.trace.trace import MODEL_SETTINGS, OTHER_AGENTS, Trace

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evalgate.features.record.models.exchange import Exchange
    from evalgate.features.record.models.run import ProcessRun
    from evalgate.models.trace.trace import LlmCall, Message

MAX_TEXT = 1_000_000
"""Characters of one text that a trace keeps."""


def build_trace(exchanges: Iterable[Exchange], run: ProcessRun) -> Trace:
    """The trace of one trial; its exchanges are at least one, in any order."""
    seen = Seen()
    ordered = sorted(exchanges, key=lambda exchange: exchange.arrived_at)
    calls = [read_model_call(exchange, seen) for exchange in ordered]
    sent = restore_answers(calls)
    threads = find_threads(calls)
    retried = set(map(id, threads.retried))
    counted = [call for call in calls if id(call) not in retried]
    main = threads.found[0]
    trace, answers = _build_conversation(threads.found)
    note_sent_back(trace.tool_calls, sent)
    _add_calls(trace, answers, counted)
    warn_of_doubts(trace)
    _add_times(trace, main, counted)
    _add_notes(trace, threads, calls)
    _note_beside(trace, calls)
    _add_end(trace, counted)
    trial = run.trial
    trace.trace_id, trace.scenario_id, trace.trial = run.trace_id, trial.scenario, trial.trial
    trace.commit, trace.agent_hash = run.commit, run.agent_hash
    trace.metadata = {**run.metadata, MODEL_SETTINGS: join_settings([call.settings for call in main.calls])}
    if found := list_instructions(threads.found):
        trace.metadata[OTHER_AGENTS] = found
    if trial.variant is not None:
        trace.metadata["variant"] = trial.variant
        trace.tags = [trial.variant]
    return trace


def _build_conversation(threads: Sequence[CallThread]) -> tuple[Trace, dict[int, _Answer]]:
    """The messages of the main agent's last request and its answer, with the calls of all agents."""
    chat, main = MeteredConversation(), threads[0]
    if main.parts and main.last.system is not None:
        chat.add_messages([RawMessage("system", main.last.system)])
    if main.parts:
        chat.add_messages(map(_cut_message, list_messages(main.last)))
    if not chat.conversation.messages:
        return Trace("", [], [], chat.conversation.get_response()), {}
    messages: dict[int, Message] = {}
    time_answers(main.calls, chat.conversation.messages, messages)
    agents = find_agents(threads, chat, messages, _cut_message)
    steps = merge_sub_agents(chat, agents)
    answers: dict[int, _Answer] = {}
    for run, turn in ((chat, None), *((agent.metered, agent.find_turn(chat)) for agent in agents)):
        numbers = {id(message): number for number, message in number_answers(run.conversation.messages)}
        for call, message in messages.items():
            if id(message) in numbers:
                step = steps.get((id(run), numbers[id(message)]), 0)
                answers[call] = _Answer(message, step, message["turn"] if turn is None else turn)
    trace = chat.build_trace()
    trace.tool_definitions = main.last.tools
    return trace, answers


class _Answer(NamedTuple):
    """Where the answer of a model call stands: its message, its step and its turn."""

    message: Message
    step: int
    turn: int


def _cut_message(message: RawMessage) -> RawMessage:
    message.content = None if message.content is None else cut_text(message.content)
    message.answers = [
        each._replace(content=cut_text(each.content) if isinstance(each.content, str) else each.content)
        for each in message.answers
    ]
    return message


def cut_text(text: str) -> str:
    """The first million characters of a text, with a note of how many there were."""
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}\n[cut: the text had {len(text):,} characters]"


def _add_calls(trace: Trace, answers: Mapping[int, _Answer], calls: Sequence[ExchangeCall]) -> None:
    """Adds every model call with the step and turn of its answer."""
    last = max((answer.step for answer in answers.values()), default=0)
    for index, call in enumerate(calls):
        found: LlmCall = {
            **BLANK_LLM_CALL,
            "index": index,
            "provider": call.exchange.request.provider,
            "model": call.response.model,
            "response_id": call.response.id,
            "usage": call.response.usage and none_if_uncounted(call.response.usage),
            "duration_ms": call.exchange.duration_ms,
            "finish_reason": finish_reason(call.finish_reason),
        }
        answer = answers.get(id(call))
        if answer is not None:
            found["step"], found["turn"] = answer.step, answer.turn
            answer.message["model"], answer.message["finish_reason"] = call.response.model, found["finish_reason"]
        if call.error is not None:
            found["error"] = call.error
            found["step"] = found["step"] or (last + 1 if call is calls[-1] else 0)
        trace.llm_calls.append(found)
    times = {answer.step: answer.message["timestamp"] for answer in answers.values()}
    for request in trace.tool_calls:
        request["started_at"] = times.get(request["step"])
    if trace.response["message_index"] is not None:
        trace.response["finish_reason"] = trace.messages[trace.response["message_index"]]["finish_reason"]
    metered = [call for call in trace.llm_calls if "error" not in call or call["usage"] is not None]
    trace.usage, warnings = sum_call_usages(metered)
    trace.warnings += warnings


def _add_times(trace: Trace, main: CallThread, calls: Sequence[ExchangeCall]) -> None:
    """Start, end, latency, provider, model and finish reason; a replayed run has the times of its recording."""
    last = main.last if main.parts else calls[-1]
    trace.provider, trace.model = last.exchange.request.provider, last.response.model
    trace.finish_reason = finish_reason(last.finish_reason)
    started, ended = min(call.exchange.started_at for call in calls), max(call.ended_at for call in calls)
    trace.started_at, trace.ended_at = format_time(started), format_time(ended)
    if any(call.exchange.is_replayed for call in calls):
        total = sum(call.exchange.duration_ms for call in (main.calls or calls))
        trace.ended_at = trace.started_at
    else:
        total = (ended - started) * 1000
    trace.latency = {"total_ms": round(total, 3), "source": "recorded"}


def _add_notes(trace: Trace, threads: Threads, calls: Sequence[ExchangeCall]) -> None:
    main, retried = threads.found[0], len(threads.retried)
    if retried:
        add_warning(trace, "retried", f"{retried} failed model calls were made again, and count once", "llm_calls")
    if len(main.parts) > 1:
        message = "the agent replaced earlier messages by shorter ones: the messages are those of its last request"
        add_warning(trace, "compacted", message, "messages")
        add_gap(trace, "messages", message)
    for call in calls:
        if call.problem is not None and not _is_superseded(call, calls):
            add_warning(trace, "unreadable_exchange", f"a model call could not be read: {call.problem}", "messages")
            for kind in OF_MESSAGES:
                add_gap(trace, kind, f"a model call could not be read: {call.problem}")
        note_elsewhere(trace, call.elsewhere)
    if any(call.has_halves for call in calls):
        add_warning(trace, "half_character", "a half of a surrogate pair is shown as U+FFFD", "messages")
    if not main.parts:
        add_gap(trace, "messages", "no recorded model call has messages")
    if any(len(message["content"] or "") > MAX_TEXT for message in trace.messages):
        add_warning(trace, "text_cut", f"a text longer than {MAX_TEXT:,} characters was cut", "messages")


def _note_beside(trace: Trace, calls: Sequence[ExchangeCall]) -> None:
    """Judges what was shown beside the messages by the names of all calls that were read, examples among them."""
    read = (message for call in calls for message in (*call.messages, *call.answer))
    names = {request.name for message in read for request in message.calls}
    for call in calls:
        for record in call.shown:
            note_beside(trace, call.api, record, names)
        note_own_events(trace, call.own_events, names)


def _is_superseded(call: ExchangeCall, calls: Sequence[ExchangeCall]) -> bool:
    """Whether a call failed and the same one was made again and answered: what could not be read is known then."""
    return call.error is not None and any(
        each.error is None
        and each.problem is None
        and each.exchange.arrived_at > call.exchange.arrived_at
        and (each.system, each.keys) == (call.system, call.keys)
        for each in calls
    )


def _add_end(trace: Trace, calls: Sequence[ExchangeCall]) -> None:
    """The run ended in an error if its last model call did; an answer that asks for a tool is an end like others."""
    last = calls[-1].error
    if last is not None:
        trace.status = "error"
        trace.error = {"type": last["type"], "message": last["message"]}
