"""ATIF trajectories, ADK sessions and Inspect logs of other projects, compared with their raw bytes."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import jsonschema_rs
import pytest

from evalgate.adapters.files.workspace import Workspace
from evalgate.adapters.formats.adk.evals import expected_traces
from evalgate.adapters.formats.atif import reader as atif
from evalgate.adapters.formats.open.trace_files import TraceFiles
from evalgate.models.trace.trace import DamagedTrace, Trace

SHARED = Path(__file__).resolve().parents[4] / "shared" / "traces"
pytestmark = [
    pytest.mark.shared,
]
NOT_RECORDED = "an eval set holds expected conversations, not what an agent did"


def read(pattern):
    return list(TraceFiles(Workspace(None, str(SHARED))).read([pattern], ""))


def only(path):
    (record,) = read(path)
    return record


def trace_of(path):
    record = only(path)
    assert isinstance(record, Trace), record
    return record


def raw(path):
    return json.loads((SHARED / path).read_bytes())


def figures(trace):
    usage = trace.usage
    return usage["input_tokens"], usage["output_tokens"], trace.cost["usd"], trace.latency["total_ms"]


def codes(trace):
    return [warning["code"] for warning in trace.warnings]


def begins(trace, words):
    content = trace.response["content"]
    return content is None if words is None else (content or "").startswith(words)


NO_CALL, GAP = "result_without_call", "missing_evidence"
ATIF = {
    # messages, calls, model calls, input, output, cost, latency, warnings, how the answer begins
    "harbor_openhands": (7, 2, 2, 220, 80, 0.00135, None, [], "Task complete. Created"),
    "harbor_terminus2_continuation_cont1": (
        8, 0, 4, 4250, 530, 0.015925, None, [NO_CALL, "copied_context", GAP], None
    ),
    "harbor_terminus2_invalid_json": (9, 3, 4, 2417, 200, 0.0080425, None, [NO_CALL, GAP], "Analysis: Task already completed."),
    "harbor_terminus2_sub_answers": (2, 0, 1, 700, 120, 0.00295, None, ["copied_context"], "Here are the answers"),
    "harbor_terminus2_sub_questions": (2, 0, 1, 100, 20, 0.00045, None, [], "I have the following questions"),
    "harbor_terminus2_sub_summary": (2, 0, 1, 500, 200, 0.00325, None, ["copied_context"], "I have been working"),
    "harbor_terminus2_summarization": (
        17, 7, 7, 7802, 1030, 0.029805, None, ["total_mismatch", "subagent_elsewhere"], "Analysis: Yes, confirming"
    ),
    "multi_tool_trajectory": (9, 4, 3, 9150, 635, 0.0074, 14000.0, [], "Here is a comparison"),
    "multimodal_trajectory": (4, 1, 2, 2600, 125, 0.013, 6000.0, [], "The image contains two dice"),
    "simple_trajectory": (4, 1, 2, 1120, 124, 0.00078, 5000.0, [], "Alphabet (GOOGL)"),
    "v17_embedded_subagents": (7, 1, 2, 67, 21, None, 3000.0, [], "ATIF v1.7 support is ready"),
}  # fmt: skip


@pytest.mark.parametrize("name", ATIF)
def test_atif_figures(name):
    messages, calls, models, tokens_in, tokens_out, usd, latency, warned, words = ATIF[name]
    trace = trace_of(f"atif/{name}.json")
    assert (len(trace.messages), len(trace.tool_calls), len(trace.llm_calls)) == (messages, calls, models)
    assert figures(trace)[:2] == (tokens_in, tokens_out)
    assert trace.cost["usd"] == (None if usd is None else pytest.approx(usd))
    assert trace.latency["total_ms"] == latency
    assert (codes(trace), trace.status) == (warned, "ok")
    assert begins(trace, words)
    assert {call["status"] for call in trace.tool_calls} <= {"ok", "unknown"}


@pytest.mark.parametrize("name", ATIF)
def test_atif_calls_are_those_of_the_steps_that_are_not_copied(name):
    document = raw(f"atif/{name}.json")
    own = [step for step in document["steps"] if not step.get("is_copied_context")]
    asked = [call for step in own for call in step.get("tool_calls") or []]
    trace = trace_of(f"atif/{name}.json")
    assert [(c["id"], c["name"], c["arguments"]) for c in trace.tool_calls] == [
        (call["tool_call_id"], call["function_name"], call["arguments"]) for call in asked
    ]
    metered = sum((step.get("metrics") or {}).get("prompt_tokens", 0) for step in own)
    inner = [step for sub in document.get("subagent_trajectories") or [] for step in sub["steps"]]
    metered += sum((step.get("metrics") or {}).get("prompt_tokens", 0) for step in inner)
    assert sum(call["usage"]["input_tokens"] for call in trace.llm_calls) == metered


def test_atif_parts_in_a_custom_object_are_refused():
    record = only("atif/subagent_trajectories.json")
    assert isinstance(record, DamagedTrace)
    assert record.reason.startswith("no format matches an object with `parent`, `child`")


def test_every_atif_file_is_covered():
    names = {path.stem for path in (SHARED / "atif").glob("*.json")}
    assert names == {*ATIF, "subagent_trajectories"}


def test_the_atif_fixtures_of_this_project_are_valid():
    """Fixtures written here are valid by the format's own schema."""
    steps = [
        {"step_id": 1, "source": "user", "message": "Hi"},
        {
            "step_id": 2,
            "source": "agent",
            "message": "",
            "tool_calls": [{"tool_call_id": "a", "function_name": "look", "arguments": {}}],
            "observation": {"results": [{"source_call_id": "a", "content": "seen"}]},
            "metrics": {"prompt_tokens": 1, "completion_tokens": 1, "cost_usd": 0.1, "cached_tokens": 0},
        },
    ]
    agent = {"name": "clerk", "version": "1", "model_name": "acme/large"}
    document = {"schema_version": "ATIF-v1.8", "agent": agent, "steps": steps}
    schema = raw("schemas/atif-1.8-trajectory.schema.json")
    jsonschema_rs.validator_for(schema).validate(document)
    assert atif.build(document).tool_calls[0]["result"] == "seen"


SESSIONS = {
    # messages, calls, turns, latency, model, how the answer begins
    "context_update_test__successful_test": (
        6,
        1,
        2,
        4060.314,
        "gemini-1.5-flash",
        "OK. I've updated the data.",
    ),
    "samples_customer-service_123": (34, 6, 11, 42625.361, None, "I apologize, it seems like"),
    "text_search_floral_dress": (40, 12, 8, None, None, "Okay, the purchase is being processed."),
}


@pytest.mark.parametrize("name", SESSIONS)
def test_adk_sessions(name):
    messages, calls, turns, latency, model, words = SESSIONS[name]
    trace = trace_of(f"google-adk/{name}.session.json")
    assert (len(trace.messages), len(trace.tool_calls), trace.turn_count) == (messages, calls, turns)
    assert figures(trace) == (None, None, None, None if latency is None else pytest.approx(latency))
    assert (trace.model, trace.status) == (model, "ok")
    assert codes(trace) == ([] if latency else ["suspicious_latency"])
    assert begins(trace, words), trace.response["content"]
    assert {call["status"] for call in trace.tool_calls} == {"ok"}


@pytest.mark.parametrize("name", SESSIONS)
def test_adk_sessions_hold_the_parts_of_their_events_in_order(name):
    document = raw(f"google-adk/{name}.session.json")
    parts = [p for event in document["events"] for p in (event.get("content") or {}).get("parts") or []]
    trace = trace_of(f"google-adk/{name}.session.json")
    asked = [part["function_call"] for part in parts if part.get("function_call")]
    assert [(c["name"], c["arguments"]) for c in trace.tool_calls] == [(a["name"], a["args"]) for a in asked]
    answers = [part["function_response"]["response"] for part in parts if part.get("function_response")]
    assert [c["result"] for c in trace.tool_calls] == [a.get("result", a) for a in answers]
    texts = [part["text"] for part in parts if part.get("text")]
    assert [m["content"] for m in trace.messages if m["role"] != "tool" and m["content"]] == texts
    people = [event for event in document["events"] if event["author"] == "user"]
    assert trace.turn_count == len(people)


def test_an_empty_adk_session_is_refused():
    record = only("google-adk/trip_planner_agent__initial.session.json")
    assert isinstance(record, DamagedTrace)
    assert record.reason == "events is missing or empty: nothing happened in this session"


def _eval_sets():
    return sorted(path.name for path in (SHARED / "google-adk").glob("*.json") if ".session." not in path.name)


@pytest.mark.parametrize("name", _eval_sets())
def test_eval_sets_are_refused_as_traces_and_read_as_expected_traces(name):
    record = only(f"google-adk/{name}")
    assert isinstance(record, DamagedTrace)
    assert record.reason.startswith(NOT_RECORDED)
    document = raw(f"google-adk/{name}")
    traces = expected_traces(document)
    expected = sum(_expected_calls(case) for case in _cases(document))
    assert len(traces) == len(_cases(document))
    assert sum(len(trace.tool_calls) for trace in traces) == expected
    assert all(trace.metadata["expected"] is True for trace in traces)
    last = [_last_answer(case) for case in _cases(document)]
    assert [trace.response["content"] for trace in traces] == last


def test_there_are_eleven_eval_sets():
    assert len(_eval_sets()) == 11


def _cases(document):
    if isinstance(document, dict):
        return [case["conversation"] for case in document["eval_cases"]]
    return [case["data"] for case in document] if "data" in document[0] else [document]


def _expected_calls(case):
    return sum(
        len(turn.get("expected_tool_use") or (turn.get("intermediate_data") or {}).get("tool_uses") or [])
        for turn in case
    )


def _last_answer(case):
    answer = case[-1].get("reference") or case[-1].get("final_response")
    return answer if isinstance(answer, str) else "\n".join(part["text"] for part in answer["parts"])


POPULARITY = "2025-02-11T15-17-00-05-00_popularity_dPiJifoWeEQBrfWsAopzWr.eval"
BROWSER = "2025-05-12T20-27-36-04-00_browser.json"
GUIDE = "2025-05-12T20-28-26-04-00_security-guide.json"


def test_an_archive_of_ten_samples():
    traces = read(f"inspect-ai/{POPULARITY}")
    assert [trace.scenario_id for trace in traces] == [str(number) for number in range(1, 11)]
    assert {trace.trial for trace in traces} == {1}
    with zipfile.ZipFile(SHARED / "inspect-ai" / POPULARITY) as packed:
        total = json.loads(packed.read("header.json"))["stats"]["model_usage"]["openai/gpt-4o-mini"]
        samples = [json.loads(packed.read(f"samples/{number}_epoch_1.json")) for number in range(1, 11)]
    assert sum(trace.usage["input_tokens"] for trace in traces) == total["input_tokens"] == 620
    assert sum(trace.usage["output_tokens"] for trace in traces) == total["output_tokens"] == 20
    assert [trace.response["content"] for trace in traces] == [s["messages"][-1]["content"] for s in samples]
    assert {trace.latency["source"] for trace in traces} == {"timestamps"}
    assert 611 < min(trace.latency["total_ms"] for trace in traces) < 612
    assert [(len(t.messages), len(t.llm_calls), t.evaluations, t.warnings) for t in traces] == [(3, 1, [], [])] * 10


def test_a_log_with_tool_calls():
    trace = trace_of(f"inspect-ai/{BROWSER}")
    assert (len(trace.messages), len(trace.tool_calls), len(trace.llm_calls)) == (10, 4, 5)
    assert figures(trace) == (15235, 281, None, pytest.approx(18077.566377))
    assert trace.usage["cache_read_input_tokens"] == 9088
    assert trace.usage["total_tokens"] == 15516
    assert [c["name"] for c in trace.tool_calls] == ["web_browser_go"] + ["web_browser_click"] * 3
    assert [c["arguments"] for c in trace.tool_calls][1:] == [{"element_id": n} for n in (151, 884, 903)]
    results = [m["content"] for m in raw(f"inspect-ai/{BROWSER}")["samples"][0]["messages"] if m["role"] == "tool"]
    assert [c["result_text"] for c in trace.tool_calls] == results
    assert all(1000 < c["duration_ms"] < 4400 for c in trace.tool_calls)
    assert begins(trace, "The AI Security Institute (AISI) is the premier")
    assert (trace.scores, trace.status, trace.finish_reason) == ({"includes": 1.0}, "ok", "stop")
    assert (trace.metadata["task"], trace.provider, trace.model) == ("browser", "openai", "gpt-4o-mini")
    assert not trace.warnings


def test_a_log_whose_judge_is_the_agents_own_model():
    traces = read(f"inspect-ai/{GUIDE}")
    samples = raw(f"inspect-ai/{GUIDE}")["samples"]
    answers = [sample["output"]["usage"] for sample in samples]
    assert [figures(trace)[:2] for trace in traces] == [
        (answer["input_tokens"], answer["output_tokens"]) for answer in answers
    ]
    assert [figures(trace)[:2] for trace in traces] == [(61, 17), (60, 9), (61, 23)]
    assert [round(trace.latency["total_ms"]) for trace in traces] == [687, 680, 1255]
    assert [trace.scores for trace in traces] == [{"model_graded_fact": 1.0}] * 3
    assert traces[0].system_instructions.startswith("\nYou are a computer security expert")
    assert not any(trace.warnings for trace in traces)


@pytest.mark.parametrize("name", ["log_formats.eval", "log_formats.json"])
def test_one_log_in_both_forms(name):
    trace = trace_of(f"inspect-ai/{name}")
    assert figures(trace) == (66, 2, None, pytest.approx(324.405))
    assert (trace.scores, trace.response["content"], trace.model) == ({"match": 0.0}, "No", "llama3.1")
    assert (len(trace.messages), codes(trace)) == (3, [])


def test_a_log_with_a_picture():
    trace = trace_of("inspect-ai/log_images_tc.json")
    assert trace.messages[1]["parts"][1] == {"type": "image"}
    assert figures(trace) == (323, 5, None, pytest.approx(12615.541))
    assert (trace.response["content"], trace.scores) == ("[hedgehog]", {"match": 0.0})


def test_a_log_of_results_only():
    trace = trace_of("inspect-ai/log_tool_call_error.json")
    assert (len(trace.messages), trace.tool_calls, trace.trial) == (11, [], 4)
    assert codes(trace) == ["result_without_call", "missing_evidence"]
    assert (figures(trace), trace.response["content"]) == ((None,) * 4, None)


def test_a_log_without_samples_is_refused():
    record = only("inspect-ai/2025-05-12T20-28-13-04-00_no-samples.json")
    assert isinstance(record, DamagedTrace)
    assert record.reason == "the log has no samples, and its run was cancelled"


def test_every_inspect_file_is_covered():
    assert len(list((SHARED / "inspect-ai").iterdir())) == 8
