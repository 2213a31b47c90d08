"""The runs of other agents than the main one among the recorded model calls: their calls, and who started them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.adapters.formats.core.builder.conversation import build_call_key
from evalgate.adapters.formats.core.builder.run import MeteredConversation, mark_final_call
from evalgate.adapters.formats.core.builder.sub_agents import SubAgent
from evalgate.adapters.formats.core.strict_json import encode_json
from evalgate.features.record.adapters.exchanges.threads import list_messages
from evalgate.features.record.models.exchange import format_time
from evalgate.models.trace.actors import HELPER, ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalgate.adapters.formats.core.builder.conversation import RawMessage
    from evalgate.features.record.adapters.exchanges.model_calls import ExchangeCall
    from evalgate.features.record.adapters.exchanges.threads import CallThread
    from evalgate.models.trace.trace import Message, ToolCall

MOST_AGENTS, MOST_TEXT = 20, 100_000
"""Other agents whose instructions are kept, and characters of these."""
Answers = dict[int, "Message"]
"""The message of each model call's answer, by the call's identity."""


def find_agents(
    threads: Sequence[CallThread], main: MeteredConversation, answers: Answers, cut: Callable[[RawMessage], RawMessage]
) -> list[SubAgent]:
    """The runs of other agents, and the earlier parts of the main one, as far as they called tools."""
    first, *others = threads
    found = [
        _read_part(part, SubAgent(MeteredConversation(), None, actor=ROOT), answers, cut) for part in first.parts[:-1]
    ]
    waits = _list_waits(first, [*(agent.metered for agent in found), main], answers)
    _leave_out_kept(found, main)
    answered = {
        result.id for thread in threads for call in thread.calls for each in call.messages for result in each.answers
    }
    helpers = 0
    for thread in others:
        starter, after = _find_start(thread, waits)
        agent = SubAgent(MeteredConversation(), starter, after=after)
        if _is_structured_output(thread, answered):
            helpers += 1
            agent.actor = f"{HELPER}{helpers}"
        for part in thread.parts:
            _read_part(part, agent, answers, cut)
        if agent.actor:
            for call in agent.metered.conversation.calls:
                mark_final_call(call)
        found.append(agent)
    return [agent for agent in found if agent.metered.conversation.calls]


def list_instructions(threads: Sequence[CallThread]) -> list[dict[str, Any]]:
    """The instructions and tools of the other agents, each once, as far as they are not those of the main one."""
    main, *others = threads
    found: dict[str, dict[str, Any]] = {}
    for last in (thread.last for thread in others if main.parts):
        has_own = last.system is not None and last.system != main.last.system
        own = {
            "system_instructions": (last.system or "")[:MOST_TEXT] if has_own else None,
            "tool_definitions": last.tools if last.tools != main.last.tools else [],
        }
        if any(own.values()):
            found.setdefault(encode_json(own), own)
    return list(found.values())[:MOST_AGENTS]


def time_answers(part: Sequence[ExchangeCall], messages: Sequence[Message], answers: Answers) -> None:
    """Finds the message of each answer, from the last one backwards, and sets when it came.

    It ends at an answer that the messages no longer hold: the agent made them shorter.
    """
    spoken = [message for message in messages if message["role"] == "assistant"]
    answering = [call for call in part if call.answer_keys]
    for call, message in zip(reversed(answering), reversed(spoken), strict=False):
        asked = [request.name for each in call.answer for request in each.calls]
        if asked != [request["name"] for request in message["tool_calls"]]:
            break
        answers[id(call)] = message
        message["timestamp"] = format_time(call.ended_at)


def _read_part(
    part: Sequence[ExchangeCall], agent: SubAgent, answers: Answers, cut: Callable[[RawMessage], RawMessage]
) -> SubAgent:
    """Adds what an agent did in a part of its calls: without the calls that its first request already has.

    Those are examples, what another agent did, or what it did itself before it made its messages shorter.
    """
    run = agent.metered.conversation
    known, spoken = len(run.calls), len(run.messages)
    agent.metered.add_messages(map(cut, list_messages(part[-1])))
    given = sum(len(message.calls) for message in part[0].messages) if agent.actor != ROOT else 0
    run.calls[known:] = run.calls[known + given :]
    time_answers(part, run.messages[spoken:], answers)
    times = {step: message["timestamp"] for step, message in number_answers(run.messages)}
    for call in run.calls[known:]:
        call["started_at"] = times[call["step"]]
    return agent


def number_answers(messages: Sequence[Message]) -> enumerate[Message]:
    """The messages of a model, numbered from 1 as steps."""
    return enumerate((message for message in messages if message["role"] == "assistant"), 1)


def _leave_out_kept(parts: Sequence[SubAgent], main: MeteredConversation) -> None:
    """Leaves calls out of earlier parts of the main conversation that a later one kept."""
    kept = Counter(map(_key, main.conversation.calls))
    for part in reversed(parts):
        own = part.metered.conversation.calls
        left = []
        for call in own:
            key = _key(call)
            if kept[key]:
                kept[key] -= 1
            else:
                left.append(call)
        kept.update(map(_key, left))
        part.metered.conversation.calls = left


def _key(call: ToolCall) -> tuple[object, ...]:
    return call["id"], *build_call_key(call["name"], call["arguments"])


class _Wait(NamedTuple):
    """From when to when the main agent did not ask its model, after which answer of its last part, with its calls."""

    begin: float
    end: float
    step: int
    calls: list[ToolCall]


def _list_waits(main: CallThread, runs: Sequence[MeteredConversation], answers: Answers) -> list[_Wait]:
    begins = [call.exchange.arrived_at for call in main.calls[1:]]
    found = []
    for call, following in zip(main.calls, [*begins, float("inf")], strict=True):
        message = answers.get(id(call))
        for run in runs:
            numbers = [number for number, each in number_answers(run.conversation.messages) if each is message]
            asked = [each for each in run.conversation.calls if each["step"] in numbers]
            step = numbers[0] if numbers and run is runs[-1] else 0
            found += [_Wait(_end(call), following, step, asked)] if numbers else []
    return found


def _end(call: ExchangeCall) -> float:
    """When the agent had the answer; a replayed one takes no time."""
    exchange = call.exchange
    return exchange.arrived_at + (0 if exchange.is_replayed else exchange.duration_ms / 1000)


def _find_start(thread: CallThread, waits: Sequence[_Wait]) -> tuple[ToolCall | None, int]:
    """The call of the main agent that was in flight when a thread began, if exactly one was, and after which answer."""
    began = thread.calls[0].exchange.arrived_at
    flying = [call for wait in waits if wait.begin <= began < wait.end for call in wait.calls]
    after = max((wait.step for wait in waits if wait.begin <= began), default=0)
    return flying[0] if len(flying) == 1 else None, after


def _is_structured_output(thread: CallThread, answered: set[str | None]) -> bool:
    """Whether a thread is one request for a structure: it names the tool to call, and nothing answers the call."""
    if len(thread.calls) != 1:
        return False
    only = thread.last
    asked = [request for message in only.answer for request in message.calls]
    return bool(asked) and all(each.name == only.forced_tool and each.id not in answered for each in asked)
