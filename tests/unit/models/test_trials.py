"""Compact trials equal the original ones: the same numbers, the same documents, the same order."""

from __future__ import annotations

import json
import marshal
from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_builders import store_trials

from evalgate.models.run.run import AssertionResult, SharedOutcome, TraceRef, TrialResult
from evalgate.models.run.spool import MemorySpool
from evalgate.models.run.trial_record import FailedAssertion
from evalgate.models.run.trials import (
    Trials,
    count_failed,
    count_outcomes,
    filter_by_status,
    get_column,
    list_failed,
    list_failed_names,
    list_priced,
    list_stale_reasons,
    set_stale,
)
from evalgate.reporting.results.trial_doc import build_trial_doc, build_trial_docs
from evalgate.reporting.text.scenario_sections import (
    count_failed_checks,
    count_passed,
    list_trial_reasons,
    sum_seconds,
)

AMOUNTS = st.none() | st.floats(0, 1e6)
COUNTS = st.none() | st.integers(0, 10**11)
NAMES = ("trial", "score", "cost_usd", "latency_seconds", "total_tokens", "input_tokens")
CHECKS = st.builds(
    AssertionResult,
    st.sampled_from(["one", "two", "three"]),
    st.sampled_from(["jmespath", "cost_limit"]),
    st.sampled_from(["passed", "failed", "not_evaluable", "skipped", "error"]),
    st.floats(0, 1),
    st.floats(0, 9),
    st.booleans(),
    st.text(max_size=20),
)
TRIALS = st.builds(
    TrialResult,
    st.integers(0, 10**11),
    st.builds(
        TraceRef,
        st.none() | st.text(max_size=9),
        st.just("a.jsonl"),
        st.just("native"),
        st.just("0" * 64),
        st.none() | st.integers(1, 99),
    ),
    st.sampled_from(["passed", "failed", "hard_fail", "error", "not_evaluable"]),
    st.none() | st.floats(0, 1),
    st.lists(CHECKS, max_size=4),
    AMOUNTS,
    AMOUNTS,
    COUNTS,
    st.lists(st.sampled_from(["get_order", "refund"]), max_size=3),
    st.none() | st.text(min_size=1, max_size=9),
    st.just([]),
    COUNTS,
    COUNTS,
)


@given(st.lists(st.lists(TRIALS, max_size=4), max_size=3))
def test_trials_that_other_stores_packed_are_the_same(blocks):
    store = store_trials([]).store
    for block in blocks:
        sent = marshal.dumps(store_trials(deepcopy(block)).store.pack())
        packed = marshal.loads(sent)  # noqa: S302  (our own bytes)
        assert store.extend(packed, [0]) == len(block)
    [places] = store.arrange(1)
    trials = [trial for block in blocks for trial in block]
    whole, small = store_trials(deepcopy(trials)), Trials(store, places, store.recorded(places))
    assert list(small.documents()) == list(whole.documents())
    for name in NAMES:
        assert get_column(small, name) == get_column(trials, name)
    assert count_outcomes([small]) == count_outcomes([trials])
    assert list(list_failed(small)) == list(list_failed(trials))
    assert list_priced(small) == list_priced(trials)


def scenario(trials):
    return {"trials": build_trial_docs(trials)}


@given(st.lists(TRIALS, max_size=6))
def test_counts_over_trials_are_the_same(trials):
    small = store_trials(deepcopy(trials))
    for name in NAMES:
        assert get_column(small, name) == get_column(trials, name)
    assert count_outcomes([small]) == count_outcomes([trials])
    assert list_priced(small) == list_priced(trials)
    assert list(list_failed(small)) == list(list_failed(trials))
    assert len(filter_by_status(small, "failed")) == len(filter_by_status(trials, "failed"))


@given(st.lists(TRIALS, max_size=6))
def test_reasons_and_counts_of_trials_are_the_same(trials):
    small = store_trials(deepcopy(trials))
    assert list(build_trial_docs(small)) == [json.loads(json.dumps(build_trial_doc(trial))) for trial in trials]
    packed, plain = scenario(small), scenario(trials)
    assert count_failed_checks(packed) == count_failed_checks(plain)
    assert (count_passed(packed), sum_seconds(packed)) == (count_passed(plain), sum_seconds(plain))
    assert list_trial_reasons(packed) == [trial.reason for trial in trials if trial.status == "error" and trial.reason]


def a_trial(number: int = 0, reason: str | None = None) -> TrialResult:
    ref = TraceRef("t", "a.jsonl", "native", "0" * 64, 1)
    return TrialResult(number, ref, "error" if reason else "passed", 1.0, [], reason=reason)


def test_a_trial_comes_back_as_it_was():
    trials = store_trials([a_trial(7), a_trial(8, "unreadable")])
    assert trials[0] == a_trial(7)
    assert trials[1:] == [a_trial(8, "unreadable")]


def test_the_reason_why_a_trace_is_stale_can_be_set_later():
    trials = store_trials([a_trial(0), a_trial(1)])
    set_stale(trials, 1, 'it is "old"')
    assert list_stale_reasons(trials) == ['it is "old"']
    assert [trial.trace.stale for trial in trials] == [None, 'it is "old"']
    assert [doc["trace"].get("stale") for doc in build_trial_docs(trials)] == [None, 'it is "old"']


def test_a_row_that_trials_share_is_encoded_once_and_decodes_to_the_same():
    shared = AssertionResult("a", "jmespath", "passed", 1.0, 1.0, False, "as it is", is_shared=True)
    trials = [a_trial(number) for number in range(3)]
    for trial in trials:
        trial.assertions = [shared]
    assert list(build_trial_docs(store_trials(trials))) == [build_trial_doc(trial) for trial in trials]


def priced_trial(number: int, together: SharedOutcome) -> TrialResult:
    trial = a_trial(number)
    trial.assertions, trial.together = together.assertions, together
    trial.pricing = {
        "table": "prices",
        "usd": 0.5,
        "known_usd": 0.5,
        "recorded_usd": 0.0,
        "missing_models": [],
        "usage": None,
    }
    return trial


def test_the_end_that_documents_share_is_stored_once_and_decodes_to_the_same():
    """A computed cost is written after the shared end, so such a document is stored whole."""
    shared = AssertionResult("a", "jmespath", "failed", 0.5, 2.0, False, "as it is", is_shared=True)
    together = SharedOutcome([shared], "passed", 0.5, is_shared=True)
    trials = [a_trial(0), priced_trial(1, together), a_trial(2), a_trial(3)]
    for trial in (trials[0], trials[2]):
        trial.assertions, trial.together = [shared], together
    documents = [build_trial_doc(trial) for trial in trials]
    small = store_trials(trials)
    assert [json.loads(each) for each in small.documents()] == documents
    assert list(small.documents()) == [small.document(place) for place in range(len(trials))]
    assert [b"assertions" in small.store.pack()[0], together.end != b""] == [True, True]
    again = store_trials([]).store
    again.extend(marshal.loads(marshal.dumps(small.store.pack())), [0])  # noqa: S302  (our own bytes)
    [places] = again.arrange(1)
    assert list(Trials(again, places, small.numbers).documents()) == list(small.documents())
    assert sorted(count_failed(small), key=str) == sorted(
        [
            ((FailedAssertion("a", "jmespath", False, 1.0, "failed"),), 2),
            ((FailedAssertion("a", "jmespath", False, 1.0, "failed"),), 1),
            ((), 1),
        ],
        key=str,
    )


@pytest.mark.parametrize("size", [0, 1, 5])
def test_a_spool_in_memory_returns_what_was_put(size):
    spool = MemorySpool()
    starts = [spool.put(b"x" * size + bytes([number])) for number in range(3)]
    assert [spool.get(start, size + 1) for start in starts] == [b"x" * size + bytes([n]) for n in range(3)]


def test_decisions_use_the_unredacted_traces():
    """What a document redacts of a trace is still available: its path, its commit, its time."""
    secret = "password=swordfish42"
    trial = a_trial()
    trial.trace.path, trial.trace.commit = f"d/{secret}.jsonl", secret
    trial.assertions = [AssertionResult(secret, "jmespath", "failed", 0.0, 1.0, False, "no")]
    trials = store_trials([trial])
    assert (trials[0].trace.path, trials[0].trace.commit) == (f"d/{secret}.jsonl", secret)
    assert list_failed_names(trials) == {secret}
    assert "swordfish42" not in str(list(build_trial_docs(trials)))
