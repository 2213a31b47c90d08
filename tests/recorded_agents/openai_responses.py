"""An agent with OpenAI's SDK and the Responses API; arguments: `stream`, `stateful` (the provider keeps the state)."""

from __future__ import annotations

import json
import sys
from typing import Any

import openai
from tools import QUESTION, SCHEMAS, SYSTEM, call

client = openai.OpenAI()
tools: Any = [
    {"type": "function", "name": name, "parameters": schema, "strict": False} for name, schema in SCHEMAS.items()
]
items: Any = [{"role": "user", "content": QUESTION}]
previous: Any = openai.omit
for _ in range(5):
    given: Any = {
        "model": "gpt-fake",
        "instructions": SYSTEM,
        "input": items,
        "tools": tools,
        "previous_response_id": previous,
    }
    if "stream" in sys.argv:
        with client.responses.stream(**given) as stream:
            response: Any = stream.get_final_response()
    else:
        response = client.responses.create(**given)
    print(response.model_dump_json(include={"output"}))
    results = [
        {"type": "function_call_output", "call_id": item.call_id, "output": call(item.name, json.loads(item.arguments))}
        for item in response.output
        if item.type == "function_call"
    ]
    if not results:
        break
    if "stateful" in sys.argv:
        items, previous = results, response.id
    else:
        items += [
            item.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for item in response.output
        ] + results
