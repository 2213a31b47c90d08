"""Agents of real frameworks that run another agent in a tool: `record` writes the calls of both."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest
from recording_runs import SDKS, needs_sdks, record, trace_of

if TYPE_CHECKING:
    from collections.abc import Iterator


class Provider(BaseHTTPRequestHandler):
    """Answers chat completions: the agent that plans delegates, the one that cleans deletes, then both are done."""

    def log_message(self, *_: Any) -> None:
        """Logs nothing."""

    def do_POST(self) -> None:
        """Answers one request."""
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        first, last = asked["messages"][0]["content"], asked["messages"][-1]["role"]
        name, given = ("delete_db", {"name": "prod"}) if "clean" in str(first) else ("delegate", {"task": "tidy"})
        call = {"id": f"{name}-1", "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
        is_done = last == "tool"
        message = {"content": f"{name} is done"} if is_done else {"content": None, "tool_calls": [call]}
        choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}
        choice["finish_reason"] = "stop" if is_done else "tool_calls"
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        body = {"id": "x", "object": "chat.completion", "created": 1, "model": asked["model"], "choices": [choice]}
        data = json.dumps({**body, "usage": usage}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@pytest.fixture
def provider() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


@needs_sdks
@pytest.mark.parametrize("agent", ["delegates_openai_agents", "delegates_pydantic", "delegates_langgraph"])
def test_the_calls_of_both_agents_are_recorded(tmp_path, provider, agent):
    done = record(tmp_path, "--provider", f"openai={provider}", "--scenario", "refund", agent=agent, python=str(SDKS))
    assert done.code == 0, done
    trace = trace_of(tmp_path)
    assert [
        (call["name"], call["result"], call.get("actor", "root"), call.get("started_by"))
        for call in trace["tool_calls"]
    ] == [
        ("delegate", "delete_db is done", "root", None),
        ("delete_db", "dropped prod", "root/agent", 0),
    ]
    assert trace["response"]["content"] == "delegate is done"
    assert trace["usage"]["total_tokens"] == 60
