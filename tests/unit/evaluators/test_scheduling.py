import pytest
from assess_assertion import assess, compile_assertion, first_problem, outcome
from builders import make_call, make_trace

TRACE = make_trace(
    calls=[
        ("tasks", {"action": "create", "when": "tomorrow"}),
        ("tasks", {"action": "list"}),
        ("tasks", {"action": "create", "when": "friday"}),
        ("search", {"q": "tea"}),
    ]
)
HIDDEN = {**make_call("tasks"), "arguments": None}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"expected_tool": "tasks"}, "passed"),
        ({"expected_tool": "tasks", "min_calls": 3}, "passed"),
        ({"expected_tool": "tasks", "min_calls": 4}, "failed"),
        ({"tool": "tasks", "min_calls": 3}, "passed"),
        ({"expected_tool": "tasks", "tool": "tasks"}, "passed"),
        ({"expected_tool": "tasks", "action": "create", "min_calls": 2}, "passed"),
        ({"expected_tool": "tasks", "action": "create", "min_calls": 3}, "failed"),
        ({"expected_tool": "search", "action": "tea", "action_argument": "q"}, "passed"),
        ({"expected_tool": "cancel"}, "failed"),
        ({"expected_tool": None}, "failed"),
        ({"expected_tool": None, "min_calls": 0}, "failed"),
        ({"expected_tool": None, "tool": "tasks"}, "failed"),
        ({"expected_tool": None, "tool": "cancel"}, "passed"),
        ({"expected_tool": None, "tool": "tasks", "action": "delete"}, "passed"),
        ({"expected_tool": None, "tool": "tasks", "action": "list"}, "failed"),
    ],
)
def test_expected_tool(settings, expected):
    assert outcome({"type": "expected_tool", **settings}, TRACE) == expected
    assert outcome({"type": "expected_tool", "params": settings}, TRACE) == expected


def test_expected_tool__none_passes_if_no_tool_was_called():
    assert outcome({"type": "expected_tool", "expected_tool": None}, make_trace()) == "passed"


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({"type": "no_tool", "tool": "search"}, "failed"),
        ({"type": "no_tool", "tool": "cancel"}, "passed"),
        ({"type": "no_tool", "tool": "tasks", "action": "delete"}, "passed"),
        ({"type": "no_tool", "tool": "tasks", "action": "list"}, "failed"),
        ({"type": "no_run_code"}, "passed"),
        ({"type": "no_run_code", "params": {}}, "passed"),
        ({"type": "no_run_code", "params": {"tool": "search"}}, "failed"),
    ],
)
def test_no_tool(raw, expected):
    assert outcome(raw, TRACE) == expected


def test_expected_tool__says_that_there_were_no_tool_calls():
    reason = assess({"type": "expected_tool", "expected_tool": "tasks"}, make_trace(calls=[])).reason
    assert reason == "expected at least 1 call of `tasks`, got 0 (no tool calls)"


def test_no_run_code__fails_on_a_call_of_run_code():
    found = assess({"type": "no_run_code"}, make_trace(calls=["search", "run_code"]))
    assert found.outcome == "failed"
    assert found.reason == "`run_code` must not be called, but was (call 2)"


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({"type": "expected_tool", "tool": "tasks"}, "passed"),
        ({"type": "expected_tool", "tool": "tasks", "action": "create"}, "not_evaluable"),
        ({"type": "expected_tool", "tool": "tasks", "action": "create", "min_calls": 2}, "failed"),
        ({"type": "expected_tool", "expected_tool": None, "tool": "tasks"}, "failed"),
        (
            {"type": "expected_tool", "expected_tool": None, "tool": "tasks", "action": "create"},
            "not_evaluable",
        ),
        ({"type": "no_tool", "tool": "tasks", "action": "create"}, "not_evaluable"),
        ({"not": {"type": "no_tool", "tool": "tasks", "action": "create"}}, "not_evaluable"),
    ],
)
def test_actions__of_calls_without_captured_arguments_are_unknown(raw, expected):
    assert outcome(raw, make_trace(calls=[HIDDEN])) == expected


@pytest.mark.parametrize(
    ("arguments", "is_denied"),
    [
        ({"action": "DELETE"}, True),
        ({"action": "del\u200bete"}, True),
        ({"action": " delete "}, True),
        ({"action": "\uff44elete"}, True),
        ({"action": "d\u0435lete"}, True),
        ({"Action": "delete"}, True),
        ({"action": ["list", "delete"]}, True),
        ({"action": "deleted"}, False),
        ({"action": "undelete"}, False),
        ({"action": "list", "note": "delete"}, False),
        ({"action": ["list"]}, False),
        ({"action": None}, False),
    ],
)
def test_actions__that_are_written_alike_do_not_evade_a_check_that_forbids_one(arguments, is_denied):
    trace = make_trace(calls=[("tasks", arguments)])
    forbidden = ({"type": "no_tool"}, {"type": "expected_tool", "expected_tool": None})
    for raw in ({**each, "tool": "tasks", "action": "delete"} for each in forbidden):
        assert outcome(raw, trace) == ("failed" if is_denied else "passed")
        assert outcome({"not": raw}, trace) == "failed"
    assert outcome({"type": "expected_tool", "tool": "tasks", "action": "delete"}, trace) == "failed"


def test_actions__are_no_patterns_and_need_no_text():
    trace = make_trace(calls=[("tasks", {"when": "0 9 * * 1", "action": 5})])
    assert (
        outcome({"type": "no_tool", "tool": "tasks", "action": "0 * 1", "action_argument": "when"}, trace) == "passed"
    )
    assert outcome({"type": "no_tool", "tool": "tasks", "action": "5"}, trace) == "passed"


def test_arguments_that_are_not_an_object__contain_no_actions():
    trace = make_trace(calls=[("tasks", ["create"]), ("tasks", "create")])
    assert outcome({"type": "no_tool", "tool": "tasks", "action": "create"}, trace) == "passed"


def test_expected_tool__says_how_often_and_what_was_called_instead():
    raw = {"type": "expected_tool", "expected_tool": "tasks", "action": "delete", "min_calls": 2}
    assert assess(raw, TRACE).reason == (
        'expected at least 2 calls of `tasks` with `action: "delete"`, got 0 (other calls: `tasks`, `search`)'
    )


def test_calls__of_the_user_simulator_do_not_count():
    trace = make_trace(calls=[make_call("tasks", requestor="user")])
    assert outcome({"type": "expected_tool", "tool": "tasks"}, trace) == "failed"
    assert outcome({"type": "no_tool", "tool": "tasks"}, trace) == "passed"


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ({"expected_tool": "a"}, "a called"),
        ({"expected_tool": "a", "min_calls": 2}, "a called at least 2 times"),
        ({"expected_tool": None}, "no tool call"),
        ({"expected_tool": None, "tool": "a"}, "no call of a"),
    ],
)
def test_expected_tool__is_named_by_what_it_expects(raw, name):
    assert compile_assertion({"type": "expected_tool", **raw}).name == name


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        ({"type": "expected_tool"}, "type"),
        ({"type": "expected_tool", "expected_tool": "a", "tool": "b"}, "tool"),
        ({"type": "expected_tool", "expected_tool": "a", "min_calls": 0}, "min_calls"),
        ({"type": "expected_tool", "expected_tool": None, "min_calls": 1}, "min_calls"),
        ({"type": "expected_tool", "expected_tool": None, "action": "create"}, "action"),
        ({"type": "expected_tool", "expected_tool": "a", "min_calls": True}, "min_calls"),
        ({"type": "no_run_code", "tool": ""}, "tool"),
    ],
)
def test_scheduling__invalid_settings_are_errors_of_the_suite(raw, field):
    assert first_problem(raw).path[1] == field
