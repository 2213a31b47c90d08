"""A recording sends at most as many requests to providers as `--max-calls` allows, and is never green beyond."""

from __future__ import annotations

import json

import pytest
from recording_runs import evalgate, record, trace_of

SUITE = """
version: 1
suite: support
traces: traces/**/*.jsonl
policy: {fail_on: [hard_fail, not_evaluable]}
scenarios:
  - {id: refund, trials: {min: 3}, assertions: [{type: forbidden_tools, tools: [drop], required: true}]}
"""


def test_no_request_goes_beyond_it__of_fifty_at_once(fake, tmp_path):
    done = record(tmp_path, *fake.flags, "--scenario", "refund", "--max-calls", "20", "--", "parallel")
    assert (done.code, len(fake.requests)) == (3, 20)
    assert (
        done.last_line
        == "20 model calls (openai), 0 spans, 1 trace, stopped at the cap of 20 model calls (--max-calls)"
    )


@pytest.mark.parametrize("trials", ["1", "3"])
def test_the_trial_is_incomplete_and_none_is_started_after_it(fake, tmp_path, trials):
    done = record(tmp_path, *fake.flags, "--scenario", "refund", "--trials", trials, "--max-calls", "1")
    trace = trace_of(tmp_path)
    assert (done.code, len(fake.requests), len([*tmp_path.rglob("*.jsonl")])) == (3, 1, 1)
    assert (trace["status"], trace["stopped_by"]) == ("incomplete", "the cap of 1 model call (--max-calls)")
    assert "status 429" in done.out or "429" in json.dumps(trace) or "HTTP Error 429" in done.err


def test_it_is_not_green_by_accident(fake, tmp_path):
    (tmp_path / "suite.yaml").write_text(SUITE)
    record(tmp_path, *fake.flags, "--suite", "suite.yaml", "--max-calls", "3", "--keep-going")
    judged = evalgate(tmp_path, "run", "suite.yaml")
    assert judged.code != 0
    assert "the cap of 3 model calls (--max-calls)" in judged.out


def test_what_a_cassette_answers_costs_nothing(fake, tmp_path):
    flags = (*fake.flags, "--scenario", "refund")
    assert record(tmp_path, *flags, "--cache", "write", "--max-calls", "2").code == 0
    assert record(tmp_path, *flags, "--cache", "auto", "--max-calls", "1").code == 0
    assert len(fake.requests) == 2


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["0"], "--max-calls takes a number, 1 or more"),
        (["5", "--without-proxy"], "--max-calls bounds nothing with --without-proxy, which lets requests pass unseen"),
    ],
)
def test_a_cap_that_bounds_nothing_is_one_line(tmp_path, words, reason):
    done = record(tmp_path, "--scenario", "refund", "--max-calls", *words)
    assert (done.code, done.err) == (2, f"error: {reason}\n")
