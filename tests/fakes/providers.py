"""A server that answers as OpenAI (chat, Responses) and Anthropic do, also in streams: asks for two tools, then ends.

An agent that has no tools, or has sent results, gets a text. `faults` are given first: a status, or one of FAULTS.
With `answers` it gives these instead, one a request: `{"text": ...}`, `{"calls": [[name, arguments], ...]}` or both.
"""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

CALLS = (("find_order", {"order": "A-7"}), ("read_policy", {"topic": "refund"}))
TEXT = "Your order A-7 is refunded."
TEXT_BEFORE_CALLS = "I look it up."
MODEL = {"chat": "gpt-fake-2026", "responses": "gpt-fake-2026", "messages": "claude-fake-2026"}
HANG, CUT, BIG, ECHO_KEY = "hang", "cut", "big", "echo_key"
BIG_TEXT = 20_000_000


class Answer(NamedTuple):
    """What the model says: a text, the calls that it asks for, or both; `id` begins the ids of what it holds."""

    text: str | None
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()
    id: str | None = None


class FakeProviders:
    """The server; `requests` are the bodies it got, with the path and headers of each."""

    def __init__(
        self,
        faults: tuple[Any, ...] = (),
        text: str = TEXT,
        answers: list[dict[str, Any]] | None = None,
        handler: type[Handler] | None = None,
    ) -> None:
        self.faults = list(faults)
        self.text = text
        self.answers = answers
        self.requests: list[tuple[str, dict[str, str], Any]] = []
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (handler or Handler,), {"fake": self}))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def flags(self) -> list[str]:
        return ["--provider", f"openai={self.url}/v1", "--provider", f"anthropic={self.url}"]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def note(self, path: str, headers: dict[str, str], body: Any) -> tuple[int, Any]:
        """The number of the request, and its fault."""
        with self._lock:
            self.requests.append((path, headers, body))
            return len(self.requests), (self.faults.pop(0) if self.faults else None)

    def choose_answer(self, api: str, body: dict[str, Any], text: str) -> Answer | None:
        """The next of the answers, or what its text and its tools make of the request; None if there is no more."""
        if self.answers is None:
            asks = bool(body.get("tools")) and not HAS_RESULTS[api](body)
            before = TEXT_BEFORE_CALLS if api == "messages" else None
            return Answer(before, CALLS) if asks else Answer(text)
        with self._lock:
            if not self.answers:
                return None
            given = self.answers.pop(0)
        return Answer(given.get("text"), tuple((name, arguments) for name, arguments in given.get("calls", ())))


class Handler(BaseHTTPRequestHandler):
    """Answers one connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    fake: FakeProviders

    def log_message(self, *_: Any) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        api = self.path.partition("?")[0].rpartition("/")[2].replace("completions", "chat")
        number, fault = self.fake.note(self.path, dict(self.headers), body)
        if isinstance(fault, int):
            error = {"type": "rate_limit_error" if fault == 429 else "server_error", "message": "try later"}
            self.send_json(fault, {"type": "error", "error": error}, {"retry-after-ms": "1"})
        elif api == "embeddings":
            self.send_json(200, {"object": "list", "data": [{"embedding": [0.5], "index": 0}]})
        elif fault == HANG:
            time.sleep(60)
        elif answer := self.fake.choose_answer(api, body, self.choose_text(fault)):
            built = BUILDERS[api](answer.id or f"{api}-{number}", answer)
            echoed = {"instructions": body.get("instructions")} if api == "responses" else {}
            self.send_answer(api, body, built | echoed, fault)
        else:
            self.send_json(400, {"error": {"type": "invalid_request_error", "message": "no answer is left"}})

    def choose_text(self, fault: Any) -> str:
        if fault == ECHO_KEY:
            return f"your key is {self.headers.get('Authorization') or self.headers.get('X-Api-Key')}"
        return "x" * BIG_TEXT if fault == BIG else self.fake.text

    def send_answer(self, api: str, body: dict[str, Any], answer: dict[str, Any], fault: Any) -> None:
        if not body.get("stream"):
            self.send_json(200, answer)
            return
        events = STREAMS[api](answer)
        self.send_events(events[: len(events) // 2] if fault == CUT else events, is_cut=fault == CUT)

    def send_json(self, status: int, value: Any, headers: dict[str, str] | None = None) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        for name, content in {
            "Content-Type": "application/json",
            "x-request-id": "r1",
            **(headers or {}),
        }.items():
            self.send_header(name, content)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def send_events(self, events: list[tuple[str | None, Any]], *, is_cut: bool) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for name, data in events:
            text = data if isinstance(data, str) else json.dumps(data)
            chunk = f"{f'event: {name}' + chr(10) if name else ''}data: {text}\n\n".encode()
            self.wfile.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
            self.wfile.flush()
        if is_cut:
            self.close_connection = True
            return
        self.wfile.write(b"0\r\n\r\n")


def build_chat(number: str, answer: Answer) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": answer.text}
    if answer.calls:
        message["tool_calls"] = [
            {
                "id": f"call_{number}_{index}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(given)},
            }
            for index, (name, given) in enumerate(answer.calls)
        ]
    usage = {"prompt_tokens": 30, "completion_tokens": 7, "total_tokens": 37}
    finish = "tool_calls" if answer.calls else "stop"
    return {
        "id": number, "object": "chat.completion", "created": 1_767_225_600, "model": MODEL["chat"],
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}], "usage": usage,
    }  # fmt: skip


def stream_chat(answer: dict[str, Any]) -> list[tuple[str | None, Any]]:
    choice, base = answer["choices"][0], {**answer, "object": "chat.completion.chunk", "usage": None}
    message = choice["message"]

    def chunk(delta: dict[str, Any], finish: str | None = None) -> tuple[None, Any]:
        return None, {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    events = [chunk({"role": "assistant", "content": ""})]
    for index, call in enumerate(message.get("tool_calls", ())):
        half = len(call["function"]["arguments"]) // 2
        first, second = call["function"]["arguments"][:half], call["function"]["arguments"][half:]
        events.append(
            chunk(
                {
                    "tool_calls": [
                        {**call, "index": index, "function": {"name": call["function"]["name"], "arguments": first}}
                    ]
                }
            )
        )
        events.append(chunk({"tool_calls": [{"index": index, "function": {"arguments": second}}]}))
    events += [chunk({"content": part}) for part in _parts(message["content"])]
    last = (None, {**base, "choices": [], "usage": answer["usage"]})
    return [*events, chunk({}, choice["finish_reason"]), last, (None, "[DONE]")]


def build_responses(number: str, answer: Answer) -> dict[str, Any]:
    output: list[dict[str, Any]] = []
    if answer.text is not None:
        output = [
            {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed",
             "content": [{"type": "output_text", "text": answer.text, "annotations": []}]}
        ]  # fmt: skip
    output += [
        {"type": "function_call", "id": f"fc_{number}_{index}", "call_id": f"call_{number}_{index}",
         **_name(name), "arguments": json.dumps(arguments), "status": "completed"}
        for index, (name, arguments) in enumerate(answer.calls)
    ]  # fmt: skip
    return {
        "id": f"resp_{number}", "object": "response", "created_at": 1_767_225_600, "model": MODEL["responses"],
        "status": "completed", "output": output, "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
        "error": None, "incomplete_details": None, "instructions": None, "metadata": {}, "temperature": 1.0, "top_p": 1.0,
        "usage": {"input_tokens": 30, "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0}, "output_tokens": 7,
                  "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 37},
    }  # fmt: skip


def _name(name: str) -> dict[str, str]:
    """The name of a tool, and the namespace that it may stand in before a dot."""
    namespace, _, tool = name.rpartition(".")
    return {"name": tool, **({"namespace": namespace} if namespace else {})}


def stream_responses(answer: dict[str, Any]) -> list[tuple[str | None, Any]]:
    started = {**answer, "status": "in_progress", "output": [], "usage": None}
    events: list[dict[str, Any]] = [{"type": "response.created", "response": started}]
    for index, item in enumerate(answer["output"]):
        empty = {**item, "status": "in_progress", **({"content": []} if "content" in item else {"arguments": ""})}
        events.append({"type": "response.output_item.added", "output_index": index, "item": empty})
        place = {"item_id": item["id"], "output_index": index}
        if item["type"] == "message":
            part = item["content"][0]
            place["content_index"] = 0
            events.append({"type": "response.content_part.added", **place, "part": {**part, "text": ""}})
            events += [
                {"type": "response.output_text.delta", **place, "delta": each, "logprobs": []}
                for each in _parts(part["text"])
            ]
            events.append({"type": "response.output_text.done", **place, "text": part["text"], "logprobs": []})
            events.append({"type": "response.content_part.done", **place, "part": part})
        else:
            events.append({"type": "response.function_call_arguments.delta", **place, "delta": item["arguments"]})
            events.append(
                {
                    "type": "response.function_call_arguments.done",
                    **place,
                    "arguments": item["arguments"],
                    "name": item["name"],
                }
            )
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    events.append({"type": "response.completed", "response": answer})
    return [(event["type"], {**event, "sequence_number": number}) for number, event in enumerate(events)]


def build_messages(number: str, answer: Answer) -> dict[str, Any]:
    content: list[dict[str, Any]] = [] if answer.text is None else [{"type": "text", "text": answer.text}]
    content += [
        {"type": "tool_use", "id": f"toolu_{number}_{index}", "name": name, "input": given}
        for index, (name, given) in enumerate(answer.calls)
    ]
    return {
        "id": number, "type": "message", "role": "assistant", "model": MODEL["messages"], "content": content,
        "stop_reason": "tool_use" if answer.calls else "end_turn", "stop_sequence": None,
        "usage": {"input_tokens": 20, "output_tokens": 7, "cache_read_input_tokens": 10, "cache_creation_input_tokens": 0},
    }  # fmt: skip


def stream_messages(answer: dict[str, Any]) -> list[tuple[str | None, Any]]:
    start = {**answer, "content": [], "stop_reason": None, "usage": {**answer["usage"], "output_tokens": 1}}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": start}, {"type": "ping"}]
    for index, block in enumerate(answer["content"]):
        empty = {**block, **({"text": ""} if block["type"] == "text" else {"input": {}})}
        events.append({"type": "content_block_start", "index": index, "content_block": empty})
        if block["type"] == "text":
            deltas = [{"type": "text_delta", "text": each} for each in _parts(block["text"])]
        else:
            deltas = [{"type": "input_json_delta", "partial_json": each} for each in _parts(json.dumps(block["input"]))]
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    end = {"stop_reason": answer["stop_reason"], "stop_sequence": None}
    events.append({"type": "message_delta", "delta": end, "usage": {"output_tokens": answer["usage"]["output_tokens"]}})
    events.append({"type": "message_stop"})
    return [(event["type"], event) for event in events]


def _parts(text: str | None) -> list[str]:
    return [text[: len(text) // 2], text[len(text) // 2 :]] if text else []


def _blocks_of(body: dict[str, Any]) -> list[dict[str, Any]]:
    return [block for each in body["messages"] if isinstance(each["content"], list) for block in each["content"]]


HAS_RESULTS = {
    "chat": lambda body: any(each["role"] == "tool" for each in body["messages"]),
    "responses": lambda body: any(
        isinstance(each, dict) and each.get("type") == "function_call_output" for each in body["input"]
    ),
    "messages": lambda body: any(block.get("type") == "tool_result" for block in _blocks_of(body)),
}
BUILDERS = {"chat": build_chat, "responses": build_responses, "messages": build_messages}
STREAMS = {"chat": stream_chat, "responses": stream_responses, "messages": stream_messages}
