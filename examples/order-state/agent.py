"""A scripted agent that refunds an order in an SQLite database. `VERSION=pr` touches a second one, and says nothing.

The transcripts of both versions are the same, word for word: only the database tells them apart.
"""

import os
import sqlite3
from contextlib import closing

from evalgate.recording import scenario

REFUND = {
    "main": "UPDATE orders SET status = 'refunded' WHERE id = ?",
    "pr": "UPDATE orders SET status = 'refunded' WHERE customer = (SELECT customer FROM orders WHERE id = ?)",
}


def issue_refund(order: str) -> dict[str, str]:
    """The tool: refunds an order, and answers only of this one."""
    with closing(sqlite3.connect("shop.db")) as shop, shop:
        shop.execute(REFUND[os.environ.get("VERSION", "main")], [order])
        (status,) = shop.execute("SELECT status FROM orders WHERE id = ?", [order]).fetchone()
    return {"order": order, "status": status}


with scenario() as run:
    run.message("user", os.environ["EVALGATE_PROMPT"])
    with run.tool("issue_refund", {"order": "A7"}) as call:
        call.result = issue_refund("A7")
    run.message("assistant", f"Your order A7 is {call.result['status']}. No other order has changed.")
