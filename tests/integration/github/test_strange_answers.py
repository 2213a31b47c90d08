"""Answers that no GitHub server gives: invalid addresses, endless redirects, bodies that grow.

The server is a bare socket: the stand-in for GitHub speaks HTTP too well for this.
"""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest
from fakes.agent import own_comments
from fakes.server import Server, answer

from evalgate.adapters.github.client import Client
from evalgate.adapters.github.connection import Site
from evalgate.adapters.http import AnswerTooLarge, RequestDeadline
from evalgate.errors import Unreachable

if TYPE_CHECKING:
    from collections.abc import Iterator

TOKEN = "ghs_of_this_job"
MEGABYTE = 1_000_000
NO_ADDRESSES = [
    *(
        "http://[::1",
        "http://a]b/",
        "http://127.0.0.1:99999/",
        "http://127.0.0.1:-1/",
        "http://127.0.0.1:80 80/",
    ),
    *(
        "http://a:b:c/",
        "http://\x85/",
        "\xff\xfe",
        "http://a..b/",
        "http://.../",
        "https://",
        "http:///x",
        "//x",
    ),
    *(f"http://{'a' * 300}/", "http://[v1.x]/", "javascript:x", "data:,x", "http://u:p@127.0.0.1/"),
]


class Sink:
    def write(self, data):
        pass


@pytest.fixture
def begun() -> Iterator[list]:
    """Servers and clients, which are ended."""
    started: list = []
    yield started
    for each in started:
        each.close()


@pytest.fixture
def asked(begun):
    def begin(*parts: bytes) -> tuple[Server, Client]:
        server = Server(*parts)
        site = Site(server.url, "https://github.com", "acme/support", 1001, token=TOKEN)
        client = Client(site, RequestDeadline(20, sleep=[].append))
        begun.extend([client, server])
        return server, client

    return begin


@pytest.mark.parametrize("address", NO_ADDRESSES)
def test_a_redirect_without_an_address_is_an_invalid_answer(asked, address):
    server, client = asked(answer(302, Location=address))
    with pytest.raises(Unreachable):
        client.get("/x")
    with pytest.raises(Unreachable):
        client.download("/x", Sink, MEGABYTE)
    assert {request.partition(b" ")[0] for request in server.requests} == {b"GET"}


@pytest.mark.parametrize("address", NO_ADDRESSES)
def test_a_next_page_without_an_address_is_not_requested(asked, address):
    server, client = asked(answer(200, Link=f'<{address}>; rel="next"'))
    with pytest.raises(Unreachable):
        list(client.pages("/x"))
    assert len(server.requests) == 1


@pytest.mark.parametrize("changed", ["host", "port", "scheme", "name before the host"])
def test_the_token_stays_with_the_apis_own_scheme_host_and_port(asked, changed):
    other, _ = asked(answer(200))
    server, client = asked()
    port = server.url.rpartition(":")[2]
    place = {
        "host": f"http://127.0.0.2:{port}/x",
        "port": f"{other.url}/x",
        "scheme": f"https://127.0.0.1:{port}/x",
        "name before the host": f"http://127.0.0.1:{port}@{other.url.partition('//')[2]}/x",
    }[changed]
    server.set_answer(answer(302, Location=place))
    with pytest.raises(Unreachable, match="the token must not be sent"):
        client.get("/x")
    server.set_answer(answer(200, Link=f'<{place}>; rel="next"'))
    with pytest.raises(Unreachable, match="another host"):
        list(client.pages("/x"))
    assert (len(server.requests), other.requests) == (2, [])


def test_a_redirect_chain_is_followed_once(asked):
    server, client = asked(answer(302, Location="/again"))
    with pytest.raises(Unreachable):
        client.get("/x")
    assert len(server.requests) == 2


def test_a_redirected_download_is_not_followed_and_only_the_api_gets_the_token(asked):
    server, client = asked(answer(302, Location="/again"))
    with pytest.raises(Unreachable):
        client.download("/x", Sink, MEGABYTE)
    assert [TOKEN.encode() in request for request in server.requests] == [True, False]


@pytest.mark.parametrize("status", [200, 302, 404, 503])
def test_no_body_is_read_beyond_its_limit_whatever_the_status(asked, status):
    head = answer(status, Location="/x").replace(b"Content-Length: 2", b"Content-Length: 80000000")
    server, client = asked(head, *[b"0" * MEGABYTE] * 80)
    with pytest.raises(AnswerTooLarge):
        client.get("/x")
    assert server.given < 40 * MEGABYTE  # the limit, and what lies in the system's buffers


@pytest.mark.parametrize(
    "whole",
    [
        answer(200, gzip.compress(b"0" * 100 * MEGABYTE, 1), Content_Encoding="gzip"),
        answer(200, b"no gzip", Content_Encoding="gzip"),
        answer(200, b"x", Content_Encoding=", ".join(["gzip"] * 50)),
        b"HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nabc\r\n",
        b"HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\nabc\r\n",
        b"HTTP/1.1 200 X\r\n" + b"A: b\r\n" * 1_000 + b"\r\n[]",
        b"HTTP/1.1 200 X\r\nA: " + b"x" * 100_000 + b"\r\n\r\n[]",
        b"HTTP/1.1 99999 X\r\n\r\n",
        b"\x00\xff\r\n\r\n",
        answer(200, b"[" * 100_000),
        answer(200, b"9" * 5_000),
        answer(200, b'"\xff"'),
        answer(429, Retry_After="86400"),
        answer(503, Retry_After="86400"),
        answer(403, X_RateLimit_Remaining="0", X_RateLimit_Reset="inf", Date="Mon, 01 Jan 2024 00:00:00 GMT"),
        answer(403, X_RateLimit_Remaining="0", X_RateLimit_Reset="9", Date="Mon, 99 Jan 99999 00:00:00 GMT"),
    ],
    ids=range(16),
)
def test_an_invalid_answer_is_an_error_with_a_short_message(asked, whole):
    _, client = asked(whole)
    with pytest.raises(Unreachable) as error:
        client.get("/x")
    assert str(error.value).isascii()
    assert len(str(error.value)) < 100


@pytest.mark.parametrize("status", [500, 502, 503])
def test_a_failing_server_is_asked_three_times(asked, status):
    server, client = asked(answer(status))
    with pytest.raises(Unreachable, match=str(status)):
        client.get("/x")
    assert len(server.requests) == 3


def test_a_wait_of_more_than_half_a_minute_is_given_up(begun):
    server, pauses = Server(answer(429, Retry_After="31")), []
    client = Client(
        Site(server.url, "https://github.com", "acme/support", 1001), RequestDeadline(60, sleep=pauses.append)
    )
    begun.extend([client, server])
    with pytest.raises(Unreachable, match="rate limit"):
        client.get("/x")
    assert (len(server.requests), pauses) == (1, [])


@pytest.mark.parametrize("request_answered", ["issues/list-comments", "actions/list-artifacts-for-repo"])
@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "redirect", "status": 302, "location": "http://[::1"},
        {"kind": "status", "status": 200, "headers": {"Link": '<http://x:y/>; rel="next"'}, "body": []},
    ],
    ids=["redirect", "link"],
)
def test_no_such_answer_costs_the_verdict(hub, act, fault, request_answered):
    hub.fail(fault, times=-1, op=request_answered)
    ran = act()
    assert ran.exit_code == 0
    assert ran.outputs["verdict"] == "pass"
    assert (own_comments(hub) == []) == (request_answered == "issues/list-comments")
