"""Crews with OpenAI's Agents SDK: its Responses model, or `CREW_API=chat`; traced by OpenInference if it is there."""

from __future__ import annotations

import os

import crews
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


def trace_runs() -> crews.Any:
    from crew_tracer import Tracer
    from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor

    tracer = Tracer()
    set_trace_processors([])
    OpenAIAgentsInstrumentor().instrument(tracer_provider=tracer.provider)
    return tracer


async def run_shape(shape: str, address: str) -> None:
    model_type = OpenAIChatCompletionsModel if os.environ.get("CREW_API") == "chat" else OpenAIResponsesModel
    model = model_type(model="gpt-fake", openai_client=AsyncOpenAI(base_url=address, max_retries=0))
    built = {}

    async def run_agent(name: str, task: str) -> str:
        return str((await Runner.run(built[name], task)).final_output)

    for name in reversed(crews.SHAPES[shape]):
        built[name] = Agent(
            name=name,
            instructions=crews.instructions(shape, name),
            tools=[function_tool(each) for each in crews.tools_of(shape, name, run_agent)],
            handoffs=(
                [handoff(built["cleaner"], on_handoff=lambda _: crews.note("transfer_to_cleaner") and None)]
                if shape == crews.HANDOFF and name == "planner"
                else []
            ),
            model=model,
        )
    print(await run_agent(next(iter(crews.SHAPES[shape])), "Tidy up."))


crews.run_all(run_shape, trace_runs() if "SPANS" in os.environ else None)
