"""What the list and the sections show of a trace besides its conversation: recorded scores, tags, the first message."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from evalgate.reporting.text.escaping import clean_page_text
from evalgate.scoring.recorded_result import RESULTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.models.trace.trace import Trace

MAX_SCORES, MAX_TAGS, MAX_TEXT, MAX_MESSAGE = 5, 20, 100, 240


class TraceDetails(NamedTuple):
    """Recorded scores by name, as numbers; tags; and the start of the user's first message.

    `unanswered` is the user's last message if the agent did nothing after it; else empty.
    """

    scores: Mapping[str, float]
    tags: Sequence[str]
    message: str
    unanswered: str = ""


NO_DETAILS = TraceDetails({}, (), "")


def describe_trace(trace: Trace) -> TraceDetails:
    """The details of a trace, redacted and cut."""
    known = [(name, value) for name, value in sorted(trace.scores.items()) if value is not None]
    message = next((each["content"] for each in trace.messages if each["role"] == "user" and each["content"]), "")
    return TraceDetails(
        {clean_page_text(name, MAX_TEXT): float(value) for name, value in known[:MAX_SCORES]},
        [clean_page_text(tag, MAX_TEXT) for tag in trace.tags[:MAX_TAGS]],
        clean_page_text(" ".join((message or "").split()), MAX_MESSAGE),
        clean_page_text(" ".join(find_unanswered(trace).split()), MAX_UNANSWERED),
    )


def find_unanswered(trace: Trace) -> str:
    """The user's last message, if the agent neither wrote nor called anything after it; else empty."""
    last = trace.messages[-1] if trace.messages else None
    if last is None or last["role"] != "user" or not last["content"]:
        return ""
    return "" if any(call["turn"] >= last["turn"] for call in trace.agent_calls) else last["content"]


def is_unanswered(details: TraceDetails) -> bool:
    """Whether the recording ends with a message of the user that is more than a stop mark."""
    return bool(_STOP_MARKS.sub("", details.unanswered).strip())


class RecordedPair(NamedTuple):
    """The details of a scenario's compared trial, and of the baseline's trial; None if they are not known."""

    now: TraceDetails
    baseline: TraceDetails | None

    @property
    def drop(self) -> float:
        """By how much the recorded score fell; 0 if that is not known."""
        name = next((name for name in (*RESULTS, *sorted(self.now.scores)) if name in self.now.scores), None)
        if name is None or self.baseline is None or name not in self.baseline.scores:
            return 0.0
        return self.baseline.scores[name] - self.now.scores[name]


def describe_endings(recorded: RecordedPair) -> list[str]:
    """What the user wrote last on each side, if the agent did not answer it and that says more than a stop mark.

    A stop mark alone is shown too if the other side ends otherwise.
    """
    now, before = recorded.now.unanswered, recorded.baseline.unanswered if recorded.baseline else None
    is_equal = before is None or before == now
    if is_equal and not is_unanswered(recorded.now):
        return []
    texts = [f"Then the user wrote: \u201c{now}\u201d The recording ends there." if now else NO_MESSAGE]
    if not is_equal:
        texts.append(f"The baseline ends with \u201c{before}\u201d of the user." if before else NO_BASELINE_MESSAGE)
    return texts


MAX_UNANSWERED = 1_000
_STOP_MARKS = re.compile(r"#{2,}[A-Z_-]{1,40}#{2,}")
NO_MESSAGE = "No message of the user follows."
NO_BASELINE_MESSAGE = "In the baseline no message of the user follows."

NOTHING_RECORDED = RecordedPair(NO_DETAILS, None)
