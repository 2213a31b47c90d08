"""One test per rule of the checks of the output of a step."""

import json

import pytest
from builders import make_call, make_trace
from documents import ROOT
from hypothesis import given
from hypothesis import strategies as st
from in_process_command import evalgate

from evalgate.errors import Location
from evalgate.evaluators.core.parse import Parser
from evalgate.reporting.text.sentences import unmark_parts

JSON = '{"summary": {"failed": 0, "name": "unit", "flaky": true, "none": null}, "items": [{"ms": 1.5}], "0": "z"}'
FIGURES = st.floats(-1e6, 1e6)


def read(raw):
    parser = Parser(lambda path: Location("suite.yaml", len(path)))
    return parser.parse_assertions([raw], ("assertions",)), parser.problems


def assess(raw, trace):
    (assertion,), flaws = read(raw)
    assert not flaws
    return assertion.assess(trace)


def flaw(raw):
    assertions, flaws = read(raw)
    assert assertions == []
    return flaws[0]


def judged(raw, answer):
    """Outcome and verdict word for one answer."""
    found = assess(raw, make_trace(response=answer))
    return found.outcome, (found.evidence or {}).get("verdict")


def reason(raw, answer):
    return assess(raw, make_trace(response=answer)).reason


SUCCESS, FAILURE, ERROR = ("passed", "success"), ("failed", "failure"), ("error", "error")


def number(operator, target, **more):
    return {"type": "output_numeric", "operator": operator, "target": target, **more}


def at(path, operator, target, **more):
    return {"type": "output_json", "path": path, "operator": operator, "target": target, **more}


def towards(target, direction="minimize", **more):
    return {"type": "convergence", "target": target, "direction": direction, **more}


# Sources


CALLS = [
    make_call("test", result="3", exit_code=1, index=0),
    make_call("test", result="2", exit_code=0, index=1),
    make_call("report", result={"failed": 4, "who": "Zoë"}, index=2),
    make_call("test", result="9", exit_code=7, index=3, requestor="user"),
    make_call("silent", status="missing", index=4),
]
TRACE = make_trace(calls=CALLS, response="8")


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ({"tool": "test"}, 2),
        ({"tool": "test", "index": -1, "field": "result"}, 2),
        ({"tool": "test", "index": 0}, 3),
        ({"tool": "test", "index": -2}, 3),
        ({"tool": "test", "index": 0, "field": "exit_code"}, 1),
        ({"path": "tool_calls[0].result"}, 3),
        ({"path": "metadata.tool_call_count"}, 4),
        ("response.content", 8),
    ],
    ids=str,
)
def test_source__is_a_tool_a_path_or_the_answer(source, target):
    assert assess(number("eq", target, source=source), TRACE).outcome == "passed"
    assert assess(number("ne", target, source=source), TRACE).outcome == "failed"


def test_source__is_the_answer_by_default():
    assert assess(number("eq", 8), TRACE).outcome == "passed"


@pytest.mark.parametrize(
    ("source", "part"),
    [
        ({"tool": "nothing"}, "the trace has no call of `nothing`"),
        ({"tool": "test", "index": 2}, "no call of `test` at index 2: the trace has 2"),
        ({"tool": "test", "index": -3}, "no call of `test` at index -3: the trace has 2"),
        ({"tool": "silent"}, "no result of `silent` was recorded"),
        ({"tool": "report", "field": "exit_code"}, "no exit code of `report` was recorded"),
        ({"path": "metadata.nowhere"}, "path found nothing"),
    ],
    ids=str,
)
@pytest.mark.parametrize("form", ["plain", "negated"])
def test_source__that_the_trace_lacks_is_not_evaluable(source, part, form):
    found = assess(number("eq", 2, source=source, negate=form == "negated"), TRACE)
    assert (found.outcome, found.score) == ("not_evaluable", 0.0)
    assert part in found.reason


def test_source__of_a_trace_without_an_answer_is_not_evaluable():
    for raw in (number("eq", 1), at("a", "eq", 1), towards(1), {"type": "exit_code"}):
        assert assess(raw, make_trace(response=None)).outcome == "not_evaluable"


def test_source__that_is_an_object_is_read_as_its_json():
    assert assess(at(".failed", "eq", 4, source={"tool": "report"}), TRACE).outcome == "passed"
    contains = {"type": "output_contains", "value": '"who":"Zoë"', "source": {"tool": "report"}}
    assert assess(contains, TRACE).outcome == "passed"


def test_source__whose_expression_fails_on_the_trace_is_an_error():
    found = assess(number("eq", 1, source={"path": "abs(response.content)"}), TRACE)
    assert (found.outcome, found.evidence["verdict"]) == ("error", "error")


# exit_code


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("0", SUCCESS),
        (" 0\n", SUCCESS),
        ("00", SUCCESS),
        ("1", FAILURE),
        ("2", ERROR),
        ("137", ERROR),
        ("9" * 5000, ERROR),
        ("-1", ERROR),
        ("0.0", ERROR),
        ("\u0661", ERROR),
        ("true", ERROR),
        ("", None),
    ],
)
def test_exit_code__of_0_is_success_of_1_failure_and_of_all_else_error(answer, expected):
    calls = [make_call("sh", result=answer)]
    found = assess({"type": "exit_code", "source": {"tool": "sh", "field": "result"}}, make_trace(calls))
    assert (found.outcome, found.evidence["verdict"]) == (expected or ERROR)
    assert len(found.reason) < 300


@pytest.mark.parametrize(
    ("code", "expected", "text"),
    [
        (0, "passed", "exit code 0"),
        (1, "failed", "expected exit code 0, got 1"),
        (2, "error", "expected exit code 0, got 2"),
    ],
)
def test_exit_code__of_a_tool_is_its_exit_code_by_default(code, expected, text):
    trace = make_trace([make_call("sh", result="text", exit_code=code)])
    found = assess({"type": "exit_code", "source": {"tool": "sh"}}, trace)
    assert (found.outcome, found.reason) == (expected, text)


# output_numeric


@pytest.mark.parametrize(
    ("operator", "below", "same", "above"),
    [
        ("eq", False, True, False),
        ("ne", True, False, True),
        ("lt", True, False, False),
        ("lte", True, True, False),
        ("le", True, True, False),
        ("gt", False, False, True),
        ("gte", False, True, True),
        ("ge", False, True, True),
    ],
)
def test_operators__of_numbers(operator, below, same, above):
    for answer, holds in (("1.5", below), (" 2.0\n", same), ("1e3", above)):
        expected = SUCCESS if holds else FAILURE
        assert judged(number(operator, 2), answer) == expected
        assert judged(at(".n", operator, 2), f'{{"n": {answer}}}') == expected


@pytest.mark.parametrize(
    "answer",
    ["", "two", "NaN", "inf", "-Infinity", "1e999", "1_000", "true", "1 2", "\u0663", "0x10", "9" * 400],
)
def test_output_numeric__of_a_value_that_is_not_a_finite_number_is_an_error(answer):
    trace = make_trace([make_call("t", result=answer)])
    for negate in (False, True):
        found = assess(number("ne", 2, source={"tool": "t"}, negate=negate), trace)
        assert (found.outcome, found.evidence["verdict"]) == ERROR


def test_output_numeric__quotes_the_first_hundred_characters_on_one_line():
    text = reason(number("eq", 2), "a\n" + "é" * 97 + "X" + "y" * 50)
    assert text == 'the answer: not a number: `"a\\n' + "é" * 97 + 'X"… (50 more characters)`'


def test_output_numeric__names_the_number_and_the_expected_one():
    found = assess(number("lt", 2), make_trace(response="2.5"))
    assert found.evidence == {"verdict": "failure", "value": 2.5}
    assert found.reason == "expected the answer < 2, got 2.5"


def test_output_numeric__reads_output_with_a_byte_order_mark():
    assert judged(number("eq", 5), "\ufeff5\r\n") == SUCCESS


# output_json


@pytest.mark.parametrize(
    ("path", "target"),
    [
        (".summary.failed", 0),
        ("summary.failed", 0.0),
        (".summary.name", "unit"),
        (".summary.flaky", True),
        (".summary.none", None),
        (".items.0.ms", 1.5),
        ("items.0", {"ms": 1.5}),
        (".0", "z"),
        ("0", "z"),
        (".", json.loads(JSON)),
    ],
    ids=str,
)
def test_output_json__follows_dots_through_objects_and_lists(path, target):
    assert judged(at(path, "eq", target), JSON) == SUCCESS
    assert judged(at(path, "ne", target), JSON) == FAILURE


@pytest.mark.parametrize(("path", "target"), [(".summary.flaky", 1), (".summary.failed", "0")])
def test_output_json__equality_distinguishes_types(path, target):
    assert judged(at(path, "eq", target), JSON) == FAILURE


@pytest.mark.parametrize(
    "path",
    [
        ".nothing",
        ".items.1",
        ".items.-1",
        ".items.x",
        ".summary.failed.x",
        ".summary.name.unit",
        ".items.²",
        ".items." + "9" * 40,
    ],
)
def test_output_json__missing_path_is_an_error(path):
    assert judged(at(path, "ne", 1), JSON) == ERROR
    assert "path not found" in reason(at(path, "ne", 1), JSON)


def test_output_json__missing_path_is_reported_with_the_keys_that_exist():
    text = reason(at(".summary.faild", "eq", 0), JSON)
    assert '`"faild"` at `.summary` (an object with the keys `["failed","flaky","name","none"]`)' in text
    assert "(a list of 1)" in reason(at(".items.3", "eq", 0), JSON)


@pytest.mark.parametrize(
    "answer",
    [
        "no json",
        '{"a": NaN}',
        '{"a": Infinity}',
        '{"a": 1e999}',
        '{"a": 1, "a": 2}',
        '{"a": 1} x',
        '{"a": "\\ud800"}',
        "[" * 100_000,
        "```json\n{}\n```",
    ],
    ids=lambda text: text[:20],
)
def test_output_json__of_invalid_json_is_an_error(answer):
    assert judged(at(".a", "ne", 5), answer) == ERROR
    assert "not valid JSON" in reason(at(".a", "ne", 5), answer)


@pytest.mark.parametrize("path", [".summary.name", ".summary.flaky", ".summary.none", ".items"])
@pytest.mark.parametrize("operator", ["lt", "lte", "gt", "gte"])
def test_output_json__order_of_a_value_that_is_not_a_number_is_an_error(path, operator):
    assert judged(at(path, operator, 1), JSON) == ERROR
    assert f"`{operator}` compares two numbers" in reason(at(path, operator, 1), JSON)
    assert judged({"not": at(path, operator, 1)}, JSON) == ERROR


def test_output_json__order_with_a_target_that_is_not_a_number_is_an_error_and_a_warning():
    (assertion,), _ = read(at(".summary.name", "gt", "abc"))
    assert "error on every trace" in assertion.warning
    assert judged(at(".summary.name", "gt", "abc"), JSON) == ERROR
    assert read(at(".summary.name", "eq", "abc"))[0][0].warning is None


def test_output_json__of_integers_longer_than_python_converts_does_not_crash():
    assert judged(at(".a", "gt", 5), f'{{"a": 1, "b": {"9" * 200}}}') == FAILURE
    assert judged(at(".a", "eq", 5), f'{{"a": 5, "b": {"9" * 6000}}}') == ERROR


# output_contains


SOURCED = {"type": "output_contains", "source": {"tool": "test", "index": 0}}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"pattern": r"^\d$"}, SUCCESS),
        ({"pattern": r"^\D$"}, FAILURE),
        ({"value": "3"}, SUCCESS),
        ({"value": "8"}, FAILURE),
        ({"pattern": "3(", "literal": True}, FAILURE),
        ({"pattern": "3", "negate": True}, FAILURE),
        ({"pattern": "8", "negate": True}, ("passed", "success")),
    ],
    ids=str,
)
def test_output_contains__with_a_source(settings, expected):
    found = assess({**SOURCED, **settings}, TRACE)
    assert (found.outcome, found.evidence["verdict"]) == expected


def test_output_contains__takes_a_literal_pattern_as_text():
    assert judged({"type": "output_contains", "pattern": "(net", "literal": True}, "9.50 (net)") == SUCCESS


def test_output_contains__text_too_long_to_be_searched_is_an_error_negated_or_not():
    for negate in (False, True):
        assert judged({"type": "output_contains", "pattern": "[x]", "negate": negate}, "a" * 1_000_001) == ERROR


# convergence


@pytest.mark.parametrize(
    ("settings", "answer", "expected"),
    [
        (towards(0), "0", ("passed", "target")),
        (towards(0, tolerance=0.5), "-0.5", ("passed", "target")),
        (towards(0.85, tolerance=0.05), "0.9", ("passed", "target")),
        (towards(0, tolerance=0.5, previous=9), "0.51", ("passed", "progress")),
        (towards(0), "7", ("passed", "progress")),
        (towards(0, previous=8), "7", ("passed", "progress")),
        (towards(0, previous=7), "7", ("failed", "stall")),
        (towards(0, previous=6), "7", ("failed", "stall")),
        (towards(9, "maximize", previous=6), "7", ("passed", "progress")),
        (towards(9, "maximize", previous=7), "7", ("failed", "stall")),
        (towards(9, "maximize", previous=8), "7", ("failed", "stall")),
        (towards(0, previous=0.3), "0.30000000000000004", ("failed", "stall")),
        (towards(9, "maximize", previous=0.3), "0.30000000000000004", ("failed", "stall")),
        (towards(9, "maximize", previous=9), "9", ("passed", "target")),
        (towards(-1e308), "1e308", ("passed", "progress")),
        (towards(0), "seven", ERROR),
        (towards(0), "nan", ERROR),
        ({"not": towards(0, previous=7)}, "7", ("passed", "stall")),
        ({"type": "convergence", "target": 0, "previous": 8}, "7", ("passed", "progress")),
        ({"type": "convergence", "target": 0, "previous": 6}, "7", ("failed", "stall")),
    ],
    ids=str,
)
def test_convergence(settings, answer, expected):
    assert judged(settings, answer) == expected


def test_convergence__names_the_value_the_previous_one_and_the_better_direction():
    assert reason(towards(0, tolerance=1, previous=6), "7") == ("the answer is 7, target 0 ± 1, was 6, lower is better")
    assert "no previous value" in reason(towards(0), "7")


def with_baseline(*trials, answer="7", **fields):
    """A trace whose scenario had these assertions, trial by trial, in the baseline."""
    trace = make_trace(response=answer, **fields)
    trace.baseline = {"score": 0.5, "trials": [{"assertions": rows} for rows in trials]}
    return trace


def row(value, name="errors", kind="convergence"):
    return {"name": name, "type": kind, "evidence": {"verdict": "progress", "value": value}}


@pytest.mark.parametrize(
    ("trials", "expected"),
    [
        ([[row(8)]], "progress"),
        ([[row(6)]], "stall"),
        ([[row(6)], [row(9)]], "progress"),
        ([[row(6)], [row(8)]], "stall"),
        ([[row(6)], []], "stall"),
        ([[row(6, name="other")]], "progress"),
        ([[row(6, kind="output_numeric")]], "progress"),
        ([[{"name": "errors", "type": "convergence", "evidence": None}]], "progress"),
        ([], "progress"),
        ([[row("6")]], "error"),
        ([[row(True)]], "error"),
        ([[row(6), row(8)]], "error"),
    ],
    ids=str,
)
def test_convergence__finds_its_previous_in_the_baseline(trials, expected):
    found = assess(towards(0, name="errors"), with_baseline(*trials))
    assert found.evidence["verdict"] == expected


@pytest.mark.parametrize("group", ["all_of", "any_of"])
@pytest.mark.parametrize("form", [lambda raw: raw, lambda raw: {"not": raw}, lambda raw: {"all_of": [raw]}])
def test_convergence__in_a_group_finds_its_previous_in_the_baseline(group, form):
    raw = {"name": "all", group: [form(towards(0, name="errors")), {"contains": "6"}, number("eq", 6)]}
    first = assess(raw, make_trace(response="6"))
    earlier = [{"name": first.name, "type": first.type, "evidence": first.evidence}]
    (again,) = assess(raw, with_baseline(earlier)).evidence["figures"]
    assert again == {"name": "errors", "value": 7.0}
    reasons = [member["reason"] for member in assess(raw, with_baseline(earlier)).evidence["members"]]
    assert "was 6, lower is better" in reasons[0]


@pytest.mark.parametrize("figures", [None, 5, [5], [{}], [{"name": ["errors"], "value": 1}]], ids=str)
def test_convergence__does_not_crash_on_an_odd_baseline(figures):
    rows = [{"name": "all", "type": "all_of", "evidence": {"figures": figures}}]
    assert assess(towards(0, name="errors"), with_baseline(rows)).evidence["verdict"] == "progress"


def test_convergence__without_a_name_finds_its_previous_by_its_label():
    rows = [row(6, name="answer converges to 0")]
    assert assess(towards(0), with_baseline(rows)).evidence["previous"] == 6


@pytest.mark.parametrize(
    ("previous", "expected"),
    [
        ("${baseline.trials[0].assertions[0].evidence.value}", "stall"),
        ("${ baseline.score }", "stall"),
        ("${baseline.nothing}", "progress"),
        ("${trial.metadata.custom.before}", "progress"),
        ("${trial.metadata.custom.low}", "stall"),
        ("${trial.metadata.custom.nothing}", "progress"),
        ("${trial.metadata.custom.text}", "error"),
        ("${trial.abs(response)}", "error"),
    ],
)
def test_convergence__takes_its_previous_from_an_expression(previous, expected):
    trace = with_baseline([row(6)], metadata={"before": 8, "low": 2, "text": "8"})
    assert assess(towards(0, previous=previous), trace).evidence["verdict"] == expected


def test_convergence__from_the_baseline_without_one_is_progress():
    assert judged(towards(0, previous="${baseline.score}"), "7") == ("passed", "progress")


@given(FIGURES, FIGURES, FIGURES, st.floats(0, 1e3), st.sampled_from(["minimize", "maximize"]))
def test_convergence__a_wider_tolerance_never_turns_a_pass_into_a_fail(figure, target, previous, wide, direction):
    def passes(tolerance):
        raw = towards(target, direction, previous=previous, tolerance=tolerance)
        return judged(raw, repr(figure))[0] == "passed"

    assert passes(wide) >= passes(wide / 2)


@given(FIGURES, FIGURES, st.floats(0, 1e3))
def test_output_numeric__a_stricter_limit_never_turns_a_fail_into_a_pass(figure, target, stricter):
    def passes(limit):
        return judged(number("lte", limit), repr(figure)) == SUCCESS

    assert passes(target) >= passes(target - stricter)


@given(st.recursive(st.none() | st.booleans() | st.text() | FIGURES, st.lists, max_leaves=5))
def test_no_output_crashes_a_check(value):
    trace = make_trace([make_call("t", result=value)])
    source = {"tool": "t"}
    checks = [number("eq", 1), at(".0", "gt", 1), towards(1), {"type": "exit_code"}]
    for raw in [*checks, {"type": "output_contains", "pattern": "a"}]:
        found = assess({**raw, "source": source}, trace)
        assert "crashed on this trace" not in found.reason
        assert "\n" not in found.reason


# Mistakes in a suite


@pytest.mark.parametrize(
    ("raw", "path", "part"),
    [
        (number("eq", 1, source={}), ("source",), "needs either `tool` or `path`"),
        (number("eq", 1, source={"tool": "a", "path": "b"}), ("source",), "needs either `tool` or `path`"),
        (number("eq", 1, source={"path": "b", "index": 0}), ("source",), "belong to `tool`"),
        (number("eq", 1, source={"path": "a.["}), ("source",), "invalid expression"),
        (number("eq", 1, source={"tol": "a"}), ("source", "tol"), "unknown key"),
        (number("eq", 1, source={"tool": "a", "index": True}), ("source", "index"), "whole number"),
        (number("eq", 1, source={"tool": "a", "field": "output"}), ("source", "field"), "one of"),
        (number("eq", 1, source=5), ("source",), "must be"),
        ({"type": "exit_code", "source": {"tool": ""}}, ("source", "tool"), "must have 1 or more characters"),
        (number("eq", True), ("target",), "must be a number"),
        (number("eq", "1"), ("target",), "must be a number"),
        (number("eq", float("nan")), ("target",), "finite"),
        (number("contains", 1), ("operator",), "one of"),
        ({"type": "output_numeric", "target": 1}, (), "`operator` is missing"),
        ({"type": "output_json", "path": "a", "operator": "eq"}, (), "`target` is missing"),
        (at("", "eq", 1), ("path",), "invalid path"),
        (at(".a..b", "eq", 1), ("path",), "invalid path"),
        (at("..", "eq", 1), ("path",), "invalid path"),
        (at(".a[0]", "eq", 1), ("path",), "digits between dots"),
        (at("a" * 2000, "eq", 1), ("path",), "at most 1,000 characters, this one has 2,000"),
        (at(".a", "eq", float("inf")), ("target",), "finite"),
        (towards(1, "down"), ("direction",), "one of"),
        (towards(1, tolerance=-1), ("tolerance",), "at least 0"),
        (towards(1, previous=True), ("previous",), "can't be boolean"),
        (towards(1, previous=[1]), ("previous",), "can't be list"),
        (towards(1, previous=float("inf")), ("previous",), "can't be number"),
        (towards(1, previous=10**400), ("previous",), "can't be number"),
        (towards(1, previous="5"), ("previous",), "can't be text"),
        (towards(1, previous="${secrets.x}"), ("previous",), "can't be text"),
        (towards(1, previous="${baseline.[}"), ("previous",), "invalid expression"),
    ],
    ids=str,
)
def test_invalid_field__is_reported_with_its_path(raw, path, part):
    found = flaw(raw)
    assert found.path == ("assertions", 0, *path)
    assert part in found.message


DOCUMENTED = [
    ({"type": "output_contains", "value": "has been refunded"}, "Done."),
    ({"type": "exit_code"}, "1"),
    ({"type": "exit_code"}, "Done."),
    (number("eq", 42), "41"),
    (number("eq", 42), "Done."),
    (at("summary.failed", "eq", 0), '{"summary": {"failed": 2}}'),
    (at("summary.failed", "eq", 0), '{"summary": {"passed": 2}}'),
    (towards(0, previous=6), "7"),
]


@pytest.mark.parametrize(("raw", "answer"), DOCUMENTED, ids=str)
def test_reason_of_a_failed_check__is_the_one_in_its_documentation(raw, answer):
    document = (ROOT / "docs" / "evaluators.md").read_text(encoding="utf-8")
    section = document.split(f"\n## {raw['type']}\n")[1].split("\n## ")[0]
    found = assess(raw, make_trace(response=answer))
    assert found.outcome != "passed"
    assert f"`{unmark_parts(found.reason)}`" in section


@pytest.mark.parametrize(
    ("source", "subject"),
    [
        ({"tool": "submit"}, "the result of the last `submit` (of 2)"),
        ({"tool": "submit", "index": 0}, "the result of `submit` at index 0"),
        ({"tool": "look"}, "the result of `look`"),
        (None, "the answer"),
    ],
)
def test_a_failure__names_which_of_several_calls_it_is_about(source, subject):
    calls = [make_call(name, result="x", index=n) for n, name in enumerate(["submit", "look", "submit"])]
    raw = {"type": "output_contains", "value": "done", **({"source": source} if source else {})}
    assert assess(raw, make_trace(calls, "x")).reason.startswith(f"expected {subject} to contain")


def test_a_path_that_is_no_section__suggests_the_result_of_a_tool():
    found = flaw({"type": "output_contains", "value": "done", "source": "submit"})
    assert found.hint == "for the result of a tool write `source: {tool: submit}`"


@pytest.mark.parametrize("name", ["output_contains", "output_numeric", "output_json", "exit_code"])
def test_what_is_read_by_default__is_in_the_first_line_of_the_description(name):
    assert "final answer" in evalgate("evaluators", name).out.split("\n")[0]


def test_a_long_expression__is_whole_in_the_evidence_and_cut_in_no_reason():
    expression = "length(tool_calls[?name == 'search' && arguments.query == 'refund' && status == 'ok'])"
    raw = {"name": "two searches", "path": expression, "eq": 2}
    found = assess(raw, make_trace())
    assert found.reason == "expected the value of the expression to be `2`, got `0`"
    assert found.evidence == {"expression": expression}
    assert assess({**raw, "path": "length(tool_calls)"}, make_trace()).evidence is None


BIG = 1234567890123456789


@pytest.mark.parametrize(
    ("operator", "target", "outcome"),
    [("eq", BIG, "passed"), ("eq", BIG - 1, "failed"), ("ne", BIG - 1, "passed"), ("gt", BIG - 1, "passed")],
)
def test_numbers_of_19_digits_are_compared_exactly(operator, target, outcome):
    check = {"type": "output_numeric", "operator": operator, "target": target}
    found = assess(check, make_trace(response=str(BIG)))
    assert (found.outcome, found.evidence["value"]) == (outcome, BIG)
    assert str(BIG) in found.reason


def test_a_number_of_19_digits_converges_only_to_itself():
    check = {"type": "convergence", "target": BIG - 1, "previous": BIG}
    assert assess(check, make_trace(response=str(BIG))).evidence["verdict"] == "stall"
    assert assess(check, make_trace(response=str(BIG - 1))).evidence["verdict"] == "target"


@pytest.mark.parametrize("text", ["1e-999999999", "0." + "3" * 5_000, "1e308"])
def test_numbers_of_any_length_are_read_in_bounded_time(text):
    check = {"type": "output_numeric", "operator": "lt", "target": 1e307}
    assert assess(check, make_trace(response=text)).outcome == ("failed" if text == "1e308" else "passed")
