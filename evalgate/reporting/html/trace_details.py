"""What the list and the sections show of a trace besides its conversation: recorded scores, tags, the first message."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.reporting.text.escaping import clean_page_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.models.trace.trace import Trace

MAX_SCORES, MAX_TAGS, MAX_TEXT, MAX_MESSAGE = 5, 20, 100, 240
MAIN_SCORES = ("reward", "success", "resolved", "correct", "score")
"""Names of a recorded score that stands for the whole trace, the first one that is recorded."""


class TraceDetails(NamedTuple):
    """Recorded scores by name, as numbers; tags; and the start of the user's first message."""

    scores: Mapping[str, float]
    tags: Sequence[str]
    message: str

    @property
    def main_score(self) -> str | None:
        """The name of the score that the list shows; None if none is recorded."""
        named = (name for name in MAIN_SCORES if name in self.scores)
        return next(named, next(iter(sorted(self.scores)), None))


NO_DETAILS = TraceDetails({}, (), "")


def describe_trace(trace: Trace) -> TraceDetails:
    """The details of a trace, redacted and cut."""
    known = [(name, value) for name, value in sorted(trace.scores.items()) if value is not None]
    message = next((each["content"] for each in trace.messages if each["role"] == "user" and each["content"]), "")
    return TraceDetails(
        {clean_page_text(name, MAX_TEXT): float(value) for name, value in known[:MAX_SCORES]},
        [clean_page_text(tag, MAX_TEXT) for tag in trace.tags[:MAX_TAGS]],
        clean_page_text(" ".join((message or "").split()), MAX_MESSAGE),
    )


class RecordedPair(NamedTuple):
    """The details of a scenario's compared trial, and of the baseline's trial; None if they are not known."""

    now: TraceDetails
    baseline: TraceDetails | None

    @property
    def drop(self) -> float:
        """By how much the recorded score fell; 0 if that is not known."""
        name = self.now.main_score
        if name is None or self.baseline is None or name not in self.baseline.scores:
            return 0.0
        return self.baseline.scores[name] - self.now.scores[name]

    @property
    def summary(self) -> str:
        """The main score in short: `reward 1 \u2192 0`, `reward 0` without a baseline; empty if none is recorded."""
        name = self.now.main_score
        if name is None:
            return ""
        value = f"{self.now.scores[name]:g}"
        if self.baseline is None or name not in self.baseline.scores:
            return f"{name} {value}"
        return f"{name} {self.baseline.scores[name]:g} \u2192 {value}"


NOTHING_RECORDED = RecordedPair(NO_DETAILS, None)
