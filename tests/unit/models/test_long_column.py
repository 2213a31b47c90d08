"""Figures that no longer fit into memory are those that were put there."""

from __future__ import annotations

import marshal
from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_builders import kept, make_trial

from evalgate.application.stored_trial import trial_of
from evalgate.models import long_column
from evalgate.models.long_column import LongColumn
from evalgate.models.shelf import Memory
from evalgate.models.told_trials import Teller
from evalgate.models.trial_store import TrialStore
from evalgate.models.trials import Trials, column, outcomes_of, statuses
from evalgate.reporting.exports.bounded import bounded_name
from evalgate.reporting.exports.trial_doc import trial_line

PAGE = 3


@pytest.fixture(autouse=True, scope="module")
def small_pages():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(long_column, "PAGE", PAGE)
        yield


@given(st.data())
def test_a_figure_stays_where_it_is_whatever_goes_to_the_shelf(data):
    shelf = Memory()
    figures, values = LongColumn(shelf, "q"), []
    for added, aside in data.draw(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=6)):
        shelf.put(b"of somebody else")
        new = list(range(len(values), len(values) + added))
        values += new
        figures.recent.extend(new)
        figures.set_aside(min(aside, len(figures.recent)))
    places = data.draw(st.lists(st.sampled_from(values))) if values else []
    assert list(figures.at(places)) == places
    assert [figures[place] for place in places] == places


def test_whole_pages_leave_memory():
    figures = LongColumn(Memory(), "d")
    figures.recent.extend(range(11))
    figures.set_aside(10)
    assert list(figures.recent) == [9.0, 10.0]


def some_trials(count):
    words = "passed", "failed", "error", "not_evaluable"
    return [
        make_trial(words[at % 4], number=3 * at, cost_usd=None if at % 5 == 4 else at / 7, latency_seconds=at)
        for at in range(count)
    ]


def alike(small, trials):
    assert list(small) == list(kept(deepcopy(trials)))
    assert list(small.documents()) == list(kept(deepcopy(trials)).documents())
    assert [small.document(at) for at in range(len(trials))] == list(small.documents())
    for name in ("trial", "score", "cost_usd", "latency_seconds", "total_tokens"):
        assert column(small, name) == column(trials, name)
    assert statuses(small) == statuses(trials)
    assert outcomes_of([small]) == outcomes_of([trials])


@pytest.mark.parametrize("most", [3, 4, 7, 100])
def test_trials_of_which_few_have_their_figures_in_memory_are_the_same(most):
    trials = some_trials(25)
    store, tell = TrialStore(Memory(), trial_of, most), Teller(trial_line, bounded_name)
    places = [store.take(tell(trial), trial.trial) for trial in deepcopy(trials)]
    alike(Trials(store, places, store.recorded(places)), trials)
    odd = places[1::2]
    alike(Trials(store, odd, store.recorded(odd)), trials[1::2])


@pytest.mark.parametrize("most", [3, 8])
def test_trials_that_come_in_blocks_are_the_same(most):
    trials = some_trials(25)
    store = TrialStore(Memory(), trial_of, most)
    places = []
    for first in range(0, 25, 5):
        sent = marshal.dumps(kept(deepcopy(trials[first : first + 5])).store.packed())
        places += store.extend(marshal.loads(sent))  # noqa: S302  (our own bytes)
    alike(Trials(store, places, store.recorded(places)), trials)
