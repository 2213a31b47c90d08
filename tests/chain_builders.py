"""Exchanges with providers as an agent and those that it starts make them, with three APIs."""

from __future__ import annotations

import json
from typing import Any

from recorded_cassettes import exchange

from evalgate.features.record.models.exchange import Exchange, ProviderAnswer, ProviderRequest

Talk = list[tuple[str, Any]]
"""Messages as pairs: `user` and a text, `ask` and calls by id, `result` and the id with its text, `say` and a text."""


def chat_messages(talk: Talk) -> list[dict[str, Any]]:
    found = []
    for kind, value in talk:
        if kind == "ask":
            calls = [
                {"id": i, "type": "function", "function": {"name": name, "arguments": "{}"}}
                for i, name in value.items()
            ]
            found.append({"role": "assistant", "content": None, "tool_calls": calls})
        elif kind == "result":
            found.append({"role": "tool", "tool_call_id": value[0], "content": value[1]})
        else:
            found.append({"role": "assistant" if kind == "say" else "user", "content": value})
    return found


def block_messages(talk: Talk) -> list[dict[str, Any]]:
    found = []
    for kind, value in talk:
        if kind == "ask":
            blocks = [{"type": "tool_use", "id": i, "name": name, "input": {}} for i, name in value.items()]
            found.append({"role": "assistant", "content": blocks})
        elif kind == "result":
            block = {"type": "tool_result", "tool_use_id": value[0], "content": value[1]}
            found.append({"role": "user", "content": [block]})
        else:
            found.append({"role": "assistant" if kind == "say" else "user", "content": value})
    return found


def items(talk: Talk) -> list[dict[str, Any]]:
    found = []
    for kind, value in talk:
        if kind == "ask":
            found += [{"type": "function_call", "call_id": i, "name": n, "arguments": "{}"} for i, n in value.items()]
        elif kind == "result":
            found.append({"type": "function_call_output", "call_id": value[0], "output": value[1]})
        else:
            role, part = ("assistant", "output_text") if kind == "say" else ("user", "input_text")
            found.append({"type": "message", "role": role, "content": [{"type": part, "text": value}]})
    return found


def call_chat(system: str, talk: Talk, answer: Talk, at: float, force: str | None = None) -> Exchange:
    body = {"model": "m", "messages": [{"role": "system", "content": system}, *chat_messages(talk)]}
    forced = {"type": "function", "function": {"name": force}}
    (message,) = chat_messages(answer)
    given = {"id": f"r{at}", "model": "m", "choices": [{"message": message, "finish_reason": "stop"}]}
    return answer_of("openai", "/chat/completions", body, forced if force else None, given, at)


def call_anthropic(system: str, talk: Talk, answer: Talk, at: float, force: str | None = None) -> Exchange:
    body = {"model": "m", "system": system, "messages": block_messages(talk)}
    (message,) = block_messages(answer)
    content = message["content"]
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    given = {
        "id": f"r{at}",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": blocks,
        "stop_reason": "x",
    }
    return answer_of("anthropic", "/v1/messages", body, {"type": "tool", "name": force} if force else None, given, at)


def call_responses(system: str, talk: Talk, answer: Talk, at: float, force: str | None = None) -> Exchange:
    body = {"model": "m", "instructions": system, "input": items(talk)}
    given = {"id": f"r{at}", "model": "m", "object": "response", "status": "completed", "output": items(answer)}
    return answer_of("openai", "/responses", body, {"type": "function", "name": force} if force else None, given, at)


def answer_of(
    provider: str, path: str, body: dict[str, Any], choice: Any, given: dict[str, Any], at: float
) -> Exchange:
    body |= {"tool_choice": choice} if choice else {}
    request = ProviderRequest(provider, "POST", path, "application/json", json.dumps(body).encode())
    return exchange(request, ProviderAnswer(200, "application/json", [(1.0, json.dumps(given).encode())]), at)


ONE_CALL = [("user", "go"), ("ask", {"m1": "delegate"})]
SUB = [("user", "sub"), ("ask", {"s1": "delete_db"})]


def delegate(call: Any, *, system: str = "SUB") -> list[Exchange]:
    """A main agent that delegates, and the agent that it starts."""
    return [
        call("MAIN", ONE_CALL[:1], ONE_CALL[1:], 1.0),
        call(system, SUB[:1], SUB[1:], 2.0),
        call(system, [*SUB, ("result", ("s1", "dropped"))], [("say", "sub done")], 3.0),
        call("MAIN", [*ONE_CALL, ("result", ("m1", "sub done"))], [("say", "All tidy.")], 4.0),
    ]


APIS = (call_chat, call_anthropic, call_responses)
