"""Answers requests to model providers: from the recording, or from the provider itself, passing the answer on."""

from __future__ import annotations

import asyncio
import base64
import re
import time
from typing import TYPE_CHECKING
from urllib.parse import unquote

import orjson
from aiohttp import web
from multidict import CIMultiDict

from evalgate.features.record.adapters.recorder.upstream import UnusableAnswerError, Upstream, find_system_words
from evalgate.features.record.measures.event_stream import EventSplitter
from evalgate.features.record.measures.paths import strip_version
from evalgate.features.record.models.exchange import (
    GOT_NO_ANSWER,
    JSON,
    NO_ANSWER,
    Exchange,
    ProviderAnswer,
    ProviderRequest,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from aiohttp import ClientResponse

    from evalgate.features.record.ports import TrialRecording

KEPT_QUERY = ("alt", "api-version", "beta")
HOP_BY_HOP = frozenset(
    [
        *("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te"),
        *("trailer", "transfer-encoding", "upgrade", "content-length", "content-encoding", "host", "accept-encoding"),
        *("set-cookie", "x-evalgate-scenario", "date", "server", "alt-svc", "strict-transport-security"),
    ]
)
CORS = "access-control-"

CREDENTIALS = re.compile(
    r"auth|(?<!idempotency-)key|token|secret|passw|signature|\bsig\b|credential|cookie", re.IGNORECASE
)
"""Names of headers and of members of a query that hold keys."""
BASIC = "basic"
MAX_EVENTS = 200_000
"""Events of one answer."""
SCENARIO_HEADER, SCENARIO_BAGGAGE = "X-Evalgate-Scenario", "evalgate.scenario.id"


def find_credentials(request: web.BaseRequest) -> Iterator[str]:
    """The keys and tokens in the headers and the query of a request; of a login also the password."""
    for name, value in request.headers.items():
        if CREDENTIALS.search(name):
            scheme, _, rest = value.partition(" ")
            yield from [value] if name.lower() == "cookie" else [rest.strip() or scheme]
            if name.lower() == "cookie":
                yield from (part.partition("=")[2].strip() for part in value.split(";"))
            elif scheme.lower() == BASIC:
                yield from _decode_login(rest)
    yield from (value for name, value in request.query.items() if CREDENTIALS.search(name))


def _decode_login(encoded: str) -> list[str]:
    """User and password together, and the password, of a login in base64."""
    try:
        login = base64.b64decode(encoded).decode()
    except ValueError:
        return []
    return [login, login.partition(":")[2]]


def find_named_scenario(headers: Mapping[str, str]) -> str | None:
    """The scenario that a request names in its header or its baggage."""
    if headers.get(SCENARIO_HEADER):
        return headers[SCENARIO_HEADER]
    for entry in headers.get("Baggage", "").split(","):
        key, _, value = entry.partition(";")[0].partition("=")
        if key.strip() == SCENARIO_BAGGAGE and value.strip():
            return unquote(value.strip())
    return None


class ProviderRoute:
    """Passes requests to the providers' base URLs in `upstreams`, unless the recording of the trial answers them."""

    def __init__(self, upstreams: Mapping[str, str], *, is_realtime: bool) -> None:
        self._upstreams = upstreams
        self._upstream = Upstream()
        self._is_realtime = is_realtime
        self._active: dict[asyncio.Task[web.StreamResponse], TrialRecording] = {}

    async def close(self) -> None:
        """Ends the connections to providers."""
        await self._upstream.close()

    async def answer(self, request: web.BaseRequest, rest: str, recording: TrialRecording) -> web.StreamResponse:
        """Answers a request to `<provider>/<path>`; 404 for a provider that is not recorded."""
        arrived = time.time()
        provider, _, path = rest.partition("/")
        if provider not in self._upstreams:
            return web.Response(status=404, text="this provider is not recorded")
        recorded = ProviderRequest(
            provider,
            request.method,
            strip_version(f"/{path}"),
            request.headers.get("Content-Type", ""),
            await request.read(),
            tuple(sorted((key, value) for key, value in request.query.items() if key in KEPT_QUERY)),
        )
        found = recording.find_answer(recorded)
        if found is None:
            base = self._upstreams[provider]
            url = base + (recorded.path if base.endswith("/v1") else f"/{path}")
            return await self._pass_on_until_closed(request, recorded, url, recording)
        answer = found.answer if isinstance(found, Exchange) else found
        response = await self._replay(request, answer)
        if isinstance(found, Exchange):
            found.arrived_at = arrived
            recording.add_exchange(found)
        return response

    async def _replay(self, request: web.BaseRequest, answer: ProviderAnswer) -> web.StreamResponse:
        headers = {**answer.headers, "Content-Type": answer.content_type}
        if not answer.is_stream:
            return web.Response(status=answer.status, body=answer.body, headers=headers)
        response = web.StreamResponse(status=answer.status, headers=headers)
        await response.prepare(request)
        elapsed = 0.0
        for milliseconds, chunk in answer.chunks:
            if self._is_realtime and milliseconds > elapsed:
                await asyncio.sleep((milliseconds - elapsed) / 1000)
                elapsed = milliseconds
            await response.write(chunk)
        if answer.is_broken and request.transport is not None:
            request.transport.abort()
        return response

    async def end_requests(self, recording: TrialRecording) -> None:
        """Ends the requests of a trial that still wait for a provider; they are recorded as broken off."""
        waiting = [task for task, each in self._active.items() if each is recording]
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)

    async def _pass_on_until_closed(
        self, request: web.BaseRequest, recorded: ProviderRequest, url: str, recording: TrialRecording
    ) -> web.StreamResponse:
        task = asyncio.create_task(self._ask(request, recorded, url, recording))
        self._active[task] = recording
        try:
            await asyncio.wait({task})
        finally:
            del self._active[task]
        return web.Response(status=NO_ANSWER) if task.cancelled() else task.result()

    async def _ask(
        self, request: web.BaseRequest, recorded: ProviderRequest, url: str, recording: TrialRecording
    ) -> web.StreamResponse:
        refused = await recording.admit(recorded)
        if refused is not None:
            return await self._replay(request, refused)
        try:
            return await self._pass_on(request, recorded, url, recording)
        finally:
            recording.release()

    async def _pass_on(
        self, request: web.BaseRequest, recorded: ProviderRequest, url: str, recording: TrialRecording
    ) -> web.StreamResponse:
        started, clock = time.time(), time.perf_counter()
        exchange = Exchange(recorded, ProviderAnswer(NO_ANSWER, JSON), started, 0.0, arrived_at=started)
        headers = _forwarded(request.headers)
        response: web.StreamResponse
        try:
            async with self._upstream.send(
                recorded.method, url, request.rel_url.raw_query_string, headers, recorded.body
            ) as received:
                Upstream.require_usable(received)
                exchange.answer.status = received.status
                exchange.answer.content_type = received.headers.get("Content-Type", "application/octet-stream")
                response = await _copy(request, received, exchange.answer, clock)
        except Upstream.errors as error:
            exchange.answer.is_broken = True
            response = _no_answer(request, exchange.answer, _describe(error))
        except asyncio.CancelledError:
            exchange.answer.is_broken = True
            raise
        finally:
            exchange.duration_ms = round((time.perf_counter() - clock) * 1000, 3)
            recording.add_exchange(exchange)
        return response


async def _copy(
    request: web.BaseRequest, received: ClientResponse, answer: ProviderAnswer, clock: float
) -> web.StreamResponse:
    """Passes on an answer as it comes, and keeps it: a stream by event, any other whole."""
    headers = _forwarded(received.headers)
    if not answer.is_stream:
        body = b"".join([part async for part in Upstream.read_parts(received)])
        answer.chunks.append((_since(clock), body))
        return web.Response(status=received.status, body=body, headers=headers)
    response = web.StreamResponse(status=received.status, headers=headers)
    await response.prepare(request)
    splitter, is_listening = EventSplitter(), True
    async for data in Upstream.read_parts(received):
        answer.chunks += ((_since(clock), event) for event in splitter.feed(data))
        if len(answer.chunks) > MAX_EVENTS:
            raise UnusableAnswerError(f"its answer has more than {MAX_EVENTS:,} events")
        if is_listening:
            try:
                await response.write(data)
            except ConnectionError:  # the agent has closed it; what the provider sends until then is kept
                is_listening = False
                answer.is_broken = True
                break
    if splitter.rest:
        answer.chunks.append((_since(clock), splitter.rest))
    return response


def _describe(error: Exception) -> str:
    """Why there is no answer: in the words of the system where it has some."""
    return str(error) if isinstance(error, UnusableAnswerError) else find_system_words(error) or type(error).__name__


def _no_answer(request: web.BaseRequest, answer: ProviderAnswer, reason: str) -> web.StreamResponse:
    """What the agent gets if the provider gives no answer: 502; a stream that has begun breaks off."""
    if answer.is_stream and answer.status != NO_ANSWER:
        if request.transport is not None:
            request.transport.abort()
        return web.Response(status=NO_ANSWER)
    body = orjson.dumps({"error": {"message": f"{GOT_NO_ANSWER}{reason}", "type": "connection_error"}})
    answer.status, answer.content_type = NO_ANSWER, JSON
    answer.chunks = [(0.0, body)]
    return web.Response(status=NO_ANSWER, body=body, content_type=JSON)


def _forwarded(headers: Mapping[str, str]) -> CIMultiDict[str]:
    """Headers without those of one connection, and without CORS."""
    dropped = HOP_BY_HOP | {name.strip().lower() for name in headers.get("Connection", "").split(",")}
    return CIMultiDict(
        (name, value)
        for name, value in headers.items()
        if name.lower() not in dropped and not name.lower().startswith(CORS)
    )


def _since(clock: float) -> float:
    return round((time.perf_counter() - clock) * 1000, 3)
