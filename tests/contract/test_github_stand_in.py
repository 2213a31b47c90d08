"""The stand-in for GitHub answers as GitHub's own description says, and as another stand-in does where it is present."""

from __future__ import annotations

import importlib.util
import json
import sys
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from fakes.github.description import answer_problems, find_operation, operations, request_problems
from fakes.github.routes import ROUTES
from fakes.github.start import HEAD, MAIN
from fakes.hub import FakeHub

OTHER = Path(__file__).resolve().parents[3] / "shared" / "github" / "fakehub.py"
REPOSITORY = "/repos/acme/agent"
CHECK = {"name": "gate", "head_sha": HEAD, "status": "completed", "conclusion": "failure"}
ANNOTATION = {"path": "a.py", "start_line": 1, "end_line": 1, "annotation_level": "failure", "message": "m"}
OUTPUT = {"title": "t", "summary": "s", "annotations": [ANNOTATION]}
NOBODY = "4" * 40
STORY = [
    ("GET", "/user", None),
    ("GET", "/user", "ghp_alice"),
    ("GET", f"{REPOSITORY}/pulls?state=open&head=acme:feature/x", None),
    ("GET", f"{REPOSITORY}/pulls?state=open&head=unknown:feature/x", None),
    ("GET", f"{REPOSITORY}/pulls/7", None),
    ("GET", f"{REPOSITORY}/pulls/8", None),
    ("GET", f"{REPOSITORY}/pulls/99", None),
    ("GET", f"{REPOSITORY}/pulls/7/commits", None),
    ("POST", f"{REPOSITORY}/issues/7/comments", {"body": "one"}),
    ("POST", f"{REPOSITORY}/issues/7/comments", {"body": " "}),
    ("POST", f"{REPOSITORY}/issues/7/comments", {"body": 7}),
    ("POST", f"{REPOSITORY}/issues/99/comments", {"body": "one"}),
    ("GET", f"{REPOSITORY}/issues/7/comments?per_page=100", None),
    ("GET", "{comment}", None),
    ("PATCH", "{comment}", {"body": "two"}),
    ("DELETE", "{comment}", None),
    ("GET", "{comment}", None),
    ("POST", f"{REPOSITORY}/check-runs", {**CHECK, "output": OUTPUT}),
    ("POST", f"{REPOSITORY}/check-runs", {"name": "gate", "head_sha": HEAD, "status": "completed"}),
    ("GET", "{check}", None),
    ("PATCH", "{check}", {"output": {**OUTPUT, "text": "more"}}),
    ("GET", f"{REPOSITORY}/commits/{HEAD}/check-runs?check_name=gate", None),
    ("GET", f"{REPOSITORY}/commits/{HEAD}/check-runs?check_name=other", None),
    ("GET", f"{REPOSITORY}/commits/{MAIN}", None),
    ("GET", f"{REPOSITORY}/commits/{NOBODY}", None),
    ("GET", f"{REPOSITORY}/compare/{MAIN}...{HEAD}?per_page=1", None),
    ("GET", f"{REPOSITORY}/compare/{MAIN}...{NOBODY}?per_page=1", None),
    ("GET", f"{REPOSITORY}/contents/evalgate.yaml?ref={MAIN}", None),
    ("GET", f"{REPOSITORY}/contents/absent.yaml?ref={MAIN}", None),
    ("GET", f"{REPOSITORY}/collaborators/alice/permission", None),
    ("GET", f"{REPOSITORY}/collaborators/mallory/permission", None),
    ("GET", f"{REPOSITORY}/actions/artifacts?name=evalgate-baseline", None),
    ("GET", f"{REPOSITORY}/actions/artifacts/1/zip", None),
    ("GET", "{artifact}/zip", None),
    ("GET", "{artifact}/zip", "ghs_noactions"),
    ("GET", f"{REPOSITORY}/actions/runs/8001", None),
    ("GET", f"{REPOSITORY}/actions/runs/1", None),
    ("GET", f"{REPOSITORY}/actions/runs/8101/artifacts?name=evalgate-baseline", None),
    ("GET", f"{REPOSITORY}/actions/workflows/evalgate.yml/runs?branch=main&head_sha={MAIN}", None),
    ("GET", f"{REPOSITORY}/actions/workflows/absent.yml/runs", None),
    ("POST", f"{REPOSITORY}/issues/7/comments", "ghs_readonly"),
    ("GET", f"{REPOSITORY}/pulls/7", "an unknown token"),
]
"""Requests, each with the document that it sends or another token than that of the job."""
TOLD = {"id", "body", "state", "status", "conclusion", "sha", "ref", "head_sha", "event", "name", "login", "type"}
"""Fields whose values the story decides, and neither stand-in makes up."""


class Asker:
    """Sends the requests of the story to one stand-in; `found` are the paths of what it made."""

    def __init__(self, address, **found):
        self._address, self.found = address, found

    def ask(self, method, path, given):
        token = given if isinstance(given, str) else "ghs_write"
        document = {"body": "one"} if method == "POST" and isinstance(given, str) else given
        connection = HTTPConnection(urlsplit(self._address).netloc, timeout=10)
        headers = {
            "Authorization": f"Bearer {token}",
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
            "User-Agent": "evalgate/tests",
            "Content-Type": "application/json",
        }
        body = None if isinstance(document, str | None) else json.dumps(document)
        connection.request(method, path.format_map(self.found), body, headers)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        described = json.loads(content) if content and answer.status < 300 else None
        if answer.status == 201:
            kind = "comment" if "issue_url" in described else "check"
            self.found[kind] = urlsplit(described["url"]).path
        return answer.status, described


@pytest.fixture
def hub():
    hub = FakeHub()
    hub.write("evalgate.yaml", b"version: 1\n", MAIN)
    yield hub
    hub.stop()


@pytest.fixture
def client(hub):
    artifact = hub.plant(run={"id": 8101})
    return Asker(hub.info.api, artifact=f"{REPOSITORY}/actions/artifacts/{artifact['id']}")


def operation_of(method, path):
    return find_operation(method, urlsplit(path).path)[0]


def test_every_operation_of_the_description_has_its_route():
    assert operations().keys() == ROUTES.keys() - {"graphql"}


def test_all_answers_are_as_github_describes_them(client):
    seen = set()
    for method, path, given in STORY:
        whole = path.format_map(client.found)
        status, document = client.ask(method, path, given)
        if document is not None:
            seen.add(operation_of(method, whole))
            assert answer_problems(operation_of(method, whole), status, document) == [], whole
    without_a_document = {"issues/delete-comment", "actions/download-artifact"}
    assert seen == operations().keys() - without_a_document


def test_an_answer_that_is_not_as_described_is_found(client):
    _, pull = client.ask("GET", f"{REPOSITORY}/pulls/7", None)
    assert answer_problems("pulls/get", 200, {**pull, "number": "7"}) == ["$.number: '7' is not of type 'integer'"]
    del pull["head"]["repo"]["full_name"]
    assert "'full_name' is a required property" in answer_problems("pulls/get", 200, pull)[0]
    assert answer_problems("pulls/get", 299, pull) == ["status 299 is not described"]


@pytest.mark.parametrize(
    ("operation", "query", "body", "problem"),
    [
        ("issues/create-comment", {}, b'{"text": "x"}', "'body' is a required property"),
        ("issues/create-comment", {}, b'{"body": "x", "text": "x"}', "no field text"),
        ("issues/create-comment", {}, b"", "needs a body"),
        ("issues/list-comments", {"per_page": "many"}, b"", "query parameter per_page is not"),
        ("issues/list-comments", {"size": "3"}, b"", "no query parameter size"),
        ("pulls/list", {"state": "new"}, b"", "query parameter state is not"),
        ("pulls/get", {}, b"{}", "takes no body"),
    ],
)
def test_a_request_that_is_not_as_described_is_found(operation, query, body, problem):
    assert problem in request_problems(operation, query, body)[0]


def test_what_a_client_must_not_do_is_a_violation(hub, client):
    client.ask("GET", f"{REPOSITORY}/nowhere", None)
    hub.comment("mine", "mallory")
    client.ask("PATCH", f"{REPOSITORY}/issues/comments/{hub.state['comments'][0]['id']}", {"body": "x"})
    client.ask("GET", f"{REPOSITORY}/pulls/7", hub.info.runtime_token)
    assert [each.partition(": ")[2] for each in hub.violations] == [
        "no such operation",
        "changes a comment of mallory",
        "the token of the service for artifacts was sent to the API",
    ]


@pytest.fixture
def other(hub, tmp_path):
    """The stand-in of ../shared in a world with the same commits, artifact and file."""
    if not OTHER.exists():
        pytest.skip("the other stand-in for GitHub lies in ../shared, which is absent")
    spec = importlib.util.spec_from_file_location("other_stand_in", OTHER)
    module = sys.modules["other_stand_in"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    running = module.Hub(module.build_parser().parse_args(["--port", "0", "--state", str(tmp_path / "state.json")]))
    world = running.world
    name = module.git_sha("blob", b"version: 1\n")
    world.s["blobs_git"][name] = world.put_blob(b"version: 1\n")
    world.s["commits"][MAIN]["tree"] = world.write_tree({"evalgate.yaml": ("100644", name)})
    world.s["artifacts"].append({"id": 70_009, "name": "evalgate-baseline", "run": {"id": 8101}, "files": {"a": "{}"}})
    world.seed_artifacts()
    running.start()
    yield Asker(running.api_url, artifact=f"{REPOSITORY}/actions/artifacts/70009")
    running.stop()


def shape(document, made):
    """Its fields, with the values that the story decides; trees are not kept by the project's."""
    if isinstance(document, list):
        return [shape(each, made) for each in document]
    if not isinstance(document, dict):
        return None
    values = {name: value for name, value in document.items() if name in TOLD and not isinstance(value, dict | list)}
    inner = {
        name: shape(value, made)
        for name, value in document.items()
        if isinstance(value, dict | list) and name != "tree"
    }
    return {**inner, **{name: value for name, value in values.items() if value not in made}}


def common(one, two):
    """What both have of two shapes."""
    if isinstance(one, dict) and isinstance(two, dict):
        pairs = {name: common(one[name], two[name]) for name in one.keys() & two.keys()}
        return {name: pair[0] for name, pair in pairs.items()}, {name: pair[1] for name, pair in pairs.items()}
    if isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        pairs = [common(*each) for each in zip(one, two, strict=True)]
        return [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    return one, two


def test_another_stand_in_gives_the_same_answers(client, other):
    for method, path, given in STORY:
        own, others = client.ask(method, path, given), other.ask(method, path, given)
        assert own[0] == others[0], path
        made = {int(each.rpartition("/")[2]) for side in (client, other) for each in side.found.values()}
        one, two = common(shape(own[1], made), shape(others[1], made))
        assert one == two, path
