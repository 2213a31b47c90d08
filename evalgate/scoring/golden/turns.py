"""Aligns the turns of a trace with those of its golden."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct

from evalgate.measures.numeric.means import mean_amount
from evalgate.measures.sequences.turn_alignment import align_turn_texts
from evalgate.models.trace.trace_view import get_view
from evalgate.scoring.golden.memories import MEMORY_TOOLS, find_listed_memories, find_retrieved_memories

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.measures.sequences.turn_alignment import TurnStep
    from evalgate.models.run.golden import Golden
    from evalgate.models.trace.trace import ToolCall, Trace
    from evalgate.scoring.golden.memories import Memory
    from evalgate.scoring.golden.rules import GoldenRules


class ActualTurn(Struct):
    """The user's message, the agent's last answer, and what the agent did in between."""

    user: str | None
    response: str | None
    calls: list[ToolCall]
    memories: list[Memory]
    latency_ms: float | None
    tokens: int | None
    cost: float | None


class TurnPair(NamedTuple):
    """One step of both conversations; None if a side has no such turn. Numbers count from 0."""

    step: TurnStep
    actual: ActualTurn | None
    user: str | None
    response: str | None  # the golden one

    @property
    def is_missing(self) -> bool:
        """Only the golden has the turn."""
        return self.actual is None

    @property
    def is_extra(self) -> bool:
        """Only the trace has the turn."""
        return self.step.golden is None


def align_turns(rules: GoldenRules, trace: Trace) -> list[TurnPair]:
    """Pairs every turn of both, in order. Raises TooLongError."""
    golden, turns = rules.golden, collect_turns(trace, rules.memory_tools)
    messages = [_text_at(golden.user_messages, number) for number in range(rules.turn_count)]
    steps = align_turn_texts(messages, [turn.user for turn in turns])
    return [_build_pair(step, golden, turns) for step in steps]


def _build_pair(step: TurnStep, golden: Golden, turns: Sequence[ActualTurn]) -> TurnPair:
    actual = None if step.actual is None else turns[step.actual]
    user = _text_at(golden.user_messages, step.golden)
    return TurnPair(
        step, actual, user if actual is None or actual.user is None else actual.user,
        _text_at(golden.golden_responses, step.golden),
    )  # fmt: skip


def _text_at(texts: Sequence[str], number: int | None) -> str | None:
    return texts[number] if number is not None and number < len(texts) else None


def collect_turns(trace: Trace, memory_tools: Sequence[str] = MEMORY_TOOLS) -> list[ActualTurn]:
    """The turns of a trace, one for each user message; a trace without a user is one turn."""
    exchanges: list[dict[str, Any]] = get_view(trace).get("exchanges") or []
    if not exchanges and (trace.messages or trace.tool_calls):
        content = trace.response["content"]
        exchanges = [{"turn": 0, "user": None, "response": content, "tool_calls": trace.agent_calls}]
    memories, is_single = find_listed_memories(trace), len(exchanges) == 1
    first = exchanges[0]["turn"] if exchanges else 0
    found = []
    for exchange in exchanges:
        number = exchange["turn"]
        turn = ActualTurn(
            exchange["user"],
            exchange["response"],
            exchange["tool_calls"],
            [*find_retrieved_memories(exchange["tool_calls"], memory_tools), *memories.pop(number or 1, ())],
            *(_trace_usage(trace) if is_single else _turn_usage(trace, number, with_earlier=number == first)),
        )
        found.append(turn)
    for leftover in memories.values():  # memories of turns that the trace does not have
        if found:
            found[-1].memories += leftover
    return found


def _trace_usage(trace: Trace) -> tuple[float | None, int | None, float | None]:
    return trace.latency["total_ms"], trace.usage["total_tokens"], trace.cost["usd"]


def _turn_usage(trace: Trace, turn: int, *, with_earlier: bool) -> tuple[float | None, int | None, float | None]:
    """Latency, tokens and cost of the model calls of one turn; unknown if one of them lacks it."""
    calls = [call for call in trace.llm_calls if call["turn"] == turn or (with_earlier and call["turn"] < turn)]
    tokens = [None if call["usage"] is None else call["usage"]["total_tokens"] for call in calls]
    total_tokens = _sum_amounts(tokens)
    return (
        _sum_amounts([call["duration_ms"] for call in calls]),
        None if total_tokens is None else int(total_tokens),
        _sum_amounts([call["cost_usd"] for call in calls]),
    )


def _sum_amounts(amounts: Sequence[float | None]) -> float | None:
    mean = mean_amount(amounts)
    return None if mean is None else mean * len(amounts)
