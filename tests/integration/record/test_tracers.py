"""Real tracers and exporters of OpenTelemetry, with the settings of docs/recording.md, are recorded with their content."""

from __future__ import annotations

import json
import shutil

import pytest
from recording_runs import AGENTS, ROOT, SDKS, environ, evalgate, needs_sdks, record_command

FOLDER = ROOT / ".sdks"
LANGSMITH = {"LANGSMITH_TRACING": "true", "LANGSMITH_TRACING_MODE": "otel", "LANGSMITH_API_KEY": "x"}
ANTHROPIC = {"ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE": "content"}
INSTRUMENT = [str(SDKS.parent / "opentelemetry-instrument"), str(SDKS)]
ANSWER = "Your order A-7 is refunded."
CALLS = [("find_order", {"order": "A-7"}), ("read_policy", {"topic": "refund"})]
MATRIX = pytest.mark.matrix  # a run of an SDK with its tracer takes some 5 s
needs_node = pytest.mark.skipif(
    not (FOLDER / "node/node_modules").exists() or shutil.which("node") is None,
    reason="`make sdks` installs the exporters of Node, where npm is installed",
)


def run(fake, folder, *command, variables=(), tracer=None, scenario=("--scenario", "refund")):
    """Records a command whose model calls bypass the proxy, so that only its spans are known."""
    env = environ(OPENAI_BASE_URL=f"{fake.url}/v1", ANTHROPIC_BASE_URL=fake.url, **dict(variables))
    path = [str(ROOT)] if tracer is None else [str(FOLDER / tracer), str(ROOT)]
    done = record_command(folder, [*scenario, "--without-proxy"], command, {**env, "PYTHONPATH": ":".join(path)})
    assert done.code == 0, done
    assert "without content" not in done.err
    return done


def read(folder, name="refund/0"):
    done = evalgate(folder, "convert", "--to", "native", f"traces/{name}.otlp.jsonl")
    assert done.code == 0, done.err
    return json.loads(done.out)


def calls_of(trace):
    """Name and arguments of each call; tracers record arguments as objects or as JSON text."""
    calls = [call for message in trace["messages"] for call in message.get("tool_calls", ())]
    given = [call["arguments"] for call in calls]
    decoded = [json.loads(one) if isinstance(one, str) else one for one in given]
    return [(call["name"], one) for call, one in zip(calls, decoded, strict=True)]


@needs_sdks
@pytest.mark.parametrize(
    ("agent", "tracer", "variables"),
    [
        ("openai_chat", "openinference", {}),
        pytest.param("openai_chat", "traceloop", {"OTEL_EXPORTER_OTLP_COMPRESSION": "gzip"}, marks=MATRIX),
        ("openai_chat", "genai", {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "SPAN_AND_EVENT"}),
        pytest.param("anthropic_messages", "openinference", {}, marks=MATRIX),
        ("anthropic_messages", "traceloop", {}),
        ("anthropic_messages", None, ANTHROPIC),
    ],
)
def test_an_instrumented_agent_is_recorded(fake, tmp_path, agent, tracer, variables):
    run(fake, tmp_path, *INSTRUMENT, str(AGENTS / f"{agent}.py"), variables=variables, tracer=tracer)
    trace = read(tmp_path)
    assert (trace["scenario_id"], trace["trial"]) == ("refund", 0)
    assert len(trace["llm_calls"]) == 2
    assert trace["usage"]["total_tokens"] == 74
    assert calls_of(trace) == CALLS
    assert (trace["messages"][0]["role"], trace["messages"][-1]["content"]) == ("system", ANSWER)
    assert "missing_evidence" not in trace


@needs_sdks
@pytest.mark.parametrize(
    ("agent", "words", "tracer"),
    [
        ("openai_agents", ["spans"], "openinference"),
        pytest.param("pydantic_agent", ["spans"], None, marks=MATRIX),
        ("pydantic_agent", ["spans", "anthropic"], None),
    ],
)
def test_the_spans_of_a_framework_are_recorded(fake, tmp_path, agent, words, tracer):
    run(fake, tmp_path, *INSTRUMENT, str(AGENTS / f"{agent}.py"), *words, tracer=tracer)
    trace = read(tmp_path)
    assert (len(trace["llm_calls"]), trace["usage"]["total_tokens"]) == (2, 74)
    assert calls_of(trace) == CALLS
    assert [(call["status"], call["result"]) for call in trace["tool_calls"]] == [
        ("ok", "order A-7: delivered"),
        ("ok", "policy refund: 30 days"),
    ]
    assert (trace["messages"][0]["role"], trace["response"]["content"]) == ("system", ANSWER)
    assert "missing_evidence" not in trace


@needs_sdks
def test_langgraph_is_recorded_by_langsmiths_sdk(fake, tmp_path):
    run(fake, tmp_path, str(SDKS), str(AGENTS / "langgraph_tools.py"), variables=LANGSMITH)
    trace = read(tmp_path)
    assert (len(trace["llm_calls"]), trace["usage"]["total_tokens"]) == (2, 74)
    assert calls_of(trace) == CALLS
    assert trace["messages"][-1]["content"] == ANSWER
    assert {call["status"] for call in trace["tool_calls"]} == {"ok"}


@needs_sdks
def test_content_that_anthropics_sdk_leaves_out_is_named_with_its_setting(fake, tmp_path):
    env = environ(ANTHROPIC_BASE_URL=fake.url)
    script = (*INSTRUMENT, str(AGENTS / "anthropic_messages.py"))
    done = record_command(tmp_path, ["--scenario", "refund", "--without-proxy"], script, env)
    assert "set ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE=content" in done.err


@needs_sdks
def test_scenarios_of_one_instrumented_process_are_told_apart_by_their_root_span(fake, tmp_path):
    script = [*INSTRUMENT, str(AGENTS / "in_process_sdk.py")]
    done = run(fake, tmp_path, *script, tracer="openinference", scenario=())
    assert done.last_line == "0 model calls, 4 spans, 2 traces"
    for name in ("refund", "cancel"):
        trace = read(tmp_path, f"{name}@v/1")
        assert (trace["scenario_id"], trace["trial"], trace["tags"]) == (name, 1, ["v"])
        assert [message["content"] for message in trace["messages"]] == [f"Please {name}.", ANSWER]


@needs_node
@pytest.mark.parametrize(
    ("protocol", "compression"),
    [
        ("http/json", "gzip"),
        ("http/protobuf", "none"),
        pytest.param("http/json", "none", marks=MATRIX),
        pytest.param("http/protobuf", "gzip", marks=MATRIX),
    ],
)
def test_exporters_of_node_are_received(fake, tmp_path, protocol, compression):
    variables = {"NODE_PACKAGES": str(FOLDER / "node"), "OTEL_EXPORTER_OTLP_COMPRESSION": compression}
    run(fake, tmp_path, "node", str(AGENTS / "spans.mjs"), protocol, variables=variables)
    trace = read(tmp_path)
    assert (len(trace["llm_calls"]), calls_of(trace)) == (2, CALLS[:1])
    assert trace["messages"][-1]["content"] == ANSWER
