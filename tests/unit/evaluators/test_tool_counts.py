import pytest
from assess_assertion import assess, first_problem, outcome
from builders import make_call, make_trace

TRACE = make_trace(calls=["search", "search", "refund"])


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"tool": "search", "min": 2}, "passed"),
        ({"tool": "search", "min": 3}, "failed"),
        ({"tool": "search", "max": 2}, "passed"),
        ({"tool": "search", "max": 1}, "failed"),
        ({"tool": "search", "min": 1, "max": 2}, "passed"),
        ({"tool": "search", "exactly": 2}, "passed"),
        ({"tool": "search", "exactly": 1}, "failed"),
        ({"tool": "search", "exactly": 3}, "failed"),
        ({"tool": "cancel", "exactly": 0}, "passed"),
        ({"tool": "sea*", "exactly": 0}, "failed"),
        ({"min": 3}, "passed"),
        ({"exactly": 2}, "failed"),
        ({"forbidden_tools": ["delete_*", "refund"]}, "failed"),
        ({"forbidden_tools": ["delete_*", "ref"]}, "passed"),
        ({"allowed_tools": ["search"]}, "failed"),
        ({"allowed_tools": ["s*", "refund"]}, "passed"),
        ({"max_tool_calls": 3}, "passed"),
        ({"max_tool_calls": 2}, "failed"),
        ({"max_tool_errors": 0}, "passed"),
        ({"tool": "search", "max": 2, "forbidden_tools": ["refund"]}, "failed"),
        ({"tool": "search", "max": 2, "max_tool_calls": 3}, "passed"),
    ],
)
def test_tool_calls__holds_where_every_rule_does(settings, expected):
    assert outcome({"type": "tool_calls", **settings}, TRACE) == expected


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({"type": "forbidden_tools", "tools": ["ref*"]}, "failed"),
        ({"type": "forbidden_tools", "tools": ["cancel"]}, "passed"),
        ({"type": "allowed_tools", "tools": ["search", "re*"]}, "passed"),
        ({"type": "allowed_tools", "tools": ["search"]}, "failed"),
        ({"type": "allowed_tools", "tools": []}, "failed"),
        ({"type": "max_tool_calls", "max": 3}, "passed"),
        ({"type": "max_tool_calls", "max": 2}, "failed"),
        ({"type": "max_tool_errors", "max": 0}, "passed"),
        ({"type": "max_tool_errors", "params": {"max": 0}}, "passed"),
    ],
)
def test_rules_of_tool_calls__are_also_separate_types(raw, expected):
    assert outcome(raw, TRACE) == expected


def test_allowed_tools__none_at_all_passes_on_a_trace_without_calls():
    assert outcome({"type": "allowed_tools", "tools": []}, make_trace()) == "passed"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"tool": "search", "max": 1}, "expected at most 1 call of `search`, got 2"),
        ({"tool": "x", "min": 1, "max": 4}, "expected 1 to 4 calls of `x`, got 0"),
        ({"forbidden_tools": ["re*"]}, "`refund` must not be called, but was (call 3), forbidden by `re*`"),
        ({"allowed_tools": ["search"]}, "`refund` is no allowed tool, but was called (first: call 3)"),
        ({"max_tool_calls": 1, "allowed_tools": ["*"]}, "expected at most 1 tool call, got 3"),
    ],
)
def test_tool_calls__reason_names_what_was_found_and_what_was_expected(settings, words):
    assert assess({"type": "tool_calls", **settings}, TRACE).reason == words


def test_tool_calls__names_every_broken_rule():
    reason = assess({"type": "tool_calls", "max": 1, "forbidden_tools": ["search", "refund"]}, TRACE).reason
    unwanted = "`search` must not be called, but was 2 times (first: call 1); nor must `refund`"
    assert reason == f"expected at most 1 tool call, got 3; {unwanted}"


def failing(*statuses):
    calls = [
        make_call("pay", index=index, status=status, result="card declined") for index, status in enumerate(statuses)
    ]
    return make_trace(calls=calls)


@pytest.mark.parametrize(
    ("statuses", "most", "expected"),
    [
        (["error", "ok"], 0, "failed"),
        (["error", "ok"], 1, "passed"),
        (["error", "error"], 1, "failed"),
        (["missing"], 0, "not_evaluable"),
        (["missing", "error"], 1, "not_evaluable"),
        (["missing", "error"], 2, "passed"),
        (["missing", "error"], 0, "failed"),
    ],
)
@pytest.mark.parametrize("negate", [False, True])
def test_max_tool_errors__calls_without_result_may_have_failed(statuses, most, expected, negate):
    swapped = {"passed": "failed", "failed": "passed"}.get(expected, expected) if negate else expected
    raw = {"type": "max_tool_errors", "max": most, "negate": negate}
    assert outcome(raw, failing(*statuses)) == swapped


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ('{"error": "connection refused"}', "failed"),
        ({"error": {"code": 500}}, "failed"),
        ('{"isError": true, "content": []}', "failed"),
        ('{"is_error": true}', "failed"),
        ('{"error": null, "sent": true}', "passed"),
        ('{"error": "", "sent": true}', "passed"),
        ('{"isError": false}', "passed"),
        ('{"note": "no \\"error\\" here"}', "passed"),
        ('[{"error": "in a list of rows"}]', "passed"),
        ('{"error": cut', "passed"),
        ("Error: refused", "passed"),
    ],
)
def test_max_tool_errors__of_a_recording_without_statuses_reads_the_results(result, expected):
    trace = make_trace([make_call("send", status="unknown", result=result)])
    assert outcome({"type": "max_tool_errors", "max": 0}, trace) == expected
    steps = {"type": "tool_sequence", "sequence": [{"tool": "send", "status": "ok"}]}
    assert outcome(steps, trace) == expected


def test_max_tool_errors__says_how_many_calls_have_no_status():
    trace = make_trace([make_call("send", status="unknown"), make_call("send", index=1)])
    reason = assess({"type": "max_tool_errors", "max": 0}, trace).reason
    assert reason == "0 of 2 tool calls failed, limit 0 (of 1 only the result is recorded, without an `error` in it)"


@pytest.mark.parametrize(
    ("statuses", "most", "expected"),
    [
        (["missing"], 0, "tool calls without a recorded result may have failed"),
        (["ok", "unknown", "missing", "missing"], 1, "tool calls without a recorded result may have failed"),
        (
            ["error", "missing"],
            1,
            "1 of 2 tool calls failed, limit 1, and those without a recorded result may have, too",
        ),
    ],
)
def test_max_tool_errors__says_alike_in_all_scenarios_that_results_are_missing(statuses, most, expected):
    found = assess({"type": "max_tool_errors", "max": most}, failing(*statuses))
    assert (found.outcome, found.reason) == ("not_evaluable", expected)


def test_max_tool_errors__shows_the_first_error():
    reason = assess({"type": "max_tool_errors", "max": 0}, failing("ok", "error")).reason
    assert reason == '1 of 2 tool calls failed, limit 0; first: `pay`: `"card declined"`'


def test_tool_calls__of_the_user_simulator_do_not_count():
    trace = make_trace(calls=[make_call("toggle", requestor="user", status="error")])
    for raw in (
        {"type": "max_tool_calls", "max": 0},
        {"type": "max_tool_errors", "max": 0},
        {"type": "forbidden_tools", "tools": ["*"]},
        {"type": "tool_calls", "tool": "toggle", "exactly": 0},
    ):
        assert outcome(raw, trace) == "passed"


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        ({"type": "tool_calls"}, "type"),
        ({"type": "tool_calls", "tool": "a"}, "tool"),
        ({"type": "tool_calls", "tool": "a", "max_tool_calls": 3}, "tool"),
        ({"type": "tool_calls", "exactly": 1, "max": 2}, "exactly"),
        ({"type": "tool_calls", "min": 3, "max": 2}, "min"),
        ({"type": "tool_calls", "min": 0}, "min"),
        ({"type": "tool_calls", "max": -1}, "max"),
        ({"type": "tool_calls", "max": True}, "max"),
        ({"type": "tool_calls", "max": "3"}, "max"),
        ({"type": "tool_calls", "forbidden_tools": []}, "forbidden_tools"),
        ({"type": "forbidden_tools", "tools": []}, "tools"),
        ({"type": "forbidden_tools", "tools": [""]}, "tools"),
        ({"type": "max_tool_calls", "max": 1.5}, "max"),
    ],
)
def test_counts__that_are_invalid_are_errors_of_the_suite(raw, field):
    assert first_problem(raw).path[1] == field


def test_counts__a_missing_limit_is_an_error_of_the_suite():
    assert "`max` is missing" in first_problem({"type": "max_tool_errors"}).message
