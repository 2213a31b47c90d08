"""Requests to model providers: through the user's proxy, without cookies, without following a redirect."""

from __future__ import annotations

import base64
import errno
import os
import ssl
from typing import TYPE_CHECKING, Any
from urllib.request import getproxies, proxy_bypass

import aiohttp
from yarl import URL

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from contextlib import AbstractAsyncContextManager

CONNECT_SECONDS = 30
QUIET_SECONDS = 600
"""Seconds without a byte of an answer; the time of the whole trial is limited by `--timeout`."""
MAX_ANSWER = 64 * 1024 * 1024
MAX_HEADER = 64 * 1024
"""Bytes of a header of an answer."""


ENCODINGS = ("gzip", "deflate")
NOT_MODIFIED = 304


class UnusableAnswerError(aiohttp.ClientError):
    """An answer that is not passed on; its text is why."""


class Upstream:
    """One pool of connections to providers; it sends no credentials except those of the request.

    The proxy is chosen here: aiohttp's `trust_env` would also send passwords of a `.netrc`.
    """

    errors = (aiohttp.ClientError, TimeoutError, OSError)

    def __init__(self) -> None:
        self._session: aiohttp.ClientSession | None = None

    def send(
        self, method: str, url: str, query: str, headers: Any, body: bytes
    ) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
        """Sends one request; HTTP_PROXY, HTTPS_PROXY, NO_PROXY and SSL_CERT_FILE of the environment are used."""
        if self._session is None:
            self._session = aiohttp.ClientSession(
                cookie_jar=aiohttp.DummyCookieJar(),
                connector=aiohttp.TCPConnector(limit=0),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS, sock_read=QUIET_SECONDS),
                skip_auto_headers=("User-Agent",),
                headers={"Accept-Encoding": ", ".join(ENCODINGS)},
                max_line_size=MAX_HEADER,
                max_field_size=MAX_HEADER,
            )
        address = URL(f"{url}?{query}" if query else url, encoded=True)
        proxy, login = find_proxy(address)
        if login and address.scheme == "http":  # goes to the proxy as it is; another scheme through a tunnel
            headers.update(login)
        return self._session.request(
            method, address, headers=headers, data=body or None, allow_redirects=False, proxy=proxy, proxy_headers=login
        )

    async def close(self) -> None:
        """Closes all connections."""
        if self._session is not None:
            await self._session.close()

    @staticmethod
    def require_usable(response: aiohttp.ClientResponse) -> None:
        """Raises UnusableAnswerError for a redirect, and for an encoding that was not asked for."""
        if response.status in range(300, 400) and response.status != NOT_MODIFIED:
            raise UnusableAnswerError("it answers with a redirect; name the address that it leads to with --provider")
        encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
        if encoding not in (*ENCODINGS, "identity", ""):
            raise UnusableAnswerError("its answer has a content-encoding that was not asked for")

    @staticmethod
    async def read_parts(response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
        """The parts of an answer as they come, unpacked; raises UnusableAnswerError above 64 MB."""
        size = 0
        async for part in response.content.iter_any():
            size += len(part)
            if size > MAX_ANSWER:
                raise UnusableAnswerError("its answer is larger than 64 MB")
            yield part


def find_system_words(error: BaseException) -> str | None:
    """What the system says of a connection, as in `Connection refused`; None if it says nothing."""
    cause = error
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        cause = error.certificate_error
    elif isinstance(error, aiohttp.ClientConnectorError):
        cause = error.os_error
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted ({cause.verify_message})"
    if not isinstance(cause, OSError) or isinstance(cause, ssl.SSLError):
        return None
    number = cause.errno or 0
    return os.strerror(number) if number in errno.errorcode else cause.strerror


def find_proxy(address: URL) -> tuple[URL | None, dict[str, str]]:
    """The proxy that the environment names for an address, and its login; None for an address reached directly."""
    host = address.host or ""
    named = getproxies().get(address.scheme)
    if not named or proxy_bypass(f"{host}:{address.port}") or proxy_bypass(host):
        return None, {}
    try:
        proxy = URL(named if "://" in named else f"http://{named}")
        proxy.port  # noqa: B018  (is read only now)
    except ValueError:
        raise UnusableAnswerError(f"{address.scheme.upper()}_PROXY is no URL") from None
    if proxy.user is None:
        return proxy, {}
    login = base64.b64encode(f"{proxy.user}:{proxy.password or ''}".encode()).decode()
    return proxy.with_user(None), {"Proxy-Authorization": f"Basic {login}"}
