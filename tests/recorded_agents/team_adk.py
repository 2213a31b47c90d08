"""Teams with Google's Agent Development Kit, traced by itself."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import teams
from google.adk.agents import Agent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.integrations.openai import OpenAILlm
from google.adk.runners import InMemoryRunner
from google.genai import types

if TYPE_CHECKING:
    from google.adk.tools import BaseTool, ToolContext


def note_transfer(tool: BaseTool, args: dict[str, Any], tool_context: ToolContext) -> None:
    del tool_context
    if tool.name == "transfer_to_agent":
        teams.note(tool.name, **args)


MODE = RunConfig(streaming_mode=StreamingMode.SSE if teams.STREAMS else StreamingMode.NONE)


async def run_shape(shape: str, address: str, first: str, task: str) -> str:
    os.environ["OPENAI_BASE_URL"] = address
    built = {}

    async def run_agent(name: str, task: str) -> str:
        runner = InMemoryRunner(agent=built[name], app_name="team")
        session = await runner.session_service.create_session(app_name="team", user_id="ci")
        message = types.Content(role="user", parts=[types.Part(text=task)])
        answer = ""
        async for event in runner.run_async(user_id="ci", session_id=session.id, new_message=message, run_config=MODE):
            if event.error_code:
                raise RuntimeError(event.error_message)
            if event.is_final_response() and event.content and event.content.parts:
                answer = event.content.parts[0].text or answer
        return answer

    for name in reversed(teams.SHAPES[shape]):
        hands_over = shape == teams.TRANSFER and name == "planner"
        built[name] = Agent(
            name=name,
            model=OpenAILlm(model="gpt-fake"),
            instruction=teams.instructions(shape, name),
            tools=teams.tools_of(shape, name, run_agent),
            sub_agents=[built["cleaner"]] if hands_over else [],
            before_tool_callback=note_transfer,
        )
    return await run_agent(first, task)


tracer = None
if "SPANS" in os.environ:
    from team_tracer import Tracer

    tracer = Tracer()
teams.run_all(run_shape, tracer)
