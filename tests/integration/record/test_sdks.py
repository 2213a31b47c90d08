"""Agents with the providers' own SDKs, unchanged, are recorded: chat, Responses, messages; whole and in streams."""

from __future__ import annotations

from typing import Any

import pytest
from fakes.providers import FakeProviders
from recording_runs import SDKS, environ, evalgate, needs_sdks, record, trace_of

SUITE = """
suite: support
traces: [traces]
scenarios:
  - id: refund
    assertions:
      - {type: tool_sequence, sequence: [find_order, read_policy]}
      - {type: output_contains, value: refunded}
      - {type: token_limit, max_total: 100}
"""
WITHOUT_KEY = {name: value for name, value in environ().items() if not name.endswith("_API_KEY")}
AGENTS = [
    ("openai_chat", ""),
    ("openai_chat", "stream"),
    ("openai_responses", ""),
    ("openai_responses", "stream"),
    ("openai_responses", "stateful"),
    ("anthropic_messages", ""),
    ("anthropic_messages", "stream"),
]
FRAMEWORKS = [
    ("langchain_agent", "chat"),
    ("langchain_agent", "responses"),
    ("openai_agents", "responses"),
    ("openai_agents", "chat"),
    ("pydantic_agent", "anthropic"),
]


def each_of(agents: list[tuple[str, str]], *, sample: set[tuple[str, str]]) -> pytest.MarkDecorator:
    """Starts an agent of an SDK twice, some 5 s each: the others than the sample run in the matrix."""
    found = [pytest.param(*each, marks=[] if each in sample else pytest.mark.matrix) for each in agents]
    return pytest.mark.parametrize(("agent", "word"), found, ids=lambda word: word or "whole")


@needs_sdks
@each_of(AGENTS, sample={("openai_chat", "stream"), ("openai_responses", "stateful"), ("anthropic_messages", "stream")})
def test_an_unchanged_agent_is_recorded_judged_and_replayed(fake, tmp_path, agent, word):
    flags = ["--scenario", "refund", "--cache"]
    done = record(tmp_path, *fake.flags, *flags, "write", "--", word, agent=agent, python=str(SDKS))

    provider = "anthropic" if agent.startswith("anthropic") else "openai"
    assert (done.code, done.last_line) == (0, f"2 model calls ({provider}), 0 spans, 1 trace"), done
    trace = trace_of(tmp_path)
    assert [message["role"] for message in trace["messages"]] == [
        "system",
        "user",
        "assistant",
        "tool",
        "tool",
        "assistant",
    ]
    outcome = "ok" if provider == "anthropic" else "unknown"  # OpenAI's requests don't record it
    assert [
        (call["name"], call["arguments"], call["result"], call["status"], call["step"]) for call in trace["tool_calls"]
    ] == [
        ("find_order", {"order": "A-7"}, "order A-7: delivered", outcome, 1),
        ("read_policy", {"topic": "refund"}, "policy refund: 30 days", outcome, 1),
    ]
    assert trace["response"]["content"] == "Your order A-7 is refunded."
    assert (trace["usage"]["input_tokens"], trace["usage"]["output_tokens"]) == (60, 14)
    assert (trace["finish_reason"], trace["status"], trace["provider"]) == ("stop", "ok", provider)
    assert trace["model"] == ("claude-fake-2026" if provider == "anthropic" else "gpt-fake-2026")
    assert [(call["step"], call["finish_reason"], call["usage"]["total_tokens"]) for call in trace["llm_calls"]] == [
        (1, "tool_calls", 37),
        (2, "stop", 37),
    ]
    assert [tool.get("name") or tool["function"]["name"] for tool in trace["tool_definitions"]] == [
        "find_order",
        "read_policy",
    ]
    assert trace["latency"]["total_ms"] > 0
    assert trace["started_at"] < trace["ended_at"]
    assert "missing_evidence" not in trace
    (tmp_path / "suite.yaml").write_text(SUITE)
    assert evalgate(tmp_path, "run", "suite.yaml", "--no-baseline-zip").code == 0

    fake.close()
    replayed = record(tmp_path, *flags, "read", "--", word, agent=agent, python=str(SDKS), env=WITHOUT_KEY)
    assert (replayed.code, replayed.out) == (0, done.out), replayed
    again = trace_of(tmp_path)
    assert [without_time(each) for each in again["messages"]] == [without_time(each) for each in trace["messages"]]
    assert (again["usage"], again["started_at"]) == (trace["usage"], trace["started_at"])
    assert again["metadata"]["evalgate.replayed"] is True


def without_time(message: dict[str, Any]) -> dict[str, Any]:
    return {**message, "timestamp": None}


@needs_sdks
@pytest.mark.parametrize("agent", ["openai_chat", "anthropic_messages"])
def test_sdks_do_not_repeat_a_missing_request(tmp_path, agent):
    flags = ["--scenario", "refund", "--cache", "read"]
    done = record(tmp_path, *flags, agent=agent, python=str(SDKS), env=WITHOUT_KEY)
    assert (done.code, done.last_line) == (3, "0 model calls, 0 spans, 0 traces, 1 request missing in a cassette")


@needs_sdks
@each_of(FRAMEWORKS, sample={("langchain_agent", "chat")})
def test_an_agent_with_a_framework_is_recorded_and_replayed(fake, tmp_path, agent, word):
    flags = ["--scenario", "refund", "--cache"]
    done = record(tmp_path, *fake.flags, *flags, "write", "--", word, agent=agent, python=str(SDKS))
    trace = trace_of(tmp_path)
    fake.close()
    replayed = record(tmp_path, *fake.flags, *flags, "read", "--", word, agent=agent, python=str(SDKS))

    assert (done.code, replayed.code, replayed.out) == (0, 0, done.out), (done, replayed)
    assert [message["role"] for message in trace["messages"]] == [
        "system",
        "user",
        "assistant",
        "tool",
        "tool",
        "assistant",
    ]
    assert [(call["name"], call["arguments"], call["result"]) for call in trace["tool_calls"]] == [
        ("find_order", {"order": "A-7"}, "order A-7: delivered"),
        ("read_policy", {"topic": "refund"}, "policy refund: 30 days"),
    ]
    assert (trace["usage"]["total_tokens"], trace["finish_reason"], trace["status"]) == (74, "stop", "ok")
    assert "missing_evidence" not in trace


LIMITED = [["find_order", {"order": "A-7", "limit": 5}], ["read_policy", {"topic": "refund"}]]
"""Calls whose arguments are in another order than that of the alphabet."""


@needs_sdks
@each_of(
    [*AGENTS, *FRAMEWORKS],
    sample={("anthropic_messages", ""), ("openai_agents", "responses")},
)
def test_an_agent_whose_tool_quotes_its_arguments_replays_its_own_cassette(tmp_path, agent, word):
    is_plain = (agent, word) in AGENTS  # the others check arguments by the signature of the tool
    fake = FakeProviders(answers=[{"calls": LIMITED}, {"text": "Found."}] if is_plain else None)
    flags, env = ["--scenario", "refund", "--cache"], environ(TOOL_QUOTES="1")
    done = record(tmp_path, *fake.flags, *flags, "write", "--", word, agent=agent, python=str(SDKS), env=env)
    fake.close()
    assert (done.code, is_plain or not fake.answers) == (0, True), done
    assert trace_of(tmp_path)["tool_calls"][0]["result"].startswith('order A-7: delivered for {"order": "A-7"')
    replayed = record(tmp_path, *flags, "read", "--", word, agent=agent, python=str(SDKS), env=env)
    assert (replayed.code, replayed.out) == (0, done.out), replayed
