"""Evaluations of goldens in a store."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta, timezone

import pytest
from msgspec.structs import replace

from evalgate.errors import SettingError
from evalgate.features.store.ports import Page
from evalgate.models.run.golden import (
    DIMENSIONS,
    LEVELS,
    REGRESSION_STATUSES,
    EvaluationStatistics,
    Golden,
    TurnResult,
)

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.fixture
def judged(store):
    store.goldens.create(Golden("refund"))
    store.goldens.create(Golden("other"))
    return store.evaluations


def test_an_evaluation_comes_back_as_it_was(judged, evaluation):
    created = judged.create(evaluation())

    assert created.id
    assert replace(created, id="") == evaluation()
    assert judged.get(created.id) == created
    assert isinstance(created.overall_score, float)
    assert created.turns[0].tool_results == ({"total": 12.5, "lines": [1, 2]}, "ok")
    assert created.evaluated_at.tzinfo is UTC


def test_what_is_unknown_stays_unknown(judged, evaluation):
    nothing = evaluation(
        overall_score=None,
        level=None,
        dimensions=dict.fromkeys(DIMENSIONS),
        statistics=EvaluationStatistics(0),
        trace_id=None,
        trace_sha256=None,
        turns=(),
        issues=(),
        regression_status=None,
        previous_score=None,
    )

    assert replace(judged.create(nothing), id="") == nothing


def test_a_chosen_id_is_kept_and_taken_once(judged, evaluation):
    assert judged.create(evaluation(id="mine")).id == "mine"
    with pytest.raises(SettingError, match="the evaluation `mine` already exists"):
        judged.create(evaluation(id="mine"))
    assert len(judged.list()) == 1


def test_there_is_no_evaluation_without_its_golden_or_its_run(judged, evaluation):
    with pytest.raises(SettingError, match="there is no golden `refnd` in the store") as refused:
        judged.create(evaluation("refnd"))
    assert refused.value.problems[0].hint == "did you mean `refund`?"
    with pytest.raises(SettingError, match="there is no run `r1` in the store"):
        judged.create(evaluation(run_id="r1"))
    assert judged.list() == []


def test_lists_have_the_newest_first_and_are_paged(judged, evaluation):
    for hour in (3, 1, 2):
        judged.create(evaluation(id=f"e{hour}", evaluated_at=NOON + timedelta(hours=hour)))

    assert [each.id for each in judged.list()] == ["e3", "e2", "e1"]
    assert [each.id for each in judged.list(Page(1, 1))] == ["e2"]
    since = judged.list(since=NOON + timedelta(hours=2), until=NOON + timedelta(hours=3))
    assert [each.id for each in since] == ["e2"]


def test_lists_by_golden_suite_status_and_trace(judged, evaluation):
    judged.create(evaluation("refund", id="a", trace_sha256="aa"))
    judged.create(evaluation("other", id="b", regression_status="degradation", suite="night"))
    judged.create(evaluation("refund", id="c", regression_status=None))

    def ids(found):
        return sorted(each.id for each in found)

    assert ids(judged.list(golden_id="refund")) == ["a", "c"]
    assert ids(judged.list(Page(1, 1), golden_id="refund")) == ["c"]
    assert ids(judged.list(suite="night")) == ["b"]
    assert ids(judged.list(regression_status="degradation")) == ["b"]
    assert ids(judged.list(regression_status="improvement")) == ["a"]
    assert ids(judged.list(regression_status="fail")) == []
    assert ids(judged.list(trace_sha256="aa")) == ["a"]
    assert ids(judged.list(run_id="r1")) == []


def test_every_regression_status_and_every_level_is_accepted(judged, evaluation):
    for status in REGRESSION_STATUSES:
        assert judged.create(evaluation(regression_status=status)).regression_status == status
    for level in LEVELS:
        assert judged.create(evaluation(level=level)).level == level


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"overall_score": 1.5}, "evaluation overall score is 0 to 1"),
        ({"overall_score": -0.1}, "evaluation overall score is 0 to 1"),
        ({"previous_score": 85}, "evaluation previous score is 0 to 1"),
        ({"dimensions": {"memory_recall": 1.01}}, "evaluation memory recall is 0 to 1"),
        ({"regression_status": "worse"}, "evaluation regression status is known"),
        ({"level": "superb"}, "evaluation level is known"),
        ({"overall_score": math.nan}, "a score that"),
        ({"overall_score": math.inf}, "a score that"),
        ({"dimensions": {"memory_precison": 1.0}}, "unknown dimension `memory_precison`"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_an_invalid_score_or_an_unknown_word_is_refused(judged, evaluation, change, rule):
    with pytest.raises(SettingError, match=rule):
        judged.create(evaluation(**change))
    assert judged.list() == []


def test_the_ends_of_the_scale_are_scores(judged, evaluation):
    created = judged.create(evaluation(overall_score=0.0, previous_score=1.0))

    assert (created.overall_score, created.previous_score) == (0.0, 1.0)


def test_a_time_of_another_zone_is_the_same_moment(judged, evaluation):
    there = NOON.astimezone(timezone(timedelta(hours=5, minutes=30)))

    created = judged.create(evaluation(evaluated_at=there))

    assert created.evaluated_at == NOON
    assert created.evaluated_at.utcoffset() == timedelta(0)


def test_values_that_databases_refuse_are_adapted(judged, evaluation):
    hostile = TurnResult(
        "nul\0 and half \ud800 of a pair",
        "a",
        "b",
        {"tone_adherence": math.nan},
        tokens=2**70,
        tool_results=({"ke\0y\udc00": [2**64, -(2**70), math.inf, "\0"]}, deep(200)),
    )
    created = judged.create(
        evaluation(
            trace_id="t\0\ud800",
            evaluated_by="'; DROP TABLE evalgate_goldens; --",
            statistics=EvaluationStatistics(2**70, math.inf, -(2**70), math.nan),
            turns=(hostile,),
        )
    )

    assert created.trace_id == "t\ufffd"
    assert created.evaluated_by == "'; DROP TABLE evalgate_goldens; --"
    assert created.statistics.total_turns == 2**63 - 1
    assert created.statistics.total_tokens == -(2**63)
    assert created.statistics.avg_latency_ms is None
    assert created.statistics.total_cost is None
    (turn,) = created.turns
    assert turn.user_message == "nul and half \ufffd of a pair"
    assert turn.scores == {"tone_adherence": None}
    assert turn.tokens == 2**63 - 1
    assert turn.tool_results[0] == {"key\ufffd": [2**63 - 1, -(2**63), None, ""]}
    assert "too deep" in str(turn.tool_results[1])
    assert judged.get(created.id) == created


def deep(levels):
    value = "end"
    for _ in range(levels):
        value = [value]
    return value
