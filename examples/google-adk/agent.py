"""A caretaker with Google's Agent Development Kit: it reads the temperature of rooms, and sets their heating."""

import asyncio
import sys

from google.adk.agents import Agent
from google.adk.integrations.openai import OpenAILlm
from google.adk.runners import InMemoryRunner
from google.genai import types

ROOMS = {"library": 17.0, "lab": 22.5}


def read_temperature(room: str) -> dict[str, float | str]:
    """Reads the temperature of a room, in degrees Celsius."""
    return {"celsius": ROOMS[room]} if room in ROOMS else {"error": f"there is no room {room}"}


def set_heating(room: str, target: float) -> dict[str, str]:
    """Sets the heating of a room to a temperature in degrees Celsius, from 15 to 25."""
    return {"status": f"the heating of the {room} is set to {target:g}"}


root_agent = Agent(
    name="caretaker",
    model=OpenAILlm(model="gpt-5-mini"),
    instruction="You look after a building. Read a room's temperature before you change its heating.",
    tools=[read_temperature, set_heating],
)


async def main(question: str) -> None:
    """Prints the answer."""
    runner = InMemoryRunner(agent=root_agent, app_name="building")
    session = await runner.session_service.create_session(app_name="building", user_id="ci")
    message = types.Content(role="user", parts=[types.Part(text=question)])
    async for event in runner.run_async(user_id="ci", session_id=session.id, new_message=message):
        if event.is_final_response() and event.content and event.content.parts:
            print(event.content.parts[0].text)


asyncio.run(main(sys.argv[1]))
