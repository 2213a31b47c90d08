"""An agent that runs several scenarios in one process with the recorder; `calls` also asks the provider."""

from __future__ import annotations

import json
import sys
import urllib.request

from evalgate.recording import scenario, traced_tool


@traced_tool
def find_order(order: str) -> str:
    return f"order {order}: delivered"


def ask(base_url: str | None) -> str:
    body = {"model": "gpt-fake", "messages": [{"role": "user", "content": "Refund A-7"}]}
    request = urllib.request.Request(
        f"{base_url}/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request) as response:
        answer: str = json.loads(response.read())["choices"][0]["message"]["content"]
    return answer


def run_scenario(name: str) -> None:
    with scenario(name, trial=1, variant="v") as run:
        if "calls" in sys.argv:
            ask(run.openai_base_url)
            return
        run.message("user", "Refund A-7")
        find_order("A-7")
        run.message("assistant", "Done.")
        if "fail" in sys.argv:
            raise RuntimeError("no card")


try:
    run_scenario("refund")
    run_scenario("cancel")
except RuntimeError:
    sys.exit(1)
