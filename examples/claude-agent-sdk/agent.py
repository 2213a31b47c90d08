"""A data assistant with the Claude Agent SDK: it answers questions about a shop with SQL, by a tool of this process."""

import asyncio
import json
import sqlite3
import sys
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, create_sdk_mcp_server, query, tool

database = sqlite3.connect(":memory:")
database.executescript("""
    CREATE TABLE orders (id TEXT, customer TEXT, total REAL, status TEXT);
    INSERT INTO orders VALUES ('A-7', 'Ada', 40, 'paid'), ('B-2', 'Ben', 25, 'paid'), ('B-2', 'Ben', 25, 'paid');
""")


@tool("run_sql", "Run one statement of SQL. Table: orders(id, customer, total, status).", {"sql": str})
async def run_sql(args: dict[str, Any]) -> dict[str, Any]:
    """The rows, as JSON."""
    rows = database.execute(args["sql"]).fetchall()
    return {"content": [{"type": "text", "text": json.dumps(rows)}]}


OPTIONS = ClaudeAgentOptions(
    model="claude-sonnet-4-5",
    system_prompt="You answer questions about the shop's orders. Only read. If something is wrong, propose a repair.",
    mcp_servers={"shop": create_sdk_mcp_server("shop", tools=[run_sql])},
    tools=[],
    allowed_tools=["mcp__shop__run_sql"],
    setting_sources=[],
    max_turns=5,
    env={"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"},  # otherwise it also asks for a title of the session
)


async def main(question: str) -> None:
    """Prints the answer."""
    async for message in query(prompt=question, options=OPTIONS):
        if isinstance(message, ResultMessage):
            print(message.result)


asyncio.run(main(sys.argv[1]))
