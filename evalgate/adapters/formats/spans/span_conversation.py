"""Builds the conversation of a trace with each message once, although model calls repeat the earlier ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.adapters.formats.core.build.call_identity import key_as_recorded
from evalgate.adapters.formats.core.build.raw_message import RawMessage, converse, written
from evalgate.adapters.formats.spans.tree import of_kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.adapters.formats.core.build.call_identity import Key
    from evalgate.adapters.formats.core.build.conversation import Conversation
    from evalgate.adapters.formats.spans.aggregate import ModelCall
    from evalgate.adapters.formats.spans.tree import Node


def outermost_calls(calls: Sequence[ModelCall]) -> list[ModelCall]:
    """The model calls of the outermost agent by start, without those of its sub-agents."""
    owned = [call for call in calls if call.owner is not None] or list(calls)
    telling = [call for call in owned if call.told("input") or call.told("output")] or owned
    depth = min((call.depth for call in telling), default=0)
    return [call for call in telling if call.depth == depth]


def conversation_of(nodes: list[Node], main: Sequence[ModelCall]) -> Conversation:
    """Builds the conversation of the outermost agent: instructions, messages and tool results."""
    agents = _speaking_agents(nodes)
    said = _of_calls(main)
    own = _of_agent(agents[-1]) if agents else []
    if not said or _size(own) > _size(said):
        said = own
    elif said[0].role == "assistant" and own and own[0].role != "assistant":
        said = [*_lead(own), *said]
    said = [_copied(message) for message in said]
    if said and all(message.role != "system" for message in said):
        instructions = system_of(main, agents)
        said[:0] = [RawMessage("system", instructions)] if instructions else []
    _end(said, agents)
    _pair_ids(said)
    return converse(said)


def system_of(main: Sequence[ModelCall], agents: Sequence[Node]) -> str | None:
    """The instructions of the outermost agent, if recorded apart from its messages."""
    told = [call.told("system") for call in reversed(main)] + [agent.facts.system for agent in agents]
    return next((system for system in told if system), None)


def _speaking_agents(nodes: list[Node]) -> list[Node]:
    """The outermost agents with recorded input or output, by end."""
    agents = [node for node in of_kind(nodes, "agent") if node.facts.input or node.facts.output]
    depth = min((agent.depth for agent in agents), default=0)
    return sorted((agent for agent in agents if agent.depth == depth), key=lambda agent: agent.end)


def _of_agent(agent: Node) -> list[RawMessage]:
    return [*(agent.facts.input or []), *(agent.facts.output or [])]


def _of_calls(main: Sequence[ModelCall]) -> list[RawMessage]:
    """The last call's input and output if they hold all earlier messages, else those of several calls."""
    telling = [call for call in main if call.told("input") or call.told("output")]
    if not telling:
        return []
    last = max(telling, key=lambda call: (call.end, call.start))
    given = last.told("input") or []
    for call in telling:
        _finish(call)
    ordered = [call for call in telling if call is not last] + [last]
    if any(said.role == "assistant" for said in given) or len(telling) == 1:
        return [*given, *(last.told("output") or [])]
    if given and any(said.role == "user" and not said.answers for said in given):
        return _after_equal_input(ordered, given)
    return _in_time(ordered)


def _finish(call: ModelCall) -> None:
    """Copies the call's finish reason to its last message, if that has none."""
    output = call.told("output")
    if output and output[-1].role == "assistant" and output[-1].finish_reason is None:
        output[-1].finish_reason = call.told("finish_reason")


def _after_equal_input(calls: list[ModelCall], given: list[RawMessage]) -> list[RawMessage]:
    """Joins calls whose input is the same first one, as some tracers record it, with their tool requests."""
    alike = _signature(given)
    before = [call for call in calls[:-1] if _signature(call.told("input") or []) == alike]
    asked = [call for call in before if any(said.calls for said in call.told("output") or [])]
    seen: set[tuple[str | None, Key]] = set()
    answers: list[RawMessage] = []
    for call in [*asked, calls[-1]]:
        output = call.told("output") or []
        asked_for = [one for said in output for one in said.calls]
        keys = {(one.id, key_as_recorded(one.name, one.arguments)) for one in asked_for if one.id is not None}
        answers += [] if keys and keys <= seen else output  # the same answer, recorded twice
        seen |= keys
    return [*given, *answers]


def _in_time(calls: list[ModelCall]) -> list[RawMessage]:
    """Concatenates calls that each record only new messages."""
    return [said for call in calls for part in ("input", "output") for said in call.told(part) or []]


def _lead(own: list[RawMessage]) -> list[RawMessage]:
    """The messages before the agent's first one."""
    spoken = next((at for at, said in enumerate(own) if said.role == "assistant"), len(own))
    return own[:spoken]


def _end(said: list[RawMessage], agents: Sequence[Node]) -> None:
    """Appends the outermost agent's final answer, unless the last assistant message already holds it."""
    answered = next((agent for agent in reversed(agents) if agent.facts.output), None)
    if answered is None or not said:
        return
    last = answered.facts.output[-1] if answered.facts.output else None
    if last is None or last.role != "assistant" or not last.content or last.calls:
        return
    spoken = next((one.content for one in reversed(said) if one.role == "assistant" and one.content), "")
    if (spoken or "").strip() != last.content.strip():
        said.append(RawMessage("assistant", last.content, agent=answered.facts.agent))


def _pair_ids(said: list[RawMessage]) -> None:
    """Pairs calls and results with different ids, as some tracers record them, in their order."""
    asked = {call.id for message in said for call in message.calls}
    answered = {answer.id for message in said for answer in message.answers}
    calls = [call for message in said for call in message.calls if call.id and call.id not in answered]
    lost = [
        (message, at)
        for message in said
        for at, answer in enumerate(message.answers)
        if answer.id and answer.id not in asked
    ]
    if not lost or len(calls) < len(lost):
        return
    for (message, at), call in zip(lost, calls, strict=False):
        message.answers[at] = message.answers[at]._replace(id=call.id)


def _copied(said: RawMessage) -> RawMessage:
    """Copies a message before it is changed, since several spans may share it."""
    from evalgate.records import replace

    return replace(said, calls=list(said.calls), answers=list(said.answers))


def _size(said: Sequence[RawMessage]) -> int:
    return sum(1 + len(message.calls) + len(message.answers) for message in said if message.role != "system")


def _signature(said: Sequence[RawMessage]) -> list[tuple[str, str | None]]:
    return [
        (message.role, message.content or written([answer.content for answer in message.answers]))
        for message in said
    ]
