"""Results of `promptfoo eval`: `output.json` and `output.jsonl`. Entry points: `PROMPTFOO`, `reader`."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.format import Format

RESULT = frozenset({"promptIdx", "testIdx", "success"})
RESULTS = "results"


def is_result(value: Any) -> bool:
    """True for the result of one test with one prompt and provider."""
    return isinstance(value, dict) and value.keys() >= RESULT


def find_results(value: Any) -> list[Any] | None:
    """The results of a document: `output.json`, or the summary in it."""
    inner = value.get(RESULTS) if isinstance(value, dict) else None
    if isinstance(inner, dict):
        inner = inner.get(RESULTS)
    return inner if isinstance(inner, list) and inner and is_result(inner[0]) else None


def _claims_promptfoo(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and is_result(value[0])
    return is_result(value) or find_results(value) is not None


PROMPTFOO = Format(
    name="promptfoo",
    needs="`results` with `promptIdx`, `testIdx` and `success`",
    claims=_claims_promptfoo,
    module="promptfoo.reader",
)
