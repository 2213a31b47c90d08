"""An argument that is not as the user asked for is found by a comparison, and remembered as long as that is so."""

import msgspec
import pytest
from builders import make_trace
from msgspec import UNSET
from run_builders import make_assertion, make_scenario, make_trial

from evalgate.gate.trajectory.behaviour import LONGEST_REQUESTS, behaviour_from_trace
from evalgate.gate.trajectory.behaviour_differences import find_differences
from evalgate.gate.trajectory.unasked_arguments import MOST_UNASKED, add_unasked, keep_unasked
from evalgate.models.comparison.behaviour import UnaskedArgument
from evalgate.scoring.wording import describe_difference

ASKED, COMMIT = "Refund order A1001, please.", "c" * 40
FACT = UnaskedArgument("issue_refund", "order_id", "B2002", "A1001", 3, 3)
KEPT = msgspec.structs.replace(FACT, since=COMMIT)


def acts(*values, user=ASKED, trials=3, **more):
    """Trials that refund each order; None is one that names no order."""
    calls = [("issue_refund", {"amount": 42.5, **({} if each is None else {"order_id": each})}) for each in values]
    return [behaviour_from_trace(make_trace(calls, user=user, **more)) for _ in range(trials)]


def sentence(before, now, unasked=()):
    (found,) = find_differences(before, now, None, passes=True, unasked=unasked)
    return describe_difference(found).replace("`", "")


def find(before, now, scenario=None):
    found = find_differences(before, now, None, passes=True)
    return add_unasked([], before, found, scenario or make_scenario())


def keep(now, *known, verdict="PASS", scenario=None, since=COMMIT):
    return keep_unasked(known or (FACT,), now, scenario or make_scenario(verdict), since)


@pytest.mark.parametrize("trials", [1, 2, 3])
def test_what_differs_from_the_request_is_shown_and_found(trials):
    before, now = acts("A1001", trials=trials), acts("B2002", trials=trials)
    assert sentence(before, now).endswith(", though A1001 was asked for")
    assert find(before, now) == [msgspec.structs.replace(FACT, trials=trials, of=trials)]


@pytest.mark.parametrize(
    ("user", "before", "now"),
    [
        ("Refund order a1001.", "A1001", "B2002"),
        ("Refund order 10045.", 10045, "10046"),
        ("Refund A1001.", "A1001", None),
    ],
)
def test_a_value_that_the_request_names_in_another_spelling_or_type_is_asked_for(user, before, now):
    assert "was asked for" in sentence(acts(before, user=user), acts(now, user=user))


@pytest.mark.parametrize(
    ("user", "before", "now"),
    [
        ("Refund order A1001, not B2002.", "A1001", "B2002"),
        ("Refund order XA1001.", "A1001", "B2002"),
        ("Economy if it is cheaper than Basic Economy.", "economy", "basic_economy"),
        ("Refund A1001, no, b-2002.", "A1001", "B2002"),
        ("Book 12 seats", "12", "13"),  # short: it may be another number
        ("Refund my kettle", "A1001", "B2002"),
        ("Refund order 10045.", 10045, "10045"),
        ("Refund order A1001.", "A1001", "order A1001"),
        ("Refund order A1001.", None, "B2002"),
    ],
)
def test_nothing_is_shown_where_the_request_does_not_decide(user, before, now):
    sides = acts(before, user=user), acts(now, user=user)
    assert "asked" not in sentence(*sides)
    assert find(*sides) == []


def test_an_argument_with_another_name_that_has_what_was_asked_for_is_no_other_value():
    """A tool whose arguments were renamed is called as the user asked."""
    renamed = [
        behaviour_from_trace(make_trace([("issue_refund", {"amount": 42.5, "orderId": "A1001"})], user=ASKED))
        for _ in range(3)
    ]
    found = find_differences(acts("A1001"), renamed, None, passes=True)
    assert [(each.what, each.asked) for each in found] == [
        ("issue_refund.order_id", UNSET),
        ("issue_refund.orderId", UNSET),
    ]
    assert keep(renamed) == []


def test_the_request_of_this_run_counts_and_not_that_of_the_baseline():
    """A scenario that is about another order now passes the other order rightly."""
    before, now = acts("A1001"), acts("B2002", user="Refund order B2002, please.")
    assert "asked" not in sentence(before, now)
    assert find(before, now) == []


def test_what_the_user_asks_for_later_counts():
    now = acts("B2002", user="Sorry, I meant B2002.", turns=[(ASKED, "Which one?")])
    assert "asked" not in sentence(acts("A1001"), now)
    assert keep(now) == []


def test_one_trial_in_which_another_value_is_asked_for_is_enough():
    now = [*acts("B2002", trials=2), *acts("B2002", user="Refund B2002", trials=1)]
    assert "asked" not in sentence(acts("A1001"), now)
    assert keep(now) == []


def test_requests_that_are_too_long_to_be_looked_through_decide_nothing():
    now = acts("B2002", user=ASKED + "x" * LONGEST_REQUESTS)
    assert "asked" not in sentence(acts("A1001"), now)
    assert keep(now) == [msgspec.structs.replace(KEPT, trials=0, of=0)]


def test_a_call_of_a_tool_with_points_in_its_name_that_is_the_second_of_it():
    def two(order):
        calls = [("shop.pay.refund", {"order": {"id": each}}) for each in ("A7777", order)]
        return [behaviour_from_trace(make_trace(calls, user="Refund A7777 and A1001")) for _ in range(3)]

    assert find(two("A1001"), two("B2002")) == [UnaskedArgument("shop.pay.refund", "order.id", "B2002", "A1001", 3, 3)]


def test_it_is_kept_with_the_commit_that_found_it():
    assert keep(acts("B2002")) == [KEPT]
    assert keep(acts("B2002"), KEPT, since="d" * 40) == [KEPT]


@pytest.mark.parametrize("since", [None, "", "main", "<b>", "c" * 99])
def test_what_is_no_commit_is_not_known(since):
    assert keep(acts("B2002"), since=since)[0].since == ""
    assert keep(acts("B2002"), msgspec.structs.replace(FACT, since=since or ""))[0].since == ""


@pytest.mark.parametrize(
    "now",
    [
        acts("A1001"),
        acts("A1001", "C3003"),
        acts(),
        acts("B2002", user="Refund B2002"),
        acts("B2002", user="Refund it"),
    ],
)
def test_it_ends_when_it_is_mended_when_the_call_is_gone_or_when_the_request_changes(now):
    assert keep(now) == []


def test_some_trials_in_which_it_is_so_are_counted():
    assert keep([*acts("B2002", trials=2), *acts("A1001", trials=1)]) == [msgspec.structs.replace(KEPT, trials=2)]


def test_more_calls_and_another_order_of_them_change_nothing():
    assert keep(acts("C3003", "B2002")) == [KEPT]


@pytest.mark.parametrize("now", [acts(), [], acts("A1001")])
def test_a_scenario_that_fails_says_nothing_of_it(now):
    """It may break before the call; once it passes again, the value may be as wrong as it was."""
    assert keep(now, verdict="HARD_FAIL") == [msgspec.structs.replace(KEPT, trials=0, of=len(now))]


def test_calls_that_may_not_all_be_recorded_say_nothing():
    now = acts("A1001")
    for each in now:
        each.calls = None
    assert keep(now) == [msgspec.structs.replace(KEPT, trials=0, of=0)]


def test_another_value_that_no_one_asked_for_is_no_repair():
    assert keep(acts("C3003")) == [msgspec.structs.replace(KEPT, value="C3003")]
    shown = sentence(acts("B2002"), acts("C3003"), [FACT])
    assert shown == "issue_refund.order_id: B2002 -> C3003 in 3 of 3, though A1001 was asked for"
    assert keep(acts(None)) == [msgspec.structs.replace(KEPT, value="")]


def test_what_was_left_out_is_kept_until_it_is_passed():
    without = msgspec.structs.replace(FACT, value="")
    assert keep(acts(None), without) == [msgspec.structs.replace(KEPT, value="")]
    assert keep(acts("A1001"), without) == []


def test_a_repair_is_shown_as_what_was_asked_for():
    shown = sentence(acts("B2002"), acts("A1001"), [FACT])
    assert shown == "issue_refund.order_id: B2002 -> A1001 in 3 of 3, as was asked for"
    assert "asked" not in sentence(acts("B2002"), acts("A1001"))
    assert find(acts("B2002"), acts("A1001")) == []


def check(name, outcome="passed"):
    return make_scenario(trials=[make_trial(assertions=[make_assertion(outcome, name=name)])])


def test_a_check_that_names_the_value_says_that_it_is_right():
    wanted = check('tools in_order: issue_refund{"order_id":"B2002"}')
    assert keep(acts("B2002"), scenario=wanted) == []
    assert find(acts("A1001"), acts("B2002"), wanted) == []


@pytest.mark.parametrize(
    "scenario", [check('not: answer contains "B2002"'), check("pays B2002", "failed"), check("pays B20023")]
)
def test_another_check_does_not(scenario):
    assert keep(acts("B2002"), scenario=scenario) == [KEPT]


def test_a_baseline_that_lies_is_bounded_and_finds_only_what_is_so():
    lies = [
        UnaskedArgument("issue_refund", "order_id", "x" * 100_000, "A1001", 3, 3),
        UnaskedArgument("issue_refund", "order_id", "B2002", "(A1001|.*)+$" * 1_000, 3, 3),
        UnaskedArgument("other", "order_id", "B2002", "A1001", 3, 3),
        UnaskedArgument("issue_refund", "", "B2002", "A1001", 3, 3),
        UnaskedArgument("issue_refund", "order_id", "42.5", "order", 3, 3),
    ]
    assert keep(acts("A1001"), *lies) == []
    many = [msgspec.structs.replace(FACT, argument=str(number)) for number in range(100_000)]
    assert len(keep([], *many)) == MOST_UNASKED
    assert len(add_unasked(keep([], *many), acts("A1001"), [], make_scenario())) == MOST_UNASKED


def test_both_ways_to_find_it_give_one():
    before, now = acts("A1001"), acts("B2002")
    found = find_differences(before, now, None, passes=True, unasked=[KEPT])
    assert add_unasked([KEPT], before, found, make_scenario()) == [KEPT]
    assert FACT.since is UNSET
