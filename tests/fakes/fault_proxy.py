"""A proxy before a real server: keeps each request, and lets single requests fail."""

from __future__ import annotations

import json
import threading
import time
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from fakes.langsmith import drip, reset

HOP = frozenset({"connection", "transfer-encoding", "keep-alive", "content-length", "date", "server"})


class FaultProxy:
    """`faults` are what goes wrong with the next requests: a status, `reset`, `drip`, or `lost` (done, no answer)."""

    def __init__(self, upstream: str = "http://127.0.0.1:9") -> None:
        self.requests: list[tuple[str, str, dict[str, str], bytes]] = []
        self.faults: list[Any] = []
        self.retry_after: str | None = None
        self.delays: dict[str, float] = {}
        """Seconds before the answer, by a part of the path."""
        self._upstream = urlsplit(upstream).netloc
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def log_message(self, *_: Any) -> None:
                return

            def __getattr__(self, name: str) -> Any:
                if name.startswith("do_"):  # any method
                    return lambda: proxy.handle(self)
                raise AttributeError(name)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def sent(self) -> str:
        """All paths and bodies."""
        return b"\n".join(path.encode() + b" " + body for _, path, _, body in list(self.requests)).decode()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def handle(self, request: BaseHTTPRequestHandler) -> None:
        body = request.rfile.read(int(request.headers.get("Content-Length") or 0))
        self.requests.append((request.command, request.path, dict(request.headers), body))
        try:
            fault = self.faults.pop(0)
        except IndexError:
            fault = None
        time.sleep(sum(seconds for part, seconds in self.delays.items() if part in request.path))
        with suppress(OSError):
            if fault == "reset":
                reset(request)
            elif fault == "drip":
                drip(request)
            elif fault == "lost":
                self._forward(request, body)
                reset(request)
            elif fault is not None:
                echoed = json.dumps({"message": f"no, {request.headers.get('Authorization')}"}).encode()
                self._answer(request, fault, {"Content-Type": "application/json"}, echoed)
            else:
                self._answer(request, *self._forward(request, body))

    def _forward(self, request: BaseHTTPRequestHandler, body: bytes) -> tuple[int, dict[str, str], bytes]:
        connection = HTTPConnection(self._upstream, timeout=30)
        try:
            headers = {name: value for name, value in request.headers.items() if name.lower() != "host"}
            connection.request(request.command, request.path, body or None, headers)
            answer = connection.getresponse()
            return answer.status, dict(answer.headers), answer.read()
        except (OSError, HTTPException):
            return 502, {}, b"{}"
        finally:
            connection.close()

    def _answer(self, request: BaseHTTPRequestHandler, status: int, headers: dict[str, str], body: bytes) -> None:
        request.send_response(status)
        for name, value in headers.items():
            if name.lower() not in HOP:
                request.send_header(name, value)
        request.send_header("Content-Length", str(len(body)))
        if self.retry_after is not None:
            request.send_header("Retry-After", self.retry_after)
        request.end_headers()
        request.wfile.write(body)
