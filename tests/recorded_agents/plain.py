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
SECRETS = ("GITHUB_TOKEN", "AWS", "SLACK", "STRIPE", "NPM", "HF", "GOOGLE", "GITLAB", "MY_PASSWORD", "DATABASE_URL")
KEY = os.environ.get("OPENAI_API_KEY", "none")


def post(path: str, body: dict[str, Any], headers: dict[str, str] | None = None) -> dict[str, Any]:
    request = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + path,
        json.dumps(body).encode(),
        {"Content-Type": "application/json", "Authorization": f"Bearer {KEY}", **(headers or {})},
    )
    try:
        with urllib.request.urlopen(request) as response:
            data = response.read()
            found: dict[str, Any] = {"choices": [{"message": {}}]} if body.get("stream") else json.loads(data)
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


def crash() -> None:
    converse()
    sys.exit(7)


def fail_loudly() -> None:
    """Writes more than is kept to stderr, with the key in it, and ends with an exception."""
    converse()
    print("step\n" * 2_000 + os.environ["OPENAI_API_KEY"], file=sys.stderr)
    raise KeyError("total")


def sleep() -> None:
    converse()
    print("asleep", os.getpid(), flush=True)
    time.sleep(60)


def ask_in_parallel() -> None:
    with ThreadPoolExecutor(50) as pool:
        list(pool.map(lambda number: ask([{"role": "user", "content": f"question {number}"}]), range(50)))


def repeat(times: int) -> None:
    for _ in range(times):
        ask([{"role": "user", "content": QUESTION}])


def send_secrets(is_stream: bool) -> None:
    secrets = [os.environ[name] for name in sorted(os.environ) if name in SECRETS]
    for _ in range(2):
        ask([{"role": "user", "content": f"use {secrets}"}], tools=[], stream=is_stream)


def stream_beside() -> None:
    """Reads a stream in two halves, and sends another request in between."""
    body = {"model": "gpt-fake", "messages": [{"role": "user", "content": QUESTION}], "stream": True}
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {KEY}"}
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers)) as response:
        first = response.readline()
        try:
            ask([{"role": "user", "content": "another"}])
        except urllib.error.HTTPError as error:
            print("refused:", error.code)
        text = first + response.read()
    print("stream:", "whole" if text.endswith(b"data: [DONE]\n\n") else text)


ACTIONS = {
    "none": lambda: print("no call"),
    "crash": crash,
    "loud": fail_loudly,
    "sleep": sleep,
    "retry": retry,
    "parallel": ask_in_parallel,
    "twice": lambda: repeat(2),
    "thrice": lambda: repeat(3),
    "secrets": lambda: send_secrets(is_stream=False),
    "secrets-stream": lambda: send_secrets(is_stream=True),
    "stream-beside": stream_beside,
    "stream": lambda: ask([{"role": "user", "content": QUESTION}], stream=True),
}
WORD = next(iter(sys.argv[1:]), "") or QUESTION
ACTIONS.get(WORD, lambda: converse(WORD))()
