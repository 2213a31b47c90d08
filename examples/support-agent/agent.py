"""A small support agent that follows rules instead of a model, and records every conversation.

    python examples/support-agent/agent.py --out traces/ --version main

`main` is the agent as it works today. `pr` is the agent of a pull request that wanted faster refunds: it
skips the policy check for small amounts, no longer asks the carrier twice, answers with a more expensive model, and
explains to customers how long a cancellation takes.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from conversations import CONVERSATIONS
from recorder import Model, Recorder
from shop import Shop, ToolError

INSTRUCTIONS = (
    "You answer customers of a furniture shop. Look an order up before you speak about it. "
    "Check the refund policy before every refund. Hand over to a person when the policy says so."
)
ORDER_ID = re.compile(r"\bA\d{4}\b")


class Version(NamedTuple):
    """How one version of the agent behaves."""

    model: Model
    fast_refund_below: float
    carrier_attempts: int
    names_waiting_time: bool


VERSIONS = {
    "main": Version(Model("scripted-small-1", 0.4, 1.6, 90.0), 0.0, 3, names_waiting_time=False),
    "pr": Version(Model("scripted-large-1", 2.5, 10.0, 45.0), 100.0, 1, names_waiting_time=True),
}


class Agent:
    """One conversation of one version of the agent."""

    def __init__(self, version: Version, shop: Shop, recorder: Recorder) -> None:
        self._version = version
        self._shop = shop
        self._recorder = recorder
        self._intent = "other"
        recorder.system(INSTRUCTIONS)

    def hear(self, text: str) -> None:
        """Takes one message of the customer and answers it."""
        self._recorder.user(text)
        self._intent = understand(text, before=self._intent)
        found = ORDER_ID.search(text)
        self._recorder.assistant(self._reply(found.group() if found else None))

    def _reply(self, order_id: str | None) -> str:
        if self._intent == "other":
            return "I can help with orders, refunds and cancellations only."
        if order_id is None:
            return "Gladly. Which order is it? The number is in your confirmation, for example A1234."
        handle = {"refund": self._refund, "cancel": self._cancel, "status": self._status}[self._intent]
        try:
            return handle(self._call("lookup_order", order_id=order_id))
        except ToolError as error:
            return f"I am sorry, that did not work: {error}."

    def _call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        call_id = self._recorder.request(tool, arguments)
        try:
            result = self._shop.call(tool, arguments)
        except ToolError as error:
            self._recorder.answer(call_id, str(error), is_error=True)
            raise
        self._recorder.answer(call_id, json.dumps(result), is_error=False)
        return result

    def _refund(self, order: dict[str, Any]) -> str:
        if order["amount"] >= self._version.fast_refund_below:
            policy = self._call("check_refund_policy", order_id=order["id"])
            if not policy["eligible"]:
                return f"I am sorry: refunds end {policy['window_days']} days after delivery."
            if policy["needs_human"]:
                ticket = self._call("escalate_to_human", order_id=order["id"], reason="amount")
                return f"A colleague has to approve this refund and will write to you ({ticket['ticket']})."
        refund = self._call("issue_refund", order_id=order["id"], amount=order["amount"])
        amount = f"${refund['amount']:.2f}"
        return f"Done: {amount} for the {order['item']} has been refunded ({refund['refund_id']})."

    def _cancel(self, order: dict[str, Any]) -> str:
        self._call("cancel_order", order_id=order["id"])
        wait = " Your money is back within 3 business days." if self._version.names_waiting_time else ""
        return f"Order {order['id']} is cancelled.{wait}"

    def _status(self, order: dict[str, Any]) -> str:
        for _ in range(self._version.carrier_attempts):
            try:
                parcel = self._call("track_parcel", tracking=order["tracking"])
            except ToolError:
                continue
            return f"Your {order['item']} is at the {parcel['place']} and arrives in {parcel['eta_days']} days."
        return "I could not reach the carrier. Please try again later."


def understand(text: str, before: str) -> str:
    """What the customer wants; without a hint in the text, what they wanted before."""
    hints = {
        "cancel": r"\bcancel\b",
        "refund": r"\brefund\b|money back",
        "status": r"\bwhere\b|\bsent\b|\btrack\b|\barrive\b",
    }
    lowered = text.lower()
    return next((intent for intent, hint in hints.items() if re.search(hint, lowered)), before)


def record(version: str, scenario: str, trial: int) -> dict[str, Any]:
    """Holds one conversation and gives its trace; the same arguments give the same trace."""
    chance = Random(f"{scenario}/{trial}")  # noqa: S311 - repeatable on purpose
    recorder = Recorder(VERSIONS[version].model, chance)
    agent = Agent(VERSIONS[version], Shop(chance), recorder)
    for text in CONVERSATIONS[scenario][trial]:
        agent.hear(text)
    return recorder.trace(scenario, trial, version)


def main() -> None:
    """Records every conversation: one file a scenario, one line a trial."""
    parser = argparse.ArgumentParser(description="Record the example agent's conversations.")
    parser.add_argument("--out", type=Path, required=True, help="folder for the traces")
    parser.add_argument("--version", choices=sorted(VERSIONS), default="main")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for scenario, trials in CONVERSATIONS.items():
        lines = [json.dumps(record(options.version, scenario, trial)) for trial in range(len(trials))]
        (options.out / f"{scenario}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    print(f"{sum(map(len, CONVERSATIONS.values()))} conversations recorded in {options.out}")


if __name__ == "__main__":
    main()
