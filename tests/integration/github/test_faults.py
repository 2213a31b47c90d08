"""Every fault, at every request of a run: the verdict is the same, at most one comment, no secret anywhere."""

from __future__ import annotations

import base64
import json
import time
from dataclasses import dataclass
from hashlib import sha1

import pytest
import yaml
from fakes.agent import (
    FORK,
    current,
    make_workspace,
    next_run,
    on_main,
    own_comments,
    trace,
    without_origin,
    write_trace,
)
from fakes.faults import ANSWERS, FAULTS, PACE, PASSING
from fakes.github.faults import KINDS
from fakes.runner import ACTION, FakeRunner

from evalgate.adapters.http import RequestDeadline

ALWAYS = -1
JUDGING_SECONDS = 3
MERGED = sha1(b"pr-merge", usedforsecurity=False).hexdigest()
CODES = {"exact": 1, "ancestor": 1, "latest": 1, "unreachable": 4, "none": 0, "expired": 0}
DAMAGED = {"corrupt", "truncated", "truncated against its length", "bad JSON"}
REQUESTS = {
    "first": [
        "repos/get-content",
        "actions/list-artifacts-for-repo",
        "repos/get-commit",
        "actions/get-workflow-run",
        "actions/download-artifact",
        "blob/GET",
        "pulls/get",
        "issues/list-comments",
        "users/get-authenticated",
        "graphql",
        "issues/create-comment",
        "checks/create",
    ],
    "again": ["repos/compare-commits-with-basehead", "issues/update-comment"],
    "push": [
        "results/CreateArtifact",
        "blob/PUT?comp=block",
        "blob/PUT?comp=blocklist",
        "results/FinalizeArtifact",
    ],
    "publish": ["pulls/list", "actions/list-workflow-run-artifacts"],
}
"""The requests of each kind of run, where no other has them too."""


@dataclass(frozen=True)
class Case:
    run: str
    request: str
    fault: str
    times: int

    @property
    def id(self):
        return f"{self.request} {self.fault} {'always' if self.times == ALWAYS else 'once'}"


PLACES = [(run, request) for run, requests in REQUESTS.items() for request in requests]
MATRIX = [Case(*place, fault, times) for place in PLACES for fault in FAULTS for times in (1, ALWAYS)]


def sampled():
    """Each fault at two requests and each request with some faults; the rest of the matrix on demand."""
    for number, fault in enumerate(FAULTS):
        yield Case(*PLACES[number * 3 % len(PLACES)], fault, 1)
        yield Case(*PLACES[(number * 5 + 1) % len(PLACES)], fault, ALWAYS)


SAMPLE = list(sampled())


def cases():
    rest = [pytest.param(case, id=case.id, marks=pytest.mark.matrix) for case in MATRIX if case not in SAMPLE]
    return [*(pytest.param(case, id=case.id) for case in SAMPLE), *rest]


@pytest.fixture(scope="module")
def main_baseline(_running_hub, tmp_path_factory):
    """What a push on main uploads, in base64, to be planted in other worlds."""
    folder = tmp_path_factory.mktemp("main")
    hub = _running_hub.fresh()
    on_main(hub)
    assert FakeRunner(hub, make_workspace(folder / "workspace"), folder).act("push").exit_code == 0
    [artifact] = hub.state["artifacts"]
    return base64.b64encode(hub.blob(artifact)).decode()


class Job:
    """A run of the given kind, as often as wanted."""

    def __init__(self, kind, hub, folder, main_baseline):
        self.kind, self.hub, self.folder = kind, hub, folder
        self.workspace = make_workspace(folder / "workspace")
        self.runner = FakeRunner(hub, self.workspace, folder)
        hub.comment("<!-- evalgate:sticky v1 key=evalgate.yml/gate -->\nI pass", "mallory")
        getattr(self, f"_before_{kind}")(main_baseline)

    def _before_first(self, main_baseline):
        self.hub.plant(blob_b64=main_baseline)
        write_trace(self.workspace, trace(content="I am sorry"))

    def _before_again(self, main_baseline):
        self.hub.plant(blob_b64=main_baseline)
        state = self.hub.state
        newest = self.hub.commit("a" * 40, state["refs"]["refs/heads/main"])
        state["refs"]["refs/heads/main"] = newest
        state["commits"][MERGED]["parents"][0] = newest
        assert self.act().outputs["baseline-status"] == "ancestor"
        state["check_runs"].clear()
        write_trace(self.workspace, trace(content="I am sorry"))

    def _before_push(self, _):
        on_main(self.hub)

    def _before_publish(self, _):
        head = self.hub.state["pulls"]["8"]["head"]["sha"]
        current(self.hub).update(head_branch="main", head_sha=head, head_repository_id=FORK, pulls=[])
        evaluated = self.runner.act(pr=8, token="ghs_readonly", comment_key="evalgate")
        assert evaluated.exit_code == 0
        next_run(self.hub, "success", event="workflow_run", head_branch="main", head_repository_id=1001)

    def act(self):
        common = {"budget": RequestDeadline(pace=PACE), "debug": "true"}
        if self.kind == "push":
            return self.runner.act("push", **common)
        if self.kind == "publish":
            given = {"mode": "publish", "comment_key": "evalgate", "after_run": 9001}
            return self.runner.act("workflow_run", **given, **common)
        return self.runner.act(fail_on="hard_fail,regression", check_run="true", **common)

    @property
    def comments(self):
        return own_comments(self.hub)

    @property
    def uploads(self):
        return [artifact for artifact in self.hub.state["artifacts"] if artifact["run_id"] == 9001]

    def written(self, step, output="results-path"):
        return (self.workspace / step.outputs[output]).read_text()


@pytest.fixture
def job(hub, tmp_path, main_baseline):
    return lambda kind: Job(kind, hub, tmp_path, main_baseline)


@pytest.mark.parametrize("case", cases())
def test_a_fault_costs_at_most_what_needed_github(case, job):
    run = job(case.run)
    run.hub.fail(FAULTS[case.fault], times=case.times, op=case.request)
    started = time.monotonic()
    step = run.act()
    assert run.hub.waiting, "the fault did not happen"
    assert time.monotonic() - started < 60 * PACE + JUDGING_SECONDS
    check_what_always_holds(run, step)
    if case.run in {"push", "publish"}:
        assert step.exit_code == 0
    else:
        check_the_documents_agree(run, step)
        assert step.exit_code == CODES[step.outputs["baseline-status"]]
        assert step.outputs["baseline-status"] in possible(case)
    if case.times == 1 and case.fault in PASSING:
        check_nothing_was_lost(run, step, case)
    run.hub.forget_faults()
    check_the_next_run_is_as_ever(run)


def possible(case):
    """What may be known of the baseline."""
    found = {"ancestor"} if case.run == "again" else {"exact", "ancestor", "latest"}
    if case.fault in PASSING and case.times == 1:
        return found
    gone = case.fault in ANSWERS or (case.request == "blob/GET" and case.fault in DAMAGED)
    return {*found, "unreachable", *({"none", "expired", "latest"} if gone else ())}


def check_what_always_holds(run, step):
    declared = set(yaml.safe_load(ACTION.read_text(encoding="utf-8"))["outputs"])
    assert declared == step.outputs.keys()
    assert step.outputs["exit-code"] == str(step.exit_code)
    assert len(run.comments) <= 1
    assert len(run.hub.state["check_runs"]) <= 1
    assert len(run.uploads) <= 1
    assert [comment["body"][-6:] for comment in run.hub.comments_of("mallory")] == ["I pass"]
    others = {comment["issue_number"] for comment in run.hub.state["comments"]}
    assert others <= {7, 8 if run.kind == "publish" else 7}
    for file in (run.workspace / ".evalgate").iterdir():
        content = file.read_bytes()
        assert b"ghs_write" not in content
        assert run.hub.info.runtime_token.encode() not in content


def check_the_documents_agree(run, step):
    written = json.loads(run.written(step))
    assert (written["verdict"], written["exit_code"]) == (step.outputs["verdict"], step.exit_code)
    assert step.summary


def check_nothing_was_lost(run, step, case):
    if case.run == "push":
        assert len(run.uploads) == 1
        assert step.annotations == []
    elif (case.request, case.fault) == ("issues/create-comment", "hang"):
        assert run.comments == []  # it might still have appeared
    elif case.run == "publish":
        assert len(run.comments) == 1
    else:
        assert list(map(without_origin, run.comments)) == [run.written(step, "report-path")]
        assert step.outputs["comment-url"].startswith("https://")


def check_the_next_run_is_as_ever(run):
    if run.kind == "push":
        return
    step = run.act()
    if run.kind == "publish":
        assert len(run.comments) == 1
        return
    status = "ancestor" if run.kind == "again" else "exact"
    assert (step.exit_code, step.outputs["baseline-status"]) == (1, status)
    assert list(map(without_origin, run.comments)) == [run.written(step, "report-path")]


@pytest.mark.parametrize("kind", REQUESTS)
def test_the_matrix_has_every_request_of_a_run(kind, job):
    run = job(kind)
    before = len(run.hub.requests)
    run.act()
    asked = {request["op"] for request in run.hub.requests[before:]}
    named = {request for requests in REQUESTS.values() for request in requests}
    assert set(REQUESTS[kind]) <= asked <= named


def test_the_matrix_has_every_fault_of_the_stand_in():
    assert {fault["kind"] for fault in FAULTS.values()} == KINDS
