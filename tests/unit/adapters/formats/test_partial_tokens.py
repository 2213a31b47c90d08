"""Tokens and cost of runs of which only some answers tell them: a part is never given out as the whole."""

from __future__ import annotations

import pytest

from evalgate.adapters.formats.anthropic import reader as anthropic
from evalgate.adapters.formats.claude_code import reader as claude_code
from evalgate.adapters.formats.core.usage.totals import sum_call_usages
from evalgate.adapters.formats.langchain import reader as langchain
from evalgate.adapters.formats.mini_swe_agent import reader as mini_swe_agent
from evalgate.adapters.formats.tau.tau2_reader import READER as TAU2
from evalgate.adapters.formats.vercel import reader as vercel
from evalgate.models.trace.trace import unknown_usage

ASK = {"role": "user", "content": "Where is my order?"}
TOLD = {"input_tokens": 10, "output_tokens": 5}


def claude_line(role, second, **message):
    return {
        "type": role,
        "sessionId": "s",
        "timestamp": f"2026-01-01T00:00:0{second}Z",
        "message": {"role": role, "content": "words", **message},
    }


def of_claude(*told):
    lines = [claude_line("user", 0)]
    for number, usage in enumerate(told):
        beside = {} if usage is None else {"usage": usage}
        line = claude_line("assistant", number + 1, id=f"m{number}", model="opus", **beside)
        lines.append(line if usage is None else {**line, "costUSD": 0.5})
    return claude_code.build(lines)


def of_anthropic(*told):
    answers = [{"role": "assistant", "content": "words", "usage": usage} for usage in told]
    return anthropic.build([ASK, *answers])


def of_langchain(*told):
    answers = [{"type": "ai", "content": "words", "usage_metadata": usage} for usage in told]
    return langchain.build([{"type": "human", "content": "hi"}, *answers])


def of_vercel(*told):
    def said(usage):
        about = {} if usage is None else {"metadata": {"usage": usage}}
        return {"role": "assistant", "parts": [{"type": "text", "text": "words"}], **about}

    counted = [usage and {"inputTokens": 10, "outputTokens": 5} for usage in told]
    return vercel.build([{"role": "user", "parts": [{"type": "text", "text": "hi"}]}, *map(said, counted)])


def of_mini_swe_agent(*told):
    def said(usage):
        extra = {} if usage is None else {"response": {"usage": usage}}
        return {"role": "assistant", "content": "words", "extra": extra}

    return mini_swe_agent.build({"info": {}, "messages": [ASK, *map(said, told)]})


def of_tau2(*told):
    counted = [usage and {"prompt_tokens": 10, "completion_tokens": 5} for usage in told]
    answers = [{"role": "assistant", "content": "words", "usage": usage} for usage in counted]
    greeting = {"role": "assistant", "content": "Hi!", "usage": None, "cost": 0.0}
    run = {"id": "r", "task_id": "t", "messages": [greeting, ASK, *answers]}
    document = {"info": {"agent_info": {"llm": "m"}}, "simulations": [run]}
    return TAU2.build(TAU2.split(document)[0])


FORMATS = [of_claude, of_anthropic, of_langchain, of_vercel, of_mini_swe_agent, of_tau2]


@pytest.mark.parametrize("read", FORMATS)
def test_one_answer_without_tokens_leaves_those_of_the_run_unknown(read):
    trace = read(TOLD, None, TOLD)
    assert trace.usage == unknown_usage()
    told = [warning for warning in trace.warnings if warning["code"] == "tokens_incomplete"]
    assert [warning["message"][:20] for warning in told] == ["1 of 3 model calls t"]


@pytest.mark.parametrize("read", FORMATS)
def test_answers_that_all_tell_tokens_are_summed(read):
    trace = read(TOLD, TOLD)
    assert (trace.usage["input_tokens"], trace.usage["output_tokens"]) == (20, 10)
    assert "tokens_incomplete" not in [warning["code"] for warning in trace.warnings]


@pytest.mark.parametrize("read", FORMATS)
def test_answers_of_which_none_tells_tokens_are_unknown_without_a_warning(read):
    trace = read(None, None)
    assert trace.usage["total_tokens"] is None
    assert "tokens_incomplete" not in [warning["code"] for warning in trace.warnings]


def test_the_cost_of_some_lines_is_not_the_sessions():
    assert of_claude(TOLD, TOLD).cost["usd"] == 1.0
    assert of_claude(TOLD, None).cost["usd"] is None


def test_what_was_said_before_a_response_was_asked_for_is_not_metered_with_it():
    history = [ASK, {"role": "assistant", "content": "Which order?"}, ASK]
    answer = {"role": "assistant", "content": [{"type": "text", "text": "Sent."}], "usage": TOLD}
    trace = anthropic.build({"messages": history, "response": answer})
    assert trace.usage["total_tokens"] == 15


def test_what_was_said_before_the_steps_is_not_metered_with_them():
    history = [ASK, {"role": "assistant", "content": "Which order?"}, ASK]
    step = {"text": "Sent.", "usage": {"inputTokens": 10, "outputTokens": 5}, "finishReason": "stop"}
    trace = vercel.build({"messages": history, "steps": [step]})
    assert trace.usage["total_tokens"] == 15


def test_no_calls_have_no_tokens():
    assert sum_call_usages([], unmetered=2) == (unknown_usage(), [])
