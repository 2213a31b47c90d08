"""Stored trials equal the original ones: the same values, the same documents, the same order."""

from __future__ import annotations

import json
from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import to_builtins
from run_builders import store_trials

from evalgate.adapters.files.disk_spool import DiskSpool
from evalgate.application.documents.trial_store import MOST_ROWS, TrialStore
from evalgate.models.run.run import AssertionResult, TraceRef, TrialResult
from evalgate.models.run.trials import is_priced, list_stale_reasons, set_stale, summarize
from evalgate.reporting.results.trial_doc import build_trial_docs
from evalgate.reporting.text.scenario_sections import (
    count_failed_checks,
    count_passed,
    list_trial_reasons,
    sum_seconds,
)

AMOUNTS = st.none() | st.floats(0, 1e6)
COUNTS = st.none() | st.integers(0, 10**11)
NAMES = ("trial", "status", "score", "cost_usd", "latency_seconds", "total_tokens", "input_tokens", "output_tokens")
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
    COUNTS,
    COUNTS,
)


def scenario(trials):
    return {"trials": build_trial_docs(trials)}


@given(st.lists(TRIALS, max_size=6))
def test_counts_and_reasons_of_stored_trials_are_the_same(trials):
    small = store_trials(deepcopy(trials))
    for name in NAMES:
        assert [getattr(trial, name) for trial in small] == [getattr(trial, name) for trial in trials]
    assert list(map(summarize, small)) == list(map(summarize, trials))
    assert list(map(is_priced, small)) == list(map(is_priced, trials))
    assert list(build_trial_docs(small)) == build_trial_docs(trials)
    stored, plain = scenario(small), scenario(trials)
    assert count_failed_checks(stored) == count_failed_checks(plain)
    assert (count_passed(stored), sum_seconds(stored)) == (count_passed(plain), sum_seconds(plain))
    assert list_trial_reasons(stored) == [trial.reason for trial in trials if trial.status == "error" and trial.reason]


@pytest.mark.parametrize("in_memory", [0, 1 << 20])
def test_documents_are_the_same_in_memory_and_on_disk(in_memory):
    trials = [a_trial(number, "unreadable" if number % 3 else None) for number in range(20)]
    stored = [*map(TrialStore(DiskSpool(in_memory)).keep, trials)]
    assert [each.whole for each in stored] == build_trial_docs(trials)
    assert [json.loads(each.document) for each in stored] == to_builtins(build_trial_docs(trials))


def a_trial(number: int = 0, reason: str | None = None) -> TrialResult:
    ref = TraceRef("t", "a.jsonl", "native", "0" * 64, 1)
    return TrialResult(number, ref, "error" if reason else "passed", 1.0, [], reason=reason)


def test_the_reason_why_a_trace_is_stale_can_be_set_later():
    trials = store_trials([a_trial(0), a_trial(1)])
    set_stale(trials[1], 'it is "old"')
    assert list_stale_reasons(trials) == ['it is "old"']
    assert [trial.trace.stale for trial in trials] == [None, 'it is "old"']
    assert [doc.trace.stale for doc in build_trial_docs(trials)] == [None, 'it is "old"']


def a_priced_trial(number: int) -> TrialResult:
    trial = a_trial(number)
    trial.pricing = {
        "table": "prices",
        "usd": 0.5,
        "known_usd": 0.5,
        "recorded_usd": 0.0,
        "missing_models": [],
        "usage": None,
    }
    return trial


def test_the_assertions_that_trials_share_are_encoded_once_and_decode_to_the_same():
    """A computed cost is written after the shared end, so such a document is stored whole."""
    shared = [AssertionResult("a", "jmespath", "failed", 0.5, 2.0, False, "as it is", is_shared=True)]
    alone = [*shared, AssertionResult("b", "jmespath", "passed", 1.0, 1.0, False, "alone")]
    trials = [a_trial(0), a_priced_trial(1), a_trial(2), a_trial(3)]
    for trial, assertions in zip(trials, (shared, shared, shared, alone), strict=True):
        trial.assertions = assertions
    stored = store_trials(trials)
    assert [json.loads(each.document) for each in stored] == to_builtins(build_trial_docs(trials))
    assert stored[0].summary is stored[2].summary
    assert [each.summary.end != b"" for each in stored] == [True, False, True, False]


def test_few_shared_assertions_are_kept_at_a_time():
    store = TrialStore(DiskSpool())
    for number in range(1, MOST_ROWS // 50):
        trial = a_trial()
        rows = [AssertionResult(str(number), "t", "passed", 1.0, 1.0, False, "", is_shared=True) for _ in range(100)]
        trial.assertions = rows
        assert store.keep(trial).summary is store.keep(trial).summary
        assert sum(len(assertions) for assertions, _ in store._shared.values()) <= MOST_ROWS + 100


def test_decisions_use_the_unredacted_traces():
    """What a document redacts of a trace is still available: its path, its commit, its time."""
    secret = "password=swordfish42"
    trial = a_trial()
    trial.trace.path, trial.trace.commit = f"d/{secret}.jsonl", secret
    trial.assertions = [AssertionResult(secret, "jmespath", "failed", 0.0, 1.0, False, "no")]
    [stored] = store_trials([trial])
    assert (stored.trace.path, stored.trace.commit) == (f"d/{secret}.jsonl", secret)
    assert [each.name for each in stored.summary.failed] == [secret]
    assert "swordfish42" not in str(list(build_trial_docs([stored])))
