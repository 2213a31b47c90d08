"""A support agent with OpenAI's SDK. It knows nothing of EvalGate: `evalgate record` runs it as it is.

evalgate record --suite evals/support.yaml --cache write -- python agent.py '{prompt}'    with OPENAI_API_KEY
evalgate record --suite evals/support.yaml --cache read -- python agent.py '{prompt}'     without a key
"""

from __future__ import annotations

import json
import sys
from typing import Any

import openai

SYSTEM = "You are the support agent of a shop. Look orders up before you answer. Be brief."
ORDERS = {"A-7": {"status": "delivered", "days": 9}, "B-2": {"status": "shipped", "days": 1}}
MAX_STEPS = 5


def find_order(order: str) -> dict[str, Any]:
    """The order with this number."""
    return ORDERS.get(order, {"error": "unknown order"})


def read_policy(topic: str) -> dict[str, Any]:
    """The shop's policy on a topic."""
    return {"topic": topic, "days": 30}


TOOLS = {"find_order": (find_order, "order"), "read_policy": (read_policy, "topic")}


def describe_tools() -> list[Any]:
    """The tools as OpenAI's API takes them."""
    return [
        {
            "type": "function",
            "function": {
                "name": name,
                "description": tool.__doc__,
                "parameters": {"type": "object", "properties": {field: {"type": "string"}}, "required": [field]},
            },
        }
        for name, (tool, field) in TOOLS.items()
    ]


def main(question: str) -> None:
    """Answers a question of a user."""
    client = openai.OpenAI()
    messages: list[Any] = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": question}]
    for _ in range(MAX_STEPS):
        answer = client.chat.completions.create(model="gpt-5-mini", messages=messages, tools=describe_tools())
        message = answer.choices[0].message
        messages.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            print(message.content)
            return
        for call in message.tool_calls:
            if call.type == "function":
                tool, _ = TOOLS[call.function.name]
                result = json.dumps(tool(**json.loads(call.function.arguments)))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


main(sys.argv[1])
