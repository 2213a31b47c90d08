"""How a trial differs from the baseline's, call by call, as lines of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.measures.sequences.differences import diff_lists
from evalgate.reporting.html.leading_call import (
    MOVED,
    SteppedCalls,
    describe_first,
    describe_step,
    find_leading_step,
    is_different,
    merge_moved_calls,
    name_finding,
    name_other_calls,
)
from evalgate.reporting.html.page_view import DifferenceView, StepView, TextPartView
from evalgate.reporting.text import wording
from evalgate.reporting.text.escaping import clean_page_text
from evalgate.reporting.text.trajectory_lines import NOTHING, describe_divergence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.results.results import CallsDoc, ChangeDoc
    from evalgate.models.results.results_sections import CallStepDoc, TextPairDoc, TextPartDoc, TrajectoryDiffDoc

MAX_VALUE = 2_000
_SIGNS = {
    "removed": ("-", "missing"),
    "added": ("+", "new"),
    "changed": ("~", "changed"),
    MOVED: ("\u21c5", "order changed"),
}
_PART_KINDS = {"kept": "kept", "gone": "gone", "come": "come"}
_WORSE = ("broken", "regressed", "inconclusive")
NAMES_ONLY = "Only the names of the calls were compared"
WHY_NAMES = "arguments and results are compared in scenarios that got worse"
WHY_UNREAD = "the run did not read the baseline's conversation of this scenario"


def build_difference(change: ChangeDoc | None, *, is_passing: bool = False) -> DifferenceView | None:
    """The difference of two traces, or only of the names of their calls; None if neither was compared.

    No call of a scenario that passes is marked: nothing has to be explained.
    """
    if change is None:
        return None
    if (diff := change.get("behaviour")) is not None:
        view = _build_diff(diff)
    elif (calls := change.get("calls")) is not None:
        view = _build_names(calls, is_worse=change["kind"] in _WORSE)
    else:
        return None
    if is_passing:
        view.heading = OTHER_CALLS if any(step.sign for step in view.steps) else COMPARED
        view.steps = [step._replace(is_leading=False) for step in view.steps]
    return view


INSTEAD, OTHER_CALLS, COMPARED = (
    "What the agent did instead",
    "Other calls than in the baseline",
    "Compared with the baseline",
)


def find_difference(change: ChangeDoc | None) -> str:
    """The difference that matters most, in a few words for the list; empty if no call differs."""
    if change is None:
        return ""
    if (diff := change.get("behaviour")) is not None:
        steps = merge_moved_calls(diff["steps"])
        leading = find_leading_step(steps)
        return "" if leading is None else name_finding(steps, leading)
    if (calls := change.get("calls")) is not None:
        return name_other_calls(calls["before"], calls["now"])
    return ""


def _build_diff(diff: TrajectoryDiffDoc) -> DifferenceView:
    merged = merge_moved_calls(diff["steps"])
    leading = find_leading_step(merged)
    steps = [_build_step(step, is_leading=at == leading) for at, step in enumerate(merged)]
    omitted = diff["steps_left"]
    return DifferenceView(
        COMPARED if leading is None else INSTEAD,
        _title(diff["trial_before"], diff["trial"]),
        *_describe_leading(diff, merged, leading),
        steps,
        f"{wording.pluralize(omitted, 'more call')} not shown" if omitted else "",
        list(_iter_messages(diff)),
        *_build_answer(diff["response"]),
        list(_iter_notes(diff)),
    )


def _describe_leading(
    diff: TrajectoryDiffDoc, steps: Sequence[CallStepDoc], leading: int | None
) -> tuple[list[str], list[str]]:
    """A sentence about the difference that matters most, and one about the first if that is another."""
    first = describe_divergence(diff)
    if leading is not None:
        at = next(at for at, step in enumerate(steps) if is_different(step))
        sentence = describe_step(SteppedCalls(steps, diff["steps_left"]), leading)
        return sentence, [] if at == leading else describe_first(steps[at])
    if not first:
        return ["The agent did the same in both."], []
    same = (
        [] if diff["steps_left"] and diff["first"] and diff["first"]["what"] == "calls" else ["The calls are the same."]
    )
    return same, [f"First difference: {first}."]


def _build_answer(parts: Sequence[TextPartDoc]) -> tuple[list[TextPartView], list[StepView]]:
    """The final answer as one marked text, or as two texts below each other if little of it was kept."""
    views = [TextPartView(_PART_KINDS.get(part["kind"], "kept"), _clean(part["text"])) for part in parts]
    kept = sum(len(view.text) for view in views if view.kind == "kept")
    if kept >= MIN_KEPT * sum(len(view.text) for view in views):
        return views, []
    rows = []
    for sign, side, omitted in (("-", "baseline", "come"), ("+", "now", "gone")):
        text = "".join(view.text for view in views if view.kind != omitted)
        rows.append(StepView("", "", sign, side, "", text or NOTHING))
    return [], rows


MIN_KEPT = 0.4
"""Share of the final answer in both traces that is kept, from which both are shown as one text."""


def _title(baseline_trial: int, trial: int) -> str:
    return f"trial {baseline_trial} of the baseline and trial {trial} of this run"


def _build_step(step: CallStepDoc, *, is_leading: bool) -> StepView:
    outcome, answer = step.get("outcome"), step.get("answer")
    sign, word = _SIGNS.get(step["kind"], ("~", "changed") if outcome else ("", ""))
    before, now = step["before"], step["now"]
    details = [
        f"{_clean(change['path'] or 'arguments')}: {_clean(change['before'] or NOTHING)}"
        f" \u2192 {_clean(change['now'] or NOTHING)}"
        for change in step["changes"]
    ]
    if step["kind"] == MOVED:
        details.append("order changed")
    if step["changes_left"]:
        details.append(f"and {wording.pluralize(step['changes_left'], 'more place')}")
    details += [
        f"{name}: {_describe_known(step, sides)}" for name, sides in (("ended", outcome), ("result", answer)) if sides
    ]
    return StepView(
        str(before["call"]) if before else "",
        str(now["call"]) if now else "",
        sign,
        word,
        clean_page_text(step["name"]),
        _clean(step["arguments"]),
        details,
        is_leading=is_leading,
        is_error=bool(outcome and now and outcome["now"] == "error"),
    )


def _describe_known(step: CallStepDoc, sides: TextPairDoc) -> str:
    """Both sides, or that of the trace which makes the call."""
    if step["before"] and step["now"]:
        return _describe_sides(sides)
    return _clean((sides["now"] if step["now"] else sides["before"]) or NOTHING)


def _describe_sides(sides: TextPairDoc) -> str:
    before, now = (NOTHING if side is None else side for side in (sides["before"], sides["now"]))
    return f"{_clean(before)} \u2192 {_clean(now)}"


def _iter_messages(diff: TrajectoryDiffDoc) -> Iterator[StepView]:
    for each in diff["said"]:
        who = "user" if each["who"] == "user" else "agent"
        turn = f"{who}, turn {each['turn']}"
        for sign, text, side in (("-", each["before"], "b"), ("+", each["now"], "t0")):
            if text:
                word = "baseline" if sign == "-" else "now"
                yield StepView("", "", sign, word, turn, _clean(text), anchor=f"{side}m{each['turn']}")


def _iter_notes(diff: TrajectoryDiffDoc) -> Iterator[str]:
    if status := diff.get("status"):
        yield f"status: {_describe_sides(status)}"
    if error := diff.get("error"):
        yield f"error: {_describe_sides(error)}"


def _build_names(calls: CallsDoc, *, is_worse: bool) -> DifferenceView:
    """The names of both sides, aligned; their arguments and results were not compared."""
    steps: list[StepView] = []
    before = now = 0
    for kind, name in diff_lists(calls["before"], calls["now"]):
        before, now = before + (kind != "come"), now + (kind != "gone")
        sign, word = {"gone": ("-", "missing"), "come": ("+", "new")}.get(kind, ("", ""))
        numbers = "" if kind == "come" else str(before), "" if kind == "gone" else str(now)
        steps.append(StepView(*numbers, sign, word, clean_page_text(name), ""))
    marked = next((at for at, step in enumerate(steps) if step.sign), None)
    if marked is not None:
        steps[marked] = steps[marked]._replace(is_leading=True)
    same = "" if marked is not None else ", and they are the same"
    sentence = f"{NAMES_ONLY}{same}: {WHY_UNREAD if is_worse else WHY_NAMES}."
    heading = COMPARED if marked is None else INSTEAD
    shown = [] if marked is None else steps
    return DifferenceView(heading, _title(calls["trial_before"], calls["trial"]), [sentence], [], shown)


def _clean(text: str) -> str:
    return clean_page_text(text, MAX_VALUE)
