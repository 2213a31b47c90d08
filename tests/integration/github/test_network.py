"""A company's network: certificates of its own, proxies, hosts that need none."""

from __future__ import annotations

import pytest
from fakes.agent import next_run, on_main, own_comments
from fakes.hub import site_of
from fakes.network import OPENSSL, Authority, Proxy, TlsFront
from markdown_check import read_text

from evalgate.adapters.github.client import Client
from evalgate.adapters.http import Network, RequestDeadline
from evalgate.errors import Unreachable

pytestmark = pytest.mark.skipif(OPENSSL is None, reason="openssl makes the certificates")

RUN = "/actions/runs/8001"
NAME = "github.acme.example"
PASSWORD = "pa55:w@rd-of-the-proxy"
USER = "me:pa55%3Aw%40rd-of-the-proxy"


@pytest.fixture(scope="session")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="session")
def certificate(authority):
    return authority.certificate("IP:127.0.0.1", f"DNS:{NAME}")


@pytest.fixture
def started():
    running = []
    yield lambda listener: running.append(listener) or listener
    for listener in running:
        listener.stop()


@pytest.fixture
def fronts(hub, certificate, started):
    """The same server behind TLS: its API and its storage."""
    api, blob = (started(TlsFront(certificate, behind)) for behind in (hub.info.api, hub.info.blob))
    return api, blob


@pytest.fixture
def safe(hub, fronts):
    """Its address."""
    api, blob = (f"https://127.0.0.1:{front.port}" for front in fronts)
    hub.reached_at(api, blob)
    return api


@pytest.fixture
def ask(hub, safe, budget):
    def _ask(url=safe, **network):
        client = Client(site_of(hub, api_url=url, network=Network(**network)), budget)
        try:
            return client.get(RUN)["id"]
        finally:
            client.close()

    return _ask


def untrusted(ask, **given):
    with pytest.raises(Unreachable) as caught:
        ask(**given)
    said = "no response (the certificate is not trusted: REQUESTS_CA_BUNDLE names a file of those to trust)"
    return str(caught.value) == said


def test_a_private_authority_is_trusted_where_it_is_named(ask, authority):
    assert ask(ca_bundle=str(authority.bundle)) == 8001


def test_a_private_authority_is_not_trusted_by_default(ask):
    assert untrusted(ask)


def test_an_untrusted_server_is_not_retried(ask, pauses):
    assert untrusted(ask)
    assert pauses == []


def test_another_authority_is_not_trusted(ask, tmp_path):
    assert untrusted(ask, ca_bundle=str(Authority(tmp_path, "other").bundle))


def test_a_certificate_of_another_name_is_not_trusted(ask, authority, hub, started):
    front = started(TlsFront(authority.certificate("DNS:elsewhere.example"), hub.info.api))
    assert untrusted(ask, url=f"https://127.0.0.1:{front.port}", ca_bundle=str(authority.bundle))


def test_a_server_without_encryption_has_no_certificate_to_trust(hub, ask):
    with pytest.raises(Unreachable, match=r"^no response \(the encrypted connection failed\)$"):
        ask(url=hub.info.api.replace("http://", "https://"))


def test_a_file_without_a_certificate_is_a_clear_error(ask, tmp_path):
    (tmp_path / "ca.pem").write_text("not a certificate")
    with pytest.raises(Unreachable) as caught:
        ask(ca_bundle=str(tmp_path / "ca.pem"))
    fault = f"the file {tmp_path}/ca.pem of REQUESTS_CA_BUNDLE holds no certificate in PEM form"
    assert str(caught.value) == f"no response (the certificate is not trusted: {fault})"


def job(safe, authority, **more):
    """Variables of a job that runs there."""
    given = {"GITHUB_API_URL": safe, "REQUESTS_CA_BUNDLE": str(authority.bundle)}
    return {"variables": {**given, **more}}


def with_baseline(hub, act):
    on_main(hub)
    act("push")
    next_run(hub, "success")


def test_a_pull_request_is_compared_and_commented_on_over_a_private_authority(hub, act, authority, fronts):
    with_baseline(hub, act)
    api, blob = (f"https://127.0.0.1:{front.port}" for front in fronts)
    hub.reached_at(api, blob)
    step = act(**job(api, authority))
    assert (step.exit_code, step.outputs["baseline-status"], step.annotations) == (0, "exact", [])
    assert len(own_comments(hub)) == 1


def test_without_the_authority_the_verdict_is_still_given(hub, act, safe):
    step = act(variables={"GITHUB_API_URL": safe})
    assert (step.exit_code, step.outputs["verdict"], step.outputs["baseline-status"]) == (
        0,
        "pass",
        "unreachable",
    )
    assert "the certificate is not trusted" in step.annotations[0]["message"]


def test_a_missing_bundle_is_reported_and_the_default_ones_are_used(hub, act):
    step = act(variables={"REQUESTS_CA_BUNDLE": "/nowhere/ca.pem"})
    assert (step.exit_code, step.outputs["comment-id"] != "") == (0, True)
    said = "the file /nowhere/ca.pem of REQUESTS_CA_BUNDLE is not visible to this step"
    assert said in read_text(own_comments(hub)[0]).replace("`", "").replace("\\", "")


def test_a_bundle_that_is_not_there_is_named_where_the_server_is_not_trusted(hub, act, safe):
    step = act(variables={"GITHUB_API_URL": safe, "REQUESTS_CA_BUNDLE": "/nowhere/ca.pem"})
    assert step.outputs["baseline-status"] == "unreachable"
    said = (
        "no response (the certificate is not trusted: the file /nowhere/ca.pem of REQUESTS_CA_BUNDLE is not visible to"
    )
    assert any(said in each["message"] for each in step.annotations)
    assert "run the job again" not in str(step.annotations) + step.summary


@pytest.fixture
def proxy(started):
    return started(Proxy({NAME: "127.0.0.1"}, f"me:{PASSWORD}"))


def test_https_goes_through_a_proxy_that_alone_knows_the_host_and_sees_no_token(hub, act, authority, fronts, proxy):
    with_baseline(hub, act)
    api, blob = (f"https://{NAME}:{front.port}" for front in fronts)
    hub.reached_at(api, blob)
    step = act(**job(api, authority, HTTPS_PROXY=proxy.url(USER)))
    assert (step.exit_code, step.outputs["baseline-status"], step.annotations) == (0, "exact", [])
    assert {line.split(" ")[0] for line in proxy.asked} == {"CONNECT"}
    assert b"ghs_write" not in proxy.heard
    assert len(own_comments(hub)) == 1


def test_a_proxy_that_refuses_changes_no_verdict_and_its_password_stays_secret(
    hub, act, authority, fronts, proxy, capfd
):
    api = f"https://{NAME}:{fronts[0].port}"
    job_there = job(api, authority, HTTPS_PROXY=proxy.url("me:wrong-secret"))
    step = act(debug="true", budget=RequestDeadline(20, sleep=[].append), **job_there)
    assert (step.exit_code, step.outputs["baseline-status"]) == (0, "unreachable")
    assert "the proxy 127.0.0.1 refused user and password (407)" in step.annotations[0]["message"]
    assert "run the job again" not in str(step.annotations) + step.summary
    printed = "\n".join([*step.log, step.summary, str(step.annotations), *capfd.readouterr()])
    assert "wrong-secret" not in printed


def test_a_proxy_without_a_tunnel_that_refuses_is_asked_once(hub, ask, proxy, pauses):
    with pytest.raises(Unreachable, match=r"^the proxy 127\.0\.0\.1 refused user and password \(407\)$"):
        ask(url=hub.info.api, proxies={"http": proxy.url("me:wrong-secret")})
    assert (len(proxy.asked), pauses) == (1, [])


def test_a_baseline_is_uploaded_through_the_proxy_too(hub, act, proxy):
    on_main(hub)
    through = {"HTTP_PROXY": proxy.url(USER)}
    step = act("push", variables=through)
    assert (step.exit_code, step.annotations) == (0, [])
    assert [artifact["name"] for artifact in hub.state["artifacts"]] == ["evalgate-baseline"]
    assert {line.split(" ")[0] for line in proxy.asked} == {"GET", "POST", "PUT"}


DIRECT = [
    *(("127.0.0.1", words) for words in ("127.0.0.1", "a.example, 127.0.0.1", "127.0.0.0/8", "*")),
    *(("localhost", words) for words in ("localhost", ".localhost", "x,LOCALHOST", "localhost:{port}")),
]


@pytest.mark.parametrize(("host", "no_proxy"), DIRECT)
def test_a_host_that_needs_no_proxy_is_asked_directly(hub, proxy, host, no_proxy):
    port = hub.info.api.rpartition(":")[2]
    network = Network({"http": proxy.url(USER)}, no_proxy.format(port=port))
    client = Client(site_of(hub, api_url=f"http://{host}:{port}", network=network))
    assert client.get(RUN)["id"] == 8001
    client.close()
    assert proxy.asked == []


@pytest.mark.parametrize("no_proxy", ["", "acme.example", "10.0.0.0/8", "127.0.0.1:1"])
def test_any_other_host_is_asked_through_the_proxy(hub, proxy, no_proxy):
    client = Client(site_of(hub, network=Network({"http": proxy.url(USER)}, no_proxy)))
    assert client.get(RUN)["id"] == 8001
    client.close()
    assert len(proxy.asked) == 1
