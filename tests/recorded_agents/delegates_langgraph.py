"""An agent of LangGraph whose tool runs another agent."""

from __future__ import annotations

from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.prebuilt import create_react_agent


@tool
def delete_db(name: str) -> str:
    """Deletes a database."""
    return f"dropped {name}"


@tool
def delegate(task: str) -> str:
    """Has another agent do a task."""
    return str(cleaner.invoke({"messages": [("user", task)]})["messages"][-1].content)


model = ChatOpenAI(model="gpt-fake")
cleaner = create_react_agent(model, [delete_db], prompt="You clean.")
clerk = create_react_agent(model, [delegate], prompt="You plan.")
print(clerk.invoke({"messages": [("user", "Tidy up.")]})["messages"][-1].content)
