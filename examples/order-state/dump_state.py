"""Prints the orders by their id, as JSON; before a run the database is filled anew."""

import json
import os
import sqlite3
from contextlib import closing

ORDERS = [("A7", "Ann", "paid", 42.5), ("B2", "Ann", "shipped", 18.0), ("C3", "Bob", "paid", 7.0)]

with closing(sqlite3.connect("shop.db")) as shop, shop:
    if os.environ["EVALGATE_STATE"] == "before":
        shop.execute("DROP TABLE IF EXISTS orders")
        shop.execute("CREATE TABLE orders (id TEXT, customer TEXT, status TEXT, total REAL)")
        shop.executemany("INSERT INTO orders VALUES (?, ?, ?, ?)", ORDERS)
    rows = shop.execute("SELECT id, customer, status, total FROM orders ORDER BY id").fetchall()
orders = {row[0]: {"customer": row[1], "status": row[2], "total": row[3]} for row in rows}
print(json.dumps({"orders": orders}))
