"""Teams with Pydantic AI, traced by itself; it has no handoff of its own, so that shape is left out."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import teams
from openai import AsyncOpenAI
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

if TYPE_CHECKING:
    from collections.abc import AsyncIterable


async def take_all(_: Any, events: AsyncIterable[Any]) -> None:
    async for _event in events:
        pass


async def run_shape(shape: str, address: str, first: str, task: str) -> str:
    client = AsyncOpenAI(base_url=address, max_retries=0)
    model = OpenAIChatModel("gpt-fake", provider=OpenAIProvider(openai_client=client))
    built = {}

    async def run_agent(name: str, task: str) -> str:
        handler = take_all if teams.STREAMS else None
        return str((await built[name].run(task, event_stream_handler=handler)).output)

    for name in teams.SHAPES[shape]:
        built[name] = Agent(model, name=name, instructions=teams.instructions(shape, name))
        for tool in teams.tools_of(shape, name, run_agent):
            built[name].tool_plain(tool)
    return await run_agent(first, task)


tracer = None
if "SPANS" in os.environ:
    from team_tracer import Tracer

    tracer = Tracer()
    Agent.instrument_all()
teams.run_all(run_shape, tracer)
