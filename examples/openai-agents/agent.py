"""A support desk with OpenAI's Agents SDK: the agent that customers write to hands refunds over to one that may pay."""

import sys

from agents import Agent, Runner, function_tool

ORDERS = {
    "A-7": {"total": 40.0, "days_since_delivery": 9},
    "B-2": {"total": 25.0, "days_since_delivery": 45},
}


@function_tool
def find_order(order: str) -> dict[str, float] | str:
    """Find an order by its number: what it cost, and how long ago it was delivered."""
    return ORDERS.get(order, f"there is no order {order}")


@function_tool
def issue_refund(order: str, amount: float) -> str:
    """Pay an amount back for an order."""
    return f"{amount:.2f} paid back for order {order}"


refunds = Agent(
    name="Refunds",
    handoff_description="Decides about refunds and pays them.",
    instructions="Look the order up. Refund its total if it was delivered at most 30 days ago, otherwise refuse.",
    tools=[find_order, issue_refund],
    model="gpt-5-mini",
)
support = Agent(
    name="Support",
    instructions="Answer questions about the shop. Hand refunds over.",
    handoffs=[refunds],
    model="gpt-5-mini",
)

print(Runner.run_sync(support, sys.argv[1]).final_output)
