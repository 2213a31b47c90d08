"""Tokens and cost of runs of which only some answers record them: a part is never reported as the whole."""

from __future__ import annotations

import pytest

from evalgate.adapters.formats.anthropic import reader as anthropic
from evalgate.adapters.formats.claude_code import reader as claude_code
from evalgate.adapters.formats.core.usage import sum_call_usages
from evalgate.adapters.formats.langchain import reader as langchain
from evalgate.adapters.formats.mini_swe_agent import reader as mini_swe_agent
from evalgate.adapters.formats.tau.reader import READER as TAU2
from evalgate.adapters.formats.vercel import reader as vercel
from evalgate.models.trace.trace import unknown_usage

ASK = {"role": "user", "content": "Where is my order?"}
USAGE = {"input_tokens": 10, "output_tokens": 5}


def claude_line(role, second, **message):
    return {
        "type": role,
        "sessionId": "s",
        "timestamp": f"2026-01-01T00:00:0{second}Z",
        "message": {"role": role, "content": "words", **message},
    }


def of_claude(*usages):
    lines = [claude_line("user", 0)]
    for number, usage in enumerate(usages):
        beside = {} if usage is None else {"usage": usage}
        line = claude_line("assistant", number + 1, id=f"m{number}", model="opus", **beside)
        lines.append(line if usage is None else {**line, "costUSD": 0.5})
    return claude_code.build(lines)


def of_anthropic(*usages):
    answers = [{"role": "assistant", "content": "words", "usage": usage} for usage in usages]
    return anthropic.build([ASK, *answers])


def of_langchain(*usages):
    answers = [{"type": "ai", "content": "words", "usage_metadata": usage} for usage in usages]
    return langchain.build([{"type": "human", "content": "hi"}, *answers])


def of_vercel(*usages):
    def make_answer(usage):
        about = {} if usage is None else {"metadata": {"usage": usage}}
        return {"role": "assistant", "parts": [{"type": "text", "text": "words"}], **about}

    counted = [usage and {"inputTokens": 10, "outputTokens": 5} for usage in usages]
    return vercel.build([{"role": "user", "parts": [{"type": "text", "text": "hi"}]}, *map(make_answer, counted)])


def of_mini_swe_agent(*usages):
    def make_answer(usage):
        extra = {} if usage is None else {"response": {"usage": usage}}
        return {"role": "assistant", "content": "words", "extra": extra}

    return mini_swe_agent.build({"info": {}, "messages": [ASK, *map(make_answer, usages)]})


def of_tau2(*usages):
    counted = [usage and {"prompt_tokens": 10, "completion_tokens": 5} for usage in usages]
    answers = [{"role": "assistant", "content": "words", "usage": usage} for usage in counted]
    greeting = {"role": "assistant", "content": "Hi!", "usage": None, "cost": 0.0}
    run = {"id": "r", "task_id": "t", "messages": [greeting, ASK, *answers]}
    document = {"info": {"agent_info": {"llm": "m"}}, "simulations": [run]}
    return TAU2.build(TAU2.split(document)[0])


FORMATS = [of_claude, of_anthropic, of_langchain, of_vercel, of_mini_swe_agent, of_tau2]


@pytest.mark.parametrize("read", FORMATS)
def test_one_answer_without_tokens_leaves_those_of_the_run_unknown(read):
    trace = read(USAGE, None, USAGE)
    assert trace.usage == unknown_usage()
    incomplete = [warning for warning in trace.warnings if warning["code"] == "tokens_incomplete"]
    assert [warning["message"][:35] for warning in incomplete] == ["1 of 3 model calls record no tokens"]


@pytest.mark.parametrize("read", FORMATS)
def test_tokens_are_summed_if_every_answer_has_them(read):
    trace = read(USAGE, USAGE)
    assert (trace.usage["input_tokens"], trace.usage["output_tokens"]) == (20, 10)
    assert "tokens_incomplete" not in [warning["code"] for warning in trace.warnings]


@pytest.mark.parametrize("read", FORMATS)
def test_tokens_are_unknown_without_a_warning_if_no_answer_has_them(read):
    trace = read(None, None)
    assert trace.usage["total_tokens"] is None
    assert "tokens_incomplete" not in [warning["code"] for warning in trace.warnings]


def test_the_cost_of_some_lines_is_not_the_sessions():
    assert of_claude(USAGE, USAGE).cost["usd"] == 1.0
    assert of_claude(USAGE, None).cost["usd"] is None


def test_messages_before_the_request_for_a_response_are_not_metered_with_it():
    history = [ASK, {"role": "assistant", "content": "Which order?"}, ASK]
    answer = {"role": "assistant", "content": [{"type": "text", "text": "Sent."}], "usage": USAGE}
    trace = anthropic.build({"messages": history, "response": answer})
    assert trace.usage["total_tokens"] == 15


def test_messages_before_the_steps_are_not_metered_with_them():
    history = [ASK, {"role": "assistant", "content": "Which order?"}, ASK]
    step = {"text": "Sent.", "usage": {"inputTokens": 10, "outputTokens": 5}, "finishReason": "stop"}
    trace = vercel.build({"messages": history, "steps": [step]})
    assert trace.usage["total_tokens"] == 15


def test_no_calls_have_no_tokens():
    assert sum_call_usages([], unmetered=2) == (unknown_usage(), [])
