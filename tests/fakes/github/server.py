"""The listeners of the stand-in: the API with the service for artifacts, and storage on another host."""

from __future__ import annotations

import json
import socket
import struct
import sys
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from fakes.github import rest, results, storage
from fakes.github.faults import Reset, answer_afterwards, answer_instead
from fakes.github.messages import Answer, Refusal, Request

if TYPE_CHECKING:
    from fakes.github.world import World

STORAGE_HOST = "127.0.0.2" if sys.platform == "linux" else "127.0.0.1"
RESET = struct.pack("ii", 1, 0)  # linger for no time: a reset instead of an end


class Listener(ThreadingHTTPServer):
    """Answers for the world of the moment; a request keeps the one that it began with."""

    daemon_threads = True
    request_queue_size = 256
    world: World

    def __init__(self, host: str, handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__((host, 0), handler)
        self.url = f"http://{host}:{self.server_address[1]}"

    def start(self) -> None:
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def stop(self) -> None:
        self.shutdown()
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Listener

    def log_message(self, *_: Any) -> None:
        return

    def read(self) -> Request:
        parts = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        return Request(self.service(parts.path), self.command, parts.path, query, self.headers, body)

    def service(self, path: str) -> str:
        return "results" if path.startswith("/twirp/") else "api"

    def answer(self) -> None:
        world, request = self.server.world, self.read()
        module = {"api": rest, "results": results, "blob": storage}[request.listener]
        module.name_operation(world, request)
        world.requests.append(_record(world, request))
        fault = world.faults.take(request)
        try:
            answer = answer_instead(fault) or answer_afterwards(fault, _handle(module, world, request))
            self._send(answer, fault)
        except Reset:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            self.close_connection = True

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_"):  # any method
            return self.answer
        raise AttributeError(name)

    def _send(self, answer: Answer, fault: dict[str, Any]) -> None:
        body, kind = answer.body, fault.get("kind")
        cut = body[: int(len(body) * fault["keep"])] if kind == "truncate" else body
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if answer.status != 204:
            self.send_header("Content-Length", str(len(body if fault.get("lie") else cut)))
        self.end_headers()
        if kind == "drip":
            self._drip(body, fault)
        elif kind == "reset_mid":
            self.wfile.write(body[: fault["after_bytes"]])
            time.sleep(0.05)  # or the client sees the reset before these bytes
            raise Reset
        else:
            self.wfile.write(cut)
        self.close_connection |= bool(fault.get("lie"))

    def _drip(self, body: bytes, fault: dict[str, Any]) -> None:
        step = fault["chunk"]
        for start in range(0, len(body), step):
            self.wfile.write(body[start : start + step])
            time.sleep(fault["interval"])


class ApiHandler(_Handler):
    server_version = "github.com"


class StorageHandler(_Handler):
    server_version = "Windows-Azure-Blob/1.0"

    def service(self, _: str) -> str:
        return "blob"


def storage_listener() -> Listener:
    """On another host than the API where the system has one."""
    with suppress(OSError):
        return Listener(STORAGE_HOST, StorageHandler)
    return Listener("127.0.0.1", StorageHandler)


def _handle(module: Any, world: World, request: Request) -> Answer:
    with world.lock:
        try:
            return module.handle(world, request)
        except Refusal as refusal:
            return refusal.answer


def _record(world: World, request: Request) -> dict[str, Any]:
    """What tests see of a request: tokens by name only."""
    headers = dict(request.headers.items())
    if "Authorization" in headers:
        tokens = {**{token: token for token in world.state["tokens"]}, world.state["runtime"]["token"]: "runtime token"}
        scheme = headers["Authorization"].partition(" ")[0]
        headers["Authorization"] = f"{scheme} <{tokens.get(request.token, 'unknown')}>"
    with suppress(ValueError):
        document = json.loads(request.body)
        return {**_shown(request), "headers": headers, "body": document}
    return {**_shown(request), "headers": headers, "body": request.body[:80]}


def _shown(request: Request) -> dict[str, Any]:
    names = {"listener": request.listener, "method": request.method, "op": request.operation}
    return {**names, "path": request.path, "query": request.query}
