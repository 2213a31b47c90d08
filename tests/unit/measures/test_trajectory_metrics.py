import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.measures.sequences.bipartite import WorkBudget
from evalgate.measures.sequences.step_matching import Slot, StepPlan, fits_as_bag, fits_in_order
from evalgate.measures.sequences.trajectory_metrics import METRICS, lcs_length

NAMES = st.lists(st.sampled_from("abc"), max_size=8)
REFERENCE = st.lists(st.sampled_from("abc"), min_size=1, max_size=8)


@given(REFERENCE, NAMES)
def test_metrics__are_between_zero_and_one(reference, called):
    assert all(0 <= measure(reference, called) <= 1 for measure in METRICS.values())


@pytest.mark.parametrize("metric", METRICS)
@given(reference=REFERENCE)
def test_metrics__of_the_reference_itself_are_one(metric, reference):
    assert METRICS[metric](reference, reference) == 1.0


@given(REFERENCE, NAMES)
def test_exact_implies_in_order_implies_any_order(reference, called):
    exact, in_order, any_order = (METRICS[name](reference, called) for name in ("exact", "in_order", "any_order"))
    assert exact <= in_order <= any_order


@given(REFERENCE, NAMES)
def test_metrics__agree_with_each_other(reference, called):
    scores = {name: measure(reference, called) for name, measure in METRICS.items()}
    assert (scores["lcs"] == 1) == (scores["exact"] == 1)
    assert (scores["recall"] == 1) == (scores["any_order"] == 1)
    assert (lcs_length(reference, called) == len(reference)) == (scores["in_order"] == 1)
    assert min(scores["precision"], scores["recall"]) - 1e-12 <= scores["f1"]
    assert scores["f1"] <= max(scores["precision"], scores["recall"]) + 1e-12


class Letters:
    """Calls as `tool_sequence` sees them: kind 0 is `a`, kind 1 is `b`."""

    def __init__(self, called):
        self.called = called
        self.count = len(called)
        self.budget = WorkBudget(10**9)

    def candidates(self, kind):
        return range(self.count)

    def accepts(self, kind, at):
        return self.called[at] == "abc"[kind]


@given(REFERENCE, NAMES)
def test_metrics__agree_with_the_verdicts_of_tool_sequence(reference, called):
    slots = [Slot("abc".index(name)) for name in reference]
    plan, calls = StepPlan(slots, [[slot] for slot in range(len(slots))]), Letters(called)
    assert METRICS["in_order"](reference, called) == float(fits_in_order(plan, calls))
    assert METRICS["any_order"](reference, called) == float(fits_as_bag(plan, calls, closed=False))


@given(REFERENCE, NAMES, st.randoms(use_true_random=False))
def test_bags__do_not_depend_on_the_order_of_calls(reference, called, random):
    mixed = random.sample(called, len(called))
    for name in ("precision", "recall", "f1", "any_order"):
        assert METRICS[name](reference, called) == METRICS[name](reference, mixed)


def by_the_table(first, second):
    row = [0] * (len(second) + 1)
    for name in first:
        above = row
        row = [0]
        for index, other in enumerate(second):
            row.append(above[index] + 1 if name == other else max(above[index + 1], row[index]))
    return row[-1]


@given(NAMES, NAMES)
def test_lcs_length__is_what_the_table_gives_either_way_round(first, second):
    assert lcs_length(first, second) == by_the_table(first, second) == lcs_length(second, first)


def test_lcs__of_ten_thousand_calls_does_not_hang():
    called = [f"t{number % 7}" for number in range(10_000)]
    started = time.thread_time()
    assert METRICS["lcs"](called, called) == 1.0
    assert time.thread_time() - started < 5
