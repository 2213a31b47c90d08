"""Judges only what one agent did: `agent: root`, the name of an agent, or a glob of names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from evalgate.evaluators.core.evaluator import Finding, Undecided, build_undecided
from evalgate.evaluators.core.queries import MAY_NAME_AGENTS, find_names_looked_for
from evalgate.measures.text.globs import matches_id
from evalgate.measures.values.json_values import mark_name
from evalgate.models.trace.actors import ROOT, is_helper
from evalgate.models.trace.final_answer import find_final_answer
from evalgate.models.trace.trace import unknown_cost, unknown_latency, unknown_usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evalgate.evaluators.core.evaluator import Check
    from evalgate.models.trace.trace import EvidenceKind, Message, ToolCall, Trace

ANY = "any"
UNKNOWN = "who made each call is not recorded"
NO_MESSAGES = "messages of an agent that another one started are not part of the trace"
HOLDERS = ("not", "params", "all_of", "any_of", "at_least", "of", "when", "then", "sequence", "one_of")
"""Keys of an entry of a suite under which further checks and steps are."""


def judge_agent(check: Check, careful: Check, agent: str) -> Check:
    """The check of what the agent did; not_evaluable where the trace can't say who did something."""
    shown = mark_name(agent)
    unknown = build_undecided(
        Finding("not_evaluable", f"missing evidence (agents): {UNKNOWN}"), may_fail=True, may_pass=True
    )

    def judge(trace: Trace) -> Finding:
        own = select_agent(trace, agent)
        if own is None:
            return unknown
        found = careful(own) if own.gaps else check(own)
        if own is trace:
            return found
        marked = found._replace(reason=f"{found.reason} (of what {shown} did)")
        if isinstance(found, Undecided):
            return build_undecided(marked, may_fail=found.may_fail, may_pass=found.may_pass)
        return marked

    return judge


def iter_agents(written: Any) -> Iterator[str]:
    """Yields the agents that an entry of a suite names: itself, its members and conditions, and steps of a sequence.

    Also those that its expression compares something with.

    >>> list(iter_agents({"when": {"type": "tool_called", "agent": "a"}, "then": [{"sequence": [{"agent": "b"}]}]}))
    ['a', 'b']
    """
    if isinstance(written, list):
        for each in written:
            yield from iter_agents(each)
    elif isinstance(written, dict):
        if isinstance(name := written.get("agent"), str):
            yield name
        expression = written.get("expression", written.get("path"))
        if isinstance(expression, str) and MAY_NAME_AGENTS.search(expression):
            yield from find_names_looked_for(expression, written, "agent")
        for key in HOLDERS:
            if key in written:
                yield from iter_agents(written[key])


def is_of_agent(record: ToolCall | Message, agent: str) -> bool | None:
    """Whether the agent made a call or wrote a message; None if that is not known."""
    actor, name = record["actor"], record["agent"]
    if agent == ROOT:
        return None if actor is None else actor == ROOT
    if actor == ROOT and matches_id(agent, ROOT):
        return True
    if name is not None:
        return matches_id(agent, name)
    return False if actor == ROOT or is_helper(actor) else None


def select_agent(trace: Trace, agent: str) -> Trace | None:
    """The trace of what an agent did, without figures of the whole run; None if that is not known.

    It is the trace itself if nobody else acted.
    """
    spoken = [message for message in trace.messages if message["role"] in ("assistant", "tool")]
    if any(is_of_agent(each, agent) is None for each in trace.tool_calls) or _any_unknown(spoken, agent):
        return None
    calls = [call for call in trace.tool_calls if is_of_agent(call, agent)]
    left_out = {id(message) for message in spoken if not is_of_agent(message, agent)}
    if len(calls) == len(trace.tool_calls) and not left_out:
        return trace
    messages = [message for message in trace.messages if id(message) not in left_out]
    numbered: list[ToolCall] = [{**call, "index": index, "started_by": None} for index, call in enumerate(calls)]
    kept: list[Message] = [{**message, "index": index} for index, message in enumerate(messages)]
    gaps: dict[EvidenceKind, str] = dict(trace.gaps)
    if calls and len(left_out) == len(spoken):
        gaps["messages"] = NO_MESSAGES
    return replace(
        trace,
        tool_calls=numbered,
        messages=kept,
        response=find_final_answer(kept) if left_out else trace.response,
        usage=unknown_usage(),
        cost=unknown_cost(),
        latency=unknown_latency(),
        llm_calls=[],
        state=None,
        gaps=gaps,
        kept_view=None,
        identity=None,
        record=None,
    )


def _any_unknown(messages: Iterable[Message], agent: str) -> bool:
    return any(is_of_agent(each, agent) is None for each in messages)
