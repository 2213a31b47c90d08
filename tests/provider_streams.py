"""Streams as ten providers send them: a text, then two calls; each has its own way to number and to cut them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

Event = tuple[str | None, Any]
NAMES = ("lookup", "delete_user")


class ProviderStream(NamedTuple):
    """How one provider streams: the API that it speaks, its line end, and its events for a text and arguments."""

    path: str
    line_end: str
    build: Callable[[str, str], list[Event]]

    def encode(self, text: str, arguments: str, *, escapes: bool = False) -> bytes:
        """The bytes of the stream of a text and a call's arguments; `escapes`: non-ASCII characters as `backslash u`."""
        parts: list[str] = []
        for name, data in self.build(text, arguments):
            parts += [f"event: {name}{self.line_end}"] if name else []
            shown = data if isinstance(data, str) else json.dumps(data, ensure_ascii=escapes)
            parts.append(f"data: {shown}{self.line_end}{self.line_end}")
        return "".join(parts).encode("utf-8", "surrogatepass")


def halves(text: str) -> list[str]:
    return [text[: len(text) // 2], text[len(text) // 2 :]]


def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> Event:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return None, {"id": "c", "object": "chat.completion.chunk", "model": "m-1", "choices": [choice], **more}


def part(arguments: str | None = None, **fields: Any) -> dict[str, Any]:
    """A part of a call in a delta; `name` goes into its function."""
    name = {"name": fields.pop("name")} if "name" in fields else {}
    given = {} if arguments is None else {"arguments": arguments}
    return {**fields, "type": "function", "function": {**name, **given}}


USAGE = {"prompt_tokens": 30, "completion_tokens": 7, "total_tokens": 37}
LAST: list[Event] = [
    chunk({}, "tool_calls"),
    (None, {"id": "c", "model": "m-1", "choices": [], "usage": USAGE}),
    (None, "[DONE]"),
]


def chat(calls: Callable[[str], list[list[dict[str, Any]]]]) -> Callable[[str, str], list[Event]]:
    """The events of chat completions; `calls` are the lists of parts, one an event, of both calls."""

    def build(text: str, arguments: str) -> list[Event]:
        texts = [chunk({"content": each}) for each in halves(text)]
        return [
            chunk({"role": "assistant", "content": ""}),
            *texts,
            *(chunk({"tool_calls": each}) for each in calls(arguments)),
            *LAST,
        ]

    return build


def of_openai(arguments: str) -> list[list[dict[str, Any]]]:
    """Numbered, the id and the name once, arguments in parts."""
    found = []
    for index, name in enumerate(NAMES):
        found += [[part("", index=index, id=f"call_{index}", name=name)]]
        found += [[part(each, index=index)] for each in halves(arguments)]
    return found


def of_azure(arguments: str) -> list[list[dict[str, Any]]]:
    """As OpenAI, both calls begun before their arguments come, in turns."""
    first = [[part("", index=index, id=f"call_{index}", name=name)] for index, name in enumerate(NAMES)]
    return first + [[part(each, index=index)] for each in halves(arguments) for index in (1, 0)]


def of_ollama(arguments: str) -> list[list[dict[str, Any]]]:
    """All with the index 0, each whole."""
    return [[part(arguments, index=0, id=f"call_{number}", name=name)] for number, name in enumerate(NAMES)]


def of_gemini(arguments: str) -> list[list[dict[str, Any]]]:
    """Without an index, each whole, in a list each."""
    return [[part(arguments, id=f"call_{number}", name=name)] for number, name in enumerate(NAMES)]


def of_mistral(arguments: str) -> list[list[dict[str, Any]]]:
    """Both in one list, each whole."""
    calls = [part(arguments, index=number, id=f"call_{number}", name=name) for number, name in enumerate(NAMES)]
    return [calls]


def of_vllm(arguments: str) -> list[list[dict[str, Any]]]:
    """Several parts of one call in one list (openai/openai-python#3203)."""
    begin, end = halves(arguments)
    return [
        [part("", index=number, id=f"call_{number}", name=name), part(begin, index=number), part(end, index=number)]
        for number, name in enumerate(NAMES)
    ]


def of_gateway(arguments: str) -> list[list[dict[str, Any]]]:
    """The id and the whole name again in each part."""
    return [
        [part(each, index=number, id=f"call_{number}", name=name)]
        for number, name in enumerate(NAMES)
        for each in halves(arguments)
    ]


def of_late_names(arguments: str) -> list[list[dict[str, Any]]]:
    """The name after the first arguments (vercel/ai#14722)."""
    begin, end = halves(arguments)
    found = []
    for number, name in enumerate(NAMES):
        found += [[part(begin, index=number, id=f"call_{number}")], [part(end, index=number, name=name)]]
    return found


def of_responses(text: str, arguments: str) -> list[Event]:
    """The second item is complete before the first one."""
    message = {"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
    calls = [
        {"type": "function_call", "id": f"fc_{n}", "call_id": f"call_{n}", "name": name, "arguments": arguments}
        for n, name in enumerate(NAMES)
    ]
    output = [message, *calls]
    usage = {"input_tokens": 30, "output_tokens": 7, "total_tokens": 37}
    response = {"id": "r", "object": "response", "model": "m-1", "status": "completed", "output": [], "usage": usage}
    events: list[dict[str, Any]] = [
        {"type": "response.output_text.delta", "item_id": "m", "output_index": 0, "content_index": 0, "delta": each}
        for each in halves(text)
    ]
    for place in (0, 2, 1):
        events += [{"type": "response.output_item.done", "output_index": place, "item": output[place]}]
    added = {"type": "response.output_item.added", "output_index": 0, "item": {**message, "content": []}}
    whole = [added, *events, {"type": "response.completed", "response": response}]
    return [(event["type"], event) for event in whole]


def of_anthropic(text: str, arguments: str) -> list[Event]:
    usage = {"input_tokens": 30, "output_tokens": 1}
    start = {"id": "a", "type": "message", "role": "assistant", "model": "m-1", "content": [], "usage": usage}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": start}, {"type": "ping"}]
    blocks = [({"type": "text", "text": ""}, "text_delta", "text", text)]
    blocks += [
        (
            {"type": "tool_use", "id": f"call_{n}", "name": name, "input": {}},
            "input_json_delta",
            "partial_json",
            arguments,
        )
        for n, name in enumerate(NAMES)
    ]
    for index, (block, kind, field, value) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        deltas = [{"type": kind, field: each} for each in halves(value)]
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    events += [
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 7}},
        {"type": "message_stop"},
    ]
    return [(event["type"], event) for event in events]


CHAT = "/chat/completions"
STREAMS = {
    "openai": ProviderStream(CHAT, "\n", chat(of_openai)),
    "responses": ProviderStream("/responses", "\n", of_responses),
    "anthropic": ProviderStream("/messages", "\r\n", of_anthropic),
    "gemini": ProviderStream(CHAT, "\n", chat(of_gemini)),
    "ollama": ProviderStream(CHAT, "\n", chat(of_ollama)),
    "azure": ProviderStream(CHAT, "\r\n", chat(of_azure)),
    "mistral": ProviderStream(CHAT, "\n", chat(of_mistral)),
    "vllm": ProviderStream(CHAT, "\r", chat(of_vllm)),
    "gateway": ProviderStream(CHAT, "\r\n", chat(of_gateway)),
    "late names": ProviderStream(CHAT, "\n", chat(of_late_names)),
}
