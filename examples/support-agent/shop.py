"""A tiny shop held in memory: orders, a refund policy, and the tools an agent may call."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

REFUND_WINDOW_DAYS = 30
HUMAN_ABOVE_USD = 500.0
TIMEOUT_SHARE = 0.3


class ToolError(Exception):
    """A tool could not do what it was asked; the text is for the agent."""


@dataclass
class Order:
    """One order; `delivered_days_ago` is None until it has arrived."""

    id: str
    item: str
    amount: float
    status: str
    delivered_days_ago: int | None = None
    tracking: str | None = None


def stock() -> dict[str, Order]:
    """The orders every conversation starts from."""
    orders = [
        Order("A1001", "desk lamp", 42.5, "delivered", 5, "TRK-77120"),
        Order("A1002", "kettle", 34.0, "delivered", 61, "TRK-70418"),
        Order("A1003", "standing desk", 640.0, "delivered", 9, "TRK-76655"),
        Order("A1004", "bookshelf", 129.0, "shipped", None, "TRK-80233"),
        Order("A1005", "office chair", 189.0, "processing"),
        Order("A1006", "monitor arm", 480.0, "delivered", 90, "TRK-69001"),
    ]
    return {order.id: order for order in orders}


class Shop:
    """The shop as one conversation sees it. `chance` decides when the carrier's service is slow."""

    def __init__(self, chance: Random) -> None:
        self._orders = stock()
        self._chance = chance

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Runs one tool by name; raises ToolError."""
        tools: dict[str, Callable[..., dict[str, Any]]] = {
            "lookup_order": self._lookup_order,
            "check_refund_policy": self._check_refund_policy,
            "issue_refund": self._issue_refund,
            "cancel_order": self._cancel_order,
            "track_parcel": self._track_parcel,
            "escalate_to_human": self._escalate_to_human,
        }
        return tools[tool](**arguments)

    def _order(self, order_id: str) -> Order:
        if order_id not in self._orders:
            raise ToolError(f"no order {order_id}")
        return self._orders[order_id]

    def _lookup_order(self, order_id: str) -> dict[str, Any]:
        return asdict(self._order(order_id))

    def _check_refund_policy(self, order_id: str) -> dict[str, Any]:
        order = self._order(order_id)
        age = order.delivered_days_ago
        return {
            "eligible": age is not None and age <= REFUND_WINDOW_DAYS,
            "needs_human": order.amount > HUMAN_ABOVE_USD,
            "window_days": REFUND_WINDOW_DAYS,
        }

    def _issue_refund(self, order_id: str, amount: float) -> dict[str, Any]:
        order = self._order(order_id)
        order.status = "refunded"
        return {"refund_id": f"R-{order.id}", "amount": amount}

    def _cancel_order(self, order_id: str) -> dict[str, Any]:
        order = self._order(order_id)
        if order.status != "processing":
            raise ToolError(f"order {order_id} has left the warehouse")
        order.status = "cancelled"
        return {"status": order.status}

    def _track_parcel(self, tracking: str) -> dict[str, Any]:
        if self._chance.random() < TIMEOUT_SHARE:
            raise ToolError("the carrier did not answer in time")
        return {"tracking": tracking, "place": "Leipzig depot", "eta_days": 2}

    def _escalate_to_human(self, order_id: str, reason: str) -> dict[str, Any]:
        return {"ticket": f"T-{self._order(order_id).id}", "reason": reason}
