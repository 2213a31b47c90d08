"""`record --max-usd`: at most one call goes beyond it, none follows one of unknown cost, and it is never green."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from recording_runs import evalgate, record, trace_of

if TYPE_CHECKING:
    from pathlib import Path

    from fakes.providers import FakeProviders
    from recording_runs import Run

PRICES = "prices: {gpt-fake*: {input: 10000, output: 100000}}"  # an answer of the fake has 30 and 7 tokens: 1 USD
SUITE = """
version: 1
suite: support
traces: traces/**/*.jsonl
policy: {fail_on: [hard_fail, not_evaluable]}
%s
scenarios:
  - {id: refund, trials: {min: 3}, assertions: [{type: forbidden_tools, tools: [drop], required: true}]}
"""


def run(fake: FakeProviders, folder: Path, *words: str, prices: str = PRICES) -> Run:
    (folder / "suite.yaml").write_text(SUITE % prices)
    return record(folder, *fake.flags, "--suite", "suite.yaml", *words)


def test_at_most_one_call_goes_beyond_it__of_fifty_at_once(fake, tmp_path):
    done = run(fake, tmp_path, "--trials", "1", "--max-usd", "3.5", "--", "parallel")
    assert (done.code, len(fake.requests)) == (3, 4)
    assert done.last_line == "recording cost 4.00 USD (list price)"
    assert "stopped at the cap of 3.5 USD (--max-usd)" in done.err


def test_the_trial_is_incomplete_and_none_is_started_after_it(fake, tmp_path):
    done = run(fake, tmp_path, "--max-usd", "1", "--keep-going")
    trace = trace_of(tmp_path, "support/refund/0")
    assert (done.code, len(fake.requests), len([*tmp_path.rglob("*.jsonl")])) == (3, 1, 1)
    assert (trace["status"], trace["stopped_by"]) == ("incomplete", "the cap of 1 USD (--max-usd)")
    assert evalgate(tmp_path, "run", "suite.yaml").code != 0


def test_per_trial_every_trial_has_its_own_and_what_fits_is_recorded_whole(fake, tmp_path):
    (tmp_path / "skills/pdf").mkdir(parents=True)
    (tmp_path / "skills/pdf/SKILL.md").write_text("read")
    done = run(fake, tmp_path, "--max-usd", "2", "--per-trial", "--trials", "2")
    assert (done.code, done.last_line) == (0, "recording cost 4.00 USD (list price)")
    assert trace_of(tmp_path, "support/refund/1")["metadata"]["evalgate.skills"] == "pdf=3316348dbadf"


@pytest.mark.matrix  # test_caps.py has the same without an agent
def test_after_a_call_of_unknown_cost_none_is_sent(fake, tmp_path):
    done = run(fake, tmp_path, "--max-usd", "100", prices="prices: {other: {input: 1, output: 1}}")
    reason = "no price is known for gpt-fake-2026"
    assert (done.code, len(fake.requests)) == (3, 1)
    assert f"stopped at a call that --max-usd can't bound: {reason}" in done.err
    assert done.last_line == f"recording cost 1 call of unknown cost ({reason})"


def test_a_stream_in_flight_ends_cleanly_when_a_cap_is_reached(fake, tmp_path):
    """While one answer streams, another request is refused: the stream arrives whole, with its end."""
    done = record(tmp_path, *fake.flags, "--scenario", "refund", "--max-calls", "1", "--", "stream-beside")
    assert (done.code, len(fake.requests)) == (3, 1)
    assert "stream: whole" in done.out
    assert "refused: 429" in done.out
    calls = trace_of(tmp_path)["llm_calls"]
    assert [call.get("error") for call in calls] == [None], json.dumps(calls)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--max-usd", "0"], "--max-usd takes US dollars, more than 0 and at most 1,000,000"),
        (["--max-usd", "nan"], "--max-usd takes US dollars, more than 0 and at most 1,000,000"),
        (["--per-trial"], "--per-trial needs --max-calls or --max-usd"),
        (
            ["--max-usd", "5", "--without-proxy"],
            "--max-usd bounds nothing with --without-proxy, which lets requests pass unseen",
        ),
    ],
)
def test_a_cap_that_bounds_nothing_is_one_line(tmp_path, words, reason):
    done = record(tmp_path, "--scenario", "refund", *words)
    assert (done.code, done.err) == (2, f"error: {reason}\n")
