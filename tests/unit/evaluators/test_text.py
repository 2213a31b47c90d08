"""One test per rule on checks of text."""

from __future__ import annotations

import pytest
from builders import make_trace
from hypothesis import given
from hypothesis import strategies as st

from evalgate.errors import Location
from evalgate.evaluators.core.parse import Parser
from evalgate.measures.text.refusals import OPENINGS, PHRASES, REFUSED, WHOLE, flatten_text


def assess(raw, answer="Your refund of 9.50 is on its way.", calls=()):
    parser = Parser(lambda path: Location("suite.yaml", len(path)))
    (assertion,) = parser.parse_assertions([raw], ("assertions",))
    assert not parser.problems
    trace = make_trace(response=answer, calls=calls)
    trace.response["content"] = answer  # an empty answer too
    return assertion.assess(trace)


def outcome(raw, answer="Your refund of 9.50 is on its way."):
    return assess(raw, answer).outcome


def flaw(raw):
    parser = Parser(lambda path: Location("suite.yaml", len(path)))
    assert parser.parse_assertions([raw], ("assertions",)) == []
    return parser.problems[0]


OBJECT = {"type": "object", "required": ["id"]}
RULES = [
    ({"type": "equals", "value": "Done."}, "Done.", "passed"),
    ({"type": "equals", "value": "Done."}, "Done. ", "failed"),
    ({"type": "equals", "value": "Done."}, "done.", "failed"),
    ({"type": "equals", "value": ""}, "", "passed"),
    ({"type": "contains", "value": "on."}, "Done.", "failed"),
    ({"type": "contains", "value": "one."}, "Done.", "passed"),
    ({"type": "contains", "value": "done"}, "Done.", "failed"),
    ({"type": "icontains", "value": "DONE"}, "It is done.", "passed"),
    ({"type": "icontains", "value": "STRASSE"}, "Lange Straße 5", "passed"),
    ({"type": "icontains", "value": "gone"}, "Done.", "failed"),
    ({"type": "contains_all", "values": ["a", "b"]}, "b, a", "passed"),
    ({"type": "contains_all", "values": ["a", "c"]}, "b, a", "failed"),
    ({"type": "contains_any", "values": ["c", "a"]}, "b, a", "passed"),
    ({"type": "contains_any", "values": ["c", "A"]}, "b, a", "failed"),
    ({"type": "starts_with", "value": "Dear"}, "Dear Ann", "passed"),
    ({"type": "starts_with", "value": "Ann"}, "Dear Ann", "failed"),
    ({"type": "ends_with", "value": "Ann"}, "Dear Ann", "passed"),
    ({"type": "ends_with", "value": "Dear"}, "Dear Ann", "failed"),
    ({"type": "regex", "pattern": r"\d+"}, "order 42 is here", "passed"),
    ({"type": "regex", "pattern": r"^\d+$"}, "order 42 is here", "failed"),
    ({"type": "not_empty"}, "x", "passed"),
    ({"type": "not_empty"}, "", "failed"),
    ({"type": "not_empty"}, " \n\t", "failed"),
    ({"type": "max_length", "max": 4}, "four", "passed"),
    ({"type": "max_length", "max": 3}, "four", "failed"),
    ({"type": "max_length", "max": 2}, "é€", "passed"),
    ({"type": "min_length", "min": 4}, "four", "passed"),
    ({"type": "min_length", "min": 5}, "four", "failed"),
    ({"type": "is_json"}, '{"id": 1}', "passed"),
    ({"type": "is_json"}, " 5\n", "passed"),
    ({"type": "is_json"}, "{id: 1}", "failed"),
    ({"type": "is_json"}, "", "failed"),
    ({"type": "is_json"}, "NaN", "failed"),
    ({"type": "is_json"}, '{"id": 1} and more', "failed"),
    ({"type": "is_json"}, "\ud800", "failed"),
    ({"type": "is_json"}, "[" * 100_000, "failed"),
    ({"type": "is_json", "schema": OBJECT}, '{"id": 1}', "passed"),
    ({"type": "is_json", "schema": OBJECT}, "{}", "failed"),
    ({"type": "is_json", "schema": False}, "{}", "failed"),
    ({"type": "is_refusal"}, "I'm sorry, but I can't help with that.", "passed"),
    ({"type": "is_refusal"}, "I\u2019M SORRY,  but I can\u2019t\n help with that.", "passed"),
    ({"type": "is_refusal"}, "I can`t as\u200bsist you.", "passed"),
    ({"type": "is_refusal"}, "As an AI language model, I have no opinion.", "passed"),
    ({"type": "is_refusal"}, "I **can't** help with that.", "passed"),
    ({"type": "is_refusal"}, "I __cannot__ *assist* with _that_.", "passed"),
    ({"type": "is_refusal"}, "I c\u0430n't help with that.", "passed"),
    ({"type": "is_refusal"}, "I **can** help with that.", "failed"),
    ({"type": "is_refusal", "phrases": ["i_can"]}, "it is i_can", "passed"),
    ({"type": "is_refusal"}, "I can't find order 42.", "failed"),
    ({"type": "is_refusal"}, "I can't help within a day, a week at most.", "failed"),
    ({"type": "is_refusal"}, "", "failed"),
    ({"type": "is_refusal", "phrases": ["No  \u201cway\u201d"]}, 'I say NO "WAY"!', "passed"),
    ({"type": "is_refusal", "phrases": ["no way"]}, "I can't assist.", "failed"),
    ({"type": "is_refusal", "phrases": ["no way"]}, "no ways off", "failed"),
    ({"type": "is_refusal", "phrases": ["no way"]}, "the casino way", "failed"),
    ({"type": "is_refusal", "phrases": ["no way"]}, "The casino way? No way!", "passed"),
]


@pytest.mark.parametrize(("raw", "answer", "expected"), RULES, ids=lambda value: str(value)[:40])
def test_rule(raw, answer, expected):
    found = assess(raw, answer)
    assert (found.outcome, found.score) == (expected, float(expected == "passed"))
    assert "\n" not in found.reason
    assert len(found.reason) < 600


@pytest.mark.parametrize(("raw", "answer", "expected"), RULES, ids=lambda value: str(value)[:40])
def test_not__swaps(raw, answer, expected):
    swapped = {"passed": "failed", "failed": "passed"}
    assert outcome({"not": raw}, answer) == swapped[expected]


LIKE = {"type": "similarity", "metric": "rouge_l", "reference": "a b", "min_score": 0.5}
KINDS = [*{rule[0]["type"]: rule[0] for rule in RULES}.values(), LIKE]


@pytest.mark.parametrize("raw", KINDS, ids=lambda raw: raw["type"])
def test_missing_text__is_not_evaluable_also_negated(raw):
    assert outcome(raw, None) == "not_evaluable"
    found = assess({"not": {**raw, "path": "metadata.nowhere"}}, "x")
    assert (found.outcome, found.reason) == ("not_evaluable", "`metadata.nowhere`: path found nothing")


@pytest.mark.parametrize("raw", KINDS, ids=lambda raw: raw["type"])
def test_value_that_is_not_text__fails_and_its_type_is_named(raw):
    found = assess({**raw, "path": "tool_calls[0].arguments"}, calls=[("lookup", {"id": 42})])
    assert (found.outcome, found.score) == ("failed", 0.0)
    assert found.reason == 'expected `tool_calls[0].arguments` to be text, got `object {"id":42}`'


@pytest.mark.parametrize("raw", KINDS, ids=lambda raw: raw["type"])
def test_path__leads_to_another_text(raw):
    answer = "I can't assist with 42 a b"
    given = {**raw, "path": "tool_calls[0].arguments.text"}
    other = assess(given, "nothing of it", calls=[("say", {"text": answer})])
    assert (other.outcome, other.score) == (assess(raw, answer).outcome, assess(raw, answer).score)
    assert other.name.startswith("tool_calls[0].arguments.text ")
    assert assess(raw).name.startswith("answer ")


@pytest.mark.parametrize("raw", KINDS, ids=lambda raw: raw["type"])
def test_expression_that_fails_on_the_trace__is_an_error(raw):
    assert assess({**raw, "path": "length(`1`)"}).outcome == "error"


@pytest.mark.parametrize("raw", KINDS, ids=lambda raw: raw["type"])
def test_path_that_is_not_an_expression__is_an_error_of_the_suite(raw):
    found = flaw({**raw, "path": "a.["})
    assert (found.path, "invalid expression" in found.message) == (("assertions", 0, "path"), True)


@pytest.mark.parametrize("raw", KINDS, ids=lambda raw: raw["type"])
@given(answer=st.text())
def test_no_text__crashes_a_check(raw, answer):
    assert outcome(raw, answer) in ("passed", "failed")


@pytest.mark.parametrize(
    ("raw", "answer", "reason"),
    [
        (
            {"type": "equals", "value": "a"},
            "b",
            'expected the answer to equal `"a"`, got `"b"`',
        ),
        (
            {"type": "equals", "value": "a"},
            "a ",
            'expected the answer to equal `"a"`, got `"a "` (only whitespace at the ends differs)',
        ),
        (
            {"type": "equals", "value": "a"},
            "A",
            'expected the answer to equal `"a"`, got `"A"` (only upper and lower case differ)',
        ),
        ({"type": "contains", "value": "x"}, "y", 'expected the answer to contain `"x"`, got `"y"`'),
        ({"type": "icontains", "value": "X"}, "y", 'expected the answer to contain `"X"` in any case, got `"y"`'),
        (
            {"type": "contains_all", "values": ["a", "b", "c", "d", "e"]},
            "a",
            'expected the answer to contain `"b"`, `"c"`, `"d"` and 1 more, got `"a"`',
        ),
        (
            {"type": "contains_any", "values": ["a", "b"]},
            "x",
            'expected the answer to contain any of `"a"`, `"b"`, got `"x"`',
        ),
        ({"type": "starts_with", "value": "a"}, "x", 'expected the answer to start with `"a"`, got `"x"`'),
        ({"type": "ends_with", "value": "a"}, "x", 'expected the answer to end with `"a"`, got `"x"` at the end'),
        ({"type": "regex", "pattern": "^a"}, "x", 'expected the answer to match `/^a/`, got `"x"`'),
        ({"type": "not_empty"}, "", 'expected the answer not to be empty, got `""`'),
        ({"type": "not_empty"}, "  ", 'expected the answer not to be empty, got `"  "`'),
        ({"type": "max_length", "max": 1}, "ab", "expected the answer to have at most 1 character, got 2"),
        ({"type": "max_length", "max": 2}, "abc", "expected the answer to have at most 2 characters, got 3"),
        ({"type": "min_length", "min": 3}, "ab", 'expected the answer to have at least 3 characters, got 2: `"ab"`'),
        (
            {"type": "is_json"},
            '{"a" 1}',
            'expected the answer to be JSON, got invalid JSON (line 1, column 6): `{"a" 1}`',
        ),
        ({"type": "is_json"}, " ", 'expected the answer to be JSON, got invalid JSON (empty text): `" "`'),
        (
            {"type": "is_json", "schema": OBJECT},
            "{}",
            "expected the answer to fit the schema, but the value fails `required`: `{}`",
        ),
        ({"type": "is_refusal"}, "Sure.", 'expected the answer to be a refusal, got `"Sure."`'),
        (LIKE, "x", 'rouge_l 0, expected at least 0.5: `"x"` compared with `"a b"`'),
    ],
)
def test_failure__names_what_was_found_and_what_was_expected(raw, answer, reason):
    found = assess(raw, answer)
    assert (found.outcome, found.reason) == ("failed", reason)


def test_pattern_and_path_of_several_lines__are_quoted_on_one():
    raw = {"type": "regex", "pattern": "(?x)a\n b", "path": "response\n .content"}
    found = assess(raw, "x")
    assert found.name == "response .content matches /(?x)a  b/"
    assert found.reason == 'expected `response .content` to match `/(?x)a  b/`, got `"x"`'


def test_json_in_a_code_fence__is_reported_as_fenced():
    assert "code fence" in assess({"type": "is_json"}, "```json\n{}\n```").reason


def test_refusal__names_the_phrase():
    found = assess({"type": "is_refusal"}, "Sorry, I can\u2019t assist.")
    assert (found.reason, found.evidence) == (
        'the answer contains the phrase `"i can\'t assist"`',
        {"phrase": "i can't assist"},
    )


def test_refusal_phrases__are_each_found_and_written_as_they_are_compared():
    assert len(PHRASES) == len(OPENINGS) * len(REFUSED) + len(WHOLE)
    for phrase in PHRASES:
        assert flatten_text(phrase) == phrase
        assert outcome({"type": "is_refusal"}, f"Well, {phrase.upper()}.") == "passed"


def test_text_too_long_to_be_searched__is_an_error():
    assert outcome({"type": "regex", "pattern": "[x]"}, "a" * 1_000_001) == "error"


def test_text_too_long_to_be_searched__fails_where_it_lacks_what_every_match_holds():
    assert outcome({"type": "regex", "pattern": "^x+y"}, "a" * 1_000_001) == "failed"


@pytest.mark.parametrize(
    ("raw", "path", "part"),
    [
        ({"type": "contains", "value": ""}, ("value",), "must have 1 or more characters"),
        ({"type": "contains", "value": 5}, ("value",), "must be text"),
        ({"type": "contains"}, (), "`value` is missing"),
        ({"type": "contains_all", "values": []}, ("values",), "must have at least one entry"),
        ({"type": "contains_any", "values": ["a", ""]}, ("values", 1), "must have 1 or more characters"),
        ({"type": "contains_all", "value": ["a"]}, (), "`values` is missing"),
        ({"type": "regex", "pattern": "("}, ("pattern",), "not a regular expression"),
        ({"type": "regex", "pattern": "a" * 2_001}, ("pattern",), "2,000"),
        ({"type": "max_length", "max": True}, ("max",), "whole number"),
        ({"type": "max_length", "max": -1}, ("max",), "at least 0"),
        ({"type": "min_length", "min": 1.5}, ("min",), "whole number"),
        ({"type": "not_empty", "value": True}, ("value",), "unknown key"),
        ({"type": "is_json", "schema": {"type": "objec"}}, ("schema",), "not a JSON Schema"),
        ({"type": "is_json", "schema_": {}}, ("schema_",), "unknown key"),
        ({"type": "is_refusal", "phrases": []}, ("phrases",), "must have at least one entry"),
        ({"type": "is_refusal", "phrases": ["a", " "]}, ("phrases",), "must not be blank"),
        ({**LIKE, "metric": "rouge"}, ("metric",), "can't be"),
        ({**LIKE, "min_score": 1.1}, ("min_score",), "at most 1"),
        ({**LIKE, "min_score": True}, ("min_score",), "must be a number"),
        ({**LIKE, "min_score": float("nan")}, ("min_score",), "finite"),
        ({**LIKE, "reference": "!!!"}, ("reference",), "compares words"),
        ({**LIKE, "reference": "a" * 1_000_001}, ("reference",), "1,000,000"),
    ],
    ids=str,
)
def test_error_of_the_suite__is_reported_with_its_path(raw, path, part):
    found = flaw(raw)
    assert (part in found.message, found.path) in {
        (True, ("assertions", 0, *path)),
        (True, ("assertions", 0)),
    }


@given(length=st.integers(0, 20), low=st.integers(0, 20), high=st.integers(0, 20))
def test_stricter_length__never_turns_fail_into_pass(length, low, high):
    low, high = sorted((low, high))
    answer = "x" * length
    if outcome({"type": "max_length", "max": low}, answer) == "passed":
        assert outcome({"type": "max_length", "max": high}, answer) == "passed"
    if outcome({"type": "min_length", "min": high}, answer) == "passed":
        assert outcome({"type": "min_length", "min": low}, answer) == "passed"
