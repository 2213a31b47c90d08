"""What is said of the reports to come, where scenarios pass and act differently, is so."""

import pytest
from results_builder import a_change, a_scenario, a_suite, results

from evalgate.models.comparison.behaviour import BehaviourDifference, UnaskedArgument
from evalgate.reporting.text.behaviour_lines import describe_later_reports, describe_unasked

ID = BehaviourDifference("argument", "refund.order_id", "A1001", "B2002", 3, 3, asked="A1001")
WORSE = BehaviourDifference("argument", "refund.order_id", "B2002", "C3003", 3, 3, asked="A1001")
RIGHT = BehaviourDifference("argument", "refund.order_id", "B2002", "A1001", 3, 3, asked="A1001")
OTHER = BehaviourDifference("calls", "calls that change something", "a", "b", 3, 3)
TOOLS = BehaviourDifference("tools", "tool definitions", "", "", 3, 3)
FOUND = UnaskedArgument("refund", "order_id", "B2002", "A1001", 3, 3)
KEPT = UnaskedArgument("refund", "order_id", "C3003", "A1001", 3, 3, "abc1234")
ALL, NONE = 'later reports mention it as "not as asked" and may be green', "later reports do not mention it"
SOME = 'later reports mention what was not asked for as "not as asked" and may be green'


def document(*scenarios):
    listed = [
        {
            **a_scenario(f"s{number}", "PASS", a_change("unchanged")),
            "differences": list(differences),
            "unasked": list(kept),
        }
        for number, (differences, kept) in enumerate(scenarios)
    ]
    return results([a_suite("support", listed)])


@pytest.mark.parametrize(
    ("scenarios", "words"),
    [
        ([([ID], [FOUND])], ALL),
        ([([ID, TOOLS], [FOUND])], ALL),
        ([([WORSE], [KEPT])], ALL),
        ([([ID, OTHER], [FOUND])], SOME),
        ([([ID], [FOUND]), ([OTHER], [])], SOME),
        ([([ID], [])], NONE),
        ([([OTHER], [])], NONE),
        ([([OTHER], [KEPT])], NONE),
        ([([RIGHT], [])], ""),
        ([([RIGHT, OTHER], [])], NONE),
        ([], ""),
    ],
)
def test_what_later_reports_say(scenarios, words):
    assert describe_later_reports(document(*scenarios)) == words


def test_what_this_run_found_or_of_which_it_shows_nothing_is_not_still_so():
    gone = UnaskedArgument("refund", "order_id", "C3003", "A1001", 0, 3, "abc1234")
    assert describe_unasked(document(([], [FOUND, gone]))) == ""


def test_arguments_of_one_scenario_are_one_line_and_those_of_some_trials_are_counted():
    left_out = UnaskedArgument("refund", "order_id", "", "A1001", 2, 3, "")
    assert describe_unasked(document(([], [left_out, KEPT]))).replace("`", "") == (
        "Not as asked: s0 still calls refund without order_id in 2 of 3 trials, though A1001 was asked for, "
        "and 1 more argument like it. Fix the agent, or name the value in a check if it is right."
    )
