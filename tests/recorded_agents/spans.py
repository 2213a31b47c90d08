"""An agent that sends spans of its model calls and tools, and asks no provider; arguments change what it sends."""

from __future__ import annotations

import gzip
import json
import os
import sys
import time
import urllib.error
import urllib.request
from typing import Any

ENDPOINT = os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"]
SYSTEM = "openai"


def attribute(key: str, value: Any) -> dict[str, Any]:
    return {"key": key, "value": {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}}


def span(number: int, attributes: dict[str, Any], trace: int | None = None) -> dict[str, Any]:
    now = time.time_ns()
    return {
        "traceId": f"{trace or number:032x}",
        "spanId": f"{number:016x}",
        "name": attributes["gen_ai.operation.name"],
        "startTimeUnixNano": str(now - 5 * 10**8),
        "endTimeUnixNano": str(now),
        "attributes": [attribute(key, value) for key, value in attributes.items()],
    }


def chat(number: int, *, with_content: bool = True, **more: Any) -> dict[str, Any]:
    attributes: dict[str, Any] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.system": SYSTEM,
        "gen_ai.request.model": "small-1",
        "gen_ai.usage.input_tokens": 20,
        "gen_ai.usage.output_tokens": 7,
        "url.full": f"{ENDPOINT}/openai/chat/completions",
        **more,
    }
    if with_content:
        asked = {"role": "user", "parts": [{"type": "text", "content": "Refund A-7"}]}
        answered = {"role": "assistant", "parts": [{"type": "text", "content": "Your order A-7 is refunded."}]}
        attributes["gen_ai.input.messages"] = json.dumps([asked])
        attributes["gen_ai.output.messages"] = json.dumps([{**answered, "finish_reason": "stop"}])
    return span(number, attributes)


def tool(number: int, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return span(
        number,
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": name,
            "gen_ai.tool.call.arguments": json.dumps(arguments),
        },
    )


def send(*spans: dict[str, Any], body: bytes | None = None, scope: str = "test") -> None:
    scopes = [{"scope": {"name": scope}, "spans": list(spans)}]
    document = {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": scopes}]}
    request = urllib.request.Request(
        f"{ENDPOINT}/v1/traces",
        gzip.compress(json.dumps(document).encode()) if body is None else body,
        {"Content-Type": "application/json", "Content-Encoding": "gzip"},
    )
    try:
        with urllib.request.urlopen(request) as response:
            print(response.status, response.headers["Content-Type"], response.read().decode())
    except urllib.error.HTTPError as error:
        print(error.code, error.headers["Content-Type"])


def main(word: str) -> None:
    if word == "damaged":
        send(chat(1))
        send(body=gzip.compress(b"{"))
    elif word == "bomb":
        send(chat(1))
        send(body=gzip.compress(b" " * 70_000_000))
    elif word == "no-content":
        send(chat(1, with_content=False), scope="com.anthropic.sdk.python")
    elif word == "named":
        send(
            chat(1, **{"evalgate.scenario.id": "one"}), chat(2, **{"evalgate.scenario.id": "two", "evalgate.trial": 4})
        )
    elif word == "crash":
        send(chat(1))
        sys.exit(7)
    elif word == "beside":
        send(tool(3, "find_order", {"order": "A-7"}), tool(4, "charge_card", {}))
        import plain  # noqa: F401  (asks the provider)
    else:
        send(chat(1))
        send(chat(2))


main(sys.argv.pop(1) if len(sys.argv) > 1 else "")
