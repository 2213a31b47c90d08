"""An agent with LangChain and LangGraph, on OpenAI's chat; `anthropic` is not needed: the proxy sees the SDK below."""

from __future__ import annotations

import sys
from typing import Any

from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from tools import QUESTION, SYSTEM, call


@tool
def find_order(order: str) -> str:
    """Finds an order."""
    return call("find_order", {"order": order})


@tool
def read_policy(topic: str) -> str:
    """Reads a policy."""
    return call("read_policy", {"topic": topic})


model = ChatOpenAI(model="gpt-fake", use_responses_api="responses" in sys.argv)
agent: Any = create_agent(model, [find_order, read_policy], system_prompt=SYSTEM)
state = agent.invoke({"messages": [{"role": "user", "content": QUESTION}]})
print([(message.type, message.text) for message in state["messages"]])
