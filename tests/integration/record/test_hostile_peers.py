"""A hostile program on this machine that finds the port, and a hostile provider: one recording meets all of them."""

from __future__ import annotations

import base64
import gzip
import json
import socket
import threading
import time
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from recording_runs import environ, start_waiting, written

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator

MB = 1024 * 1024
CHAT = "/chat/completions"
HIDDEN = ("query-key-0123456789", "correct horse 42", "own-header-secret-77", "cookie-secret-31415")
LOGIN = base64.b64encode(f"user:{HIDDEN[1]}".encode()).decode()
ODD = f"caf\xe9 {' '.join(HIDDEN)} {LOGIN}"
BODY = b'{"model":"m","messages":[{"role":"user","content":"Hi"}]}'


class HostileProvider:
    """Answers each request with the bytes that its query names, over a socket."""

    def __init__(self) -> None:
        self.requests: list[bytes] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._is_open = True
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self._is_open = False
        self._listener.close()

    def _serve(self) -> None:
        while self._is_open:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with closing(connection):
            request = b""
            while b"\r\n\r\n" not in request or not request.endswith(BODY):
                data = connection.recv(65_536)
                if not data:
                    return
                request += data
            self.requests.append(request)
            word = request.split(b"\r\n")[0].split(b"case=")[1].split(b" ")[0].partition(b"&")[0].decode()
            try:
                ANSWERS[word](connection.sendall)
            except OSError:
                return


def head(status: str = "200 OK", **headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode()


def plain(status: str, body: bytes = b"{}", **headers: str) -> Callable[[Any], None]:
    return lambda send: send(head(status, Content_Length=str(len(body)), **headers) + body)


def send_endless_stream(send: Any) -> None:
    send(head(Content_Type="text/event-stream", Connection="close"))
    while True:
        send(b"data: x\n\n" * 50_000)


def send_endless_event(send: Any) -> None:
    send(head(Content_Type="text/event-stream", Connection="close"))
    while True:
        send(b"x" * MB)


def send_endless_headers(send: Any) -> None:
    send(b"HTTP/1.1 200 OK\r\n")
    while True:
        send(b"X-More: " + b"x" * 4_000 + b"\r\n")


def send_large_header(send: Any) -> None:
    send(b"HTTP/1.1 200 OK\r\nX-Large: ")
    while True:
        send(b"x" * MB)


def send_split_key(send: Any) -> None:
    """A key that is split between two events, and the second event between two packets."""
    send(head(Content_Type="text/event-stream", Connection="close"))
    for part in ("own-header-", "secret-77"):
        event = b'data: {"choices":[{"index":0,"delta":{"content":"%s"}}]}\n\n' % part.encode()
        send(event[:30])
        time.sleep(0.05)
        send(event[30:])


@cache
def bomb() -> bytes:
    return gzip.compress(b"0" * 400 * MB, 9)


def send_bomb(send: Any) -> None:
    plain("200 OK", bomb(), Content_Encoding="gzip", Content_Type="application/json")(send)


ANSWERS: dict[str, Callable[[Any], None]] = {
    "stream": send_endless_stream,
    "event": send_endless_event,
    "headers": send_endless_headers,
    "header": send_large_header,
    "gzip": send_bomb,
    "compress": plain("200 OK", b"xx", Content_Encoding="compress", Content_Type="application/json"),
    "file": plain("302 Found", Location="file:///etc/passwd"),
    "metadata": plain("307 Temporary Redirect", Location="http://169.254.169.254/latest/meta-data/"),
    "tame": plain("200 OK", Set_Cookie="session=1", Access_Control_Allow_Origin="*", Content_Type="application/json"),
    "smuggled": lambda send: send(
        head(Content_Length="2", Content_Type="application/json") + b'{}HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n{"x":1}'
    ),
    "garbage": lambda send: send(b"\x16\x03\x01 no HTTP at all\r\n\r\n"),
    "error": plain("401 Unauthorized", json.dumps({"error": {"message": f"not {ODD}"}}).encode()),
    "text": plain("400 Bad Request", f"no {ODD}".encode("latin-1"), Content_Type="text/html; charset=latin-1"),
    "events": send_split_key,
}  # fmt: skip


class Recording(NamedTuple):
    """A recording whose agent waits; `path` is the base of the provider's addresses."""

    process: subprocess.Popen[str]
    provider: HostileProvider
    folder: Path
    host: str
    path: str
    control: str

    def send(self, data: bytes, wait: float = 20) -> bytes:
        """Sends bytes, and returns what comes back until the connection is closed or nothing comes."""
        name, port = self.host.split(":")
        found = b""
        with closing(socket.create_connection((name, int(port)), timeout=wait)) as connection:
            connection.sendall(data)
            with suppress(OSError):
                while data := connection.recv(MB):
                    found += data if len(found) < MB else b""
        return found

    def ask(self, word: str, target: str = CHAT, **headers: str) -> tuple[int, dict[str, str], bytes]:
        """A request that the provider answers by a word: status, headers and body."""
        given = {"Host": self.host, "Content-Type": "application/json", "Content-Length": str(len(BODY)), **headers}
        lines = [f"POST {self.path}{target}?case={word} HTTP/1.1", *(f"{name}: {text}" for name, text in given.items())]
        answer = self.send("\r\n".join([*lines, "Connection: close", "", ""]).encode() + BODY)
        top, _, body = answer.partition(b"\r\n\r\n")
        first, *rest = top.decode().split("\r\n")
        found = {name.lower(): value for name, _, value in (line.partition(": ") for line in rest)}
        return int(first.split()[1]) if first else 0, found, body


@pytest.fixture(scope="module")
def recording(tmp_path_factory) -> Iterator[Recording]:
    folder, provider = tmp_path_factory.mktemp("hostile"), HostileProvider()
    flags = ["--provider", f"openai=http://127.0.0.1:{provider.port}/v1", "--scenario", "refund", "--cache", "write"]
    process, env = start_waiting(folder, flags, environ(NO_PROXY="*"))
    host, _, path = env["OPENAI_BASE_URL"].removeprefix("http://").partition("/")
    yield Recording(process, provider, folder, host, f"/{path}", env["EVALGATE_RECORD_URL"].rpartition(host)[2])
    provider.close()
    process.communicate("\n", timeout=60)
    assert process.returncode == 0
    if any(b"case=events" in each for each in provider.requests):
        assert_nothing_secret_is_written(folder)


def assert_nothing_secret_is_written(folder: Path) -> None:
    found = written(folder)
    cassette = (folder / "evals/cassettes/refund/0.jsonl").read_text().splitlines()
    events = [event for line in cassette[1:] for _, event in json.loads(line)["response"].get("events", ())]
    streamed = "".join(
        json.loads(event[5:])["choices"][0]["delta"]["content"] for event in events if "choices" in event
    )
    packed = b"".join(base64.b64decode(json.loads(line)["response"].get("base64", "")) for line in cassette[1:])
    everything = found + streamed.encode() + packed
    assert [one for one in (*HIDDEN, LOGIN) if one.encode() in everything] == []
    assert b"caf\xe9 [redacted: " in packed
    assert streamed.startswith("[redacted: ")


def memory_of(process: subprocess.Popen[str]) -> int:
    """The largest memory that a process has had, in bytes."""
    lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


@pytest.mark.parametrize("word", ["stream", "event", "gzip", "headers", "header"])
def test_an_endless_answer_breaks_off_and_needs_bounded_memory(recording, word):
    bomb()  # compressed before the time begins
    started = time.monotonic()
    status, _, body = recording.ask(word)
    assert status == 502 or (status == 200 and word in ("stream", "event"))
    assert (b"connection_error" in body) == (status == 502)
    assert time.monotonic() - started < 20
    assert memory_of(recording.process) < 700 * MB


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("file", b"it answers with a redirect; name the address"),
        ("metadata", b"it answers with a redirect; name the address"),
        ("compress", b"content-encoding that was not asked for"),
        ("garbage", b"gets no answer"),
    ],
)
def test_a_redirect_and_what_can_not_be_read_is_an_error(recording, word, reason):
    status, headers, body = recording.ask(word)
    assert (status, reason in body, "location" in headers) == (502, True, False), body


def test_headers_of_the_connection_cookies_and_cors_are_not_passed_on(recording):
    status, headers, body = recording.ask("tame")
    assert (status, body) == (200, b"{}")
    assert not {"set-cookie", "access-control-allow-origin"} & headers.keys()
    assert b"cookie" not in recording.provider.requests[-1].lower()
    assert recording.ask("smuggled")[2] == b"{}"
    assert recording.ask("tame")[2] == b"{}"  # not the rest of the answer before


def test_keys_in_odd_places_are_passed_on_and_written_nowhere(recording):
    keys = {"aUTHORIZATION": f"basic {LOGIN}", "X-My-Secret": HIDDEN[2], "Cookie": f"a=1; session={HIDDEN[3]}"}
    answers = [recording.ask(f"{word}&api_KEY={HIDDEN[0]}", **keys)[2] for word in ("error", "text", "events")]
    assert all(all(one.encode() in answer for one in HIDDEN) for answer in answers[:2])  # the agent gets what was sent
    assert all(one.encode() in recording.provider.requests[-1] for one in (HIDDEN[0], LOGIN, *HIDDEN[2:]))


def request(recording: Recording, line: str, *headers: str, body: bytes = BODY) -> bytes:
    """The first line of the answer to a request as it is."""
    return recording.send("\r\n".join([line, *headers, "Connection: close", "", ""]).encode() + body, 5)[:12]


def test_requests_that_are_no_plain_requests_of_the_agent_reach_no_provider(recording):
    host, length, before = f"Host: {recording.host}", f"Content-Length: {len(BODY)}", len(recording.provider.requests)
    target = f"{recording.path}{CHAT}?case=tame"
    refused = {
        "tunnel": request(recording, "CONNECT example.org:443 HTTP/1.1", host, body=b""),
        "absolute address of another host": request(recording, f"POST http://example.org{CHAT} HTTP/1.1", host, length),
        "no host": request(recording, f"POST {target} HTTP/1.1", length),
        "rebound name": request(recording, f"POST {target} HTTP/1.1", "Host: rebind.example:80", length),
        "another port": request(recording, f"POST {target} HTTP/1.1", "Host: 127.0.0.1:1", length),
        "two hosts": request(recording, f"POST {target} HTTP/1.1", host, "Host: evil.example", length),
        "null origin": request(recording, f"POST {target} HTTP/1.1", host, "Origin: null", length),
        "preflight": request(recording, f"OPTIONS {target} HTTP/1.1", host, "Origin: https://evil.example", body=b""),
        "both lengths": request(
            recording, f"POST {target} HTTP/1.1", host, length, "Transfer-Encoding: chunked", body=b"0\r\n\r\n" + BODY
        ),
        "two lengths": request(recording, f"POST {target} HTTP/1.1", host, length, "Content-Length: 3"),
        "obscured chunks": request(recording, f"POST {target} HTTP/1.1", host, "Transfer-Encoding: xchunked"),
        "line feed": request(recording, f"POST {target} HTTP/1.1", host, "X-A: b\n\nGET / HTTP/1.1", length),
        "long header": request(recording, f"POST {target} HTTP/1.1", host, f"X-A: {'x' * 100_000}", length),
        "control path": request(recording, f"POST {recording.control}/../t/x/openai HTTP/1.1", host, length),
        "guessed token": request(recording, f"POST /t/{'0' * 32}/openai{CHAT} HTTP/1.1", host, length),
    }
    accepted = {name: line for name, line in refused.items() if line[9:12] not in (b"400", b"403", b"404", b"501")}
    assert accepted == {}
    assert len(recording.provider.requests) == before


def test_an_absolute_address_goes_to_the_provider_of_the_recording_only(recording):
    line = f"POST http://example.org{recording.path}{CHAT}?case=tame HTTP/1.1"
    assert request(recording, line, f"Host: {recording.host}", f"Content-Length: {len(BODY)}") == b"HTTP/1.1 200"
    assert b"example.org" not in recording.provider.requests[-1]


def test_a_path_with_dots_stays_at_the_host_of_the_provider(recording):
    line = f"POST {recording.path}/../../../@evil.example/%2e%2e?case=tame HTTP/1.1"
    request(recording, line, f"Host: {recording.host}", f"Content-Length: {len(BODY)}")
    assert f"Host: 127.0.0.1:{recording.provider.port}".encode() in recording.provider.requests[-1]


def test_http_2_is_answered_with_one_line(recording):
    answer = recording.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 5)
    assert answer.startswith((b"HTTP/1.1 4", b"HTTP/1.0 4")), answer


def test_a_hundred_connections_may_be_open_and_more_are_refused(recording):
    name, port = recording.host.split(":")
    text = json.dumps({"id": "other"}).encode()
    line = (
        f"POST {recording.control}/scenarios HTTP/1.1\r\nHost: {recording.host}\r\nContent-Length: {len(text)}\r\n\r\n"
    )
    kept = [socket.create_connection((name, int(port)), timeout=10) for _ in range(110)]
    statuses = []
    for each in reversed(kept):  # the last is accepted after all others
        each.sendall(line.encode() + text)
        statuses.append(each.recv(4_096).split(b" ")[1])
    for each in kept:
        each.close()
    assert set(statuses) == {b"503"}
    deadline = time.monotonic() + 10
    while recording.ask("tame")[0] != 200:
        assert time.monotonic() < deadline


def test_a_slow_header_does_not_keep_others_waiting(recording):
    name, port = recording.host.split(":")
    with closing(socket.create_connection((name, int(port)))) as slow:
        slow.sendall(b"POST /t/x HTTP/1.1\r\nX-Slow")
        assert recording.ask("tame")[0] == 200
