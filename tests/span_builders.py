"""Spans as tests need them: small trees in one dialect or another."""

from __future__ import annotations

import json
from itertools import count

from evalgate.adapters.formats.spans.span import Span

MS = 1_000_000
BEGIN = 1_760_000_000_000_000_000
_ids = count(1)


def span(name, start=0, end=1000, *, parent=None, failed=False, **more):
    """A span from `start` to `end` ms; `attributes` as keyword or in `more`."""
    return Span(
        more.pop("trace_id", "t1"),
        more.pop("span_id", f"s{next(_ids)}"),
        None if parent is None else parent.span_id,
        name,
        None if start is None else BEGIN + int(start * MS),
        None if end is None else BEGIN + int(end * MS),
        has_failed=failed,
        **more,
    )


def genai_message(role, *parts, finish=None):
    """A message of the GenAI conventions; text parts may be given as text."""
    typed = [{"type": "text", "content": part} if isinstance(part, str) else part for part in parts]
    return {"role": role, "parts": typed, **({} if finish is None else {"finish_reason": finish})}


def call_part(name, call_id=None, **arguments):
    return {"type": "tool_call", "id": call_id, "name": name, "arguments": arguments}


def response_part(value, call_id=None, key="response"):
    return {"type": "tool_call_response", "id": call_id, key: value}


def chat(start=0, end=1000, tokens=(10, 5), given=(), answered=(), *, parent=None, response_id=None, **attributes):
    """A request to a model."""
    recorded = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-4o", **attributes}
    if tokens is not None:
        recorded["gen_ai.usage.input_tokens"], recorded["gen_ai.usage.output_tokens"] = tokens
    if given:
        recorded["gen_ai.input.messages"] = json.dumps(list(given))
    if answered:
        recorded["gen_ai.output.messages"] = json.dumps(list(answered))
    if response_id is not None:
        recorded["gen_ai.response.id"] = response_id
    return span("chat gpt-4o", start, end, parent=parent, attributes=recorded)


def agent(start=0, end=1000, name="helper", *, parent=None, failed=False, **attributes):
    """The span of an agent's run."""
    recorded = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name, **attributes}
    return span(f"invoke_agent {name}", start, end, parent=parent, failed=failed, attributes=recorded)


def tool(
    name,
    start=0,
    end=10,
    *,
    parent=None,
    call_id=None,
    failed=False,
    arguments=None,
    result=None,
    **attributes,
):
    """The execution of a tool."""
    recorded = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name, **attributes}
    for key, value in (("id", call_id), ("arguments", arguments), ("result", result)):
        if value is not None:
            recorded[f"gen_ai.tool.call.{key}"] = json.dumps(value) if isinstance(value, dict) else value
    return span(f"execute_tool {name}", start, end, parent=parent, failed=failed, attributes=recorded)


def weather_run(**outer):
    """An agent that asks for the weather of one city: two requests, one tool."""
    root = agent(0, 5000, **outer)
    question = genai_message("user", "Weather in Paris?")
    asked = genai_message("assistant", call_part("get_weather", "c1", city="Paris"), finish="tool_calls")
    first = chat(100, 2000, (80, 25), [question], [asked], parent=root, response_id="r1")
    run = tool("get_weather", 2100, 2200, parent=root, call_id="c1", arguments={"city": "Paris"}, result="rainy")
    history = [question, asked, genai_message("tool", response_part("rainy", "c1"))]
    last = chat(
        2300,
        4900,
        (120, 35),
        history,
        [genai_message("assistant", "It rains.", finish="stop")],
        parent=root,
        response_id="r2",
    )
    return [root, first, run, last]
