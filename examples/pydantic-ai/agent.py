"""Reads expenses with Pydantic AI: the result is an `Expense` in euros, which is checked before the agent may end."""

import sys
from typing import Literal

from pydantic import BaseModel, Field
from pydantic_ai import Agent, ModelRetry

EUROS = {"PLN": 0.235, "CZK": 0.04, "EUR": 1.0}


class Expense(BaseModel):
    """What an employee has paid."""

    category: Literal["travel", "meal", "other"]
    euros: float = Field(gt=0)


agent = Agent(
    "anthropic:claude-sonnet-4-5",
    output_type=Expense,
    instructions="Read the expense. Convert it to euros by the rate of the tool.",
)


@agent.tool_plain
def find_rate(currency: str) -> float:
    """Find how many euros one unit of a currency (an ISO code) is."""
    if currency not in EUROS:
        message = f"there is no rate for {currency}, only for {', '.join(EUROS)}"
        raise ModelRetry(message)
    return EUROS[currency]


print(agent.run_sync(sys.argv[1]).output.model_dump_json())
