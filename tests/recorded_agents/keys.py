"""An agent that sends a key in a shape that argument 1 names, over a socket; it prints the answer's status only."""

from __future__ import annotations

import os
import socket
import struct
import sys
import time
from contextlib import suppress
from urllib.parse import urlsplit

KEY = os.environ["OPENAI_API_KEY"]
URL = urlsplit(os.environ["OPENAI_BASE_URL"])
BODY = b'{"model": "m", "messages": [{"role": "user", "content": "Hi"}]}'
STREAM = BODY.replace(b'"model"', b'"stream": true, "model"')
BEARER = f"Authorization: Bearer {KEY}".encode()


def build(
    *headers: bytes, body: bytes = BODY, target: bytes = b"/chat/completions", version: bytes = b"HTTP/1.1"
) -> bytes:
    host = f"Host: {URL.netloc}".encode()
    given = [b"Content-Type: application/json", *headers]
    if not any(each.lower().startswith((b"content-length", b"transfer-encoding")) for each in headers):
        given.append(b"Content-Length: %d" % len(body))
    first = b"POST %s%s %s" % (URL.path.encode(), target, version)
    return b"\r\n".join([first, host, *given, b"Connection: close", b"", b""]) + body


def abort(data: bytes, *, is_reset: bool) -> None:
    """Ends an upload, by a reset as when the process is killed, or orderly."""
    with socket.create_connection((URL.hostname or "", URL.port or 0), timeout=20) as connection:
        connection.sendall(data)
        time.sleep(0.1)
        if is_reset:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def send(data: bytes) -> bytes:
    with socket.create_connection((URL.hostname or "", URL.port or 0), timeout=20) as connection:
        found = b""
        with suppress(ConnectionError):  # what is refused is not read to its end, so its sender may meet a reset
            connection.sendall(data)
            while part := connection.recv(65_536):
                found += part
        return found


K = KEY.encode()
MALFORMED = {
    "control character": build(BEARER + b"\x01"),
    "null": build(b"Authorization: Bearer \0" + K),
    "delete": build(BEARER + b"\x7f"),
    "no colon": build(b"Authorization Bearer " + K),
    "space before the colon": build(b"Authorization : Bearer " + K),
    "no name": build(b": Bearer " + K),
    "name with a control": build(b"Author\x01ization: Bearer " + K),
    "carriage return": build(b"Authorization: Bearer\r" + K),
    "folded": build(b"Authorization: Bearer\r\n " + K),
    "longer than 64 KB": build(BEARER + b"x" * 70_000),
    "many": build(*[b"Authorization: Bearer " + K[:30]] * 200),
    "length that is no number": build(BEARER, b"Content-Length: " + K),
    "negative length": build(BEARER, b"Content-Length: -5"),
    "two lengths": build(BEARER, b"Content-Length: 5", b"Content-Length: 6"),
    "length and chunks": build(BEARER, b"Content-Length: 5", b"Transfer-Encoding: chunked"),
    "chunk that is no number": build(BEARER, b"Transfer-Encoding: chunked", body=K + b"\r\n" + BODY),
    "unknown version": build(BEARER, version=b"HTTP/" + K),
    "broken packing": build(BEARER, b"Content-Encoding: gzip", body=b"\x1f\x8b" + K),
}
ACCEPTED = {
    "header of 64 KB": build(BEARER, b"X-Long: " + b"x" * 65_000),
    "answer": build(BEARER),
    "events": build(BEARER, body=STREAM),
    "api key": build(b"api-key: " + K),
    "query": build(target=b"/chat/completions?key=" + K),
    "login": build(b"Authorization: Basic dXNlcjo" + K),
    "latin-1": build(BEARER + b"\xe9"),
}

shape = sys.argv[1]
answers: list[bytes] = []
if shape == "malformed":
    answers = [send(data) or send(data) for data in MALFORMED.values()]
elif shape in ("aborted", "cut"):
    abort(build(BEARER, b"Content-Length: 5000"), is_reset=shape == "aborted")
else:
    answers = [send(ACCEPTED[shape])]
for answer in answers:
    head, _, body = answer.partition(b"\r\n\r\n")
    print(head[9:12].decode(), len(body.splitlines()), K in answer)
