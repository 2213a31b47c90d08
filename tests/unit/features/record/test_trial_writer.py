"""What a trial writes: a cassette of up to 20 MB, and a trace whose texts are cut."""

from __future__ import annotations

import json

import pytest
from recorded_cassettes import TRIAL, USER, answer, chat, exchange

from evalgate.features.record.application.trial_writer import CodeVersion, Outputs, TrialWriter
from evalgate.features.record.application.trials import CacheRules, RecordedTrial
from evalgate.features.record.bootstrap.cassettes import CassetteFolder
from evalgate.features.record.bootstrap.trace_folder import TraceFolder
from evalgate.features.record.bootstrap.trace_readers import TraceFormats
from evalgate.features.record.models.run import AgentEnd

VERSION = CodeVersion("2026-01-01T00:00:00Z")


def write(folder, mode, text):
    notes = []
    outputs = Outputs(CassetteFolder(str(folder)), TraceFolder(str(folder), "traces"), TraceFormats(), notes.append)
    recorded = RecordedTrial(TRIAL, CacheRules(mode))
    recorded.add_exchange(exchange(chat(USER), answer(text)))
    return TrialWriter(outputs, mode, bytes).write(recorded, AgentEnd(0), VERSION, None), notes


@pytest.mark.parametrize("mode", ["auto", "write"])
def test_a_cassette_above_20_mb_is_not_written(tmp_path, mode):
    outcome, notes = write(tmp_path, mode, "x" * 20_000_000)
    assert (outcome.is_too_large, outcome.traces) == (mode == "write", 1)
    assert ["it is not written" in note for note in notes] == [True]
    assert not (tmp_path / "evals").exists()
    trace = json.loads((tmp_path / "traces/refund/0.jsonl").read_bytes())
    assert trace["response"]["content"].endswith("[cut: the text had 20,000,000 characters]")


def test_a_cassette_above_1_mb_is_written_with_a_warning(tmp_path):
    outcome, notes = write(tmp_path, "write", "x" * 1_000_001)
    assert (outcome.is_too_large, len(notes), "shorten what the agent sends" in notes[0]) == (False, 1, True)
    assert (tmp_path / "evals/cassettes/refund/0.jsonl").stat().st_size > 1_000_000
