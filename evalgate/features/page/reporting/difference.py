"""How a trial differs from the baseline's, call by call, as lines of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.features.page.reporting.leading_call import (
    MOVED,
    OTHER_RANK,
    SteppedCalls,
    find_instead,
    find_leading_step,
    is_different,
    list_calls_before,
    makes_no_further_call,
    merge_moved_calls,
    rank_leading_step,
)
from evalgate.features.page.reporting.leading_sentence import (
    describe_first,
    describe_step,
    name_finding,
    name_other_calls,
)
from evalgate.features.page.reporting.page_view import DifferenceView, StepView, TextPartView
from evalgate.measures.sequences.differences import diff_lists
from evalgate.models.comparison.comparison import IMPROVEMENTS
from evalgate.reporting.text import wording
from evalgate.reporting.text.escaping import clean_page_text
from evalgate.reporting.text.trajectory_lines import NOTHING, describe_divergence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.comparison.comparison import CallsDiff
    from evalgate.models.comparison.trajectory import CallStep, TextPair, TextPart, TrajectoryDiff
    from evalgate.models.results.results import ChangeDoc

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


def build_difference(
    change: ChangeDoc | None, *, is_passing: bool = False, is_unanswered: bool = False
) -> DifferenceView | None:
    """The difference of two traces, or only of the names of their calls; None if neither was compared.

    No call of a scenario that passes is marked: nothing has to be explained. `is_unanswered` is whether the
    recording ends with a message of the user that the agent did not answer.
    """
    if change is None:
        return None
    if (diff := change.get("behaviour")) is not None:
        view = _build_diff(find_lead(change, diff, is_unanswered=is_unanswered), diff)
    elif (calls := change.get("calls")) is not None:
        view = _build_names(calls, is_worse=change["kind"] in _WORSE)
    else:
        return None
    if is_passing:
        view.heading = OTHER_CALLS if any(step.sign for step in view.steps) else COMPARED
        view.steps = [step._replace(is_leading=False, is_before=False) for step in view.steps]
    return view


INSTEAD, OTHER_CALLS, COMPARED = (
    "What the agent did instead",
    "Other calls than in the baseline",
    "Compared with the baseline",
)


class Lead(NamedTuple):
    """Merged calls, the place of the one that matters most, and what is known of how the scenario goes on.

    `ends_with_user` is whether this run makes no call from there on, and ends with a message that the agent did not
    answer.
    """

    calls: SteppedCalls
    at: int | None
    ends_with_user: bool


def find_lead(change: ChangeDoc, diff: TrajectoryDiff, *, is_unanswered: bool = False) -> Lead:
    """The difference that matters most of two compared traces."""
    is_better = change["kind"] in IMPROVEMENTS
    steps = merge_moved_calls(diff.steps)
    at = find_leading_step(steps, is_better=is_better)
    is_ending = at is not None and not diff.steps_left and makes_no_further_call(steps, at)
    return Lead(SteppedCalls(steps, diff.steps_left, is_better), at, is_unanswered and is_ending and not is_better)


def find_difference(change: ChangeDoc | None, *, is_unanswered: bool = False) -> str:
    """The difference that matters most, in a few words for the list; empty if no call differs."""
    if change is None:
        return ""
    if (diff := change.get("behaviour")) is not None:
        lead = find_lead(change, diff, is_unanswered=is_unanswered)
        if lead.at is None:
            return ""
        return name_finding(lead.calls.steps, lead.at) + ("; ends with the user" if lead.ends_with_user else "")
    if (calls := change.get("calls")) is not None:
        return name_other_calls(calls.baseline, calls.current)
    return ""


def rank_difference(change: ChangeDoc | None, *, is_unanswered: bool = False) -> int:
    """How plainly the difference that matters most shows a fault, 0 for the plainest."""
    diff = change.get("behaviour") if change else None
    if change is None or diff is None:
        return OTHER_RANK
    lead = find_lead(change, diff, is_unanswered=is_unanswered)
    if lead.at is None:
        return OTHER_RANK
    return rank_leading_step(lead.calls.steps[lead.at], is_unanswered=lead.ends_with_user)


def _build_diff(lead: Lead, diff: TrajectoryDiff) -> DifferenceView:
    omitted = diff.steps_left
    return DifferenceView(
        COMPARED if lead.at is None else INSTEAD,
        _title(diff.trial_before, diff.trial),
        *_describe_lead(lead, diff),
        _build_steps(lead),
        f"{wording.pluralize(omitted, 'more call')} not shown" if omitted else "",
        list(_iter_messages(diff)),
        *_build_answer(diff.response),
        list(_iter_notes(diff)),
    )


def _build_steps(lead: Lead) -> list[StepView]:
    """A line for each call; of a missing one that leads, with the number of the call that replaces it."""
    steps = [_build_step(step, is_leading=at == lead.at) for at, step in enumerate(lead.calls.steps)]
    if lead.at is None:
        return steps
    for at in list_calls_before(lead.calls.steps, lead.at):
        steps[at] = steps[at]._replace(is_before=True)
    is_missing = lead.calls.steps[lead.at].kind == "removed"
    instead = find_instead(lead.calls, lead.at) if is_missing else None
    if instead is not None and instead.current:
        steps[lead.at] = steps[lead.at]._replace(instead=str(instead.current.call))
    return steps


def _describe_lead(lead: Lead, diff: TrajectoryDiff) -> tuple[list[str], list[str]]:
    """A sentence about the difference that matters most, and one about the first if that is another."""
    first = describe_divergence(diff)
    if lead.at is not None:
        steps = lead.calls.steps
        at = next(at for at, step in enumerate(steps) if is_different(step))
        sentence = describe_step(lead.calls, lead.at)
        if lead.ends_with_user:
            sentence = [*sentence[:-1], f"{sentence[-1]} {ENDS_WITH_USER}"]
        return sentence, [] if at == lead.at else describe_first(steps[at])
    if not first:
        return ["The agent called and answered the same in both."], []
    same = [] if diff.steps_left and diff.first and diff.first.kind == "calls" else ["The calls are the same."]
    return same, [f"First difference: {first}."]


ENDS_WITH_USER = "The recording ends with the user\u2019s message, which the agent did not answer."


def _build_answer(parts: Sequence[TextPart]) -> tuple[list[TextPartView], list[StepView]]:
    """The final answer as one marked text, or as two texts below each other if little of it was kept."""
    views = [TextPartView(_PART_KINDS.get(part.kind, "kept"), _clean(part.text)) for part in parts]
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


def _build_step(step: CallStep, *, is_leading: bool) -> StepView:
    outcome, answer = step.outcome, step.answer
    sign, word = _SIGNS.get(step.kind, ("~", "changed") if outcome else ("", ""))
    before, now = step.baseline, step.current
    details = [
        f"{_clean(change.path or 'arguments')}: {_clean(change.baseline or NOTHING)}"
        f" \u2192 {_clean(change.current or NOTHING)}"
        for change in step.changes
    ]
    if step.kind == MOVED:
        details.append("order changed")
    if step.changes_left:
        details.append(f"and {wording.pluralize(step.changes_left, 'more place')}")
    details += [
        f"{name}: {_describe_known(step, sides)}" for name, sides in (("ended", outcome), ("result", answer)) if sides
    ]
    return StepView(
        str(before.call) if before else "",
        str(now.call) if now else "",
        sign,
        word,
        clean_page_text(step.name),
        _clean(step.arguments),
        details,
        is_leading=is_leading,
        is_error=bool(outcome and now and outcome.current == "error"),
    )


def _describe_known(step: CallStep, sides: TextPair) -> str:
    """Both sides, or that of the trace which makes the call."""
    if step.baseline and step.current:
        return _describe_sides(sides)
    return _clean((sides.current if step.current else sides.baseline) or NOTHING)


def _describe_sides(sides: TextPair) -> str:
    before, now = (NOTHING if side is None else side for side in (sides.baseline, sides.current))
    return f"{_clean(before)} \u2192 {_clean(now)}"


def _iter_messages(diff: TrajectoryDiff) -> Iterator[StepView]:
    for each in diff.utterances:
        who = "user" if each.who == "user" else "agent"
        turn = f"{who}, turn {each.turn}"
        for sign, text, side in (("-", each.baseline, "b"), ("+", each.current, "t0")):
            if text:
                word = "baseline" if sign == "-" else "now"
                yield StepView("", "", sign, word, turn, _clean(text), anchor=f"{side}m{each.turn}")


def _iter_notes(diff: TrajectoryDiff) -> Iterator[str]:
    if status := diff.status:
        yield f"status: {_describe_sides(status)}"
    if error := diff.error:
        yield f"error: {_describe_sides(error)}"


def _build_names(calls: CallsDiff, *, is_worse: bool) -> DifferenceView:
    """The names of both sides, aligned; their arguments and results were not compared."""
    steps: list[StepView] = []
    before = now = 0
    for kind, name in diff_lists(calls.baseline, calls.current):
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
    return DifferenceView(heading, _title(calls.trial_before, calls.trial), [sentence], [], shown)


def _clean(text: str) -> str:
    return clean_page_text(text, MAX_VALUE)
