"""Goldens made of traces, of eval sets and of files."""

from __future__ import annotations

import json

import pytest
from builders import make_call
from golden_builders import talk

from evalgate.adapters.formats.adk.evals import expected_traces
from evalgate.adapters.suites.golden_files import json_lines
from evalgate.errors import SettingError, SuiteError
from evalgate.features.store.application.goldens.golden_import import expected_goldens, golden_from_trace, goldens_in
from evalgate.scoring.golden.judging import judge_golden
from evalgate.scoring.golden.rules import GoldenRules
from evalgate.suite.baseline_suites import BaselineDocument
from evalgate.suite.golden_rules import encode_golden

TALK = (("Late, order 42", "Refund it?"), ("yes", "Done."), ("and a bomb?", "I can't help with that."))


def good_trace():
    return talk(
        *TALK,
        calls=[
            make_call("lookup", turn=1),
            make_call("refund", index=1, turn=2, status="error"),
            make_call("refund", index=2, turn=2),
        ],
    )


def test_golden_from_trace__requires_what_the_trace_shows():
    made = golden_from_trace(good_trace(), creator="ada")
    assert (made.id, made.creator, made.title) == ("s1", "ada", "Late, order 42")
    assert made.user_messages == tuple(user for user, _ in TALK)
    assert made.golden_responses == tuple(answer for _, answer in TALK)
    assert made.required_tool_usage == ("lookup@1", "refund@2")
    assert made.required_refusal == ("correct_refusal@3",)


def test_trace_of_a_golden__meets_it():
    found = judge_golden(GoldenRules(golden_from_trace(good_trace())), good_trace())
    scores = {name: each.score for name, each in found.dimensions.items() if each.score is not None}
    # The call that failed on the way keeps counting: turn 2 has one requirement met and one failed call.
    assert scores == {"refusal_correctness": 1.0, "response_completeness": 1.0, "tool_success_rate": 0.75}


def test_one_turn__needs_no_number():
    made = golden_from_trace(talk(("hi", "Hello."), calls=[make_call("lookup")]), "greet")
    assert (made.id, made.required_tool_usage) == ("greet", ("lookup",))


def test_secrets__are_redacted():
    secret = "ghp_" + "a1B2" * 9
    made = golden_from_trace(talk((f"my key is {secret}", f"so {secret}")))
    assert secret not in str(made)


@pytest.mark.parametrize(
    ("trace", "message"), [(talk(), "has no message of a user or an agent"), (talk(("hi", "x" * 100_001)), "more than")]
)
def test_trace_that_can_not_become_a_golden__is_an_error_with_the_reason(trace, message):
    with pytest.raises(SettingError, match=message):
        golden_from_trace(trace)


def test_trace_without_a_scenario_id__is_an_error_that_names_the_flag():
    trace = talk(("hi", "Hello."))
    trace.scenario_id = None
    with pytest.raises(SettingError, match="--id NAME"):
        golden_from_trace(trace)


def test_eval_set__becomes_goldens():
    turn = {
        "user_content": {"parts": [{"text": "Weather in Oslo?"}]},
        "final_response": {"parts": [{"text": "Cold."}]},
        "intermediate_data": {"tool_uses": [{"name": "get_weather", "args": {"city": "Oslo"}}]},
    }
    document = {"eval_set_id": "set", "eval_cases": [{"eval_id": "oslo", "conversation": [turn]}]}
    (made,) = expected_goldens(expected_traces(document))
    assert (made.id, made.user_messages, made.golden_responses) == ("oslo", ("Weather in Oslo?",), ("Cold.",))
    assert (made.required_tool_usage, made.tags) == (("get_weather",), ())


def test_older_eval_set__is_numbered():
    made = expected_goldens(expected_traces([{"query": "hi", "reference": "Hello."}]))
    assert [each.id for each in made] == ["case-1"]


def test_golden__is_read_back_as_it_was_written():
    made = golden_from_trace(good_trace(), creator="ada")
    assert goldens_in([BaselineDocument("g.json", encode_golden(made))]) == [made]
    lines = json_lines(json.dumps({"goldens": [encode_golden(made)]}), "g.jsonl")
    assert goldens_in(lines) == [made]


def test_errors_in_documents__are_reported_together():
    documents = [BaselineDocument("g.yaml", [{"id": "a*"}, {"title": "x"}, {"id": "b", "required_refusal": ["x@9"]}])]
    with pytest.raises(SuiteError) as caught:
        goldens_in(documents)
    messages = [str(problem) for problem in caught.value.problems]
    assert len(messages) == 3
    assert "`x@9` refers to turn 9, but the golden has only 0" in messages[2]
