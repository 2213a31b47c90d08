from __future__ import annotations

import time

import pytest
from fakes.hub import site_of

from evalgate.adapters.github.client import Client, RequestRefused, ResourceExpired
from evalgate.adapters.http import AnswerTooLarge, HttpRequest, Network, RequestDeadline
from evalgate.errors import Forbidden, NotFound, Unreachable

RUN = "/actions/runs/8001"
CLOSED = "http://127.0.0.1:9"


class Bytes:
    def __init__(self):
        self.received = b""

    def begin(self):
        self.received = b""
        return self

    def write(self, data):
        self.received += data


@pytest.fixture
def sink():
    return Bytes()


def test_a_request_names_its_client_and_api_version(hub, client):
    client.get(RUN)
    headers = hub.requests[0]["headers"]
    assert headers["User-Agent"].startswith("evalgate/")
    assert headers["X-GitHub-Api-Version"] == "2022-11-28"
    assert headers["Authorization"] == "Bearer <ghs_write>"
    assert headers["Accept-Encoding"] == "identity"


def test_no_netrc_and_no_proxy_of_the_environment_is_used(hub, client, tmp_path, monkeypatch):
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login mallory password stolen\n")
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("HTTP_PROXY", CLOSED)
    client.get(RUN)
    assert hub.requests[0]["headers"]["Authorization"] == "Bearer <ghs_write>"


def test_a_proxy_handed_in_is_used_except_for_hosts_that_need_none(hub):
    through = Network(proxies={"http": CLOSED})
    with pytest.raises(Unreachable, match="proxy"):
        Client(site_of(hub, network=through), RequestDeadline(20, sleep=[].append)).get(RUN)
    around = Network(proxies={"http": CLOSED}, no_proxy="example.com,127.0.0.1")
    client = Client(site_of(hub, network=around))
    assert client.get(RUN)["id"] == 8001
    client.close()


def test_a_renamed_repository_is_followed_on_the_same_host(hub, budget):
    hub.state["renamed_from"] = ["acme/old"]
    client = Client(site_of(hub, repository="acme/old"), budget)
    assert client.get(RUN)["id"] == 8001
    client.close()


@pytest.mark.parametrize("place", ["http://127.0.0.2:9/x", "https://example.com/", "", "ftp://x/"])
def test_a_redirect_elsewhere_never_gets_the_token(hub, client, place):
    hub.fail({"kind": "redirect", "status": 302, "location": place}, path=RUN, times=-1)
    with pytest.raises(Unreachable):
        client.get(RUN)


def test_a_change_is_not_sent_on_where_the_redirect_drops_the_method(hub, client):
    location = f"{hub.info.api}/repositories/1001/issues/7/comments"
    hub.fail({"kind": "redirect", "status": 302, "location": location}, method="POST")
    with pytest.raises(Unreachable, match="redirect"):
        client.send("POST", "/issues/7/comments", {"body": "x"})
    assert hub.state["comments"] == []


def test_a_next_page_on_another_host_is_not_requested(hub, client):
    link = '<http://127.0.0.2:9/steal>; rel="next"'
    hub.fail({"kind": "status", "status": 200, "headers": {"Link": link}, "body": []}, path="comments")
    with pytest.raises(Unreachable, match="another host"):
        list(client.pages("/issues/7/comments"))


def test_a_server_that_drips_is_left_at_the_deadline(hub, site):
    hub.fail({"kind": "drip", "chunk": 1, "interval": 0.2}, path=RUN, times=-1)
    started = time.monotonic()
    with pytest.raises(Unreachable):
        Client(site, RequestDeadline(0.7)).get(RUN)
    assert time.monotonic() - started < 2


def test_a_server_that_says_nothing_is_left_at_the_deadline(hub, site):
    hub.fail({"kind": "hang", "seconds": 2}, path=RUN, times=-1)
    started = time.monotonic()
    with pytest.raises(Unreachable, match=r"no complete response|timed out"):
        Client(site, RequestDeadline(0.5)).get(RUN)
    assert time.monotonic() - started < 1.5


def test_a_dead_server_is_unreachable_with_a_clear_message(hub):
    client = Client(site_of(hub, api_url=CLOSED), RequestDeadline(20, sleep=[].append))
    with pytest.raises(Unreachable) as caught:
        client.get(RUN)
    assert str(caught.value) == "no response (the connection failed)"


@pytest.mark.parametrize(
    ("status", "error"),
    [(401, Unreachable), (403, Forbidden), (404, NotFound), (410, ResourceExpired), (422, RequestRefused)],
)
def test_a_status_becomes_an_evalgate_error(hub, client, status, error):
    hub.fail({"kind": "status", "status": status, "body": "<secret>"}, path=RUN)
    with pytest.raises(error) as caught:
        client.get(RUN)
    assert "secret" not in str(caught.value)


def refuse(hub, client, status, body, **headers):
    hub.fail({"kind": "status", "status": status, "body": body, "headers": headers}, path=RUN)
    with pytest.raises(Unreachable) as caught:
        client.get(RUN)
    return str(caught.value)


@pytest.mark.parametrize(
    ("header", "permission"),
    [
        ("issues=write; pull_requests=write", "`pull-requests: write`"),
        ("actions=read", "`actions: read`"),
        ("contents=write,actions=write", "`contents: write` and `actions: write`"),
        ("administration=write", "`actions: read`"),
        ("ghs_write=write, <!-- x", "`actions: read`"),
        ("", "`actions: read`"),
    ],
)
def test_a_missing_permission_is_named_as_a_line_of_the_workflow(hub, client, header, permission):
    message = "Resource not accessible by integration"
    found = refuse(hub, client, 403, {"message": message}, **{"X-Accepted-GitHub-Permissions": header})
    assert found == f'GitHub refuses it (403): "{message}" (add {permission} to `permissions:` in the workflow)'


def test_a_permission_that_a_persons_token_lacks_is_not_one_of_the_workflow(hub, client):
    message = "Resource not accessible by personal access token"
    found = refuse(hub, client, 403, {"message": message})
    assert found == f'GitHub refuses it (403): "{message}" (add `actions: read` to that token)'


def test_another_refusal_names_no_permission(hub, client):
    message = "Your IP address is not on the allow list."
    header = {"X-Accepted-GitHub-Permissions": "actions=read"}
    assert refuse(hub, client, 403, {"message": message}, **header) == f'GitHub refuses it (403): "{message}"'


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"message": "Invalid request.\n\nOnly 5 are allowed"}, ': "Invalid request. Only 5 are allowed"'),
        ({"message": "a", "errors": ["b", {"message": "c"}]}, ': "a; b; c"'),
        ({"message": "a", "errors": [{"resource": "R", "field": "f", "code": "invalid"}]}, ': "a; R f invalid"'),
        ({"message": "a\u202e\x1b[31m", "errors": {"x": 1}}, ': "a"'),
        ({"message": ["a"], "errors": [None, 1, {"message": 2}]}, ""),
        ([[[{"message": "a"}]]], ""),
        ({"message": "a", "more": "x" * 100_000}, ""),
    ],
)
def test_githubs_own_message_is_part_of_the_error(hub, client, body, message):
    assert refuse(hub, client, 422, body) == f"GitHub rejects the request as invalid (422){message}"


def test_a_long_message_is_cut(hub, client):
    assert len(refuse(hub, client, 400, {"message": "x y" * 9_000})) < 400


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "bad_json"},
        {"kind": "html_502"},
        {"kind": "truncate", "keep": 0.5},
        {"kind": "truncate", "keep": 0.5, "lie": True},
        {"kind": "reset_mid"},
        {"kind": "status", "status": 429, "headers": {"Retry-After": 2}},
        {"kind": "primary_rate_limit", "reset_in": 5},
    ],
)
def test_a_transient_error_is_retried(hub, client, fault, pauses):
    hub.fail(fault, path=RUN, times=2)
    assert client.get(RUN)["id"] == 8001
    assert len(pauses) == 2


def test_a_missing_permission_is_not_retried(hub, client, pauses):
    hub.fail({"kind": "forbidden"}, path=RUN, times=-1)
    with pytest.raises(Forbidden):
        client.get(RUN)
    assert pauses == []


def test_a_download_over_the_limit_is_stopped(hub, client, sink):
    artifact = hub.plant(files={"a": "x" * 500})
    with pytest.raises(AnswerTooLarge):
        client.download(f"/actions/artifacts/{artifact['id']}/zip", sink.begin, 100)
    assert len(sink.received) <= 100


def test_the_download_gets_no_token_and_a_signature_that_ran_out_is_renewed(hub, client, sink):
    artifact = hub.plant()
    hub.fail({"kind": "status", "status": 403}, listener="blob")
    client.download(f"/actions/artifacts/{artifact['id']}/zip", sink.begin, 10_000)
    assert len(sink.received) == artifact["size"]
    from_storage = [request for request in hub.requests if request["listener"] == "blob"]
    assert len(from_storage) == 2
    assert not [request for request in from_storage if "Authorization" in request["headers"]]


def test_a_download_is_not_redirected_from_https_to_http(hub, sink):
    hub.fail({"kind": "redirect", "status": 302, "location": "ftp://127.0.0.2/x"}, path="/zip")
    client = Client(site_of(hub), RequestDeadline(20, sleep=[].append))
    with pytest.raises(Unreachable, match="https"):
        client.download("/actions/artifacts/1/zip", sink.begin, 100)
    client.close()


def test_an_answer_in_place_of_the_downloads_address_is_not_a_download(hub, client, sink, pauses):
    artifact = hub.plant()
    hub.fail({"kind": "bad_json"}, path="/zip$")
    client.download(f"/actions/artifacts/{artifact['id']}/zip", sink.begin, 10_000)
    assert len(sink.received) == artifact["size"]
    assert len(pauses) == 1


def test_an_address_with_a_password_in_it_is_neither_followed_nor_logged(hub, site, budget, sink):
    lines = []
    place = "http://ghs_write:x@127.0.0.2:9/x?sig=y"
    hub.fail({"kind": "redirect", "status": 302, "location": place}, path="/zip$")
    client = Client(site, budget, lines.append)
    with pytest.raises(Unreachable, match="password") as caught:
        client.download("/actions/artifacts/1/zip", sink.begin, 100)
    client.close()
    assert "ghs_write" not in f"{lines} {caught.value}"
    assert HttpRequest("GET", place).redacted_line == "GET http://127.0.0.2:9/x"


def test_requests_are_logged_without_the_query(hub, site, budget, sink):
    lines = []
    artifact = hub.plant()
    client = Client(site, budget, lines.append)
    client.download(f"/actions/artifacts/{artifact['id']}/zip", sink.begin, 10_000)
    client.close()
    assert [line.rpartition(" ")[2] for line in lines] == ["302", "200"]
    assert "sig" not in "".join(lines)


def test_no_secret_shows_in_a_repr(site):
    assert "ghs_write" not in repr(site)
    assert site.runtime_token not in repr(site)
    assert "ghs_write" not in repr(HttpRequest("GET", f"{site.api_url}/x", token=site.token))
