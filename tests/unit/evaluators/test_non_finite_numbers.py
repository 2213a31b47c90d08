"""A value that is not a number passes no check, although the readers refuse such values: the second line of defence."""

from __future__ import annotations

from math import inf, nan

import pytest
from assess_assertion import compile_assertion
from builders import make_trace

from evalgate.evaluators.kinds.whole_run import CostLimit, TokenLimit
from evalgate.suite.policy import IncreaseLimit
from evalgate.suite.suite_file import SuiteFile

CHECKS = [
    {"type": "cost_limit", "max_usd": 1},
    {"type": "latency_limit", "max_seconds": 1},
    {"type": "token_limit", "max_total": 1},
    {"type": "recorded_score", "name": "reward", "min": 0.5},
    {"path": "cost.usd", "lte": 1},
    {"path": "cost.usd", "lt": 1},
    {"path": "cost.usd", "gte": 0},
    {"path": "cost.usd", "gt": 0},
    {"path": "latency.total_ms", "lte": 1},
]


def a_trace_of(figure):
    trace = make_trace(cost_usd=figure, latency_seconds=figure, scores={"reward": figure})
    trace.usage["total_tokens"] = figure
    return trace


@pytest.mark.parametrize("raw", CHECKS, ids=str)
@pytest.mark.parametrize("figure", [nan, -nan])
def test_measured_value_is_not_a_number(raw, figure):
    assert compile_assertion(raw).assess(a_trace_of(figure)).outcome != "passed"


@pytest.mark.parametrize("raw", [each for each in CHECKS if not {"gte", "gt", "min"} & set(each)], ids=str)
def test_measured_value_is_infinite(raw):
    assert compile_assertion(raw).assess(a_trace_of(inf)).outcome != "passed"


@pytest.mark.parametrize("figure", [nan, inf, -inf, True, "0.5"])
@pytest.mark.parametrize(
    ("model", "field"),
    [
        (SuiteFile, "threshold"),
        (IncreaseLimit, "max_increase"),
        (CostLimit, "max_usd"),
        (TokenLimit, "max_total"),
    ],
)
def test_required_value_is_not_a_number(model, field, figure):
    with pytest.raises(ValueError, match=field):
        model.model_validate({"type": "cost_limit", field: figure})
