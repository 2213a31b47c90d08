import pytest
from builders import make_call, make_trace
from results_builder import a_scenario, a_suite, a_trial, results

from evalgate.features.page.reporting.trace_block import build_trace_block
from evalgate.reporting.terminal.conversation import render_conversation
from evalgate.reporting.terminal.explanation import render_explanation
from evalgate.reporting.terminal.trace_table import build_trace_row, render_trace_table
from evalgate.reporting.text.argument_lines import count_from_nowhere, list_argument_lines
from evalgate.reporting.text.scenario_sections import SuiteScenario

LINES = [
    'order "W2378156" from user',
    'card "card_7334" from result of call 1 (find_card)',
    "amount 480.25 from nowhere",
]


def refund(**arguments):
    made = {
        "order": "W2378156",
        "card": "card_7334",
        "amount": 480.25,
        "note": "as the customer asked, with many thanks for the patience",
    } | arguments
    return make_trace(
        [make_call("find_card", {"name": "Ana"}, result="card_7334"), make_call("issue_refund", made, index=1)],
        user="I am Ana. Refund order W2378156.",
    )


def test_each_value_is_named_with_its_sources():
    assert list(map(str, list_argument_lines(refund(), 2))) == LINES
    assert count_from_nowhere(refund()) == 1


def test_a_value_that_only_the_agent_wrote_before_says_where():
    calls = [make_call("get_order", {"order": "W999111"}, result="none"), make_call("cancel", {"order": "W999111"})]
    calls[1]["step"] = 2
    (line,) = list_argument_lines(make_trace(calls), 2)
    assert str(line) == 'order "W999111" from nowhere (before in the argument of call 1 (get_order))'


def test_a_value_that_may_stand_in_a_missing_text_says_so():
    trace = refund()
    trace.gaps = {"results": "content was not captured"}
    assert [line.is_nowhere for line in list_argument_lines(trace, 2)] == [False, False, False]
    *_, last = list_argument_lines(trace, 2)
    assert str(last) == "amount 480.25 may come from elsewhere: missing evidence (results): content was not captured"


def test_secrets_are_redacted_before_a_value_is_cut():
    token = "ghp_" + "a1B2" * 9
    assert token[:20] not in "".join(map(str, list_argument_lines(refund(card="x" * 60 + " " + token), 2)))


def test_show_counts_what_comes_from_nowhere_and_names_sources_on_request():
    plain = render_conversation(refund(), width=200)
    assert "1 argument from nowhere" in plain
    assert LINES[0] not in plain
    assert [line for line in render_conversation(refund(), width=200, sources=True).splitlines() if "      " in line][
        2:5
    ] == [f"      {line}" for line in LINES]
    assert "nowhere" not in render_conversation(refund(amount=5), width=200)


def test_traces_count_on_request_only():
    assert "nowhere" not in render_trace_table([build_trace_row(refund())], 1000)
    header, row = render_trace_table([build_trace_row(refund(), with_sources=True)], 1000).splitlines()
    assert row[header.index("nowhere")] == "1"


@pytest.mark.parametrize("full", [False, True])
def test_explain_names_the_sources_of_a_trial_whose_trace_is_known(full):
    scenario = a_scenario(trials=[trial := a_trial(0, "passed")])
    place = trial.trace.path, trial.trace.line, trial.trace.record
    explained = SuiteScenario(a_suite("support", [scenario]), scenario)
    document = results([explained.suite])
    shown = render_explanation(document, explained, {place: refund()}, width=200, full=full)
    assert f"call 2 issue_refund: {'; '.join(LINES)}" in shown
    assert ("call 1 find_card" in shown) is full
    assert "issue_refund" not in render_explanation(document, explained, {}, width=200, full=full)


def test_the_page_holds_them_where_it_is_asked_for():
    assert all("sources" not in part for part in build_trace_block(refund())["parts"])
    assert build_trace_block(refund(), with_sources=True)["parts"][-2]["sources"] == LINES
