"""DeepEval's test runs, test cases and traces. Entry points: `DEEPEVAL`, `reader`."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.format import Format, words

WRAPPER = "testRunData"
ENTRY = "entry"
"""Holds each test case of the TypeScript version."""
LISTS = words("cases testCases test_cases conversationalTestCases conversational_test_cases test_results")
JUDGED = frozenset({"metricsData", "metrics_data", "toolsCalled", "tools_called", "expectedTools", "expected_tools"})
ANSWERS = frozenset({"actualOutput", "actual_output"})
SPANS = frozenset({"base_spans", "agent_spans", "llm_spans", "retriever_spans", "tool_spans"})
"""The lists of spans of a trace, by their kind."""


def is_case(value: Any) -> bool:
    """True for a test case: an input with an answer, or turns, and metrics or tools."""
    if not isinstance(value, dict) or JUDGED.isdisjoint(value):
        return False
    return isinstance(value.get("turns"), list) or ("input" in value and not ANSWERS.isdisjoint(value))


def is_trace(value: Any) -> bool:
    """True for a trace: spans of models and of tools, each kind in a list of its own."""
    return isinstance(value, dict) and (
        (isinstance(value.get("llm_spans"), list) and isinstance(value.get("tool_spans"), list))
        or (isinstance(value.get("llmSpans"), list) and isinstance(value.get("toolSpans"), list))
    )


def find_cases(value: Any) -> list[Any] | None:
    """The test cases of a run, in its lists of any name; None for any other document."""
    run = value.get(WRAPPER, value) if isinstance(value, dict) else None
    if not isinstance(run, dict):
        return None
    lists = [each for key, each in run.items() if isinstance(each, list) and (key in LISTS or any(map(is_case, each)))]
    found = [_open_case(case) for each in lists for case in each]
    return found if any(map(is_case, found)) else None


def _open_case(value: Any) -> Any:
    held = value.get(ENTRY) if isinstance(value, dict) else None
    return held if is_case(held) else value


def _claims_deepeval(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and (is_case(value[0]) or is_trace(value[0]))
    return is_case(value) or is_trace(value) or find_cases(value) is not None


DEEPEVAL = Format(
    name="deepeval",
    needs="`testCases` with `input`, `actualOutput` and `metricsData` or `toolsCalled`",
    claims=_claims_deepeval,
    module="deepeval.reader",
)
