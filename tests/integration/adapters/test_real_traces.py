"""Traces of public benchmarks, which publish the expected values themselves."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import orjson
import pytest

from evalgate.adapters.files.workspace import Workspace
from evalgate.adapters.formats.native import reader as native
from evalgate.adapters.formats.open.trace_files import TraceFiles
from evalgate.models.trace.trace import DamagedTrace, Trace
from evalgate.models.trace.trace_document import encode_trace

SHARED = Path(__file__).resolve().parents[4] / "shared" / "traces"
pytestmark = [
    pytest.mark.shared,
]
TUNED = "ft_gpt-4.1"


def read(pattern):
    records = list(TraceFiles(Workspace(None, str(SHARED))).read([pattern], ""))
    assert all(isinstance(record, Trace) for record in records), [r for r in records if isinstance(r, DamagedTrace)]
    return records


def score(trace, name="reward"):
    return next(found["score_value"] for found in trace.evaluations if found["name"] == name)


@pytest.fixture(scope="module")
def tau():
    return read("tau-bench/*.json")


@pytest.fixture(scope="module")
def tau2():
    found = {}
    for trace in read("tau2-bench/*.json"):
        found.setdefault(Path(trace.source.path).name, []).append(trace)
    return found


def named(tau2, start, domain):
    return next(traces for name, traces in tau2.items() if name.startswith(start) and domain in name)


def test_tau_bench_is_fifty_tasks_of_four_trials(tau):
    assert len(tau) == 200
    assert Counter(trace.trial for trace in tau) == {0: 50, 1: 50, 2: 50, 3: 50}
    assert {trace.scenario_id for trace in tau} == {str(number) for number in range(50)}
    assert [trace.source.record for trace in tau] == list(range(200))


def test_tau_bench_rewards_are_those_of_the_file(tau):
    assert sum(map(score, tau)) / len(tau) == pytest.approx(0.42)
    by_task = Counter()
    for trace in tau:
        by_task[trace.scenario_id] += score(trace)
    assert Counter(by_task.values())[4] == 10
    assert sum(1 for task in range(50) if by_task[str(task)] == 0) == 14


def test_tau_bench_calls_are_all_answered_but_seventy_three_failed(tau):
    calls = [call for trace in tau for call in trace.tool_calls]
    assert len(calls) == 1164
    assert Counter(call["status"] for call in calls) == {"ok": 1091, "error": 73}
    assert not any(call["arguments_error"] for call in calls)
    assert Counter(call["name"] for call in calls)["get_reservation_details"] == 377


def test_tau_bench_ends_with_anything_but_the_answer(tau):
    assert Counter(trace.messages[-1]["role"] for trace in tau) == {"user": 149, "tool": 51}
    for trace in tau:
        assert trace.response["message_index"] != len(trace.messages) - 1
        assert "###STOP###" not in (trace.response["content"] or "")


def test_tau_bench_figures_are_unknown(tau):
    assert {trace.cost["usd"] for trace in tau} == {trace.latency["total_ms"] for trace in tau} == {None}
    assert not any(trace.warnings for trace in tau)


@pytest.mark.parametrize(("domain", "runs", "base", "tuned"), [("airline", 20, 10, 13), ("retail", 40, 34, 34)])
def test_tau2_pairs_have_the_rewards_of_the_files(tau2, domain, runs, base, tuned):
    before, after = named(tau2, "gpt-4.1", domain), named(tau2, TUNED, domain)
    assert len(before) == len(after) == runs
    assert (sum(map(score, before)), sum(map(score, after))) == (base, tuned)
    one, other = ({trace.scenario_id: score(trace) for trace in traces} for traces in (before, after))
    assert one.keys() == other.keys()
    broken = sum(one[task] > other[task] for task in one)
    fixed = sum(one[task] < other[task] for task in one)
    assert (broken, fixed) == ((3, 6) if domain == "airline" else (6, 6))


@pytest.mark.parametrize(("domain", "cost", "steps"), [("airline", 0.783268, 206), ("retail", 1.888618, 476)])
def test_tau2_costs_are_recorded_and_not_computed(tau2, domain, cost, steps):
    traces = named(tau2, "gpt-4.1", domain)
    assert sum(trace.cost["usd"] for trace in traces) == pytest.approx(cost)
    assert {trace.cost["source"] for trace in traces} == {"recorded"}
    assert sum(len(trace.llm_calls) for trace in traces) == steps


@pytest.mark.parametrize(("domain", "steps"), [("airline", 248), ("retail", 531)])
def test_tau2_costs_of_0_are_unknown(tau2, domain, steps):
    traces = named(tau2, TUNED, domain)
    assert {trace.cost["usd"] for trace in traces} == {None}
    assert sum(len(trace.llm_calls) for trace in traces) == steps
    assert all(trace.usage["total_tokens"] > 0 for trace in traces)


@pytest.mark.parametrize(
    ("start", "domain", "calls", "errors", "seconds"),
    [
        ("gpt-4.1", "airline", 148, 1, 22.5),
        (TUNED, "airline", 147, 1, 34.5),
        ("gpt-4.1", "retail", 299, 12, 24.2),
        (TUNED, "retail", 292, 23, 39.2),
    ],
)
def test_tau2_calls_and_durations(tau2, start, domain, calls, errors, seconds):
    traces = named(tau2, start, domain)
    found = [call for trace in traces for call in trace.agent_calls]
    assert len(found) == calls
    assert Counter(call["status"] for call in found) == {"ok": calls - errors, "error": errors}
    assert sum(trace.latency["total_ms"] for trace in traces) / len(traces) / 1000 == pytest.approx(seconds, abs=0.05)


def test_a_made_up_clock_is_noticed(tau2):
    for name, traces in tau2.items():
        suspicious = [trace for trace in traces if any(w["code"] == "suspicious_latency" for w in trace.warnings)]
        assert len(suspicious) == (50 if name.startswith("toolorchestra") else 0)


def test_every_trace_survives_the_native_format(tau, tau2):
    for trace in [*tau[::20], *(trace for traces in tau2.values() for trace in traces[::10])]:
        again = native.build(orjson.loads(orjson.dumps(encode_trace(trace))))
        assert again == trace


@pytest.mark.parametrize(
    "folder", sorted(path.name for path in SHARED.iterdir() if path.is_dir()) if SHARED.is_dir() else []
)
def test_no_recording_of_any_format_is_more_than_an_error(folder):
    for record in TraceFiles(Workspace(None, str(SHARED))).read([folder], ""):
        assert isinstance(record, Trace) or record.reason.isprintable()
