import json

import pytest
from builders import make_call, make_trace
from fakes.files import MemoryFiles

from evalgate.adapters.formats.core.builder.trace_builder import (
    MIN_EQUAL_RUNS,
    add_plausibility_warnings,
    compare_durations,
)
from evalgate.adapters.formats.open.trace_files import TraceFiles
from evalgate.models.trace.trace import unknown_usage


def codes(trace):
    return [warning["code"] for warning in trace.warnings]


def questioned(**given):
    trace = make_trace(**given)
    add_plausibility_warnings(trace)
    return trace


def call(tokens_in):
    usage = {
        **unknown_usage(),
        "input_tokens": tokens_in,
        "output_tokens": 10,
        "total_tokens": tokens_in + 10,
    }
    return {
        "index": 0, "turn": 1, "step": 1, "provider": None, "model": "m", "response_id": None, "usage": usage,
        "cost_usd": None, "duration_ms": None, "finish_reason": None,
    }  # fmt: skip


def read(*documents):
    content = "\n".join(json.dumps(document) for document in documents).encode()
    return list(TraceFiles(MemoryFiles({"t.jsonl": content})).read(["t.jsonl"], ""))


def native(seconds, **given):
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes"}]
    return {"schema": "evalgate.trace/1", "messages": messages, "latency_seconds": seconds, **given}


def test_a_plausible_trace_has_no_warning():
    calls = [call(900)]
    assert codes(questioned(calls=["a"], cost_usd=0.1, input_tokens=900, output_tokens=10, llm_calls=calls)) == []


def test_a_cost_of_0_beside_tokens_is_unknown():
    trace = questioned(cost_usd=0, input_tokens=900, output_tokens=10)
    assert (trace.cost["usd"], codes(trace)) == (None, ["zero_cost"])
    assert codes(questioned(cost_usd=0)) == []


def conversation(*steps):
    """A native trace in which the assistant makes each step's calls, by their ids, and gets all results."""
    messages = [{"role": "user", "content": "hi"}]
    for step in steps:
        calls = [{"id": name, "name": "look", "arguments": {"at": at}} for at, name in enumerate(step)]
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        messages += [{"role": "tool", "tool_call_id": name, "content": "seen"} for name in step]
    return {"schema": "evalgate.trace/1", "messages": [*messages, {"role": "assistant", "content": "yes"}]}


def test_calls_of_one_step_with_the_same_id_are_a_warning():
    [doubled, later, apart] = read(
        conversation(["c", "c"]), conversation(["c"], ["c"]), conversation(["c", "d"], ["e"])
    )
    assert [codes(trace) for trace in (doubled, later, apart)] == [["same_call_id"], [], []]


def test_calls_without_result_are_a_warning_except_those_of_a_simulated_user():
    assert codes(questioned(calls=[make_call(status="missing")])) == ["results_missing"]
    assert codes(questioned(calls=[make_call(status="missing", requestor="user")])) == []


@pytest.mark.parametrize(
    ("given", "code"), [({"status": "incomplete"}, "incomplete"), ({"finish_reason": "length"}, "truncated")]
)
def test_a_run_that_ended_early_is_a_warning(given, code):
    assert codes(questioned(**given)) == [code]


@pytest.mark.parametrize(
    ("total", "expected"), [(1000, []), (1009, []), (1011, ["total_mismatch"]), (500, ["total_mismatch"])]
)
def test_a_total_may_differ_from_its_parts_by_one_in_a_hundred(total, expected):
    trace = questioned(input_tokens=total, output_tokens=10, llm_calls=[call(1000)])
    assert codes(trace) == expected


def test_a_warning_of_a_reader_is_not_repeated():
    warning = {"code": "incomplete", "message": "stopped by hand", "where": None}
    assert questioned(status="incomplete", warnings=[warning]).warnings == [warning]


def test_runs_of_one_file_that_took_equally_long_are_suspicious_every_one():
    runs = read(*[native(60)] * MIN_EQUAL_RUNS, native(61), native(60))
    assert [codes(run) for run in runs] == [["suspicious_latency"]] * MIN_EQUAL_RUNS + [
        [],
        ["suspicious_latency"],
    ]


@pytest.mark.parametrize(
    "seconds",
    [[60] * (MIN_EQUAL_RUNS - 1), [60, 60, 61, 60, 60, 60, 60], [None] * 9, [60] * 4 + [None] * 3, []],
)
def test_few_or_different_or_unknown_durations_are_not(seconds):
    documents = [native(each) for each in seconds]
    assert [codes(run) for run in read(*documents or [native(1)])] == [[]] * max(1, len(documents))


def test_no_more_runs_wait_than_are_needed():
    taken = []

    def runs():
        for number in range(100):
            taken.append(number)
            yield make_trace(latency_seconds=1)

    next(compare_durations(runs()))
    assert len(taken) == MIN_EQUAL_RUNS


def test_damaged_records_keep_their_position_and_are_not_counted():
    found = read(*[native(60)] * 4, {"schema": "evalgate.trace/1", "messages": 3}, native(60))
    assert [hasattr(record, "reason") for record in found] == [False] * 4 + [True, False]
    assert codes(found[-1]) == ["suspicious_latency"]
