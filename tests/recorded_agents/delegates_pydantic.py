"""An agent of Pydantic AI whose tool runs another agent."""

from __future__ import annotations

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel

model = OpenAIChatModel("gpt-fake")
cleaner = Agent(model, system_prompt="You clean.")
clerk = Agent(model, system_prompt="You plan.")


@cleaner.tool_plain
def delete_db(name: str) -> str:
    """Deletes a database."""
    return f"dropped {name}"


@clerk.tool_plain
async def delegate(task: str) -> str:
    """Has another agent do a task."""
    return (await cleaner.run(task)).output


print(clerk.run_sync("Tidy up.").output)
