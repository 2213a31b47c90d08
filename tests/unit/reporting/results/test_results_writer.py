"""`results.json` written in chunks equals the document."""

from __future__ import annotations

import json

import pytest
from msgspec import to_builtins
from results_builder import a_scenario, a_suite, results
from run_builders import store_trials

from evalgate.models.run.chunks import join_chunks
from evalgate.models.run.run import TraceRef, TrialResult
from evalgate.reporting.results.results_json import AT_ONCE, stream_results
from evalgate.reporting.results.trial_doc import build_trial_docs


def some_trials(count: int) -> list[TrialResult]:
    return [
        TrialResult(number, TraceRef(f"t{number}", "a.jsonl", "native", None), "passed", 1.0, [])
        for number in range(count)
    ]


@pytest.mark.parametrize("count", [0, 1, 3, AT_ONCE, AT_ONCE + 1])
def test_joined_chunks_are_the_document(count):
    trials = some_trials(count)
    document = results(
        [a_suite("s", [a_scenario("a", trials=build_trial_docs(store_trials(trials))), a_scenario("b")])]
    )
    plain = results([a_suite("s", [a_scenario("a", trials=build_trial_docs(trials)), a_scenario("b")])])
    assert (
        join_chunks(stream_results(document)) == json.dumps(to_builtins(plain), separators=(",", ":")).encode() + b"\n"
    )


def test_many_trials_are_split_into_chunks():
    document = results(
        [a_suite("s", [a_scenario("a", trials=build_trial_docs(store_trials(some_trials(AT_ONCE + 1))))])]
    )
    assert max(map(len, stream_results(document))) < 2_000
