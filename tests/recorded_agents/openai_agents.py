"""An agent with OpenAI's Agents SDK: its Responses model by default, `chat` for chat completions, `spans` traced."""

from __future__ import annotations

import sys

from agents import Agent, Runner, function_tool, set_default_openai_api, set_tracing_disabled
from tools import QUESTION, SYSTEM, call


@function_tool
def find_order(order: str) -> str:
    """Finds an order."""
    return call("find_order", {"order": order})


@function_tool
def read_policy(topic: str) -> str:
    """Reads a policy."""
    return call("read_policy", {"topic": topic})


set_tracing_disabled(disabled="spans" not in sys.argv)
if "chat" in sys.argv:
    set_default_openai_api("chat_completions")
agent = Agent(name="support", instructions=SYSTEM, tools=[find_order, read_policy], model="gpt-fake")
print(Runner.run_sync(agent, QUESTION).final_output)
