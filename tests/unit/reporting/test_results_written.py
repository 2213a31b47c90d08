"""`results.json` written in pieces says what the document says."""

from __future__ import annotations

import json

import pytest

from evalgate.application.stored_trial import trial_of
from evalgate.models.pieces import whole
from evalgate.models.run import TraceRef, TrialResult
from evalgate.models.trials import Memory, Teller, Trials, TrialStore
from evalgate.reporting.exports.results_written import AT_ONCE, written
from evalgate.reporting.exports.trial_doc import trial_doc, trial_docs, trial_line
from tests.results_builder import a_scenario, a_suite, results


def some_trials(count: int) -> list[TrialResult]:
    return [
        TrialResult(number, TraceRef(f"t{number}", "a.jsonl", "native", None), "passed", 1.0, [])
        for number in range(count)
    ]


def kept(trials: list[TrialResult]) -> Trials:
    store, tell = TrialStore(Memory(), trial_of), Teller(trial_line)
    places = [store.take(tell(trial)) for trial in trials]
    for place, trial in enumerate(trials):
        store.numbers[place] = trial.trial
    return Trials(store, places)


@pytest.mark.parametrize("count", [0, 1, 3, AT_ONCE, AT_ONCE + 1])
def test_pieces_together_are_the_document(count):
    trials = some_trials(count)
    document = results([a_suite("s", [a_scenario("a", trials=trial_docs(kept(trials))), a_scenario("b")])])
    plain = results([a_suite("s", [a_scenario("a", trials=list(map(trial_doc, trials))), a_scenario("b")])])
    assert whole(written(document)) == json.dumps(plain, separators=(",", ":")).encode() + b"\n"


def test_many_trials_are_never_in_one_piece():
    document = results([a_suite("s", [a_scenario("a", trials=trial_docs(kept(some_trials(AT_ONCE + 1))))])])
    assert max(map(len, written(document))) < 2_000
