"""Small builders of what is stored."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from store_verbs import verbs

from evalgate.models.goldens import Feedback, RegressionSuite
from evalgate.models.run.golden import (
    DIMENSIONS,
    EvaluationStatistics,
    GoldenEvaluation,
    Issue,
    TurnResult,
)

__all__ = ["verbs"]  # a fixture
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
TURN = TurnResult(
    user_message="I want my money back",
    actual_response="Which order?",
    golden_response="Which order is it?",
    scores={"tone_adherence": 0.9, "memory_recall": None},
    latency_ms=812.5,
    tokens=120,
    cost=0.0031,
    retrieved_memories=({"id": 1, "text": "called before"},),
    tools_invoked=("lookup_order",),
    tool_results=({"total": 12.5, "lines": [1, 2]}, "ok"),
    issues=(Issue("tone", "warning", "curt", "Which order?", 0),),
    evidence=("no greeting",),
)


@pytest.fixture
def evaluation():
    def make(golden_id="refund", **changes):
        fields = {
            "id": "",
            "golden_id": golden_id,
            "golden_version": 1,
            "suite": "refunds",
            "overall_score": 0.875,
            "level": "good",
            "dimensions": dict.fromkeys(DIMENSIONS) | {"tone_adherence": 0.9, "memory_recall": 1.0},
            "statistics": EvaluationStatistics(2, 812.5, 240, 0.0062, 1, 0, 0.5),
            "evaluated_by": "evalgate 0.1.0",
            "evaluated_at": NOON,
            "trial": 3,
            "trace_id": "t1",
            "trace_sha256": "ab" * 32,
            "turns": (TURN, TurnResult(None, "extra", None, {})),
            "issues": (Issue("completeness", "error", "an extra turn", None, 1),),
            "regression_status": "improvement",
            "previous_score": 0.8,
        }
        return GoldenEvaluation(**fields | changes)

    return make


@pytest.fixture
def feedback():
    def make(**changes):
        fields = {"id": "", "conversation_id": "c-7", "rating": 4, "feedback": "positive", "comment": "quick"}
        return Feedback(**fields | changes)

    return make


@pytest.fixture
def suite():
    def make(**changes):
        return RegressionSuite(**{"name": "nightly", "description": "each night", "tags": ("slow",)} | changes)

    return make
