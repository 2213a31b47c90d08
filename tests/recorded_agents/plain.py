"""An agent without an SDK: asks the model for tools, calls them, asks again. Arguments change what it does."""

from __future__ import annotations

import json
import os
import sys
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tools import QUESTION, SCHEMAS, SYSTEM, call

TOOLS = [{"type": "function", "function": {"name": name, "parameters": schema}} for name, schema in SCHEMAS.items()]
KEY = os.environ.get("OPENAI_API_KEY", "none")


def post(path: str, body: dict[str, Any], headers: dict[str, str] | None = None) -> dict[str, Any]:
    request = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + path,
        json.dumps(body).encode(),
        {"Content-Type": "application/json", "Authorization": f"Bearer {KEY}", **(headers or {})},
    )
    try:
        with urllib.request.urlopen(request) as response:
            found: dict[str, Any] = json.loads(response.read())
    except urllib.error.HTTPError as error:
        print("status", error.code, error.read().decode(), error.headers.get("x-should-retry"))
        raise
    return found


def ask(messages: list[Any], **more: Any) -> dict[str, Any]:
    answer = post("/chat/completions", {"model": "gpt-fake", "messages": messages, "tools": TOOLS, **more})
    message: dict[str, Any] = answer["choices"][0]["message"]
    return message


def converse(question: str = QUESTION) -> None:
    messages: list[Any] = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": question}]
    for _ in range(5):
        message = ask(messages)
        print(json.dumps(message)[:200])
        messages.append(message)
        if not message.get("tool_calls"):
            return
        for each in message["tool_calls"]:
            result = call(each["function"]["name"], json.loads(each["function"]["arguments"]))
            messages.append({"role": "tool", "tool_call_id": each["id"], "content": result})


def retry() -> None:
    for _ in range(4):
        try:
            converse()
        except urllib.error.HTTPError:
            continue
        return


def main(word: str) -> None:
    if word == "none":
        print("no call")
    elif word == "crash":
        converse()
        sys.exit(7)
    elif word == "sleep":
        converse()
        print("asleep", os.getpid(), flush=True)
        time.sleep(60)
    elif word == "retry":
        retry()
    elif word == "parallel":
        with ThreadPoolExecutor(50) as pool:
            list(pool.map(lambda number: ask([{"role": "user", "content": f"question {number}"}]), range(50)))
    elif word == "stream":
        ask([{"role": "user", "content": QUESTION}], stream=True)
    else:
        converse()


main(sys.argv[1] if len(sys.argv) > 1 else "")
