"""Builds the trajectories of traces, and compares two of a scenario: calls, words, the first divergence."""

from __future__ import annotations

from collections import deque
from itertools import islice
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, UnsetType

from evalgate.measures.redaction.redact import redact_value
from evalgate.measures.sequences.differences import align_messages, diff_texts, excerpt_texts, find_differences
from evalgate.measures.sequences.trajectory_metrics import OrderedCall, json_key
from evalgate.measures.text.tool_words import change_something
from evalgate.measures.values.compact import Compactor
from evalgate.measures.values.json_values import shorten, show
from evalgate.measures.values.outputs import to_text
from evalgate.models.comparison.trajectory import (
    CallPosition,
    CallStep,
    FirstDivergence,
    TextPair,
    Trajectory,
    TrajectoryCall,
    TrajectoryDiff,
    TrajectoryTurn,
    TrialExample,
    Utterance,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Sequence

    from evalgate.measures.sequences.differences import CallPair
    from evalgate.models.comparison.trajectory import StepKind, TextPart
    from evalgate.models.trace.trace import ToolCall, Trace

MOST_CALLS = 1_000
MOST_MESSAGES = 10_000
MOST_TURNS = 200
MAX_CHARACTERS = 500_000
"""Characters kept of one trace."""
MAX_SEARCHED = 20_000
"""Characters of a text that are searched for secrets; fewer are kept, so that no secret is cut in two."""
MAX_ANSWER, MAX_WORDS, MAX_RESPONSE, MAX_NAME = 300, 1_000, 16_000, 200


def trajectory_from_trace(trace: Trace) -> Trajectory:
    """The trajectory of a trace; secrets are redacted."""
    cutter = _Cutter(redact_value)
    response, error, calls = trace.response, trace.error, trace.agent_calls
    return Trajectory(
        [_build_call(call, cutter) for call in calls[:MOST_CALLS]],
        _collect_turns(trace, cutter),
        None if response["content"] is None else cutter.cut_text(response["content"], MAX_RESPONSE),
        trace.status,
        cutter.cut_text(error["message"] or error["type"] or "", MAX_ANSWER) if error else None,
        max(0, len(calls) - MOST_CALLS),
        _reads_only(trace, calls),
    )


def _reads_only(trace: Trace, calls: Sequence[ToolCall]) -> bool:
    """Whether it is sure that neither the agent nor a user's simulator changed anything; not if no tool is known."""
    if "calls" in trace.gaps or trace.state is not None or not (trace.tool_calls or trace.tool_definitions):
        return False
    users = (call["name"] for call in trace.tool_calls if call["requestor"] != "assistant")
    return not change_something({*users, *(call["name"] for call in calls)}, trace.tool_definitions, trace.tool_kinds)


MOST_SHOWN_CALLS, MAX_SHOWN = 8, 300
"""Calls of a trial of a new scenario, and characters of one, and of its request and answer, that are kept."""


def describe_trial(trajectory: Trajectory, trial: int) -> TrialExample:
    """What the agent did in the trial of this number, in short."""
    shown, answer = trajectory.calls[:MOST_SHOWN_CALLS], trajectory.response
    asked = (turn.user for number, turn in sorted(trajectory.turns.items()) if number and turn.user)
    return TrialExample(
        trial,
        shorten(next(asked, ""), MAX_SHOWN),
        [shorten(f"{each.name} {show(each.arguments, MAX_SHOWN)}", MAX_SHOWN) for each in shown],
        None if answer is None else shorten(answer, MAX_SHOWN),
        len(trajectory.calls) - len(shown) + trajectory.left_out,
        trajectory.reads_only,
    )


class _Cutter:
    """Shortens values, redacts them, then shortens them again: that bounds the search for secrets."""

    def __init__(self, redact: Callable[[Any], Any]) -> None:
        self._before_redaction, self._after_redaction = (
            Compactor(MAX_CHARACTERS, MAX_SEARCHED),
            Compactor(MAX_CHARACTERS),
        )
        self._redact = redact

    def cut_text(self, text: str, limit: int) -> str:
        return self._after_redaction.compact_text(self._redact(self._before_redaction.compact_text(text)), limit)

    def cut_value(self, value: Any) -> Any:
        return self._after_redaction.compact_value(self._redact(self._before_redaction.compact_value(value)))


def _build_call(call: ToolCall, cutter: _Cutter) -> TrajectoryCall:
    arguments = call["arguments"] if call["arguments"] is not None else call["arguments_raw"]
    return TrajectoryCall(
        call["turn"],
        cutter.cut_text(call["name"], MAX_NAME),
        cutter.cut_value(arguments),
        call["status"],
        cutter.cut_text(_result_text(call), MAX_ANSWER),
        call["step"],
    )


def _result_text(call: ToolCall) -> str:
    """The result of a call as text; a recorder that wrote it as a value has it only in `result`."""
    if call["result_text"] is not None:
        return call["result_text"]
    return "" if call["result"] is None else to_text(call["result"])


def _collect_turns(trace: Trace, cutter: _Cutter) -> dict[int, TrajectoryTurn]:
    """The messages of user and agent by turn, without the final answer."""
    turns: dict[int, TrajectoryTurn] = {}
    for message in islice(trace.messages, MOST_MESSAGES):
        content, role, number = message["content"], message["role"], message["turn"]
        is_final = message["index"] == trace.response["message_index"]
        if is_final or content is None or role not in ("user", "assistant"):
            continue
        if number not in turns and len(turns) >= MOST_TURNS:
            break
        turn = turns.setdefault(number, TrajectoryTurn())
        if role == "user":
            turn.user = _append_text(turn.user, content, cutter)
        else:
            turn.agent = _append_text(turn.agent, content, cutter)
    return turns


def _append_text(text: str, content: str, cutter: _Cutter) -> str:
    if len(text) >= MAX_WORDS or not content.strip():
        return text
    addition = cutter.cut_text(content.strip(), MAX_WORDS)
    return f"{text}\n{addition}" if text else addition


MOST_STEPS = 200
MOST_CHANGES = 10
"""Changed places in the arguments of one call that are kept."""
MOST_UTTERANCES = 20
MOST_PARTS = 400
CONTEXT_STEPS = 2
"""Equal calls kept before and after each difference, if there are too many to keep all."""
MAX_ARGUMENTS, MAX_UTTERANCE = 300, 300
_EMPTY_TURN = TrajectoryTurn()


def diff_trajectories(baseline: Trajectory, current: Trajectory, baseline_trial: int, trial: int) -> TrajectoryDiff:
    """How trial number `trial` differs from the baseline's trial number `baseline_trial`, but for the figures."""
    steps = list(_compare_calls(baseline.calls, current.calls))
    utterances = list(_compare_utterances(baseline, current))
    response = _compare_responses(baseline.response, current.response)
    kept = _select_steps(steps)
    return TrajectoryDiff(
        trial_before=baseline_trial,
        trial=trial,
        first=_find_first_divergence(steps, utterances)
        or _find_final_divergence(baseline, current, utterances, response),
        steps=kept,
        steps_left=len(steps) - len(kept) + baseline.left_out + current.left_out,
        utterances=utterances[:MOST_UTTERANCES],
        response=response[:MOST_PARTS],
        figures=(),
        status=_sides_if_different(baseline.status, current.status),
        error=_sides_if_different(baseline.error, current.error),
        reads_only=baseline.reads_only and current.reads_only,
    )


def _compare_calls(baseline: Sequence[TrajectoryCall], current: Sequence[TrajectoryCall]) -> Iterator[CallStep]:
    pairs = align_messages(
        *([OrderedCall(each.step, each.name, each.arguments) for each in side] for side in (baseline, current))
    )
    moved = _find_moved(baseline, current, pairs)
    is_elsewhere = {*moved.values()}
    for old, new in pairs:
        if new is None and old is not None:
            places = _call_place(baseline[old], old), None
            yield _build_unpaired("removed", baseline[old], places, has_outcome=old not in is_elsewhere)
        elif new is not None:
            yield _build_step(baseline, current, (old, new), moved.get(new))


def _build_step(
    baseline: Sequence[TrajectoryCall],
    current: Sequence[TrajectoryCall],
    pair: tuple[int | None, int],
    moved_from: int | None,
) -> CallStep:
    """A step of a call that this run makes; `moved_from` is the equal call that the baseline makes elsewhere."""
    old, new = pair
    place, source = _call_place(current[new], new), moved_from if old is None else old
    if source is None:
        return _build_unpaired("added", current[new], (None, place), has_outcome=True)
    step = _compare_pair(baseline[source], current[new], (_call_place(baseline[source], source), place))
    if old is None:
        step.kind = "added"
    return step


def _find_moved(
    baseline: Sequence[TrajectoryCall], current: Sequence[TrajectoryCall], pairs: Sequence[CallPair]
) -> dict[int, int]:
    """The calls of this run that the baseline makes with equal arguments at another place: their numbers there."""
    removed: dict[Hashable, deque[int]] = {}
    for old, new in pairs:
        if old is not None and new is None:
            removed.setdefault(_call_key(baseline[old]), deque()).append(old)
    return {
        new: places.popleft()
        for old, new in pairs
        if old is None and new is not None and (places := removed.get(_call_key(current[new])))
    }


def _call_key(call: TrajectoryCall) -> Hashable:
    return call.name, json_key(call.arguments)


def _build_unpaired(
    kind: StepKind,
    call: TrajectoryCall,
    places: tuple[CallPosition | None, CallPosition | None],
    *,
    has_outcome: bool,
) -> CallStep:
    """A call that has no pair; how it ended is kept if that was an error, and `has_outcome`."""
    step = CallStep(kind, call.name, *places, show(call.arguments, MAX_ARGUMENTS), (), 0)
    if has_outcome and call.outcome == "error":
        sides = [(text, None) if kind == "removed" else (None, text) for text in (call.outcome, call.answer)]
        step.outcome, step.answer = (TextPair(*each) for each in sides)
    return step


def _call_place(call: TrajectoryCall, index: int) -> CallPosition:
    return CallPosition(call.turn, index + 1)


def _compare_pair(
    baseline: TrajectoryCall, current: TrajectoryCall, places: tuple[CallPosition | None, CallPosition | None]
) -> CallStep:
    changes, left = find_differences(baseline.arguments, current.arguments, MOST_CHANGES)
    return CallStep(
        "changed" if changes else "same",
        current.name,
        *places,
        show(current.arguments, MAX_ARGUMENTS),
        changes,
        left,
        _sides_if_different(baseline.outcome, current.outcome),
        UNSET
        if changes or baseline.answer == current.answer
        else TextPair(*excerpt_texts(baseline.answer, current.answer)),
    )


def _sides_if_different(baseline: str | None, current: str | None) -> TextPair | UnsetType:
    return UNSET if baseline == current else TextPair(baseline, current)


def _is_divergence(step: CallStep) -> bool:
    return step.kind != "same" or bool(step.outcome)


def _select_steps(steps: Sequence[CallStep]) -> list[CallStep]:
    """All steps if they are few; else the differences with a few equal steps around them, the first ones."""
    if len(steps) <= MOST_STEPS:
        return list(steps)
    selected = {
        near
        for at, step in enumerate(steps)
        if _is_divergence(step)
        for near in range(at - CONTEXT_STEPS, at + CONTEXT_STEPS + 1)
    }
    return [step for at, step in enumerate(steps) if at in selected][:MOST_STEPS]


def _compare_utterances(baseline: Trajectory, current: Trajectory) -> Iterator[Utterance]:
    for number in sorted(baseline.turns.keys() | current.turns.keys()):
        baseline_turn, current_turn = (baseline.turns.get(number, _EMPTY_TURN), current.turns.get(number, _EMPTY_TURN))
        if baseline_turn.user != current_turn.user:
            yield Utterance(number, "user", *excerpt_texts(baseline_turn.user, current_turn.user, MAX_UTTERANCE))
        if baseline_turn.agent != current_turn.agent:
            yield Utterance(number, "agent", *excerpt_texts(baseline_turn.agent, current_turn.agent, MAX_UTTERANCE))


def _compare_responses(baseline: str | None, current: str | None) -> list[TextPart]:
    return [] if baseline == current else diff_texts(baseline or "", current or "")


def _find_first_divergence(steps: Sequence[CallStep], utterances: Sequence[Utterance]) -> FirstDivergence | None:
    """The first different call or user message; the agent's words are ignored: they differ in every trace."""
    found: list[tuple[int, int, FirstDivergence]] = []
    user = next((each for each in utterances if each.who == "user"), None)
    if user is not None:
        found.append((user.turn, 0, FirstDivergence(user.turn, "user", None, None)))
    step = next(filter(_is_divergence, steps), None)
    if step is not None:
        turn = min(place.turn for place in (step.baseline, step.current) if place is not None)
        numbers = [None if place is None else place.call for place in (step.baseline, step.current)]
        found.append((turn, 1, FirstDivergence(turn, "calls", *numbers)))
    return min(found)[2] if found else None


def _find_final_divergence(
    baseline: Trajectory, current: Trajectory, utterances: Sequence[Utterance], response: Sequence[TextPart]
) -> FirstDivergence | None:
    """The divergence if only the agent's words, or the end of the trace, differ."""
    if utterances:
        return FirstDivergence(utterances[0].turn, "words", None, None)
    turn = min(max(baseline.turns, default=0), max(current.turns, default=0))
    if response:
        return FirstDivergence(turn, "answer", None, None)
    has_other_end = (baseline.status, baseline.error) != (current.status, current.error)
    return FirstDivergence(turn, "end", None, None) if has_other_end else None
