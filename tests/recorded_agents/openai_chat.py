"""An agent with OpenAI's SDK and chat completions; `stream` as an argument streams the answers."""

from __future__ import annotations

import json
import sys
from typing import Any

import openai
from tools import QUESTION, SCHEMAS, SYSTEM, call

client = openai.OpenAI()
is_stream = "stream" in sys.argv
tools: Any = [
    {"type": "function", "function": {"name": name, "parameters": schema}} for name, schema in SCHEMAS.items()
]
messages: Any = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": QUESTION}]


def ask() -> Any:
    if not is_stream:
        return client.chat.completions.create(model="gpt-fake", messages=messages, tools=tools).choices[0].message
    with client.chat.completions.stream(model="gpt-fake", messages=messages, tools=tools) as stream:
        return stream.get_final_completion().choices[0].message


for _ in range(5):
    message = ask()
    print(message.model_dump_json())
    given = message.model_dump(exclude_none=True, include={"role", "content", "tool_calls"})
    for each in given.get("tool_calls", ()):
        each.pop("index", None)
        each["function"].pop("parsed_arguments", None)
    messages.append(given)
    if not message.tool_calls:
        break
    for each in message.tool_calls:
        result = call(each.function.name, json.loads(each.function.arguments))
        messages.append({"role": "tool", "tool_call_id": each.id, "content": result})
