"""Trials of which few, or none, have their numbers in memory equal the original ones."""

from __future__ import annotations

import marshal
from collections import Counter
from copy import deepcopy

import pytest
from run_builders import make_assertion, make_trial, store_trials

from evalgate.adapters.files.disk_spool import DiskSpool
from evalgate.application.documents.run_documents import trial_of
from evalgate.models.run.spool import MemorySpool
from evalgate.models.run.trial_record import TrialEncoder
from evalgate.models.run.trial_store import TrialStore
from evalgate.models.run.trials import (
    Trials,
    count_failed,
    count_outcomes,
    filter_by_status,
    get_column,
    list_failed,
    list_priced,
    list_stale_reasons,
    list_statuses,
    set_stale,
)
from evalgate.reporting.results.clean_values import clean_name
from evalgate.reporting.results.trial_doc import encode_trial

pytestmark = pytest.mark.usefixtures("small_pages")


def some_trials(count):
    words = "passed", "failed", "error", "not_evaluable"
    return [
        make_trial(
            words[at % 4],
            number=3 * at,
            cost_usd=None if at % 5 == 4 else at / 7,
            latency_seconds=at,
            assertions=[make_assertion("passed" if at % 4 == 0 else "failed", name=f"check {at % 3}")],
        )
        for at in range(count)
    ]


def alike(small, trials):
    assert list(small) == list(store_trials(deepcopy(trials)))
    assert list(small.documents()) == list(store_trials(deepcopy(trials)).documents())
    assert [small.document(at) for at in range(len(trials))] == list(small.documents())
    for name in ("trial", "score", "cost_usd", "latency_seconds", "total_tokens"):
        assert get_column(small, name) == get_column(trials, name)
    assert list_statuses(small) == list_statuses(trials)
    assert count_outcomes([small]) == count_outcomes([trials])
    assert list_priced(small) == list_priced(trials)
    assert list(list_failed(small)) == list(list_failed(trials))
    assert lost_often(small) == lost_often(trials)
    assert list(filter_by_status(small, "failed")) == list(store_trials(filter_by_status(deepcopy(trials), "failed")))


def lost_often(trials):
    found = Counter()
    for lost, often in count_failed(trials):
        found[tuple(lost)] += often
    return found


def trials_of(store, owners):
    """The trials of each owner, and their start times."""
    return [(Trials(store, places, store.recorded(places)), store.started(places)) for places in store.arrange(owners)]


@pytest.mark.parametrize("most", [3, 4, 7, 100])
@pytest.mark.parametrize("owner", [lambda at: at % 3, lambda at: at // 9, lambda at: 2 - at // 9])
def test_the_trials_of_each_scenario_are_grouped_however_few_are_in_memory(most, owner):
    trials = some_trials(25)
    store, encoder = TrialStore(DiskSpool(in_memory=0), trial_of, most), TrialEncoder(encode_trial, clean_name)
    for at, trial in enumerate(deepcopy(trials)):
        store.take(encoder(trial), owner(at), trial.trial, f"t{at}" if at == 4 else None)
    for number, (found, started) in enumerate(trials_of(store, 4)):
        own = [at for at in range(25) if owner(at) == number]
        alike(found, [trials[at] for at in own])
        if own:
            set_stale(found, len(own) // 2, "old")
            assert [each.trace.stale for each in found].index("old") == len(own) // 2
            assert list_stale_reasons(found) == ["old"]
            found.store.stale.clear()
        alike(found[1:], [trials[at] for at in own][1:])
        assert started == ["t4" if at == 4 else None for at in own]


@pytest.mark.parametrize("most", [3, 8, 100])
def test_trials_that_come_in_blocks_are_the_same(most):
    trials, encoder = some_trials(25), TrialEncoder(encode_trial, clean_name)
    store = TrialStore(DiskSpool(in_memory=0), trial_of, most)
    for first in range(0, 25, 5):
        block = TrialStore(MemorySpool(), trial_of)
        for at, trial in enumerate(deepcopy(trials[first : first + 5])):
            block.take(encoder(trial), at, trial.trial, "t" if first and not at else None)
        sent = marshal.dumps(block.pack())
        store.extend(marshal.loads(sent), [4, 3, 2, 1, 0])  # noqa: S302  (our own bytes)
    for owner, (found, started) in enumerate(trials_of(store, 5)):
        alike(found, trials[4 - owner :: 5])
        assert started == [None, *["t" if owner == 4 else None] * 4]


def test_notes_about_a_trace_move_with_its_trial():
    """Its path, for example, where a document may not contain it."""
    trials, secret = some_trials(6), "password=swordfish42"
    for trial in trials[1], trials[4]:
        trial.trace.path = f"{secret}/{trial.trial}"
    store, encoder = TrialStore(MemorySpool(), trial_of), TrialEncoder(encode_trial, clean_name)
    for at, trial in enumerate(deepcopy(trials)):
        store.take(encoder(trial), at % 2, trial.trial, None)
    for owner, (found, _) in enumerate(trials_of(store, 2)):
        assert [each.trace.path for each in found] == [each.trace.path for each in trials[owner::2]]
