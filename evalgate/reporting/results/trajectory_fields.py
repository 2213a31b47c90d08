"""The fields of `change.behaviour` in `evalgate.results/1`, with their allowed types."""

from __future__ import annotations

from evalgate.reporting.results.results_fields import (
    COUNT,
    LIST,
    MAYBE_COUNT,
    MAYBE_NUMBER,
    MAYBE_RECORD,
    MAYBE_TEXT,
    TEXT,
    Field,
    Shape,
    needed,
    optional,
)

BEHAVIOUR: Shape = (
    *needed(COUNT, "trial_before", "trial", "steps_left"),
    *needed(LIST, "steps", "said", "response", "figures"),
    *optional(MAYBE_RECORD, "first"),
    *(Field(name, MAYBE_RECORD, "fine") for name in ("status", "error")),
)
STEP: Shape = (
    *needed(TEXT, "kind", "name", "arguments"),
    *needed(LIST, "changes"),
    *needed(COUNT, "changes_left"),
    *optional(MAYBE_RECORD, "before", "now"),
    *(Field(name, MAYBE_RECORD, "fine") for name in ("outcome", "answer")),
)
CALL_PLACE: Shape = needed(COUNT, "turn", "call")
SIDES: Shape = optional(MAYBE_TEXT, "before", "now")
ARGUMENT: Shape = (*needed(TEXT, "path"), *SIDES)
SAID: Shape = (*needed(COUNT, "turn"), *needed(TEXT, "who", "before", "now"))
DEPARTURE: Shape = (
    *needed(COUNT, "turn"),
    *needed(TEXT, "what"),
    *optional(MAYBE_COUNT, "before", "now"),
)
PART: Shape = needed(TEXT, "kind", "text")
FIGURE: Shape = (*needed(TEXT, "name"), *optional(MAYBE_NUMBER, "before", "now"))
OF_STEP: tuple[tuple[str, Shape], ...] = (
    ("before", CALL_PLACE),
    ("now", CALL_PLACE),
    ("outcome", SIDES),
    ("answer", SIDES),
)
