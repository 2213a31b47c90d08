"""The HTTP server of a recording, on 127.0.0.1 only: model providers, OTLP and the control endpoint, by token.

    /t/<token>/<provider>/...            a model provider: replayed, or asked by `upstream`
    /t/<token>/v1/traces|logs|metrics    spans, given to the receiver
    /c/<token>/scenarios, /c/<token>/finish   the agent opens and closes trials

A request without a known token is 404. One with a foreign Host (DNS rebinding), or with Origin or Sec-Fetch-Site
(a browser), is 403. No answer has a CORS header.
"""

from __future__ import annotations

import asyncio
import logging
import time
from hmac import compare_digest
from typing import TYPE_CHECKING, Any, cast

import orjson
from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.web_protocol import RequestHandler

from evalgate.errors import InvalidInput, Problem, SettingError
from evalgate.features.record.adapters.recorder.provider_route import (
    ProviderRoute,
    find_credentials,
    find_named_scenario,
)
from evalgate.features.record.models.exchange import JSON, TrialId

if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping

    from evalgate.features.record.ports import OtlpReceiver, TrialList, TrialRecording

HOST = "127.0.0.1"
MAX_BODY = 64 * 1024 * 1024
"""Bytes of a request, unpacked."""
MAX_HEADER = 64 * 1024
"""Bytes of a header, and of the first line of a request; tokens that live long have some ten thousand."""
LOGGERS = (
    "aiohttp",
    "aiohttp.server",
    "aiohttp.client",
    "aiohttp.internal",
    "aiohttp.web",
    "aiohttp.access",
    "asyncio",
)
"""Their lines quote headers and bodies, and so keys."""
MALFORMED = "the request is malformed: a header, a length or a chunk of its body, or a header has more than 64 KB"
CUT = "the request ended before its body was complete"
MAX_CONNECTIONS = 100
GONE = (OSError, web.HTTPException)
"""What ends a request whose sender has gone."""
SIGNALS = ("traces", "logs", "metrics")
BROWSER_HEADERS = ("Origin", "Sec-Fetch-Site")
HTTP_2 = b"PRI * HTTP/2"
"""What a client of HTTP/2 sends first."""
QUIET_STEP = 0.02
"""Seconds between two looks at whether requests still come."""


class _Connection(RequestHandler):
    """A connection that notices HTTP/2, which gRPC exporters begin with and which is answered with status 400.

    What can't be read is answered in one line that does not quote it: SDKs print answers.
    """

    def data_received(self, data: bytes) -> None:
        """Looks at the first bytes of each packet."""
        if data.startswith(HTTP_2):
            cast("_HttpServer", self._manager).met_http_2 = True
        super().data_received(data)

    def handle_error(self, request: web.BaseRequest, *_: Any, **__: Any) -> web.StreamResponse:
        """Answers what can't be read with 400; raises ConnectionError where an answer has begun already."""
        if request.writer.output_size > 0:
            raise ConnectionError
        answer = _error(400, MALFORMED)
        answer.force_close()
        return answer


class _HttpServer(web.Server):
    """Makes the connections, and knows whether one of them tried HTTP/2."""

    met_http_2 = False

    def __call__(self) -> RequestHandler:
        return _Connection(self, loop=self._loop, **self._kwargs)


class RecorderServer:
    """Serves the trials that are open; `control_token` opens the control endpoint and nothing else."""

    def __init__(
        self,
        upstreams: Mapping[str, str],
        receiver: OtlpReceiver | None,
        trials: TrialList,
        control_token: str,
        *,
        is_realtime: bool,
    ) -> None:
        self._control_token, self._trials = control_token, trials
        self.requests = 0
        self.bug: Exception | None = None
        """The first bug of EvalGate that a request met."""
        self.last_request = 0.0
        self._receiver = receiver
        self._recordings: dict[str, TrialRecording] = {}
        self._closed: set[str] = set()
        self._providers = ProviderRoute(upstreams, is_realtime=is_realtime)
        self._runner: web.ServerRunner | None = None
        self._server: _HttpServer | None = None
        self._hosts: frozenset[str] = frozenset()

    async def start(self, listener: socket.socket) -> None:
        """Accepts connections on a socket that is bound to 127.0.0.1."""
        port = listener.getsockname()[1]
        self._hosts = frozenset({f"{HOST}:{port}", f"localhost:{port}"})
        for name in LOGGERS:
            logging.getLogger(name).disabled = True
        limits: dict[str, Any] = dict.fromkeys(("max_line_size", "max_field_size"), MAX_HEADER)
        self._server = _HttpServer(self._handle, access_log=None, **limits)
        self._runner = web.ServerRunner(self._server, handle_signals=False, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.SockSite(self._runner, listener).start()

    async def stop(self) -> None:
        """Ends all connections."""
        await self._providers.close()
        if self._runner is not None:
            await self._runner.cleanup()

    def open(self, token: str, recording: TrialRecording) -> None:
        """Opens a trial, which its token names."""
        self._recordings[token] = recording

    async def close(self, token: str) -> None:
        """Closes a trial: its token is unknown from now on, and its requests end."""
        recording = self._recordings.pop(token, None)
        if recording is not None:
            await self._providers.end_requests(recording)

    def refuse(self, token: str) -> None:
        """Accepts no new request with this token."""
        self._closed.add(token)

    async def wait_until_quiet(self, seconds: float, longest: float, is_alone: Any) -> None:
        """Waits until no request came for `seconds`, at most `longest`; ends at once where nothing can send any."""
        ended = time.monotonic()
        while (now := time.monotonic()) - ended < longest:
            if is_alone() and not self._is_connected:
                return
            if now - max(self.last_request, ended) >= seconds:
                return
            await asyncio.sleep(QUIET_STEP)

    @property
    def met_http_2(self) -> bool:
        """Whether a program tried HTTP/2."""
        return self._server is not None and self._server.met_http_2

    @property
    def _is_connected(self) -> bool:
        return self._server is not None and bool(self._server.connections)

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        self.last_request = time.monotonic()
        self.requests += 1
        request._client_max_size = MAX_BODY  # noqa: SLF001  (aiohttp takes it from an Application only)
        try:
            return self._refuse(request) or await self._route(request)
        except web.HTTPRequestEntityTooLarge:
            return _error(413, "the body is larger than 64 MB")
        except HttpProcessingError:
            return _error(400, "the body can't be unpacked")
        except (EOFError, web.RequestPayloadError):
            return _error(400, CUT)
        except InvalidInput as error:
            return _error(400, str(error))
        except GONE:
            raise
        except Exception as error:  # noqa: BLE001  (raised where it ends the recording)
            self.bug = self.bug or error
            return _error(500, "this is a bug in EvalGate")
        finally:
            self.last_request = time.monotonic()

    async def _route(self, request: web.BaseRequest) -> web.StreamResponse:
        kind, token, rest = _split_path(request.rel_url.raw_path)
        if kind == "c" and compare_digest(token.encode(), self._control_token.encode()):
            return await self._control(request, rest)
        recording = self._find_recording(token) if kind == "t" else None
        if recording is None:
            return _error(404, "unknown path")
        if rest.startswith("v1/") and rest[3:] in SIGNALS and request.method == "POST":
            return await self._receive(request, rest[3:], recording.trial)
        recording.note_credentials([*find_credentials(request)])
        named = find_named_scenario(request.headers)
        if named is not None:
            recording = self._trials.attribute(recording, named)
        return await self._providers.answer(request, rest, recording)

    def _refuse(self, request: web.BaseRequest) -> web.Response | None:
        if request.headers.get("Host", "") not in self._hosts or any(
            name in request.headers for name in BROWSER_HEADERS
        ):
            return _error(403, "only programs on this machine may send requests here")
        if "Upgrade" in request.headers or request.method == "CONNECT":
            return _error(501, "evalgate record supports HTTP requests only, no WebSocket and no tunnel")
        if self._server is not None and len(self._server.connections) > MAX_CONNECTIONS:
            return _error(503, f"more than {MAX_CONNECTIONS} connections")
        return None

    def _find_recording(self, token: str) -> TrialRecording | None:
        found = None
        for each, recording in self._recordings.items():
            if compare_digest(each.encode(), token.encode()) and each not in self._closed:
                found = recording
        return found

    async def _receive(self, request: web.BaseRequest, signal: str, trial: TrialId) -> web.Response:
        if self._receiver is None:
            return _error(404, "spans are not received: evalgate record --without-otlp")
        try:
            body = await request.read()
        except (web.HTTPRequestEntityTooLarge, HttpProcessingError):
            self._receiver.note_refused(signal, "its body is larger than 64 MB or can't be unpacked", trial)
            raise
        answer = self._receiver.receive(signal, request.content_type, body, trial)
        return web.Response(status=answer.status, body=answer.body, content_type=answer.content_type)

    async def _control(self, request: web.BaseRequest, rest: str) -> web.Response:
        if request.method != "POST" or rest not in ("scenarios", "finish"):
            return _error(404, "unknown path")
        try:
            value = _read_object(await request.read())
            trial = _read_trial(value)
            if rest == "scenarios":
                return _json(200, self._trials.open_trial(trial))
            self._trials.finish_trial(trial, value.get("trace"))
        except InvalidInput as error:
            return _error(400, str(error))
        return _json(200, {})


def _split_path(path: str) -> tuple[str, str, str]:
    """The kind of token, the token, and the rest of a path."""
    _, kind, token, rest = [*path.split("/", 3), "", "", ""][:4]
    return kind, token, rest


def _read_object(body: bytes) -> dict[str, Any]:
    try:
        value = orjson.loads(body)
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {}


def _read_trial(value: dict[str, Any]) -> TrialId:
    if not isinstance(value.get("id"), str) or not value["id"]:
        raise SettingError(Problem('the body is not {"id": ..., "variant": ..., "trial": ...}'))
    suite, variant, trial = value.get("suite"), value.get("variant"), value.get("trial", 0)
    if not all(isinstance(each, str | None) for each in (suite, variant)) or type(trial) is not int or trial < 0:
        raise SettingError("`suite` or `variant` is not text, or `trial` no number")
    return TrialId(suite or None, value["id"], variant, trial)


def _json(status: int, value: Any) -> web.Response:
    return web.Response(status=status, body=orjson.dumps(value), content_type=JSON)


def _error(status: int, message: str) -> web.Response:
    return _json(status, {"error": {"type": "evalgate_record", "message": message}})
