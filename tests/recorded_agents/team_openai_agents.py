"""Teams with OpenAI's Agents SDK: its Responses model, or `TEAM_API=chat`; traced by OpenInference if it is there."""

from __future__ import annotations

import os

import teams
from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    function_tool,
    handoff,
    set_trace_processors,
)
from openai import AsyncOpenAI


def trace_runs() -> teams.Any:
    from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor
    from team_tracer import Tracer

    tracer = Tracer()
    set_trace_processors([])
    OpenAIAgentsInstrumentor().instrument(tracer_provider=tracer.provider)
    return tracer


async def run_shape(shape: str, address: str, first: str, task: str) -> str:
    model_type = OpenAIChatCompletionsModel if os.environ.get("TEAM_API") == "chat" else OpenAIResponsesModel
    model = model_type(model="gpt-fake", openai_client=AsyncOpenAI(base_url=address, max_retries=0))
    built = {}

    async def run_agent(name: str, task: str) -> str:
        if not teams.STREAMS:
            return str((await Runner.run(built[name], task)).final_output)
        running = Runner.run_streamed(built[name], task)
        async for _ in running.stream_events():
            pass
        return str(running.final_output)

    for name in reversed(teams.SHAPES[shape]):
        built[name] = Agent(
            name=name,
            instructions=teams.instructions(shape, name),
            tools=[function_tool(each) for each in teams.tools_of(shape, name, run_agent)],
            handoffs=(
                [handoff(built["cleaner"], on_handoff=lambda _: teams.note("transfer_to_cleaner") and None)]
                if shape == teams.HANDOFF and name == "planner"
                else []
            ),
            model=model,
        )
    return await run_agent(first, task)


teams.run_all(run_shape, trace_runs() if "SPANS" in os.environ else None)
