"""An agent with Anthropic's SDK; `stream` as an argument streams the answers."""

from __future__ import annotations

import sys
from typing import Any

import anthropic
from tools import QUESTION, SCHEMAS, SYSTEM, call

client = anthropic.Anthropic()
tools: Any = [{"name": name, "input_schema": schema} for name, schema in SCHEMAS.items()]
messages: Any = [{"role": "user", "content": QUESTION}]
for _ in range(5):
    given: Any = {"model": "claude-fake", "max_tokens": 500, "system": SYSTEM, "messages": messages, "tools": tools}
    if "stream" in sys.argv:
        with client.messages.stream(**given) as stream:
            message: Any = stream.get_final_message()
    else:
        message = client.messages.create(**given)
    print(message.model_dump_json(include={"content", "stop_reason"}))
    messages.append(
        {
            "role": "assistant",
            "content": [
                block.model_dump(exclude_none=True, include={"type", "text", "id", "name", "input"})
                for block in message.content
            ],
        }
    )
    results = [
        {"type": "tool_result", "tool_use_id": block.id, "content": call(block.name, block.input)}
        for block in message.content
        if block.type == "tool_use"
    ]
    if not results:
        break
    messages.append({"role": "user", "content": results})
