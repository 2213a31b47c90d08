"""The trajectory diff against the baseline, turn by turn, for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.measures.sequences.list_difference import difference
from evalgate.reporting.text import wording
from evalgate.reporting.text.trajectory_lines import NOTHING, departure, marked

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalgate.models.results.results import CallsDoc, ChangeDoc
    from evalgate.models.results.results_trajectory import BehaviourDoc, CallStepDoc, FigureMovedDoc, SidesDoc
    from evalgate.reporting.terminal.terminal_page import TerminalPage

ARGUMENTS, VALUE, ANSWER, NEAR = 200, 200, 4_000, 200
MOST_NAMES = 1_000
_SIGNS = {"removed": "-", "added": "+", "changed": "~"}
_STEP_SIGNS = {"kept": "", "gone": "-", "come": "+"}
_FIGURES: dict[str, tuple[str, Callable[[float | None], str]]] = {
    "score": ("score", wording.score),
    "cost_usd": ("cost", wording.dollars),
    "latency_seconds": ("latency", wording.seconds),
    "total_tokens": ("tokens", wording.mean_count),
}


def behaviour_lines(page: TerminalPage, change: ChangeDoc) -> None:
    """Adds how the two traces differ; some documents have only the names of the calls."""
    found, calls = change.get("behaviour"), change.get("calls")
    if found is not None:
        _recordings(page, found)
    elif calls is not None:
        _names(page, calls)


def _recordings(page: TerminalPage, found: BehaviourDoc) -> None:
    page.title(_title(found["trial_before"], found["trial"]))
    where = departure(found)
    if not where:
        page.say("the agent did and said the same", indent=2)
    else:
        page.say(f"the first difference is {where}", indent=2)
    _turns(page, found)
    if found["response"]:
        page.say("final answer, [-in the baseline-] and {+now+}:", indent=2)
        page.say(marked(found["response"], NEAR), indent=4, limit=ANSWER)
    for name in ("status", "error"):
        sides: SidesDoc | None = found.get(name)  # type: ignore[assignment]
        if sides:
            page.say(f"{name}: {sides['before'] or NOTHING} -> {sides['now'] or NOTHING}", indent=2)
    moved = [told for figure in found["figures"] if (told := _figure(figure))]
    if moved:
        page.say(", ".join(moved), indent=2)


def _title(before: int, now: int) -> str:
    return f"Difference from the baseline (trial {before} there, trial {now} here)"


def _turns(page: TerminalPage, found: BehaviourDoc) -> None:
    turns: dict[int, list[CallStepDoc]] = {said["turn"]: [] for said in found["said"]}
    for step in found["steps"]:
        place = step["now"] or step["before"]
        turns.setdefault(place["turn"] if place else 0, []).append(step)
    for turn in sorted(turns):
        page.say(f"turn {turn}", indent=2)
        for said in found["said"]:
            if said["turn"] == turn:
                page.signed(
                    "~", f"{said['who']}: {said['before'] or NOTHING} -> {said['now'] or NOTHING}", indent=4
                )
        for step in turns[turn]:
            _step(page, step)
    if found["steps_left"]:
        page.say(f"and {wording.counted(found['steps_left'], 'more call')}", indent=2)


def _step(page: TerminalPage, step: CallStepDoc) -> None:
    outcome, answer = step.get("outcome"), step.get("answer")
    sign = _SIGNS.get(step["kind"], "~" if outcome else "")
    number = (step["now"] or step["before"] or {"call": 0})["call"]
    arguments = "" if step["changes"] else f" {step['arguments'][:ARGUMENTS]}"
    page.signed(sign, f"{number} {step['name']}{arguments}", indent=4)
    for change in step["changes"]:
        before, now = change["before"], change["now"]
        told = f"{NOTHING if before is None else before} -> {NOTHING if now is None else now}"
        page.signed(sign, f"{change['path'] or 'arguments'}: {told}", indent=8)
    if step["changes_left"]:
        page.say(f"and {wording.counted(step['changes_left'], 'more place')}", indent=10)
    for name, sides in (("ended", outcome), ("answered", answer)):
        if sides:
            page.say(f"{name}: {sides['before'] or NOTHING} -> {sides['now'] or NOTHING}", indent=10)


def _figure(figure: FigureMovedDoc) -> str:
    if figure["before"] == figure["now"] or figure["name"] not in _FIGURES:
        return ""
    name, tell = _FIGURES[figure["name"]]
    return f"{name} {tell(figure['before'])} -> {tell(figure['now'])}"


def _names(page: TerminalPage, calls: CallsDoc) -> None:
    before, now = calls["before"][:MOST_NAMES], calls["now"][:MOST_NAMES]
    page.title(_title(calls["trial_before"], calls["trial"]))
    if before == now:
        page.say(f"the same {wording.counted(len(now), 'call')}, by their names", indent=2)
        return
    for step in difference(before, now):
        page.signed(_STEP_SIGNS[step.kind], step.name, indent=2)
