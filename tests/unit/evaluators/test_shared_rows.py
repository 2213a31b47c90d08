"""A check with the same finding for many traces gives them one row, and other findings other rows."""

import pytest
from assess_assertion import compile_assertion
from builders import make_trace
from msgspec.structs import replace

from evalgate.evaluators.core.assertion import MAX_CACHED_ROWS
from evalgate.evaluators.core.evaluator import Finding

LATE = make_trace(latency_seconds=9)
UNKNOWN = make_trace(response=None)


def unshared(row):
    """A row without how it is kept."""
    return replace(row, is_shared=False, fragment=None)


def fine(number):
    return make_trace(
        calls=["search"],
        response=f"It is done, number {number}.",
        cost_usd=number / 100,
        latency_seconds=number / 10,
        input_tokens=number,
        output_tokens=1,
        metadata={"order": number},
        finish_reason="stop",
    )


@pytest.mark.parametrize(
    "raw",
    [
        {"type": "output_contains", "value": "done"},
        {"type": "output_contains", "pattern": r"number \d"},
        {"regex": r"number \d+\."},
        {"path": "metadata.order", "gte": 1},
        {"path": "length(tool_calls[?name == 'search'])", "eq": 1},
        {"type": "tool_sequence", "sequence": ["search"]},
        {"type": "tool_called", "tool": "search"},
        {"all_of": [{"type": "cost_limit", "max_usd": 1}, {"type": "contains", "value": "done"}]},
        {"any_of": [{"type": "not_empty"}, {"path": "metadata.missing", "eq": 1}]},
        {"at_least": {"k": 1, "of": [{"type": "not_empty"}, {"type": "cost_limit", "max_usd": 1}]}},
        {"when": {"type": "not_empty"}, "then": [{"type": "latency_limit", "max_seconds": 5}]},
        {"type": "finish_reason", "in": ["stop", "done"]},
        {"type": "forbidden_tools", "tools": ["delete_*"]},
        {"type": "allowed_tools", "tools": ["search"]},
        {"type": "cost_limit", "max_usd": 1},
        {"type": "latency_limit", "max_seconds": 1},
        {"type": "token_limit", "max_total": 50, "max_input": 40},
        {"type": "ends_with", "value": "."},
        {"not": {"type": "contains", "value": "sorry"}},
        {"type": "output_contains", "value": "sorry", "negate": True},
        {"not": {"path": "metadata.order", "gt": 3}},
        {"not": {"type": "cost_limit", "max_usd": 0.001}},
    ],
    ids=str,
)
def test_traces_that_pass__have_one_row(raw):
    assertion = compile_assertion(raw)
    first, *others = [assertion.assess(fine(number)) for number in (1, 2, 3)]
    assert first.outcome == "passed"
    assert first.is_shared
    assert all(row is first for row in others)


@pytest.mark.parametrize(
    "raw",
    [
        {"type": "cost_limit", "max_usd": 1},
        {"type": "latency_limit", "max_seconds": 1},
        {"path": "metadata.order", "eq": 1},
        {"regex": "."},
        {"type": "not_empty"},
    ],
    ids=str,
)
def test_traces_that_lack_the_same__have_one_row(raw):
    assertion = compile_assertion(raw)
    first, second = assertion.assess(make_trace(response=None)), assertion.assess(UNKNOWN)
    assert first.outcome == "not_evaluable"
    assert first is second


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ({"not": {"type": "contains", "value": "sorry"}}, 'answer contains "sorry"'),
        ({"not": {"path": "metadata.order", "gt": 3}}, "metadata.order > 3"),
        (
            {"not": {"all_of": [{"type": "contains", "value": "sorry"}]}},
            'answer contains "sorry": expected the answer to contain `"sorry"`, got ',
        ),
    ],
)
def test_negated_check_that_passes__quotes_the_reason_of_the_check(raw, reason):
    row = compile_assertion(raw).assess(fine(1))
    assert row.reason.startswith(f"does not hold, as expected: {reason}")


def test_negated_check__has_its_own_evidence():
    raw = {"type": "tool_sequence", "sequence": ["book"], "negate": True}
    row = compile_assertion(raw).assess(fine(1))
    assert row.outcome == "passed"
    assert row.evidence == {"alignment": [["book", None], [None, "search"]], "more": 0}
    raw = {"type": "output_contains", "value": "sorry", "negate": True}
    assert compile_assertion(raw).assess(fine(1)).evidence == {"verdict": "success"}


def test_group__with_other_findings_of_members_has_another_reason():
    """Two members may have the same finding; the reason names the member."""
    limits = [{"type": "cost_limit", "max_usd": 1, "name": each} for each in ("one", "two")]
    raw = {"any_of": [limits[0], {**limits[1], "on_missing": "skip"}, {"path": "metadata.order", "eq": 1}]}
    assertion = compile_assertion(raw)
    traces = [
        fine(1),
        fine(2),
        make_trace(),
        make_trace(cost_usd=2, metadata={"order": 5}),
        make_trace(metadata={"order": 1}),
        fine(3),
    ]
    rows = [assertion.assess(each) for each in traces]
    assert rows == [compile_assertion(raw).assess(each) for each in traces]
    assert [row.outcome for row in rows] == [
        "passed",
        "passed",
        "not_evaluable",
        "failed",
        "passed",
        "passed",
    ]
    assert rows[1] is not rows[0]
    assert rows[1].reason == "one: cost <= 1 USD; two: cost <= 1 USD"
    assert rows[2].reason == "one: cost unknown; metadata.order == 1: `metadata.order`: path found nothing"


@pytest.mark.parametrize("number", [2, 3])
def test_condition__that_does_not_hold_leaves_out_the_same_way(number):
    raw = {"when": {"type": "tool_called", "tool": "book"}, "then": [{"type": "not_empty"}]}
    assertion = compile_assertion(raw)
    rows = [assertion.assess(fine(each)) for each in (1, number)]
    assert {row.outcome for row in rows} == {"skipped"}
    assert list(map(unshared, rows)) == [compile_assertion(raw).assess(fine(1))] * 2


def test_a_row__that_one_trace_has_is_not_shared():
    assertion = compile_assertion({"type": "latency_limit", "max_seconds": 1})
    passed, failed, worse = [assertion.assess(each) for each in (fine(1), LATE, make_trace(latency_seconds=10))]
    assert [row.is_shared for row in (passed, failed, worse)] == [False, False, False]
    assert (failed.reason, worse.reason) == ("latency 9 s, limit 1 s", "latency 10 s, limit 1 s")
    assert assertion.assess(fine(2)) is passed
    assert assertion.assess(LATE) is failed
    assert [row.is_shared for row in (passed, failed, worse)] == [True, True, False]


def test_a_row__is_found_by_its_finding_until_another_was_found_again():
    fails, passes = Finding("failed", "no"), Finding("passed", "yes", {"a": 1})
    other = Finding("passed", "yes", {"a": 1})  # equal, and yet with evidence of its own
    found = iter([fails, fails, passes, passes, other, fails, passes])
    assertion = replace(compile_assertion({"type": "not_empty"}), check=lambda _: next(found))
    rows = [assertion.assess(fine(1)) for _ in range(7)]
    assert [each is rows[0] for each in rows] == [True, True, False, False, False, True, False]
    assert [each is rows[2] for each in rows] == [False, False, True, True, False, False, True]
    assert rows[4].evidence is other.evidence


def test_rows__that_fail_differently_are_cached_in_bounded_number():
    assertion = compile_assertion({"type": "latency_limit", "max_seconds": 1})
    for seconds in range(2, 1_000):
        assertion.assess(make_trace(latency_seconds=seconds))
    assert {outcome: len(rows) for outcome, rows in assertion.row_cache.rows.items()} == {"failed": MAX_CACHED_ROWS}
    passed = assertion.assess(fine(1))
    assert assertion.assess(fine(1)) is passed


def test_rows__with_equal_reasons_and_different_evidence_are_not_shared():
    """Evidence that is created each time may differ: only the same object counts as the same."""
    found = iter(Finding("failed", "unchanged", {"seen": number}) for number in range(100))
    assertion = replace(compile_assertion({"type": "latency_limit", "max_seconds": 1}), check=lambda _: next(found))
    rows = [assertion.assess(fine(1)) for _ in range(100)]
    assert [row.evidence for row in rows] == [{"seen": number} for number in range(100)]
    assert not any(row.is_shared for row in rows)


def test_rows__of_one_outcome_and_different_reasons_are_not_shared():
    assertion = compile_assertion({"type": "tool_sequence", "sequence": ["search", "book"], "mode": "exact"})
    ways = [["search"], ["book"], ["search"], [], ["book", "search"], ["search"]]
    rows = [assertion.assess(make_trace(calls=calls)) for calls in ways]
    fresh = [compile_assertion(assertion.written).assess(make_trace(calls=calls)) for calls in ways]
    assert list(map(unshared, rows)) == fresh
    assert {row.outcome for row in rows} == {"failed"}
    assert len({row.reason for row in rows}) == 4
    assert rows[0] is rows[2] is rows[5]


def test_rows__whose_scores_are_equal_and_of_different_types_are_not_shared():
    found = iter(Finding("failed", "unchanged", None, score) for score in (0, 0.0, 0, 0.0))
    assertion = replace(compile_assertion({"type": "latency_limit", "max_seconds": 1}), check=lambda _: next(found))
    rows = [assertion.assess(fine(1)) for _ in range(4)]
    assert [type(row.score) for row in rows] == [int, float, int, float]
    assert rows[0] is rows[2] is not rows[1] is rows[3]
