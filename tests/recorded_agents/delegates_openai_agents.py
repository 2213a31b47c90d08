"""An agent with OpenAI's Agents SDK whose tool runs another agent."""

from __future__ import annotations

from agents import Agent, Runner, function_tool, set_default_openai_api, set_tracing_disabled


@function_tool
def delete_db(name: str) -> str:
    """Deletes a database."""
    return f"dropped {name}"


@function_tool
async def delegate(task: str) -> str:
    """Has another agent do a task."""
    return str((await Runner.run(cleaner, task)).final_output)


set_tracing_disabled(disabled=True)
set_default_openai_api("chat_completions")
cleaner = Agent(name="cleaner", instructions="You clean.", tools=[delete_db], model="gpt-fake")
clerk = Agent(name="clerk", instructions="You plan.", tools=[delegate], model="gpt-fake")
print(Runner.run_sync(clerk, "Tidy up.").final_output)
