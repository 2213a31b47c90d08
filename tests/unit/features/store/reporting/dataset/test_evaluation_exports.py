"""Evaluations as JSON lines, CSV and a summary (golden.md, Exports): their content, and that it is read back."""

from __future__ import annotations

import csv
import io
import json
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from store_builders import NOW, make_evaluation, make_exported, make_feedback, make_golden, make_issue, make_turn

from evalgate.errors import SettingError
from evalgate.features.store.reporting.dataset.evaluation_csv import HEADER, encode_evaluation_csv, read_evaluation_csv
from evalgate.features.store.reporting.dataset.evaluation_jsonl import encode_evaluations, read_evaluation_lines
from evalgate.features.store.reporting.dataset.golden_document import format_file_time
from evalgate.features.store.reporting.dataset.metrics import MetricsRequest, compute_metrics, has_passed
from evalgate.measures.redaction.redact import redact_field
from evalgate.models.run.golden import CATEGORIES, DIMENSIONS, SEVERITIES, EvaluationStatistics

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
PLAIN_KEY = TEXT.filter(lambda key: redact_field(key, "x") == "x")
"""The value of any other key is a secret, which no export holds."""
NAME = TEXT.filter(bool)
SCORE = st.none() | st.floats(0, 1, allow_nan=False)
COUNT = st.none() | st.integers(0, 2**62)
TURN = st.builds(
    make_turn,
    user_message=st.none() | TEXT,
    actual_response=st.none() | TEXT,
    golden_response=st.none() | TEXT,
    scores=st.fixed_dictionaries(dict.fromkeys(DIMENSIONS, SCORE)),
    latency_ms=st.none() | st.floats(0, 1e9),
    tokens=COUNT,
    cost=st.none() | st.floats(0, 1e6),
    retrieved_memories=st.lists(st.dictionaries(PLAIN_KEY, TEXT, max_size=1), max_size=1).map(tuple),
    tools_invoked=st.lists(NAME, max_size=2).map(tuple),
    tool_results=st.lists(TEXT | st.none() | st.booleans(), max_size=2).map(tuple),
    issues=st.lists(
        st.builds(
            make_issue,
            message=TEXT,
            category=st.sampled_from(CATEGORIES),
            severity=st.sampled_from(SEVERITIES),
            evidence=st.none() | TEXT,
            turn=st.none() | st.integers(0, 5),
        ),
        max_size=2,
    ).map(tuple),
    evidence=st.lists(TEXT, max_size=2).map(tuple),
)
EVALUATION = st.builds(
    make_evaluation,
    NAME,
    NAME,
    score=SCORE,
    turns=st.lists(TURN, max_size=3),
    at=st.timedeltas(timedelta(0), timedelta(days=400)).map(lambda since: NOW + since),
    suite=TEXT,
    run_id=st.none() | NAME,
    trace_id=st.none() | NAME,
    previous_score=SCORE,
    evaluated_by=TEXT,
)


def export_all(evaluations):
    """Exported evaluations, each with a unique id."""
    return [
        make_exported(replace(each, id=f"{number}{each.id}"), make_feedback(f"f{number}"), title=each.suite)
        for number, each in enumerate(evaluations)
    ]


def lines_of(found):
    return b"".join(encode_evaluations(found)).splitlines(keepends=True)


def test_a_line_has_one_turn_and_its_evaluation():
    issue = make_issue(evidence="answered 'no'", turn=0)
    evaluation = make_evaluation(turns=[make_turn(issues=(issue,)), make_turn(actual_response=None)], issues=(issue,))
    first, second = map(json.loads, encode_evaluations([make_exported(evaluation, make_feedback())]))
    assert {name: first[name] for name in ("schema", "evaluation_id", "golden_id", "golden_title", "version")} == {
        "schema": "evalgate.evaluation/1",
        "evaluation_id": "e1",
        "golden_id": "refund",
        "golden_title": "A refund in time",
        "version": 1,
    }
    assert (first["turn"], second["turn"], first["turns"], second["turns"]) == (1, 2, 2, 2)
    assert first["user_message"] == "I want my money back."
    assert (first["actual_response"], first["golden_response"]) == ("It is on its way!", "It is on its way.")
    assert second["actual_response"] is None
    assert (first["intent"], first["stance"], first["time"]) == (
        "task_execution",
        "helpful",
        "2025-12-31T22:40:49Z",
    )
    assert first["scores"]["tool_success_rate"] == 1.0
    assert first["scores"]["tone_adherence"] is None
    assert first["issues"] == [
        {
            "category": "tone",
            "severity": "warning",
            "message": "no apology",
            "evidence": "answered 'no'",
            "turn": 1,
        }
    ]
    assert [(feedback["rating"], feedback["feedback"], feedback["comment"]) for feedback in first["feedback"]] == [
        (5, "positive", "quick")
    ]
    assert first["conversation"]["statistics"]["total_cost_usd"] == 0.0125


@settings(max_examples=12)
@given(st.lists(EVALUATION, max_size=3))
def test_json_lines_read_back_to_the_same_entries(evaluations):
    found = export_all(evaluations)
    assert read_evaluation_lines(lines_of(found), "x.jsonl") == (found, [])


@settings(max_examples=12)
@given(st.lists(EVALUATION, max_size=3), st.randoms(use_true_random=False))
def test_json_lines_can_be_in_any_order(evaluations, chance):
    found = export_all(evaluations)
    lines = lines_of(found)
    chance.shuffle(lines)
    read, problems = read_evaluation_lines(lines, "x.jsonl")
    assert sorted(read, key=lambda each: each.evaluation.id) == sorted(found, key=lambda each: each.evaluation.id)
    assert problems == []


def test_json_lines_are_ascii_without_line_breaks():
    evaluation = make_evaluation(turns=[make_turn(user_message="a\u2028b\x85c\nd\U0001f600\x1b[31m")])
    [line] = encode_evaluations([make_exported(evaluation)])
    assert line.isascii()
    assert len(line.decode().splitlines()) == 1
    assert b"\x1b" not in line


@pytest.mark.parametrize("write", [lambda found: b"".join(encode_evaluations(found)).decode(), encode_evaluation_csv])
def test_secrets_are_not_exported(write):
    token = "ghp_" + "a1B2" * 9
    evaluation = make_evaluation(turns=[make_turn(actual_response=f"it is {token}")], suite=token)
    assert token not in write([make_exported(evaluation, title=token)])


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{", "this line is not valid JSON"),
        (b"[]", "this line is not a JSON object"),
        (b'{"schema":"evalgate.results/1"}', "schema"),
        (b"\xff\xfe", "this line is not valid JSON"),
        (b'{"a":"\\ud800"}', "this line is not valid JSON"),
    ],
)
def test_an_invalid_line_is_reported_and_the_others_are_read(line, reason):
    good = lines_of([make_exported()])
    found, [problem] = read_evaluation_lines([line + b"\n", *good], "x.jsonl")
    assert found == [make_exported()]
    assert str(problem).startswith("x.jsonl:1: ")
    assert reason in problem.message


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("version", 0),
        ("turns", -1),
        ("turns", 10**18),
        ("turn", 0),
        ("time", "yesterday"),
        ("time", "2026-01-01T00:00:00"),
        ("time", "9999-12-31T23:59:59-23:59"),
        ("tokens", 1.5),
        ("scores", {"a": 2}),
        ("evaluation_id", "x" * 513),
        ("suite", "x" * 513),
        ("user_message", "x" * 1_000_001),
        ("evidence", ["x"] * 10_001),
    ],
)
def test_a_line_with_an_impossible_value_is_refused(field, value):
    [line] = encode_evaluations([make_exported()])
    found, problems = read_evaluation_lines([json.dumps({**json.loads(line), field: value}).encode()], "x")
    assert (found, len(problems)) == ([], 1)


def test_a_conversation_with_a_missing_turn_is_skipped():
    lines = lines_of([make_exported(make_evaluation(turns=[make_turn(), make_turn()]))])
    for part in ([lines[1]], [lines[0], lines[0]]):
        found, [problem] = read_evaluation_lines(part, "x.jsonl")
        assert found == []
        assert "evaluation `e1` does not have each of its turns exactly once" in problem.message


def test_a_row_has_three_decimals_and_empty_cells_for_unknown_values():
    evaluation = make_evaluation(score=2 / 3, statistics=EvaluationStatistics(2, None, None, 0.0125, 3, 1, 0.5))
    [row] = csv.DictReader(io.StringIO(encode_evaluation_csv([make_exported(evaluation)]), newline=""), strict=True)
    assert tuple(row) == HEADER
    assert (row["score"], row["tool_success_rate"], row["tone_adherence"]) == ("0.667", "1.000", "")
    assert (row["total_turns"], row["avg_latency_ms"], row["total_cost_usd"]) == ("2", "", "0.012500")
    assert (row["issue_count"], row["critical_issue_count"], row["pass_rate"]) == ("3", "1", "0.500")
    assert row["time"] == "2025-12-31T22:40:49Z"


@settings(max_examples=12)
@given(st.lists(EVALUATION, max_size=4))
def test_rows_read_back_to_the_same_rows(evaluations):
    text = encode_evaluation_csv(export_all(evaluations))
    found, problems = read_evaluation_csv(text, "x.csv")
    assert problems == []
    assert encode_evaluation_csv(found) == text
    assert [each.evaluation.id for each in found] == [f"{n}{each.id}" for n, each in enumerate(evaluations)]


def test_a_row_reads_back_to_the_evaluation_without_its_turns():
    evaluation = make_evaluation(score=0.875, previous_score=0.9)
    found, _ = read_evaluation_csv(encode_evaluation_csv([make_exported(evaluation)]), "x.csv")
    assert found == [make_exported(replace(evaluation, turns=()))]


def test_columns_can_be_in_any_order_and_unknown_ones_are_ignored():
    rows = list(csv.reader(io.StringIO(encode_evaluation_csv([make_exported()]), newline="")))
    text = "\r\n".join(",".join([*reversed(row), "more"]) for row in rows)
    found, problems = read_evaluation_csv(text, "x.csv")
    assert problems == []
    assert found == [make_exported(replace(make_evaluation(), turns=()))]


@pytest.mark.parametrize(
    ("column", "cell", "reason"),
    [
        ("score", "1.5", "`score` is not a number between 0 and 1"),
        ("score", "nan", "`score` is not a number between 0 and 1"),
        ("total_cost_usd", "inf", "`total_cost_usd` is not a number"),
        ("total_turns", "1e3", "`total_turns` is not a whole number"),
        ("total_turns", "9" * 500, "`total_turns` is not a whole number"),
        ("time", "2025-12-31T22:40:49", "`time` is not an RFC 3339 time"),
        ("time", "0001-01-01T00:00:00+23:59", "`time` is not an RFC 3339 time"),
        ("level", "great", "`level` is not one of excellent, good"),
        ("golden_id", "", "`golden_id` is empty"),
        ("suite", "x" * 513, "`suite` has more than 512 characters"),
    ],
)
def test_an_invalid_row_is_reported_with_its_line(column, cell, reason):
    head, row = csv.reader(io.StringIO(encode_evaluation_csv([make_exported()]), newline=""))
    row[head.index(column)] = cell
    good = encode_evaluation_csv([make_exported()]).splitlines()[1]
    text = "\n".join([",".join(head), ",".join(row), good])
    found, [problem] = read_evaluation_csv(text, "x.csv")
    assert len(found) == 1
    assert str(problem).startswith("x.csv:2: ")
    assert reason in problem.message


def test_a_csv_of_another_kind_is_refused():
    with pytest.raises(SettingError, match=r"x\.csv:1: not a CSV file of evaluations: no column .*evaluation_id"):
        read_evaluation_csv("a,b\r\n1,2\r\n", "x.csv")


def summary_of(found=(), goldens=(), asked=None):
    return compute_metrics(list(found), list(goldens), asked or MetricsRequest())


def test_a_summary_has_counts_means_and_shares():
    found = [
        make_exported(make_evaluation("a", score=0.9), make_feedback(rating=4)),
        make_exported(
            make_evaluation("b", score=0.7, regression_status="degradation", at=NOW + timedelta(hours=1)),
            make_feedback(rating=4),
            intent="learning",
            stance="formal",
        ),
        make_exported(make_evaluation("c", "other", score=None, turns=[]), intent="learning"),
    ]
    evaluation = summary_of(found)
    assert evaluation["totals"] == {
        "evaluations": 3,
        "goldens": 2,
        "turns": 2,
        "passed": 1,
        "failed": 1,
        "not_evaluable": 1,
    }
    assert (evaluation["avg_score"], evaluation["pass_rate"]) == (0.8, 0.5)
    assert (evaluation["regressions"], evaluation["improvements"]) == (1, 0)
    assert evaluation["period"] == {
        "since": None,
        "until": None,
        "first": "2025-12-31T22:40:49Z",
        "last": "2025-12-31T23:40:49Z",
    }
    assert evaluation["by_intent"]["learning"] == {
        "evaluations": 2,
        "passed": 0,
        "failed": 1,
        "not_evaluable": 1,
        "avg_score": 0.7,
        "pass_rate": 0.0,
    }
    assert list(evaluation["by_stance"]) == ["formal", "helpful"]
    assert evaluation["by_tool"] == {"refund": {"calls": 2, "turns": 2, "avg_tool_success_rate": 1.0}}
    assert (evaluation["avg_latency_ms"], evaluation["tokens_per_turn"], evaluation["cost_usd"]) == (
        1200.0,
        340.0,
        0.0375,
    )
    assert evaluation["feedback"] == {"count": 1, "avg_rating": 4.0, "positive": 1, "negative": 0, "neutral": 0}


def test_an_empty_summary_has_unknown_values():
    evaluation = summary_of()
    assert evaluation["totals"]["evaluations"] == 0
    assert [evaluation[name] for name in ("avg_score", "pass_rate", "cost_usd", "tokens_per_turn")] == [None] * 4


def test_a_cost_with_an_unknown_part_is_unknown():
    found = [make_exported(), make_exported(make_evaluation("b", statistics=EvaluationStatistics(1)))]
    assert summary_of(found)["cost_usd"] is None


def test_the_most_severe_issues_come_first_then_the_most_frequent():
    often = make_issue("curt")
    grave = make_issue("false claim", category="accuracy", severity="critical")
    found = [
        make_exported(make_evaluation("a", turns=[make_turn(issues=(often,))], issues=(often._replace(turn=0), grave))),
        make_exported(make_evaluation("b", turns=[make_turn(issues=(often,))])),
    ]
    issues = summary_of(found)["issues"]
    assert [(one["message"], one["count"]) for one in issues["top"]] == [("false claim", 1), ("curt", 2)]
    assert issues["by_category"] == {"tone": 2, "accuracy": 1}
    assert issues["by_severity"] == {"warning": 2, "critical": 1}


@pytest.mark.parametrize(
    ("status", "score", "expected"),
    [
        ("pass", 0.7, True),
        ("fail", 0.9, False),
        ("improvement", 0.85, True),
        ("improvement", 0.84, False),
        ("degradation", 0.9, True),
        ("degradation", 0.8, False),
        (None, None, None),
    ],
)
def test_passed_is_decided_by_the_status_else_by_the_default_passing_score(status, score, expected):
    assert has_passed(make_evaluation(score=score, regression_status=status)) is expected


def test_a_summary_describes_the_goldens():
    goldens = [
        make_golden("a", tags=("money", "vip"), required_tool_usage=("correct_invocation",)),
        make_golden("b", intent="learning", user_messages=("x", "y", "z"), tags=("money",), creator=None),
    ]
    dataset = summary_of(goldens=goldens)["dataset"]
    assert (dataset["goldens"], dataset["turns"], dataset["turns_per_golden"], dataset["longest"]) == (
        2,
        4,
        2.0,
        3,
    )
    assert dataset["by_tag"] == {"money": 2, "vip": 1}
    assert dataset["by_intent"] == {"learning": 1, "task_execution": 1}
    assert dataset["by_creator"] == {"ada": 1}
    assert dataset["by_tool_usage"] == {"correct_invocation": 1}


def test_a_file_is_named_by_its_time():
    assert format_file_time(NOW) == "2025-12-31T22-40-49"
