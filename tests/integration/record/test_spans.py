"""Spans that an agent sends, and scenarios that it opens itself, become traces of their scenario and trial."""

from __future__ import annotations

import json
import sys

import pytest
from recording_runs import environ, evalgate, record, record_command, trace_of, written

SEND_BY_GRPC = """
import os, socket
from urllib.parse import urlsplit
address = urlsplit(os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"])
with socket.create_connection((address.hostname, address.port), timeout=5) as connection:
    connection.sendall(b"PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n")
    connection.recv(100)
"""


def read_file(folder, name):
    """What the gate reads from a trace file."""
    done = evalgate(folder, "convert", "--to", "native", f"traces/{name}")
    assert done.code == 0, done.err
    return json.loads(done.out)


def names(folder):
    return sorted(path.relative_to(folder / "traces").as_posix() for path in folder.rglob("*.jsonl"))


def test_spans_alone_become_an_otlp_file_of_the_trial(tmp_path):
    done = record(tmp_path, "--scenario", "refund", "--trial", "2", "--without-proxy", agent="spans")
    assert (done.code, done.last_line) == (0, "0 model calls, 2 spans, 1 trace"), done
    assert done.out == "200 application/json {}\n" * 2
    trace = read_file(tmp_path, "refund/2.otlp.jsonl")
    assert (trace["scenario_id"], trace["trial"], trace["conversation_id"]) == ("refund", 2, "evalgate::refund::2")
    assert [one["content"] for one in trace["messages"]] == ["Refund A-7", "Your order A-7 is refunded."]
    assert (len(trace["llm_calls"]), trace["usage"]["total_tokens"]) == (2, 54)
    assert trace["metadata"]["evalgate.command"].endswith("/spans.py")
    addresses = written(tmp_path).count(b"http://127.0.0.1:0/t/-/openai/chat/completions")
    assert addresses == 2  # neither port nor token


@pytest.mark.parametrize("word", ["damaged", "bomb"])
def test_a_refused_request_makes_no_trace_of_the_rest(tmp_path, word):
    done = record(tmp_path, "--scenario", "refund", "--without-proxy", "--", word, agent="spans")
    assert done.code == 3, done
    assert done.out.splitlines()[-1].startswith(("400", "413"))
    assert names(tmp_path) == []


def test_spans_without_content_name_the_variable_to_set(tmp_path):
    done = record(tmp_path, "--scenario", "refund", "--without-proxy", "--", "no-content", agent="spans")
    assert done.code == 0
    assert "refund (trial 0): spans came without content: " in done.err
    assert "ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE=content" in done.err


def test_an_exporter_by_grpc_is_named(tmp_path):
    done = record_command(tmp_path, ["--scenario", "refund"], (sys.executable, "-c", SEND_BY_GRPC), environ())
    assert "OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf" in done.err, done
    assert done.err.count("HTTP/2") == 1


def test_spans_name_the_scenarios_of_one_process(tmp_path):
    done = record(tmp_path, "--without-proxy", "--", "named", agent="spans")
    assert (done.code, done.last_line) == (0, "0 model calls, 2 spans, 2 traces"), done
    assert names(tmp_path) == ["one/0.otlp.jsonl", "two/4.otlp.jsonl"]


def test_an_agent_that_crashed_is_an_error_also_with_spans_alone(tmp_path):
    done = record(tmp_path, "--scenario", "refund", "--without-proxy", "--", "crash", agent="spans")
    trace = trace_of(tmp_path)
    assert (done.code, trace["status"], trace["error"]) == (1, "error", {"type": "exit code 7"})


def test_spans_of_tools_time_the_calls_that_the_proxy_saw(fake, tmp_path):
    (tmp_path / "traces/refund").mkdir(parents=True)
    (tmp_path / "traces/refund/0.otlp.jsonl").write_text("{}")
    done = record(tmp_path, *fake.flags, "--scenario", "refund", "--", "beside", agent="spans")
    assert (done.code, done.last_line) == (0, "2 model calls (openai), 2 spans, 1 trace"), done
    assert names(tmp_path) == ["refund/0.jsonl"]  # the file of an earlier recording is gone
    trace = trace_of(tmp_path)
    assert [(call["name"], call.get("duration_ms")) for call in trace["tool_calls"]] == [
        ("find_order", 500.0),
        ("read_policy", None),
    ]
    assert "`charge_card` ran" in trace["missing_evidence"]["calls"]


def test_scenarios_of_one_process_are_written_by_the_recording(fake, tmp_path):
    done = record(tmp_path, *fake.flags, agent="in_process")
    assert (done.code, done.last_line) == (0, "0 model calls, 0 spans, 2 traces"), done
    assert names(tmp_path) == ["cancel@v/1.jsonl", "refund@v/1.jsonl"]
    trace = trace_of(tmp_path, "refund@v/1")
    assert (trace["scenario_id"], trace["trial"], trace["tags"]) == ("refund", 1, ["v"])
    (call,) = trace["tool_calls"]
    assert (call["name"], call["arguments"], call["result"]) == ("find_order", {"order": "A-7"}, "order A-7: delivered")


def test_model_calls_of_scenarios_of_one_process_are_kept_apart(fake, tmp_path):
    done = record(tmp_path, *fake.flags, "--", "calls", agent="in_process")
    assert (done.code, done.last_line) == (0, "2 model calls (openai), 0 spans, 2 traces"), done
    for name in ("refund", "cancel"):
        trace = trace_of(tmp_path, f"{name}@v/1")
        assert (trace["scenario_id"], len(trace["llm_calls"]), trace["status"]) == (name, 1, "ok")


def test_an_exception_in_a_scenario_is_an_error_of_its_trace(fake, tmp_path):
    done = record(tmp_path, *fake.flags, "--", "fail", agent="in_process")
    trace = trace_of(tmp_path, "refund@v/1")
    assert (done.code, trace["status"]) == (1, "error")
    assert trace["error"] == {"type": "RuntimeError", "message": "no card"}
    assert names(tmp_path) == ["refund@v/1.jsonl"]
