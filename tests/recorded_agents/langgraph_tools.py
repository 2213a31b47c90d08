"""An agent of LangChain, which runs on LangGraph, with OpenAI's model and tools as functions."""

from __future__ import annotations

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


agent = create_agent(ChatOpenAI(model="gpt-fake"), [find_order, read_policy], system_prompt=SYSTEM)
print(agent.invoke({"messages": [("user", QUESTION)]})["messages"][-1].content)
