"""One test per rule of the assertion language that this version supports."""

import pytest
from builders import make_call, make_trace

from evalgate.errors import Location
from evalgate.evaluators.core.parse import Parser


def read(*raw):
    parser = Parser(lambda path: Location("suite.yaml", len(path)))
    return parser.parse_assertions(list(raw), ("assertions",)), parser.problems


def assess(raw, trace=None):
    (assertion,), flaws = read(raw)
    assert not flaws
    return assertion.assess(trace or make_trace())


def outcome(raw, trace=None):
    return assess(raw, trace).outcome


def flaw(raw):
    assertions, flaws = read(raw)
    assert assertions == [], "a flawed assertion must not be judged"
    return flaws[0]


TRACE = make_trace(
    calls=[("lookup", {"id": 42}), ("refund", {"id": 42, "amount": 9.5})],
    response="Your refund of 9.50 is on its way.",
    cost_usd=0.02,
    latency_seconds=3.5,
    scores={"reward": 0.5, "label": None, "high": 7.0},
    scenario_id="refund",
)

OPERATORS = [
    ({"path": "metadata.scenario_id", "eq": "refund"}, "passed"),
    ({"path": "metadata.scenario_id", "eq": "other"}, "failed"),
    ({"path": "tool_calls[0].arguments.id", "eq": 42.0}, "passed"),
    ({"path": "tool_calls[0].arguments.id", "eq": "42"}, "failed"),
    ({"path": "tool_calls[0].arguments.id", "eq": True}, "failed"),
    ({"path": "metadata.scenario_id", "ne": "other"}, "passed"),
    ({"path": "metadata.scenario_id", "ne": "refund"}, "failed"),
    ({"path": "metadata.cost_usd", "lt": 0.02}, "failed"),
    ({"path": "metadata.cost_usd", "lte": 0.02}, "passed"),
    ({"path": "metadata.cost_usd", "le": 0.02}, "passed"),
    ({"path": "metadata.cost_usd", "gt": 0.02}, "failed"),
    ({"path": "metadata.cost_usd", "gte": 0.02}, "passed"),
    ({"path": "metadata.cost_usd", "ge": 0.02}, "passed"),
    ({"path": "'12.5'", "gt": 12}, "passed"),
    ({"path": "metadata.scenario_id", "gt": 12}, "failed"),
    ({"path": "`true`", "gte": 1}, "failed"),
    ({"contains": "refund"}, "passed"),
    ({"contains": "Refund"}, "failed"),
    ({"path": "tool_calls[].name", "contains": "refund"}, "passed"),
    ({"path": "tool_calls[].name", "contains": "ref"}, "failed"),
    ({"path": "tool_calls[0].arguments", "contains": "id"}, "passed"),
    ({"path": "metadata.cost_usd", "contains": "0"}, "failed"),
    ({"regex": r"\d+\.\d\d"}, "passed"),
    ({"regex": r"^\d+$"}, "failed"),
    ({"path": "metadata.cost_usd", "regex": "0"}, "failed"),
    ({"path": "response.content", "exists": True}, "passed"),
    ({"path": "metadata.nothing", "exists": True}, "failed"),
    ({"path": "metadata.nothing", "exists": False}, "passed"),
    ({"path": "response.content", "exists": False}, "failed"),
    ({"type": "jmespath", "expression": "response.content", "operator": "exists"}, "passed"),
    ({"type": "jmespath", "expression": "metadata.nothing", "operator": "exists"}, "failed"),
    ({"path": "metadata.scenario_id", "in": ["a", "refund"]}, "passed"),
    ({"path": "metadata.scenario_id", "in": ["a"]}, "failed"),
    ({"path": "metadata.scenario_id", "not_in": ["a"]}, "passed"),
    ({"path": "metadata.scenario_id", "not_in": ["refund"]}, "failed"),
    ({"path": "tool_calls", "length": 2}, "passed"),
    ({"path": "tool_calls", "length": {"gte": 1, "lte": 3}}, "passed"),
    ({"path": "tool_calls", "length": {"gt": 2}}, "failed"),
    ({"path": "metadata.cost_usd", "length": 1}, "failed"),
    ({"path": "tool_calls[1].arguments", "matches_schema": {"required": ["amount"]}}, "passed"),
    ({"path": "tool_calls[0].arguments", "matches_schema": {"required": ["amount"]}}, "failed"),
]


@pytest.mark.parametrize(("raw", "expected"), OPERATORS, ids=str)
def test_operator(raw, expected):
    assert outcome(raw, TRACE) == expected


@pytest.mark.parametrize("operator", ["eq", "ne", "contains", "regex", "gt", "length", "in", "not_in"])
def test_path_that_finds_nothing__is_not_evaluable_for_every_operator_but_exists(operator):
    value = {"in": ["a"], "not_in": ["a"], "gt": 1, "length": 1}.get(operator, "a")
    found = assess({"path": "metadata.nowhere", operator: value}, TRACE)
    assert (found.outcome, found.score) == ("not_evaluable", 0.0)
    assert "path found nothing" in found.reason


@pytest.mark.parametrize(("raw", "_"), OPERATORS, ids=str)
def test_negating_twice__changes_nothing(raw, _):
    assert outcome({"not": {"not": raw}}, TRACE) == outcome(raw, TRACE)


@pytest.mark.parametrize(
    "form",
    [{"not": {"path": "metadata.cost_usd", "gt": 5}}, {"path": "metadata.cost_usd", "gt": 5, "negate": True}],
)
def test_negation__of_missing_evidence_does_not_pass(form):
    assert outcome(form, make_trace()) == "not_evaluable"
    assert outcome(form, TRACE) == "passed"


def test_negation__scores_one_or_zero():
    found = assess({"not": {"type": "recorded_score", "name": "reward", "min": 0.9}}, TRACE)
    assert (found.outcome, found.score) == ("passed", 1.0)


def test_negation__keys_next_to_not_belong_to_the_assertion():
    found = assess({"not": {"contains": "x"}, "weight": 3, "required": True, "name": "no x"}, TRACE)
    assert (found.name, found.weight, found.required) == ("no x", 3, True)


def test_path__defaults_to_the_answer():
    assert outcome({"contains": "refund"}, TRACE) == "passed"


def test_params__are_merged():
    assert outcome({"type": "tool_called", "params": {"tool": "refund"}}, TRACE) == "passed"


@pytest.mark.parametrize("name", ["a'b", 'a"b', "a`b", "x | y", "looku?", "lookup[s]"])
def test_tool_called__takes_all_but_the_star_as_data(name):
    assert outcome({"type": "tool_called", "tool": name}, TRACE) == "failed"
    assert outcome({"type": "tool_called", "tool": name}, make_trace(calls=[name])) == "passed"


def test_tool_called__names_what_was_called_instead():
    assert "`lookup`, `refund`" in assess({"type": "tool_called", "tool": "cancel"}, TRACE).reason
    silent = assess({"type": "tool_called", "tool": "cancel"}, make_trace(calls=[]))
    assert silent.reason == "`cancel` must be called, but no tool was"


def test_tools__of_the_user_simulator_are_not_the_agents():
    trace = make_trace(calls=[make_call("toggle", requestor="user")])
    assert outcome({"type": "tool_called", "tool": "toggle"}, trace) == "failed"
    assert outcome({"type": "tool_sequence", "sequence": [], "extra_calls": "forbid"}, trace) == "passed"


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"sequence": ["lookup", "refund"]}, "passed"),
        ({"sequence": ["refund", "lookup"]}, "failed"),
        ({"sequence": ["refund"]}, "passed"),
        ({"sequence": ["refund", "lookup"], "mode": "any_order"}, "passed"),
        ({"sequence": ["refund"], "mode": "ANY_ORDER", "extra_calls": "forbid"}, "failed"),
        ({"sequence": ["lookup"], "mode": "exact"}, "failed"),
        ({"sequence": ["lookup", "refund"], "mode": "Exact"}, "passed"),
        ({"sequence": [], "extra_calls": "forbid"}, "failed"),
    ],
)
def test_tool_sequence(settings, expected):
    assert outcome({"type": "tool_sequence", **settings}, TRACE) == expected


def test_tool_sequence__without_any_call_names_that_in_the_reason():
    assert (
        assess({"type": "tool_sequence", "sequence": ["a"]}, make_trace()).reason == "expected `a`, got no tool calls"
    )


def test_tool_sequence__names_the_first_divergence_and_the_missing_and_extra_calls():
    settings = {"type": "tool_sequence", "mode": "exact", "sequence": ["lookup", "check_policy", "refund"]}
    found = assess(settings, TRACE)
    assert "expected `check_policy` second, but it was not called (got `refund`)" in found.reason
    assert ["lookup", "lookup"] in found.evidence["alignment"]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({"type": "cost_limit", "max_usd": 0.02}, "passed"),
        ({"type": "cost_limit", "max_usd": 0.019}, "failed"),
        ({"type": "latency_limit", "max_seconds": 3.5}, "passed"),
        ({"type": "latency_limit", "max_seconds": 3}, "failed"),
    ],
)
def test_limits__include_the_limit_itself(raw, expected):
    assert outcome(raw, TRACE) == expected


@pytest.mark.parametrize(
    ("raw", "word"),
    [
        ({"type": "cost_limit", "max_usd": 1}, "cost unknown"),
        ({"type": "latency_limit", "max_seconds": 1}, "latency unknown"),
    ],
)
def test_limits__of_unknown_values_are_not_evaluable(raw, word):
    found = assess(raw, make_trace())
    assert (found.outcome, found.reason) == ("not_evaluable", word)


@pytest.mark.parametrize(
    ("settings", "expected", "score"),
    [
        ({"name": "reward"}, "failed", 0.5),
        ({"name": "reward", "min": 0.5}, "passed", 0.5),
        ({"name": "high", "min": 5}, "passed", 1.0),
        ({"name": "high", "min": 8}, "failed", 0.0),
        ({"name": "label"}, "not_evaluable", 0.0),
        ({"name": "nothing"}, "not_evaluable", 0.0),
    ],
)
def test_recorded_score__passes_by_its_value_and_scores_it_clamped(settings, expected, score):
    found = assess({"type": "recorded_score", **settings}, TRACE)
    assert (found.outcome, found.score) == (expected, score)


@pytest.mark.parametrize(
    ("settings", "given", "reason"),
    [
        (
            {"type": "recorded_score", "name": "r"},
            {"scores": {"r": 0.99999999}},
            "`r` is 0.99999999, expected at least 1.0",
        ),
        (
            {"type": "cost_limit", "max_usd": 0.15},
            {"cost_usd": 0.15000001},
            "cost 0.15000001 USD, limit 0.15 USD",
        ),
    ],
)
def test_value__that_barely_misses_its_limit_is_shown_as_such(settings, given, reason):
    found = assess(settings, make_trace(**given))
    assert (found.outcome, found.reason) == ("failed", reason)


def test_recorded_score__of_several_the_one_of_the_trace_counts_else_the_lowest():
    trace = make_trace()
    entry = {"name": "r", "score_label": None, "explanation": None}
    trace.evaluations = [
        {**entry, "score_value": 0.9, "source": "span"},
        {**entry, "score_value": 0.2, "source": "span"},
    ]
    assert assess({"type": "recorded_score", "name": "r"}, trace).score == 0.2
    trace.evaluations.append({**entry, "score_value": 0.6, "source": "trace"})
    assert assess({"type": "recorded_score", "name": "r"}, trace).score == 0.6


@pytest.mark.parametrize("path", ["scores.r", "metadata.evaluations.r"])
def test_query__sees_of_several_scores_the_one_that_counts(path):
    trace = make_trace()
    entry = {"name": "r", "score_label": None, "explanation": None, "source": "span"}
    trace.evaluations = [{**entry, "score_value": value} for value in (0.2, 0.9, None)]
    assert assess({"path": path, "eq": 0.2}, trace).outcome == "passed"


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"value": "on its way"}, "passed"),
        ({"value": "."}, "passed"),
        ({"pattern": r"\d\.\d\d"}, "passed"),
        ({"pattern": "^refund"}, "failed"),
        ({"pattern": "way", "negate": True}, "failed"),
    ],
)
def test_output_contains(settings, expected):
    assert outcome({"type": "output_contains", **settings}, TRACE) == expected


def test_output_contains__refuses_a_pattern_that_does_not_compile_unless_it_is_literal():
    found, (flaw,) = read({"type": "output_contains", "pattern": "9.50 ("})
    assert not found
    assert "literal: true" in str(flaw.hint)
    (assertion,), _ = read({"type": "output_contains", "pattern": "9.50 (", "literal": True})
    assert assertion.assess(make_trace(response="is 9.50 (net)")).outcome == "passed"


def test_output_contains__without_an_answer_is_not_evaluable():
    assert outcome({"type": "output_contains", "value": "x"}, make_trace(response=None)) == "not_evaluable"


PASS, FAIL, LACK = {"contains": "refund"}, {"contains": "zzz"}, {"type": "cost_limit", "max_usd": 1}
ERROR = {"path": "length(`1`)", "eq": 1}
SKIP = {"when": FAIL, "then": [PASS]}
NO_COST = make_trace(response="a refund")


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({"all_of": [PASS, PASS]}, "passed"),
        ({"all_of": [PASS, FAIL, ERROR, LACK]}, "failed"),
        ({"all_of": [PASS, ERROR, LACK]}, "error"),
        ({"all_of": [PASS, LACK]}, "not_evaluable"),
        ({"all_of": [PASS, SKIP]}, "passed"),
        ({"all_of": [SKIP]}, "skipped"),
        ({"any_of": [FAIL, LACK, ERROR, PASS]}, "passed"),
        ({"any_of": [FAIL, LACK, ERROR]}, "error"),
        ({"any_of": [FAIL, LACK]}, "not_evaluable"),
        ({"any_of": [FAIL, FAIL]}, "failed"),
        ({"any_of": [SKIP]}, "skipped"),
        ({"at_least": {"k": 2, "of": [PASS, PASS, FAIL]}}, "passed"),
        ({"at_least": {"k": 2, "of": [PASS, FAIL, FAIL]}}, "failed"),
        ({"at_least": {"k": 2, "of": [PASS, FAIL, LACK]}}, "not_evaluable"),
        ({"at_least": {"k": 2, "of": [PASS, ERROR, LACK]}}, "error"),
        ({"at_least": {"k": 3, "of": [PASS, FAIL, LACK]}}, "failed"),
        ({"at_least": {"k": 1, "of": [SKIP]}}, "skipped"),
        ({"when": PASS, "then": [PASS, PASS]}, "passed"),
        ({"when": PASS, "then": [PASS, FAIL]}, "failed"),
        ({"when": FAIL, "then": [FAIL]}, "skipped"),
        ({"when": LACK, "then": [PASS]}, "not_evaluable"),
        ({"when": ERROR, "then": [PASS]}, "error"),
        ({"not": {"all_of": [PASS, FAIL]}}, "passed"),
        ({"not": {"any_of": [FAIL, LACK]}}, "not_evaluable"),
        ({"all_of": [{"any_of": [FAIL, PASS]}, {"not": FAIL}]}, "passed"),
    ],
    ids=str,
)
def test_groups(raw, expected):
    found = assess(raw, NO_COST)
    assert found.outcome == expected
    assert found.score == (1.0 if expected == "passed" else 0.0)


def test_group__that_fails_lists_the_members_that_decided():
    found = assess({"all_of": [PASS, {**FAIL, "name": "second"}], "name": "both", "weight": 2}, NO_COST)
    assert (found.name, found.weight) == ("both", 2)
    assert found.reason.startswith("second: ")
    assert [member["outcome"] for member in found.evidence["members"]] == ["passed", "failed"]


def test_missing_evidence__is_left_out_of_the_mean_only_with_on_missing_skip():
    assert assess(LACK, NO_COST).counts
    assert not assess({**LACK, "on_missing": "skip"}, NO_COST).counts


def test_a_check_that_crashes__is_an_error_and_no_traceback():
    broken = make_trace()
    broken.cost = None
    found = assess({"type": "cost_limit", "max_usd": 1}, broken)
    assert (found.outcome, found.score) == ("error", 0.0)
    assert "TypeError" in found.reason


def test_pattern_over_its_time_limit__is_an_error():
    assert outcome({"regex": r"^(a|aa)+$"}, make_trace(response="a" * 60 + "!")) == "error"


FLAWS = [
    ({"type": "tool_caled", "tool": "x"}, ("type",), "tool_caled", "tool_called"),
    ({"type": "tool_called", "toool": "x", "tool": "x"}, ("toool",), "unknown key", "tool"),
    ({"type": "tool_called"}, (), "`tool` is missing", None),
    ({"contain": "x"}, ("contain",), "no operator", "contains"),
    ({"tool_called": "x"}, ("tool_called",), "no operator", "write {type: tool_called, ...}"),
    ("no_loops", (), "an assertion must be a mapping, not text", "write {type: no_loops, ...}"),
    ("loops", (), "an assertion must be a mapping, not text", None),
    ({"contains": "x", "eq": "y"}, (), "operators contains, eq", None),
    ({"path": "a"}, (), "no operator", None),
    ({"path": "a.[", "eq": 1}, ("path",), "invalid expression", None),
    ({"regex": "("}, ("regex",), "not a regular expression", None),
    ({"gt": "5"}, ("gt",), "compares with a number", None),
    ({"gt": True}, ("gt",), "compares with a number", None),
    ({"in": "abc"}, ("in",), "takes a list", None),
    ({"exists": "yes"}, ("exists",), "true or false", None),
    ({"length": {"atleast": 1}}, ("length",), "no bound", None),
    ({"length": {}}, ("length",), "empty mapping", None),
    ({"length": True}, ("length",), "compares with a number", None),
    ({"matches_schema": {"type": "objec"}}, ("matches_schema",), "not a JSON Schema", None),
    ({"matches_schema": "x"}, ("matches_schema",), "takes a JSON Schema", None),
    ({"contains": "x", "weight": -1}, ("weight",), "at least 0", None),
    ({"contains": "x", "weight": "1"}, ("weight",), "must be a number", None),
    ({"contains": "x", "weight": float("nan")}, ("weight",), "finite", None),
    ({"contains": "x", "required": "yes"}, ("required",), "false, true or 'always'", None),
    ({"contains": "x", "required": True, "on_missing": "skip"}, ("on_missing",), "can't be skipped", None),
    (
        {"required": True, "all_of": [PASS, {"any_of": [{"contains": "x", "on_missing": "skip"}]}]},
        ("all_of", 1, "any_of", 0, "on_missing"),
        "can't be skipped",
        None,
    ),
    ({"contains": "x", "on_missing": "ignore"}, ("on_missing",), "one of", None),
    ({"all_of": []}, ("all_of",), "at least one assertion", None),
    ({"any_of": "x"}, ("any_of",), "at least one assertion", None),
    ({"all_of": [{"contains": "x", "weight": 2}]}, ("all_of", 0, "weight"), "can't have `weight`", None),
    (
        {"any_of": [{"contains": "x", "required": True}]},
        ("any_of", 0, "required"),
        "can't have `required`",
        None,
    ),
    ({"all_of": [PASS], "any_of": [PASS]}, ("any_of",), "can't be combined with `all_of`", None),
    ({"at_least": {"k": 3, "of": [PASS]}}, ("at_least", "k"), "from 1 to 1", None),
    ({"at_least": {"k": 0, "of": [PASS]}}, ("at_least", "k"), "from 1 to 1", None),
    ({"at_least": {"of": [PASS]}}, ("at_least",), "`k` and `of`", None),
    ({"when": PASS}, ("when",), "needs `then`", None),
    ({"when": PASS, "then": []}, ("then",), "at least one assertion", None),
    ({"not": {"gt": "x"}}, ("not", "gt"), "compares with a number", None),
    ({"not": PASS, "contains": "x"}, ("contains",), "can't be combined with `not`", None),
    ({"not": {**PASS, "weight": 1}, "weight": 2}, ("weight",), "`weight` is given both inside and outside `not`", None),
    (
        {"type": "tool_called", "params": {"tool": "x"}, "tool": "y"},
        ("params", "tool"),
        "`tool` is given both inside and outside `params`",
        None,
    ),
    ({"type": "tool_sequence", "sequence": []}, ("sequence",), "checks nothing", None),
    ({"type": "tool_sequence", "sequence": ["a"], "mode": "sorted"}, ("mode",), "one of", None),
    ({"type": "output_contains"}, ("type",), "needs either `value` (text) or `pattern` (regex)", None),
    (
        {"type": "output_contains", "value": "a", "pattern": "b"},
        ("type",),
        "needs either `value` (text) or `pattern` (regex)",
        None,
    ),
    ({"type": "cost_limit", "max_usd": True}, ("max_usd",), "must be a number", None),
    ({"type": 5}, ("type",), "unknown evaluator", None),
    ("contains: x", (), "a mapping, not text", None),
]


@pytest.mark.parametrize(("raw", "path", "part", "hint"), FLAWS, ids=str)
def test_invalid_field__is_reported_with_its_path(raw, path, part, hint):
    found = flaw(raw)
    assert found.path == ("assertions", 0, *path)
    assert part in found.message or part in str(found.hint)
    assert hint is None or hint in str(found.hint)


def test_invalid_fields__of_all_assertions_are_reported_together():
    _, flaws = read({"contain": "x"}, {"gt": "x"}, {"type": "nope"}, {"type": "tool_called", "a": 1, "b": 2})
    assert [found.path[1] for found in flaws] == [0, 1, 2, 3, 3, 3]


def test_invalid_fields__beyond_the_limit_are_counted_and_not_all_read():
    _, flaws = read(*[{"contain": "x"}] * 5_000)
    assert len(flaws) == 101
    assert "4,900 more assertions" in flaws[-1].message


def test_unknown_keys__beyond_the_limit_are_counted():
    _, flaws = read({"type": "tool_called", "tool": "x", **{f"k{n}": 1 for n in range(5_000)}})
    assert len(flaws) == 101
    assert "4,900 more errors" in flaws[-1].message


def test_limits__allow_for_rounding_of_binary_fractions():
    trace = make_trace(cost_usd=0.1 + 0.2, latency_seconds=0.3)
    assert outcome({"type": "cost_limit", "max_usd": 0.3}, trace) == "passed"
    assert outcome({"type": "cost_limit", "max_usd": 0.29999}, trace) == "failed"


def test_groups__nested_too_deep_are_refused():
    raw = PASS
    for _ in range(30):
        raw = {"all_of": [raw]}
    assert "nested" in flaw(raw).message
