"""An agent with Pydantic AI: OpenAI's chat by default, `anthropic` for Anthropic, `spans` with spans."""

from __future__ import annotations

import sys

from pydantic_ai import Agent
from tools import QUESTION, SYSTEM, call

agent = Agent("anthropic:claude-fake" if "anthropic" in sys.argv else "openai-chat:gpt-fake", system_prompt=SYSTEM)


@agent.tool_plain
def find_order(order: str) -> str:
    """Finds an order."""
    return call("find_order", {"order": order})


@agent.tool_plain
def read_policy(topic: str) -> str:
    """Reads a policy."""
    return call("read_policy", {"topic": topic})


if "spans" in sys.argv:
    Agent.instrument_all()
print(agent.run_sync(QUESTION).output)
