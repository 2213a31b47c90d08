"""How a trial differs from the baseline's, call by call, as lines of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.reporting.html.page_view import DifferenceView, StepView, TextPartView
from evalgate.reporting.text import wording
from evalgate.reporting.text.escaping import clean_page_text
from evalgate.reporting.text.trajectory_lines import NOTHING, describe_divergence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.results.results import CallsDoc, ChangeDoc
    from evalgate.models.results.results_sections import CallStepDoc, TextPairDoc, TextPartDoc, TrajectoryDiffDoc

MAX_VALUE, MAX_NAME = 2_000, 200
MOVED = "moved"
"""The kind of a step that both sides have with equal arguments, at different places."""
_SIGNS = {
    "removed": ("-", "missing"),
    "added": ("+", "new"),
    "changed": ("~", "changed"),
    MOVED: ("\u21c5", "order changed"),
}
_PART_KINDS = {"kept": "kept", "gone": "gone", "come": "come"}


def build_difference(change: ChangeDoc | None) -> DifferenceView | None:
    """The difference of two traces, or only of the names of their calls; None if neither was compared."""
    if change is None:
        return None
    if (diff := change.get("behaviour")) is not None:
        return _build_diff(diff)
    return _build_names(calls) if (calls := change.get("calls")) is not None else None


def _build_diff(diff: TrajectoryDiffDoc) -> DifferenceView:
    first = describe_divergence(diff)
    steps = [_build_step(step) for step in merge_moved_calls(diff["steps"])]
    marked = next((at for at, step in enumerate(steps) if step.sign), None)
    if marked is not None:
        steps[marked] = steps[marked]._replace(is_first=True)
    omitted = diff["steps_left"]
    return DifferenceView(
        _title(diff["trial_before"], diff["trial"]),
        _describe_first(diff, first),
        steps,
        f"{wording.pluralize(omitted, 'more call')} not shown" if omitted else "",
        list(_iter_messages(diff)),
        *_build_answer(diff["response"]),
        list(_iter_notes(diff)),
    )


def merge_moved_calls(steps: Sequence[CallStepDoc]) -> list[CallStepDoc]:
    """The steps, in which a call that is only made at another place is one step of the kind `moved`."""
    removed: dict[tuple[str, str], list[int]] = {}
    for at, step in enumerate(steps):
        if step["kind"] == "removed":
            removed.setdefault((step["name"], step["arguments"]), []).append(at)
    merged: dict[int, CallStepDoc] = {}
    dropped: set[int] = set()
    for at, step in enumerate(steps):
        if step["kind"] == "added" and (places := removed.get((step["name"], step["arguments"]))):
            dropped.add(baseline := places.pop(0))
            merged[at] = {**step, "kind": MOVED, "before": steps[baseline]["before"]}
    return [merged.get(at, step) for at, step in enumerate(steps) if at not in dropped]


def _describe_first(diff: TrajectoryDiffDoc, first: str) -> list[str]:
    """What the agent did instead, from the first call that differs; every second part is code."""
    if not first:
        return ["The agent did the same in both."]
    merged = merge_moved_calls(diff["steps"])
    at = next((at for at, each in enumerate(merged) if each["kind"] != "same" or each.get("outcome")), None)
    if at is None:
        return [f"The calls are the same; the first difference is {first}."]
    is_earlier = diff["first"] is not None and diff["first"]["what"] != "calls"
    before = f" Before that, {first} differs." if is_earlier else ""
    *parts, end = _describe_step(merged, at)
    return [*parts, f"{end}.{before}"]


def _describe_step(steps: Sequence[CallStepDoc], at: int) -> list[str]:
    step, name = steps[at], _clean_name(steps[at])
    if step["kind"] == "removed":
        parts = ["The agent no longer calls ", name, f" ({_describe_place(step)})"]
        instead = next((each for each in steps[at:] if each["kind"] != "removed"), None)
        if instead is None:
            return [*parts[:-1], f"{parts[-1]} and makes no further call"]
        if instead["kind"] != "added":
            return parts
        return [*parts[:-1], f"{parts[-1]}, but calls ", _clean_name(instead), f" ({_describe_place(instead)})"]
    start, end = _SENTENCES.get(step["kind"], ("The call of ", " ended otherwise"))
    place = _describe_place(step)
    if step["kind"] == MOVED and step["before"]:
        place = f"call {step['before']['call']} of the baseline, now {place}"
    if step["kind"] == "added":
        return [start, name, f" ({place}){end}"]
    return [start, name, f"{end} ({place})"]


_SENTENCES = {
    "added": ("The agent calls ", ", which it did not do in the baseline"),
    "changed": ("The agent calls ", " with other arguments"),
    MOVED: ("The order of the calls changed: the agent calls ", " at another place"),
}


def _clean_name(step: CallStepDoc) -> str:
    return clean_page_text(step["name"], MAX_NAME)


def _describe_place(step: CallStepDoc) -> str:
    place, side = (step["now"], "") if step["now"] else (step["before"], " of the baseline")
    return f"call {place['call']}{side}, turn {place['turn']}" if place else "at an unknown place"


def _build_answer(parts: Sequence[TextPartDoc]) -> tuple[list[TextPartView], list[StepView]]:
    """The final answer as one marked text, or as two texts below each other if little of it was kept."""
    views = [TextPartView(_PART_KINDS.get(part["kind"], "kept"), _clean(part["text"])) for part in parts]
    kept = sum(len(view.text) for view in views if view.kind == "kept")
    if kept >= MIN_KEPT * sum(len(view.text) for view in views):
        return views, []
    rows = []
    for sign, side, omitted in (("-", "baseline", "come"), ("+", "now", "gone")):
        text = "".join(view.text for view in views if view.kind != omitted)
        rows.append(StepView("", "", sign, side, "", text or NOTHING, (), is_first=False))
    return [], rows


MIN_KEPT = 0.4
"""Share of the final answer in both traces that is kept, from which both are shown as one text."""


def _title(baseline_trial: int, trial: int) -> str:
    return f"trial {baseline_trial} of the baseline and trial {trial} of this run"


def _build_step(step: CallStepDoc) -> StepView:
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
        f"{name}: {_describe_sides(sides) if before else _clean(sides['now'] or NOTHING)}"
        for name, sides in (("ended", outcome), ("result", answer))
        if sides
    ]
    return StepView(
        str(before["call"]) if before else "",
        str(now["call"]) if now else "",
        sign,
        word,
        clean_page_text(step["name"]),
        _clean(step["arguments"]),
        details,
        is_first=False,
    )


def _describe_sides(sides: TextPairDoc) -> str:
    before, now = (NOTHING if side is None else side for side in (sides["before"], sides["now"]))
    return f"{_clean(before)} \u2192 {_clean(now)}"


def _iter_messages(diff: TrajectoryDiffDoc) -> Iterator[StepView]:
    for each in diff["said"]:
        who = "user" if each["who"] == "user" else "agent"
        turn = f"{who}, turn {each['turn']}"
        for sign, text in (("-", each["before"]), ("+", each["now"])):
            if text:
                yield StepView(
                    "", "", sign, "baseline" if sign == "-" else "now", turn, _clean(text), (), is_first=False
                )


def _iter_notes(diff: TrajectoryDiffDoc) -> Iterator[str]:
    if status := diff.get("status"):
        yield f"status: {_describe_sides(status)}"
    if error := diff.get("error"):
        yield f"error: {_describe_sides(error)}"


def _build_names(calls: CallsDoc) -> DifferenceView:
    """The names of both sides, aligned; their arguments and results were not compared."""
    from evalgate.measures.sequences.differences import diff_lists

    steps: list[StepView] = []
    before = now = 0
    for kind, name in diff_lists(calls["before"], calls["now"]):
        before, now = before + (kind != "come"), now + (kind != "gone")
        sign, word = {"gone": ("-", "missing"), "come": ("+", "new")}.get(kind, ("", ""))
        numbers = "" if kind == "come" else str(before), "" if kind == "gone" else str(now)
        steps.append(StepView(*numbers, sign, word, clean_page_text(name), "", (), is_first=False))
    marked = next((at for at, step in enumerate(steps) if step.sign), None)
    if marked is None:
        steps = []
    else:
        steps[marked] = steps[marked]._replace(is_first=True)
    first = "Only the names of the calls were compared" + ("." if marked is not None else "; they are the same.")
    return DifferenceView(_title(calls["trial_before"], calls["trial"]), [first], steps, "", [], [], [], [])


def _clean(text: str) -> str:
    return clean_page_text(text, MAX_VALUE)
