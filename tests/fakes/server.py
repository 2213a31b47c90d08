"""A server that answers with given bytes, valid HTTP or not."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress


class Server:
    """Gives every request the same bytes, and counts what it was able to give."""

    def __init__(self, *parts: bytes) -> None:
        self._parts = parts
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.requests: list[bytes] = []
        self.given = 0
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    def set_answer(self, *parts: bytes) -> None:
        self._parts = parts

    def close(self) -> None:
        self._socket.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._socket.accept()
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            while (request := _head(connection)) is not None:
                self.requests.append(request)
                for part in self._parts:
                    connection.sendall(part)
                    self.given += len(part)


def _head(connection: socket.socket) -> bytes | None:
    read = b""
    while b"\r\n\r\n" not in read:
        part = connection.recv(65_536)
        if not part:
            return None
        read += part
    return read


def answer(status: int, body: bytes = b"[]", **headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "\r\n"]).encode("latin-1") + body
