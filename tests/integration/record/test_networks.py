"""Requests to a provider leave through the network of the user: proxy with a login, exceptions from it, own authority."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fakes.network import OPENSSL, Authority, Proxy, TlsFront
from recording_runs import environ, record, trace_of, written
from yarl import URL

from evalgate.features.record.adapters.recorder.upstream import find_proxy

if TYPE_CHECKING:
    from pathlib import Path

    from fakes.providers import FakeProviders

LOGIN = "user:proxy-password-4711"
needs_openssl = pytest.mark.skipif(OPENSSL is None, reason="openssl is not installed")


def record_over_tls(folder: Path, front: TlsFront, host: str, **env: str):
    flags = ["--provider", f"openai=https://{host}:{front.port}/v1", "--scenario", "refund"]
    return record(folder, *flags, env=environ(**env))


@needs_openssl
def test_a_private_authority_and_a_proxy_with_a_login_are_used(fake: FakeProviders, tmp_path: Path) -> None:
    (tmp_path / "ca").mkdir()
    authority = Authority(tmp_path / "ca")
    front = TlsFront(authority.certificate("DNS:models.example"), fake.url)
    proxy = Proxy({"models.example": "127.0.0.1"}, LOGIN)
    trusted = {"SSL_CERT_FILE": str(authority.bundle), "HTTPS_PROXY": proxy.url(LOGIN)}
    work = tmp_path / "work"
    work.mkdir()

    done = record_over_tls(work, front, "models.example", **trusted)
    assert (done.code, len(fake.requests)) == (0, 2), done
    assert proxy.asked[0] == f"CONNECT models.example:{front.port} HTTP/1.1"
    assert b"proxy-password-4711" not in written(work)
    assert all("Proxy-Authorization" not in headers for _, headers, _ in fake.requests)

    untrusted = record_over_tls(work, front, "models.example", HTTPS_PROXY=proxy.url(LOGIN))
    assert (untrusted.code, len(fake.requests)) == (1, 2)
    assert "its certificate is not trusted (" in str(trace_of(work))
    for each in (front, proxy):
        each.stop()


def test_a_proxy_with_a_login_is_used_without_tls_too(fake: FakeProviders, tmp_path: Path) -> None:
    proxy = Proxy({"localhost": "127.0.0.1"}, LOGIN)
    port = fake.url.rpartition(":")[2]
    flags = ["--provider", f"openai=http://localhost:{port}/v1", "--scenario", "refund"]
    done = record(tmp_path, *flags, env=environ(HTTP_PROXY=proxy.url(LOGIN)))
    proxy.stop()
    assert (done.code, len(fake.requests), proxy.asked[0].split(" ")[0]) == (0, 2, "POST"), done


@pytest.mark.parametrize(
    ("address", "variables", "expected"),
    [
        ("https://a.example/v1", {}, None),
        ("https://a.example/v1", {"HTTP_PROXY": "http://p:1"}, None),
        ("https://a.example/v1", {"HTTPS_PROXY": "http://p:1"}, "http://p:1"),
        ("https://a.example/v1", {"https_proxy": "p:1"}, "http://p:1"),
        ("https://a.example/v1", {"ALL_PROXY": "http://p:1"}, None),
        ("https://a.example/v1", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "a.example"}, None),
        ("https://a.b.example/v1", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "x, .b.example"}, None),
        ("https://a.example/v1", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "*"}, None),
        ("https://a.example:8443/v1", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "a.example:8443"}, None),
        ("https://a.example:8443/v1", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "a.example:443"}, "http://p:1"),
        ("http://localhost:9/v1", {"HTTP_PROXY": "http://u:p%40w@p:1"}, "http://p:1"),
    ],
)
def test_the_proxy_of_an_address(monkeypatch, address, variables, expected):
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    proxy, login = find_proxy(URL(address))
    assert (None if proxy is None else str(proxy).rstrip("/")) == expected
    assert login == ({"Proxy-Authorization": "Basic dTpwQHc="} if "u:p" in "".join(variables.values()) else {})
