"""Compares two trajectories of a scenario: aligns calls, compares words, finds the first divergence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.measures.sequences.call_alignment import align
from evalgate.measures.sequences.text_difference import text_difference
from evalgate.measures.values.json_difference import differences, excerpts
from evalgate.measures.values.json_values import show
from evalgate.models.comparison.trajectory import (
    Behaviour,
    CallPlace,
    CallStep,
    FirstDivergence,
    Sides,
    Turn,
    Utterance,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.comparison.trajectory import TextPart, Trajectory, TrajectoryCall

MOST_STEPS = 200
MOST_CHANGES = 10
"""Changed places in the arguments of one call that are kept."""
MOST_SAID = 20
MOST_PARTS = 400
AROUND = 2
"""Equal calls kept before and after each difference, if there are too many to keep all."""
ARGUMENTS, SAID = 300, 300
_SILENCE = Turn()


def course_difference(before: Trajectory, now: Trajectory, trial_before: int, trial: int) -> Behaviour:
    """How trial number `trial` differs from the baseline's trial number `baseline_trial`."""
    steps = list(_steps(before.calls, now.calls))
    said = list(_said(before, now))
    response = _response(before.response, now.response)
    kept = _abridged(steps)
    return Behaviour(
        trial_before,
        trial,
        kept,
        len(steps) - len(kept) + before.left_out + now.left_out,
        _first(steps, said) or _last(before, now, said, response),
        said[:MOST_SAID],
        response[:MOST_PARTS],
        _sides(before.status, now.status),
        _sides(before.error, now.error),
    )


def _steps(before: Sequence[TrajectoryCall], now: Sequence[TrajectoryCall]) -> Iterator[CallStep]:
    pairs = align(
        [(call.name, call.arguments) for call in before], [(call.name, call.arguments) for call in now]
    )
    for at, place in pairs:
        old, new = (before[at] if at is not None else None), (now[place] if place is not None else None)
        places = _place(old, at), _place(new, place)
        if old is not None and new is not None:
            yield _pair(old, new, places)
        elif old is not None:
            yield CallStep("removed", old.name, *places, show(old.arguments, ARGUMENTS))
        elif new is not None:
            yield CallStep("added", new.name, *places, show(new.arguments, ARGUMENTS))


def _place(call: TrajectoryCall | None, at: int | None) -> CallPlace | None:
    return None if call is None or at is None else CallPlace(call.turn, at + 1)


def _pair(
    old: TrajectoryCall, new: TrajectoryCall, places: tuple[CallPlace | None, CallPlace | None]
) -> CallStep:
    changes, left = differences(old.arguments, new.arguments, MOST_CHANGES)
    return CallStep(
        "changed" if changes else "same",
        new.name,
        *places,
        show(new.arguments, ARGUMENTS),
        changes,
        left,
        _sides(old.outcome, new.outcome),
        None if changes or old.answer == new.answer else Sides(*excerpts(old.answer, new.answer)),
    )


def _sides(before: str | None, now: str | None) -> Sides | None:
    return None if before == now else Sides(before, now)


def _is_departure(step: CallStep) -> bool:
    return step.kind != "same" or step.outcome is not None


def _abridged(steps: Sequence[CallStep]) -> list[CallStep]:
    """All steps if they are few; else the differences with a few equal steps around them, the first ones."""
    if len(steps) <= MOST_STEPS:
        return list(steps)
    told = {
        near
        for at, step in enumerate(steps)
        if _is_departure(step)
        for near in range(at - AROUND, at + AROUND + 1)
    }
    return [step for at, step in enumerate(steps) if at in told][:MOST_STEPS]


def _said(before: Trajectory, now: Trajectory) -> Iterator[Utterance]:
    for number in sorted(before.turns.keys() | now.turns.keys()):
        old, new = before.turns.get(number, _SILENCE), now.turns.get(number, _SILENCE)
        if old.user != new.user:
            yield Utterance(number, "user", *excerpts(old.user, new.user, SAID))
        if old.agent != new.agent:
            yield Utterance(number, "agent", *excerpts(old.agent, new.agent, SAID))


def _response(before: str | None, now: str | None) -> list[TextPart]:
    return [] if before == now else text_difference(before or "", now or "")


def _first(steps: Sequence[CallStep], said: Sequence[Utterance]) -> FirstDivergence | None:
    """The first different call or user message; the agent's words are ignored: they differ in every trace."""
    found: list[tuple[int, int, FirstDivergence]] = []
    user = next((each for each in said if each.who == "user"), None)
    if user is not None:
        found.append((user.turn, 0, FirstDivergence(user.turn, "user")))
    step = next(filter(_is_departure, steps), None)
    if step is not None:
        turn = min(place.turn for place in (step.before, step.now) if place is not None)
        places = step.before and step.before.call, step.now and step.now.call
        found.append((turn, 1, FirstDivergence(turn, "calls", *places)))
    return min(found)[2] if found else None


def _last(
    before: Trajectory, now: Trajectory, said: Sequence[Utterance], response: Sequence[TextPart]
) -> FirstDivergence | None:
    """The divergence if only the agent's words, or the end of the trace, differ."""
    if said:
        return FirstDivergence(said[0].turn, "words")
    turn = min(max(before.turns, default=0), max(now.turns, default=0))
    if response:
        return FirstDivergence(turn, "answer")
    return FirstDivergence(turn, "end") if (before.status, before.error) != (now.status, now.error) else None
