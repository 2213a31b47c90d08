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
    optional_fields,
    required_fields,
)

TRAJECTORY_DIFF: Shape = (
    *required_fields(COUNT, "trial_before", "trial", "steps_left"),
    *required_fields(LIST, "steps", "said", "response", "figures"),
    *optional_fields(MAYBE_RECORD, "first"),
    *(Field(name, MAYBE_RECORD, "fine") for name in ("status", "error")),
)
STEP: Shape = (
    *required_fields(TEXT, "kind", "name", "arguments"),
    *required_fields(LIST, "changes"),
    *required_fields(COUNT, "changes_left"),
    *optional_fields(MAYBE_RECORD, "before", "now"),
    *(Field(name, MAYBE_RECORD, "fine") for name in ("outcome", "answer")),
)
CALL_POSITION: Shape = required_fields(COUNT, "turn", "call")
TEXT_PAIR: Shape = optional_fields(MAYBE_TEXT, "before", "now")
VALUE_DIFFERENCE: Shape = (*required_fields(TEXT, "path"), *TEXT_PAIR)
UTTERANCE: Shape = (*required_fields(COUNT, "turn"), *required_fields(TEXT, "who", "before", "now"))
FIRST_DIVERGENCE: Shape = (
    *required_fields(COUNT, "turn"),
    *required_fields(TEXT, "what"),
    *optional_fields(MAYBE_COUNT, "before", "now"),
)
TEXT_PART: Shape = required_fields(TEXT, "kind", "text")
FIGURE_DELTA: Shape = (*required_fields(TEXT, "name"), *optional_fields(MAYBE_NUMBER, "before", "now"))
STEP_RECORDS: tuple[tuple[str, Shape], ...] = (
    ("before", CALL_POSITION),
    ("now", CALL_POSITION),
    ("outcome", TEXT_PAIR),
    ("answer", TEXT_PAIR),
)
