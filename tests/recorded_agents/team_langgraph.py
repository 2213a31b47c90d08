"""Teams with LangGraph, traced by LangSmith's SDK with OpenTelemetry."""

from __future__ import annotations

import os
from typing import Annotated, Any

import teams
from httpx import AsyncClient
from langchain_core.messages import ToolMessage
from langchain_core.tools import InjectedToolCallId, StructuredTool
from langchain_core.tracers.langchain import wait_for_all_tracers
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedState, create_react_agent
from langgraph.types import Command


def make_handoff() -> StructuredTool:
    async def transfer(state: Annotated[Any, InjectedState], call: Annotated[str, InjectedToolCallId]) -> Any:
        """Hands the conversation over."""
        teams.note("transfer_to_cleaner")
        messages = [*state["messages"], ToolMessage("transferred", tool_call_id=call)]
        return Command(goto="cleaner", graph=Command.PARENT, update={"messages": messages})

    return StructuredTool.from_function(coroutine=transfer, name="transfer_to_cleaner")


async def run_shape(shape: str, address: str, first: str, task: str) -> str:
    model = ChatOpenAI(
        model="gpt-fake", base_url=address, max_retries=0, streaming=teams.STREAMS, http_async_client=AsyncClient()
    )
    built = {}

    async def run_agent(name: str, task: str) -> str:
        return str((await built[name].ainvoke({"messages": [("user", task)]}))["messages"][-1].content)

    for name in teams.SHAPES[shape]:
        tools = [StructuredTool.from_function(coroutine=each) for each in teams.tools_of(shape, name, run_agent)]
        if shape == teams.HANDOFF and name == "planner":
            tools.append(make_handoff())
        built[name] = create_react_agent(model, tools, prompt=teams.instructions(shape, name), name=name)
    if shape == teams.HANDOFF:
        graph = StateGraph(MessagesState)
        for name in teams.SHAPES[shape]:
            graph.add_node(name, built[name])
        graph.add_edge(START, first)
        built[first] = graph.compile()
    answer = await run_agent(first, task)
    wait_for_all_tracers()
    return answer


tracer = None
if "SPANS" in os.environ:
    from team_tracer import Tracer

    tracer = Tracer()
teams.run_all(run_shape, tracer)
