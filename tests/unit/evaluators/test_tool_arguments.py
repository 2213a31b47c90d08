import pytest
from assess_assertion import assess, compile_assertion, first_problem, outcome
from builders import make_call, make_trace

SCHEMA = {"type": "object", "properties": {"amount": {"type": "number"}}, "required": ["amount"]}
RAW = {"type": "tool_arguments", "tool": "refund", "schema": SCHEMA}
OWN = {"type": "tool_arguments", "tool": "refund"}


def refunds(*arguments, **fields):
    return make_trace(calls=[("refund", each) for each in arguments], **fields)


def uncaptured(name="refund", **fields):
    return {**make_call(name), "arguments": None, **fields}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([{"amount": 5}], "passed"),
        ([{"amount": 5}, {"amount": 9.5, "note": "x"}], "passed"),
        ([{"amount": 5}, {"amount": "5"}], "failed"),
        ([{}], "failed"),
        ([[1, 2]], "failed"),
    ],
)
def test_tool_arguments__every_call_must_fit(arguments, expected):
    assert outcome(RAW, refunds(*arguments)) == expected


def test_tool_arguments__names_call_path_keyword_and_value():
    found = assess(RAW, make_trace(calls=["lookup", ("refund", {"amount": "5"})]))
    assert (
        found.reason
        == 'the arguments of `refund` don\'t fit the schema: `amount` fails `type` in `{"amount":"5"}` (call 2)'
    )


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"required": ["amount"], "maxProperties": 1}, "`memo` is not allowed"),
        ({"propertyNames": {"enum": ["amount"]}}, "`memo` is not allowed"),
        ({"properties": {"amount": {}}, "additionalProperties": False}, "`memo` is not allowed"),
        ({"maxProperties": 1}, "the value fails `maxProperties`"),
    ],
)
def test_tool_arguments__names_the_argument_that_is_too_much(schema, expected):
    found = assess({**RAW, "schema": schema}, refunds({"amount": 5, "memo": "x"}))
    assert f"don't fit the schema: {expected} in `" in found.reason


def test_tool_arguments__without_such_a_call_is_not_evaluable():
    found = assess(RAW, make_trace(calls=["lookup"]))
    assert (found.outcome, found.reason) == ("not_evaluable", "`refund` was not called, only `lookup` was")


def test_tool_arguments__not_captured_is_not_evaluable_even_negated():
    trace = make_trace(calls=[uncaptured(), ("refund", {"amount": 5})])
    assert outcome(RAW, trace) == "not_evaluable"
    assert outcome({"not": RAW}, trace) == "not_evaluable"


def test_tool_arguments__failed_call_decides_over_calls_not_captured():
    assert outcome(RAW, make_trace(calls=[uncaptured(), ("refund", {})])) == "failed"


def test_tool_arguments__that_are_not_json_fail():
    broken = uncaptured(arguments_raw='{"amount": ', arguments_error="no JSON")
    found = assess(RAW, make_trace(calls=[broken]))
    assert (found.outcome, found.reason) == (
        "failed",
        'the arguments of `refund` must be JSON, but are `"{\\"amount\\": "` (call 1)',
    )


@pytest.mark.parametrize(
    "definition",
    [
        {"name": "refund", "parameters": SCHEMA},
        {"name": "refund", "input_schema": SCHEMA},
        {"name": "refund", "inputSchema": SCHEMA},
        {"type": "function", "function": {"name": "refund", "parameters": SCHEMA}},
    ],
)
def test_tool_arguments__own_schema_comes_from_the_trace(definition):
    definitions = [{"name": "lookup"}, definition]
    assert outcome(OWN, refunds({"amount": 5}, tool_definitions=definitions)) == "passed"
    assert outcome(OWN, refunds({"amount": "5"}, tool_definitions=definitions)) == "failed"


def test_tool_arguments__own_schema_is_each_traces_own():
    check = compile_assertion(OWN)
    whole = [{"name": "refund", "parameters": SCHEMA}]
    text = [{"name": "refund", "parameters": {"properties": {"amount": {"type": "string"}}}}]
    found = [check.assess(refunds({"amount": 5}, tool_definitions=each)).outcome for each in (whole, text, whole)]
    assert found == ["passed", "failed", "passed"]


def test_tool_arguments__own_schemas_that_python_takes_for_equal_are_distinguished():
    check = compile_assertion(OWN)
    for constant, expected in ((True, "failed"), (1, "passed"), (True, "failed")):
        definitions = [{"name": "refund", "parameters": {"properties": {"amount": {"const": constant}}}}]
        assert check.assess(refunds({"amount": 1}, tool_definitions=definitions)).outcome == expected


@pytest.mark.parametrize(
    "definitions",
    [
        [],
        [{"name": "refund"}],
        [{"name": "refund", "parameters": "text"}],
        [{"name": "lookup", "parameters": {}}],
        [{"function": "refund"}],
        [{"name": "refund", "parameters": {"type": "nonsense"}}],
        [{"name": ["refund"], "parameters": {}}],
    ],
)
def test_tool_arguments__without_a_usable_own_schema_are_not_evaluable(definitions):
    assert outcome(OWN, refunds({"amount": 5}, tool_definitions=definitions)) == "not_evaluable"


def test_tool_arguments__untrusted_recursive_schema_ends():
    definitions = [{"name": "refund", "parameters": {"allOf": [{"$ref": "#"}]}}]
    assert outcome(OWN, refunds({"amount": 5}, tool_definitions=definitions)) in {"passed", "not_evaluable"}


@pytest.mark.parametrize("schema", [{"type": "nonsense"}, "text", [], {"$ref": "https://example.org/x"}])
def test_tool_arguments__invalid_schema_is_an_error_of_the_suite(schema):
    assert first_problem({**RAW, "schema": schema}).path[1] == "schema"
