"""Teams as a loop of one's own with OpenAI's SDK, traced by OpenInference, whose spans know model calls only."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
from typing import Any

import teams
from openai import AsyncOpenAI


def describe(tool: Any) -> dict[str, Any]:
    names = list(inspect.signature(tool).parameters)
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in names}, "required": names}
    return {"type": "function", "function": {"name": tool.__name__, "description": tool.__doc__, "parameters": schema}}


async def run_shape(shape: str, address: str, first: str, task: str) -> str:
    client = AsyncOpenAI(base_url=address, max_retries=0)

    async def run_agent(name: str, task: str) -> str:
        return await go_on(name, [{"role": "user", "content": task}])

    async def go_on(name: str, messages: list[Any]) -> str:
        tools = {each.__name__: each for each in teams.tools_of(shape, name, run_agent)}
        if shape == teams.HANDOFF and name == "planner":
            tools["transfer_to_cleaner"] = transfer
        while True:
            system = {"role": "system", "content": teams.instructions(shape, name)}
            answer = await client.chat.completions.create(
                model="gpt-fake",
                messages=[system, *messages],
                tools=[describe(each) for each in tools.values()],  # type: ignore[list-item,misc]
            )
            message = answer.choices[0].message
            messages.append(message.model_dump(exclude_none=True))
            calls: list[Any] = list(message.tool_calls or ())
            if not calls:
                return message.content or ""
            found = await asyncio.gather(
                *(tools[each.function.name](**json.loads(each.function.arguments)) for each in calls)
            )
            results = zip(calls, found, strict=True)
            messages += [{"role": "tool", "tool_call_id": each.id, "content": result} for each, result in results]
            if any(each.function.name == "transfer_to_cleaner" for each in calls):
                return await go_on("cleaner", messages)

    async def transfer() -> str:
        """Hands the conversation over."""
        return teams.note("transfer_to_cleaner")

    return await run_agent(first, task)


tracer = None
if "SPANS" in os.environ:
    from openinference.instrumentation.openai import OpenAIInstrumentor
    from team_tracer import Tracer

    tracer = Tracer()
    OpenAIInstrumentor().instrument(tracer_provider=tracer.provider)
teams.run_all(run_shape, tracer)
