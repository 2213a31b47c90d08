import pytest
from assess_assertion import assess, first_problem, outcome
from builders import make_call, make_trace

HIDDEN = {**make_call("later"), "arguments": None}


def later(*arguments):
    return make_trace(calls=["search", *[("later", each) for each in arguments]])


def judged(kind, *arguments, **settings):
    return outcome({"type": kind, "params": {"tool": "later", **settings}}, later(*arguments))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([{"delay_seconds": 60}], "passed"),
        ([{"delay_seconds": 0}], "passed"),
        ([{"when": "tomorrow"}], "passed"),
        ([{"when": 1_700_000_000}], "passed"),
        ([{"delay_seconds": 60}, {"when": "9:00"}], "passed"),
        ([{"delay_seconds": 60}, {"text": "x"}], "failed"),
        ([{"when": ""}], "failed"),
        ([{"when": "  "}], "failed"),
        ([{"when": None, "delay_seconds": None}], "failed"),
        ([{"when": []}], "failed"),
        ([{"when": True}], "failed"),
        ([{"delay_seconds": "60"}], "failed"),
        ([{"delay_seconds": True}], "failed"),
        ([["when"]], "failed"),
    ],
)
def test_has_timing__each_call_has_a_delay_or_a_time(arguments, expected):
    assert judged("has_timing", *arguments) == expected


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([{"delay_seconds": 1}, {"delay_seconds": 2}, {"delay_seconds": 2.5}], "passed"),
        ([{"delay_seconds": 1}, {"delay_seconds": 1}], "failed"),
        ([{"delay_seconds": 2}, {"delay_seconds": 1}], "failed"),
        ([{"delay_seconds": 1}, {"when": "later"}], "failed"),
        ([{"delay_seconds": 1}, {"delay_seconds": "2"}], "failed"),
        ([{"delay_seconds": 1, "when": 9}, {"delay_seconds": 2, "when": 3}], "passed"),
        ([{"when": 1}, {"when": 2}], "passed"),
        ([{"when": 1}, {"when": 2.0}], "passed"),
        ([{"when": 2}, {"when": 1}], "failed"),
        ([{"when": 1}, {"when": 1.0}], "failed"),
        ([{"when": "9:00"}, {"when": "10:00"}], "passed"),
        ([{"when": "10:00"}, {"when": "9:00"}], "passed"),
        ([{"when": "9:00"}, {"when": "9:00"}], "failed"),
        ([{"when": "9:00"}, {"when": ""}], "failed"),
        ([{"when": "9:00"}, {"when": "9:00"}, {"when": "10:00"}], "passed"),
        ([{"when": 5}, {"when": "noon"}], "passed"),
        ([{"when": "9:00"}], "failed"),
        ([{}, {}], "failed"),
        ([{"delay_seconds": 5}], "passed"),
    ],
)
def test_staggered_timing__delays_grow_or_whole_numbers_grow_or_times_differ(arguments, expected):
    assert judged("staggered_timing", *arguments) == expected


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([{"recurring": True}], "passed"),
        ([{"when": "0 9 * * *"}], "passed"),
        ([{"when": "*/15 8-18 1,15 * mon-fri"}], "passed"),
        ([{"when": "0 9 * * *"}, {"when": "tomorrow"}], "passed"),
        ([{"when": "tomorrow"}], "failed"),
        ([{"recurring": False}], "failed"),
        ([{"recurring": "true"}], "failed"),
        ([{"recurring": 1}], "failed"),
        ([{"when": "0 9 * *"}], "failed"),
        ([{"when": "0 9 * * * *"}], "failed"),
        ([{"when": "remind me at nine daily"}], "failed"),
        ([{"when": 5}], "failed"),
    ],
)
def test_is_recurring__is_marked_so_or_looks_like_cron(arguments, expected):
    assert judged("is_recurring", *arguments) == expected


KINDS = ["has_timing", "staggered_timing", "is_recurring"]


@pytest.mark.parametrize("kind", KINDS)
def test_timing__without_such_a_call_fails(kind):
    found = assess({"type": kind, "tool": "later"}, make_trace(calls=["search"]))
    assert (found.outcome, found.reason) == ("failed", "`later` must be called, but only `search` was")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("negate", [False, True])
def test_timing__not_captured_is_not_evaluable(kind, negate):
    trace = make_trace(calls=[HIDDEN])
    for action in (None, "create"):
        assert outcome({"type": kind, "tool": "later", "action": action, "negate": negate}, trace) == "not_evaluable"


def test_timing__outcome_that_needs_no_uncaptured_call_is_given():
    trace = make_trace(calls=[HIDDEN, ("later", {"when": "0 9 * * *"}), ("later", {})])
    assert outcome({"type": "is_recurring", "tool": "later"}, trace) == "passed"
    assert outcome({"type": "has_timing", "tool": "later"}, trace) == "failed"


@pytest.mark.parametrize("kind", KINDS)
def test_timing__judges_the_calls_of_the_action_only(kind):
    calls = [
        {"action": "create", "delay_seconds": 1, "recurring": True},
        {"action": "list"},
        {"action": "create", "delay_seconds": 2},
    ]
    assert judged(kind, *calls, action="create") == "passed"
    assert judged(kind, *calls, action="list") == "failed"


@pytest.mark.parametrize("kind", KINDS)
def test_timing__argument_names_can_be_chosen(kind):
    calls = [{"op": "add", "wait": 1, "again": True}, {"op": "add", "wait": 2}, {"op": "get"}]
    names = {
        "delay_argument": "wait",
        "recurring_argument": "again",
        "action_argument": "op",
        "action": "add",
    }
    assert judged(kind, *calls, **names) == "passed"
    assert judged(kind, {"at": "0 9 * * *"}, {"at": "1 9 * * *"}, when_argument="at") == "passed"
    assert judged(kind, {"when": "0 9 * * *"}, {"when": "1 9 * * *"}, when_argument="at") == "failed"


@pytest.mark.parametrize(
    ("kind", "arguments", "words"),
    [
        (
            "has_timing",
            [{"text": "x"}],
            'expected a number as `delay_seconds` or a time as `when`, got call 2 `{"text":"x"}`',
        ),
        (
            "staggered_timing",
            [{"delay_seconds": 1}, {}],
            "expected a number as `delay_seconds` in every call, got call 3 `{}`",
        ),
        ("staggered_timing", [{"when": 2}, {"when": 1}], "expected `when` to grow from call to call, got `[2,1]`"),
        ("is_recurring", [{}], "expected `recurring: true` or a cron expression as `when`, got call 2 `{}`"),
    ],
)
def test_timing__reason_shows_the_call(kind, arguments, words):
    assert assess({"type": kind, "tool": "later"}, later(*arguments)).reason == words


@pytest.mark.parametrize("kind", KINDS)
def test_timing__of_huge_numbers_does_not_crash(kind):
    assert judged(kind, {"delay_seconds": 10**400}, {"when": 10**400}) in {"passed", "failed"}


@pytest.mark.parametrize("kind", KINDS)
def test_timing__needs_a_tool(kind):
    assert "`tool` is missing" in first_problem({"type": kind, "params": {}}).message
