"""A model call whose answer is not recorded may have asked for any tool, whoever made it, unless spans of tools say which."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from span_builders import agent, call_part, chat, genai_message, response_part, span, tool

from evalgate.adapters.formats.spans.assemble import build

if TYPE_CHECKING:
    from evalgate.adapters.formats.spans.span import Span

USER = genai_message("user", "Refund order 7, please.")
ASKED = genai_message("assistant", call_part("refund", "c1", order=7), finish="tool_call")
RESULT = genai_message("tool", response_part("ok", "c1"))
ANSWER = genai_message("assistant", "Refunded.", finish="stop")
STOP = {"gen_ai.response.finish_reasons": ["stop"]}
TOOLS = {"gen_ai.response.finish_reasons": ["tool_calls"]}
DIALECTS: dict[str, dict[str, Any]] = {
    "genai": {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"},
    "openinference": {"openinference.span.kind": "LLM", "llm.model_name": "m"},
    "traceloop": {"llm.request.type": "chat", "gen_ai.request.model": "m"},
    "vercel": {"ai.operationId": "ai.generateText.doGenerate", "ai.model.id": "m"},
    "langfuse": {"langfuse.observation.type": "generation", "langfuse.observation.model.name": "m"},
    "langsmith": {"langsmith.span.kind": "llm"},
    "mlflow": {"mlflow.spanType": '"CHAT_MODEL"'},
}


def gaps(*more: Span, **root: Any) -> dict[str, str]:
    """The gaps of a run that is recorded whole, with one call and its execution, and these spans below the agent."""
    main = agent(0, 20_000, **root)
    run = tool("refund", 1100, 1900, parent=main, call_id="c1", arguments={"order": 7}, result="ok")
    first = chat(0, 1000, given=[USER], answered=[ASKED], parent=main)
    last = chat(2000, 3000, given=[USER, ASKED, RESULT], answered=[ANSWER], parent=main)
    for each in more:
        each.parent_id = each.parent_id or main.span_id
    return dict(build([main, first, run, last, *more]).gaps)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("at", [1200, 4000])
def test_the_only_answer_of_a_sub_agent_is_not_recorded(dialect: str, at: int) -> None:
    helper = agent(at, at + 900, "helper")
    request = span("llm", at + 100, at + 200, parent=helper, attributes=DIALECTS[dialect])
    assert gaps(helper, request)["calls"].startswith("the output of 1 of 3 model calls is not recorded")


def test_tokens_say_nothing_of_an_answer() -> None:
    helper = agent(4000, 4900, "helper")
    assert "calls" in gaps(helper, chat(4100, 4200, (900, 70), parent=helper))


def test_an_answer_to_a_tool_that_asks_a_model_itself() -> None:
    outer = tool("ask", 4000, 4900, call_id="c2", arguments={"q": 1}, result="ok")
    assert "calls" in gaps(outer, chat(4100, 4200, parent=outer), tool("look", 5000, 5100, arguments={}, result="1"))


@pytest.mark.parametrize("reasons", [STOP, {}])
def test_the_last_answer_of_the_agent_after_others_with_content(reasons: dict[str, Any]) -> None:
    assert ("calls" in gaps(chat(4000, 4100, **reasons))) is (not reasons)


def test_an_answer_that_the_model_ended_by_itself_asked_for_nothing() -> None:
    helper = agent(4000, 4900, "helper")
    assert gaps(helper, chat(4100, 4200, parent=helper, **STOP)) == {}


def test_tools_that_ran_after_the_answer_say_what_it_asked_for() -> None:
    helper = agent(4000, 4900, "helper")
    ran = tool("look", 4300, 4400, parent=helper, arguments={"q": 1}, result="2")
    last = chat(4500, 4600, parent=helper, given=[USER], answered=[ANSWER])
    assert gaps(helper, chat(4100, 4200, parent=helper), ran, last) == {}


def test_a_run_without_any_content_is_known_by_the_spans_of_its_tools() -> None:
    main, helper = agent(0, 9000), agent(3000, 4000, "helper")
    helper.parent_id = main.span_id
    run = tool("refund", 1100, 1900, parent=main, arguments={"order": 7}, result="ok")
    spans = [
        main,
        chat(0, 1000, parent=main),
        run,
        helper,
        chat(3100, 3200, parent=helper),
        chat(5000, 5100, parent=main),
    ]
    assert "calls" not in build(spans).gaps


OLD = [USER, ASKED, RESULT, ANSWER, USER]


def test_answers_of_an_earlier_run_in_a_request_are_not_those_of_this_one() -> None:
    main = agent(0, 9000)
    spans = [main, chat(0, 100, given=OLD, parent=main), chat(200, 300, given=[*OLD, ASKED, RESULT], parent=main)]
    assert "calls" in build(spans).gaps
    last = chat(400, 500, given=[*OLD, ASKED, RESULT, ASKED, RESULT], answered=[ANSWER], parent=main)
    assert build([*spans, last]).gaps == {}


def test_answers_of_an_earlier_run_in_the_agents_request_are_not_those_of_this_one() -> None:
    sides = {"gen_ai.input.messages": json.dumps(OLD), "gen_ai.output.messages": json.dumps([ANSWER])}
    main = agent(0, 9000, **sides)
    spans = [main, chat(0, 100, parent=main), chat(200, 300, parent=main)]
    assert "calls" in build(spans).gaps


def test_an_agents_answer_does_not_say_which_tools_its_last_request_asked_for() -> None:
    main = agent(0, 9000, **{"gen_ai.output.messages": json.dumps([ANSWER])})
    assert "calls" in build([main, chat(0, 100, parent=main, **TOOLS)]).gaps
    assert "calls" not in build([main, chat(0, 100, parent=main, **STOP)]).gaps
