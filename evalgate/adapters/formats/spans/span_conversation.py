"""Builds the conversation of a trace with each message once, although model calls repeat the earlier ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.adapters.formats.core.builder.call_arguments import build_recorded_call_key
from evalgate.adapters.formats.core.builder.conversation import RawMessage, conversation_from_messages
from evalgate.adapters.formats.core.strict_json import encode_json
from evalgate.adapters.formats.spans.tree import nodes_of_kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.adapters.formats.core.builder.call_arguments import CallKey
    from evalgate.adapters.formats.core.builder.conversation import Conversation
    from evalgate.adapters.formats.spans.aggregate import ModelCall
    from evalgate.adapters.formats.spans.tree import SpanNode


def outermost_calls(calls: Sequence[ModelCall]) -> list[ModelCall]:
    """The model calls of the outermost agent by start, without those of its sub-agents."""
    owned = [call for call in calls if call.owner is not None] or list(calls)
    captured = [call for call in owned if call.get_fact("input") or call.get_fact("output")] or owned
    depth = min((call.depth for call in captured), default=0)
    return [call for call in captured if call.depth == depth]


def build_conversation(nodes: list[SpanNode], main: Sequence[ModelCall]) -> Conversation:
    """Builds the conversation of the outermost agent: instructions, messages and tool results."""
    agents = _speaking_agents(nodes)
    messages = _call_messages(main)
    own = _agent_messages(agents[-1]) if agents else []
    if not messages or _count_parts(own) > _count_parts(messages):
        messages = own
    elif messages[0].role == "assistant" and own and own[0].role != "assistant":
        messages = [*_messages_before_answer(own), *messages]
    messages = [_copy_message(message) for message in messages]
    if messages and all(message.role != "system" for message in messages):
        instructions = find_instructions(main, agents)
        messages[:0] = [RawMessage("system", instructions)] if instructions else []
    _add_final_answer(messages, agents)
    _pair_ids(messages)
    return conversation_from_messages(messages)


def find_instructions(main: Sequence[ModelCall], agents: Sequence[SpanNode]) -> str | None:
    """The instructions of the outermost agent, if recorded apart from its messages."""
    prompts = [call.get_fact("system") for call in reversed(main)] + [agent.facts.system for agent in agents]
    return next((system for system in prompts if system), None)


def _speaking_agents(nodes: list[SpanNode]) -> list[SpanNode]:
    """The outermost agents with recorded input or output, by end."""
    agents = [node for node in nodes_of_kind(nodes, "agent") if node.facts.input or node.facts.output]
    depth = min((agent.depth for agent in agents), default=0)
    return sorted((agent for agent in agents if agent.depth == depth), key=lambda agent: agent.end)


def _agent_messages(agent: SpanNode) -> list[RawMessage]:
    return [*(agent.facts.input or []), *(agent.facts.output or [])]


def _call_messages(main: Sequence[ModelCall]) -> list[RawMessage]:
    """The last call's input and output if they hold all earlier messages, else those of several calls."""
    captured = [call for call in main if call.get_fact("input") or call.get_fact("output")]
    if not captured:
        return []
    last = max(captured, key=lambda call: (call.end, call.start))
    given = last.get_fact("input") or []
    for call in captured:
        _add_finish_reason(call)
    ordered = [call for call in captured if call is not last] + [last]
    if any(message.role == "assistant" for message in given) or len(captured) == 1:
        return [*given, *(last.get_fact("output") or [])]
    if given and any(message.role == "user" and not message.answers for message in given):
        return _join_equal_inputs(ordered, given)
    return _concatenate_calls(ordered)


def _add_finish_reason(call: ModelCall) -> None:
    """Copies the call's finish reason to its last message, if that has none."""
    output = call.get_fact("output")
    if output and output[-1].role == "assistant" and output[-1].finish_reason is None:
        output[-1].finish_reason = call.get_fact("finish_reason")


def _join_equal_inputs(calls: list[ModelCall], given: list[RawMessage]) -> list[RawMessage]:
    """Joins calls whose input is the same first one, as some tracers record it, with their tool requests."""
    signature = _signature(given)
    same_input = [call for call in calls[:-1] if _signature(call.get_fact("input") or []) == signature]
    asking = [call for call in same_input if any(message.calls for message in call.get_fact("output") or [])]
    seen: set[tuple[str | None, CallKey]] = set()
    answers: list[RawMessage] = []
    for call in [*asking, calls[-1]]:
        output = call.get_fact("output") or []
        asked_for = [one for message in output for one in message.calls]
        keys = {(one.id, build_recorded_call_key(one.name, one.arguments)) for one in asked_for if one.id is not None}
        answers += [] if keys and keys <= seen else output  # the same answer, recorded twice
        seen |= keys
    return [*given, *answers]


def _concatenate_calls(calls: list[ModelCall]) -> list[RawMessage]:
    """Concatenates calls that each record only new messages."""
    return [item for call in calls for part in ("input", "output") for item in call.get_fact(part) or []]


def _messages_before_answer(own: list[RawMessage]) -> list[RawMessage]:
    """The messages before the agent's first one."""
    end = next((at for at, message in enumerate(own) if message.role == "assistant"), len(own))
    return own[:end]


def _add_final_answer(messages: list[RawMessage], agents: Sequence[SpanNode]) -> None:
    """Appends the outermost agent's final answer, unless the last assistant message already holds it."""
    answered = next((agent for agent in reversed(agents) if agent.facts.output), None)
    if answered is None or not messages:
        return
    last = answered.facts.output[-1] if answered.facts.output else None
    if last is None or last.role != "assistant" or not last.content or last.calls:
        return
    text = next((one.content for one in reversed(messages) if one.role == "assistant" and one.content), "")
    if (text or "").strip() != last.content.strip():
        messages.append(RawMessage("assistant", last.content, agent=answered.facts.agent))


def _pair_ids(messages: list[RawMessage]) -> None:
    """Pairs calls and results with different ids, as some tracers record them, in their order."""
    asked = {call.id for message in messages for call in message.calls}
    answered = {answer.id for message in messages for answer in message.answers}
    calls = [call for message in messages for call in message.calls if call.id and call.id not in answered]
    unmatched = [
        (message, at)
        for message in messages
        for at, answer in enumerate(message.answers)
        if answer.id and answer.id not in asked
    ]
    if not unmatched or len(calls) < len(unmatched):
        return
    for (message, at), call in zip(unmatched, calls, strict=False):
        message.answers[at] = message.answers[at]._replace(id=call.id)


def _copy_message(message: RawMessage) -> RawMessage:
    """Copies a message before it is changed, since several spans may share it."""
    from evalgate.records import replace

    return replace(message, calls=list(message.calls), answers=list(message.answers))


def _count_parts(messages: Sequence[RawMessage]) -> int:
    return sum(1 + len(message.calls) + len(message.answers) for message in messages if message.role != "system")


def _signature(messages: Sequence[RawMessage]) -> list[tuple[str, str | None]]:
    return [
        (message.role, message.content or encode_json([answer.content for answer in message.answers]))
        for message in messages
    ]
