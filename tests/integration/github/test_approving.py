"""Approving in a comment: what counts, and every way in which somebody may try to forge it (security.md, T09)."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from fakes.agent import FORK, ours, record, trace
from markdown_check import flaws

from evalgate.bootstrap.store import open_store

pytestmark = pytest.mark.shared

REPORT = "evalgate-report-evalgate"
KEY = {"comment_key": "evalgate", "approvals_from": "comments"}
COMMAND = "/evalgate approve refund because the API is down"
RUN_URL = "https://github.com/acme/agent/actions/runs/9001"
OURS = {"links": [RUN_URL], "comments": ["evalgate:sticky v1 key=evalgate"]}


@pytest.fixture
def head(hub):
    """The commit at the head of pull request 7, made and pushed by alice; bob may write and had no part."""
    sha = hub.state["pulls"]["7"]["head"]["sha"]
    hub.state["commits"][sha].update(author="alice", committer="alice")
    hub.state["collaborators"]["bob"] = "write"
    return sha


@pytest.fixture
def gate(act, head):
    """A run of the gate for the pull request; `attempt` counts how often it was started over."""

    def run(attempt=1, *, variables=None, **inputs):
        told = {"GITHUB_RUN_ATTEMPT": str(attempt), **(variables or {})}
        return act(variables=told, **{**KEY, **inputs})

    return run


@pytest.fixture(scope="module")
def left():
    """What a gate that failed has left, by the commit it judged: it is always the same, and judged once."""
    return {}


@pytest.fixture
def failing(gate, workspace, hub, head, left):
    """The gate has failed, and its run is over."""
    record(workspace, trace(tool="other"))
    if head not in left:
        assert gate().exit_code == 1
        [report], [body] = hub.state["artifacts"], ours(hub)
        left[head] = hub.blob(report), body
    else:
        content, body = left[head]
        blob = base64.b64encode(content).decode()
        hub.plant(name=REPORT, run_id=9001, blob_b64=blob, created_at=hub.moment(0))
        hub.say(body, "github-actions[bot]", at=0)
    next(run for run in hub.state["runs"] if run["id"] == 9001).update(status="completed", conclusion="failure")
    return workspace


@pytest.fixture
def approve(act, hub):
    """The approving workflow hears a comment."""

    def run(comment, action="created", **inputs):
        given = {"mode": "approve", "comment_key": "evalgate", "baseline_workflow": "evalgate.yml", **inputs}
        return act("issue_comment", heard=comment, action=action, **given)

    return run


def refused(told, why):
    """The run is red and says why; nobody's failure was let pass."""
    [annotation] = [each for each in told.annotations if each["type"] == "error"]
    assert why in annotation["message"]
    assert told.exit_code == 2


def still_failing(hub):
    [body] = ours(hub)
    assert "EvalGate failed" in body


# --- what counts ----------------------------------------------------------------------------------------------


def test_an_approval_updates_the_one_comment_of_the_gate(hub, failing, approve, head):
    told = approve(hub.say(COMMAND, "bob"))
    assert (told.exit_code, told.annotations) == (0, [])
    [body] = ours(hub)
    assert "EvalGate passed" in body
    assert "(approved)" in body
    assert "bob: the API is down" in body
    assert f"for {head[:7]} only, may write" in body
    assert "expires in 14 days" in body
    assert "self-approved" not in body
    assert flaws(body, **OURS) == []
    assert told.outputs["comment-id"] == str(hub.comments_of("github-actions[bot]")[0]["id"])


def test_the_gate_started_over_counts_it_too(hub, failing, gate):
    hub.say(COMMAND, "bob")
    told = gate(attempt=2)
    assert (told.exit_code, told.outputs["verdict"]) == (0, "pass")
    [approval] = json.loads((failing / ".evalgate/results.json").read_bytes())["approvals"]
    assert (approval["status"], approval["who"], approval["limit"]) == ("active", "bob", {"score": 0.5})
    assert len(approval["checks"]) == 1
    assert approval["provenance"]["permission"] == "write"
    assert len(ours(hub)) == 1


def test_judges_in_a_process_of_their_own_say_the_same(hub, failing, gate, approve):
    assert approve(hub.say(COMMAND, "bob"), is_apart=True).exit_code == 0
    assert "EvalGate passed" in ours(hub)[0]
    assert gate(attempt=2, is_apart=True).exit_code == 0
    unknown = hub.say("/evalgate approve other because x", "bob")
    refused(approve(unknown, is_apart=True), "the run has no scenario other")


def test_what_was_approved_is_kept_in_a_store_for_the_record(hub, failing, approve, gate, tmp_path):
    (tmp_path / "temp").mkdir()
    stored = {"store_url": "kept.db", "variables": {"RUNNER_TEMP": str(tmp_path / "temp")}}
    comment = hub.say(COMMAND, "bob")
    assert approve(comment, **stored).exit_code == 0
    with open_store("kept.db", str(tmp_path / "temp"), create=False) as store:
        [kept] = store.approvals.list()
    assert (kept.approval.scenario, kept.approval.who, kept.approval.least_score) == ("refund", "bob", 0.5)
    assert kept.approval.checks
    assert (kept.provenance.source, kept.provenance.permission) == ("comment", "write")
    hub.state["comments"].remove(comment)
    assert gate(attempt=2, **stored).exit_code == 1, "it counts by its comment alone"


def test_all_approves_what_fails_and_until_says_how_long(hub, failing, approve):
    comment = hub.say("/evalgate approve all until 2099-01-01 because x", "bob")
    refused(approve(comment), "90 days at most")
    day = hub.moment(10 * 86_400)[:10]
    assert approve(hub.say(f"/evalgate approve all until {day} because x", "bob", at=61)).exit_code == 0
    assert "expires in 10 days" in ours(hub)[0]


def test_the_check_turns_green_where_the_workflow_asks_for_it(hub, failing, approve, head):
    hub.state["tokens"]["ghs_write"]["permissions"]["checks"] = "write"
    approve(hub.say(COMMAND, "bob"), check_run="true")
    [check] = hub.state["check_runs"]
    assert (check["name"], check["conclusion"], check["head_sha"]) == ("EvalGate (evalgate)", "success", head)


def test_two_people_approve_two_scenarios(hub, workspace, gate, approve, head):
    suite = workspace / "evals/support.yaml"
    suite.write_text(suite.read_text() + "  - {id: gone, assertions: [{type: tool_called, tool: x, required: true}]}\n")
    record(workspace, trace(tool="other"))
    gone = {**trace(), "scenario_id": "gone"}
    (workspace / "traces/gone.json").write_text(json.dumps(gone))
    assert gate().exit_code == 1
    hub.state["collaborators"]["carol"] = "maintain"
    assert approve(hub.say(COMMAND, "bob")).exit_code == 0
    still_failing(hub)
    assert approve(hub.say("/evalgate approve support/gone because y", "carol", at=61)).exit_code == 0
    assert "EvalGate passed" in ours(hub)[0]
    assert gate(attempt=2).exit_code == 0


def test_an_administrator_may_and_talk_below_the_command_is_talk(hub, failing, approve):
    hub.state["collaborators"]["carol"] = "admin"
    assert approve(hub.say(f"{COMMAND}\n/evalgate approve x because y", "carol")).exit_code == 0


def test_ordinary_comments_cost_no_request(hub, failing, approve):
    before = len(hub.requests)
    assert approve(hub.say("I think /evalgate approve all because x would do", "bob")).exit_code == 0
    assert len(hub.requests) == before
    still_failing(hub)


def test_before_the_first_verdict_the_gate_reads_no_comments(hub, gate, workspace):
    record(workspace, trace(tool="other"))
    hub.say(COMMAND, "bob", at=-30)
    assert gate().exit_code == 1
    assert not any("/collaborators/" in request["path"] for request in hub.requests)


def test_an_approval_that_is_deleted_is_taken_back(hub, failing, gate):
    said = hub.say(COMMAND, "bob")
    assert gate(attempt=2).exit_code == 0
    hub.state["comments"].remove(said)
    assert gate(attempt=3).exit_code == 1


def test_a_workflow_that_does_not_ask_for_comments_reads_none(hub, failing, gate):
    hub.say(COMMAND, "bob")
    assert gate(attempt=2, approvals_from="base").exit_code == 1


# --- who may not ----------------------------------------------------------------------------------------------


@pytest.fixture
def no_good(hub, failing, approve, gate):
    """The comment approves nothing, neither where it is heard nor in a gate that is started over."""

    def check(comment, why, *, in_report=True, **inputs):
        refused(approve(comment, **inputs), why)
        still_failing(hub)
        assert gate(attempt=2, **inputs).exit_code == 1
        results = json.loads((failing / ".evalgate/results.json").read_bytes())
        assert results["approvals"] == []
        assert any(why in each["message"] for each in results["warnings"]) == in_report

    return check


def test_the_author_of_the_pull_request_does_not_approve_it(hub, no_good):
    no_good(hub.say(COMMAND, "alice"), "who has a part in the change does not approve it")


def test_an_author_whose_login_is_spelt_otherwise_is_the_author(hub, failing, approve):
    hub.state["users"]["alice"] = {"id": 4711, "type": "User"}
    hub.state["users"]["ALICE"] = {"id": 4711, "type": "User"}
    hub.state["collaborators"]["ALICE"] = "admin"
    refused(approve(hub.say(COMMAND, "ALICE")), "who has a part in the change")


@pytest.mark.parametrize("role", ["author", "committer"])
def test_who_made_a_commit_does_not_approve_it(hub, head, no_good, role):
    hub.state["commits"][head][role] = "bob"
    no_good(hub.say(COMMAND, "bob"), "who has a part in the change does not approve it")


def test_who_pushed_a_commit_does_not_approve_it_whatever_the_commit_says(hub, no_good):
    next(run for run in hub.state["runs"] if run["id"] == 9001)["actor"] = "bob"
    no_good(hub.say(COMMAND, "bob"), "who has a part in the change does not approve it")


def test_a_commit_of_an_unknown_maker_may_be_the_approvers_own(hub, head, no_good):
    del hub.state["commits"][head]["author"]
    no_good(hub.say(COMMAND, "bob"), f"GitHub does not know who made commit {head[:7]}")


def test_their_own_approval_counts_where_the_workflow_says_so_and_is_called_so(hub, failing, approve, gate):
    assert approve(hub.say(COMMAND, "alice"), allow_self_approval="true").exit_code == 0
    assert "**self-approved**" in ours(hub)[0]
    assert gate(attempt=2, allow_self_approval="true").exit_code == 0
    assert "**self-approved**" in ours(hub)[0]


@pytest.mark.parametrize("level", ["read", "none", "triage"])
def test_who_may_only_read_approves_nothing(hub, no_good, level):
    hub.state["collaborators"]["mallory"] = level
    no_good(hub.say(COMMAND, "mallory"), "mallory may not write to this repository", in_report=False)


def test_who_may_write_is_told_in_the_report_why_it_does_not_count(hub, failing, approve):
    refused(approve(hub.say("/evalgate approve refnd because x", "bob")), "did you mean `refund`?")
    assert "the run has no scenario refnd" in ours(hub)[0]
    refused(approve(hub.say(COMMAND, "alice", at=61)), "who has a part in the change")
    assert "the approval by alice in comment" in ours(hub)[0]
    still_failing(hub)


def test_a_stranger_is_not_told_of_in_the_report(hub, no_good):
    no_good(hub.say("/evalgate approve all because @everyone", "stranger"), "may not write", in_report=False)


def test_a_bot_approves_nothing_whatever_it_may_do(hub, no_good):
    hub.state["users"]["helper[bot]"] = {"id": 99, "type": "Bot"}
    hub.state["collaborators"]["helper[bot]"] = "admin"
    no_good(hub.say(COMMAND, "helper[bot]"), "a bot or an app wrote it", in_report=False)


def test_a_comment_of_our_own_approves_nothing(hub, failing, approve, gate):
    refused(approve(hub.say(COMMAND, "github-actions[bot]")), "a bot or an app wrote it")
    assert gate(attempt=2).exit_code == 1


def test_an_account_that_took_over_a_name_approves_nothing(hub, failing, approve):
    comment = hub.say(COMMAND, "bob")
    told = hub._module.Api.repos_get_collaborator_permission_level
    hub._hub.api.repos_get_collaborator_permission_level = lambda request: _renamed(told(hub._hub.api, request))
    refused(approve(comment), "another one has its name by now")


def _renamed(answer):
    status, document, headers = answer
    document["user"]["id"] += 1
    return status, document, headers


# --- when it may not ------------------------------------------------------------------------------------------


def test_an_edited_comment_approves_nothing(hub, no_good):
    comment = hub.say("harmless", "bob")
    comment.update(body=COMMAND, updated_at=hub.moment(90))
    no_good(comment, "it was edited")


def test_an_event_of_an_edit_approves_nothing(hub, failing, approve):
    refused(approve(hub.say(COMMAND, "bob"), action="edited"), "only a comment that was just written approves")


def test_a_comment_that_was_changed_before_it_was_looked_at_is_not_what_the_event_said(hub, failing, approve):
    comment = hub.say(COMMAND, "bob")
    heard = dict(comment)
    comment.update(body="never mind", updated_at=hub.moment(61))
    assert approve(heard).exit_code == 2
    still_failing(hub)


def test_a_comment_that_is_gone_approves_nothing(hub, failing, approve):
    comment = hub.say(COMMAND, "bob")
    hub.state["comments"].remove(comment)
    refused(approve(comment), "the comment is gone")


def push(hub, sha, *, at, run=9100):
    """Somebody pushes to the pull request, which begins a run of the gate."""
    hub.commit(sha, hub.state["pulls"]["7"]["head"]["sha"])
    hub.state["commits"][sha].update(author="alice", committer="alice", date="2020-01-01T00:00:00Z")
    hub.state["pulls"]["7"]["head"]["sha"] = sha
    before = next(each for each in hub.state["runs"] if each["id"] == 9001)
    begun = {"id": run, "head_sha": sha, "created_at": hub.moment(at), "status": "in_progress"}
    hub.state["runs"].append({**before, **begun, "conclusion": None})


def test_a_push_voids_it_even_one_that_claims_to_be_older(hub, failing, approve):
    comment = hub.say(COMMAND, "bob", at=30)
    push(hub, "a" * 40, at=60)
    refused(approve(comment), "older than the newest push")


def test_a_push_back_to_the_approved_commit_does_not_bring_it_back(hub, failing, approve, gate, head):
    comment = hub.say(COMMAND, "bob", at=30)
    push(hub, "a" * 40, at=40)
    hub.state["pulls"]["7"]["head"]["sha"] = head
    before = next(each for each in hub.state["runs"] if each["id"] == 9001)
    hub.state["runs"].append({**before, "id": 9200, "created_at": hub.moment(50)})
    refused(approve(comment), "older than the newest push")
    assert gate(attempt=2).exit_code == 1, "the run of the first push was started over"


def test_a_comment_on_what_was_not_judged_yet_is_no_approval(hub, failing, approve):
    push(hub, "a" * 40, at=10)
    refused(approve(hub.say(COMMAND, "bob", at=30)), "run 9100 has left no report: let it finish")


def test_a_push_of_which_no_run_is_known_yet_is_no_approval(hub, failing, approve):
    comment = hub.say(COMMAND, "bob", at=30)
    hub.commit("a" * 40)
    hub.state["pulls"]["7"]["head"]["sha"] = "a" * 40
    refused(approve(comment), "the gate has not judged commit aaaaaaa yet")


def test_a_head_that_moves_while_the_comment_is_looked_at_voids_it(hub, failing, approve):
    comment = hub.say(COMMAND, "bob")
    answers = hub._module.Api.pulls_get
    asked = []

    def moving(request):
        asked.append(request)
        if len(asked) == 2:
            hub.commit("b" * 40)
            hub.state["pulls"]["7"]["head"]["sha"] = "b" * 40
        return answers(hub._hub.api, request)

    hub._hub.api.pulls_get = moving
    refused(approve(comment), "void: the pull request has moved on to bbbbbbb meanwhile")
    still_failing(hub)


def test_a_comment_from_before_the_verdict_is_a_blank_cheque(hub, failing, no_good):
    comment = hub.say(COMMAND, "bob", at=-20)
    no_good(comment, "the gate had not judged this commit then")


def test_a_closed_pull_request_approves_nothing(hub, failing, approve):
    hub.state["pulls"]["7"]["state"] = "closed"
    refused(approve(hub.say(COMMAND, "bob")), "pull request 7 is closed")


def test_an_approval_is_over_after_its_day(hub, failing, approve):
    comment = hub.say("/evalgate approve refund until 2026-01-01 because x", "bob")
    refused(approve(comment), "expired on 2026-01-01")
    still_failing(hub)


def test_a_failure_that_grew_since_is_more_than_was_approved(hub, failing, gate):
    hub.say(COMMAND, "bob")
    record(failing, trace(tool="other", content="no"))
    told = gate(attempt=2)
    assert told.exit_code == 1
    [approval] = json.loads((failing / ".evalgate/results.json").read_bytes())["approvals"]
    assert approval["status"] == "void"
    assert "void" in ours(hub)[0]


# --- what is no command ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("body", [f"> {COMMAND}", f"```\n{COMMAND}\n```", "/ev\u0430lgate approve all because x"])
def test_quotes_code_and_look_alikes_are_talk(hub, failing, approve, gate, body):
    assert approve(hub.say(body, "bob")).exit_code == 0
    still_failing(hub)
    assert gate(attempt=2).exit_code == 1


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("/evalgate approve ref* because x", "no wildcards"),
        ("/evalgate approve r\u0435fund because x", "the run has no scenario"),
        ("/evalgate approve refund\u202e because x", "characters that nobody can see"),
    ],
)
def test_what_is_not_said_exactly_is_refused(hub, failing, approve, body, why):
    refused(approve(hub.say(body, "bob")), why)
    still_failing(hub)


def test_a_reason_is_text_and_nothing_else(hub, failing, approve):
    reason = "@acme/everyone <img src=x> ![x](https://evil.example) ::error::x ##[error]y | `a` <!-- z -->"
    told = approve(hub.say(f"/evalgate approve refund because {reason}", "bob"))
    assert told.exit_code == 0
    assert flaws(ours(hub)[0], **OURS) == []


# --- many, and what can't be had ------------------------------------------------------------------------------


def test_of_ten_thousand_old_comments_only_the_new_ones_are_read(hub, failing, gate, approve):
    hub.comment("chatter", "stranger", count=10_000)
    before = len(hub.requests)
    hub.say(COMMAND, "bob")
    assert gate(attempt=2, comment="off").exit_code == 0
    pages = [each for each in hub.requests[before:] if each["path"].endswith("/issues/7/comments")]
    assert len(pages) == 1


def test_ten_thousand_new_comments_are_not_read_and_nothing_counts(hub, failing, approve):
    said = hub.say(COMMAND, "bob")
    stamp = said["created_at"]
    hub.comment("chatter", "stranger", count=10_000)
    for comment in hub.state["comments"][-10_000:]:
        comment.update(created_at=stamp, updated_at=stamp)
    before = len(hub.requests)
    told = approve(said)
    assert (told.exit_code, told.outputs["exit-code"]) == (4, "4")
    pages = [each for each in hub.requests[before:] if each["path"].endswith("/issues/7/comments")]
    assert len(pages) <= 10


def test_a_crowd_of_strangers_is_looked_up_only_so_far(hub, failing, approve):
    for number in range(40):
        hub.say(COMMAND, f"stranger{number}", at=30)
    refused(approve(hub.say(COMMAND, "bob")), "too many people")
    asked = [each for each in hub.requests if "/collaborators/" in each["path"]]
    assert len(asked) == 20


@pytest.mark.parametrize("path", ["/collaborators/", "/pulls/7/commits", "/runs$", "/artifacts"])
def test_what_github_does_not_tell_approves_nothing(hub, failing, approve, gate, path):
    comment = hub.say(COMMAND, "bob")
    hub.fail({"kind": "forbidden"}, path=path, times=50)
    assert approve(comment).exit_code == 4
    assert gate(attempt=2).exit_code == 1


def test_a_report_that_is_none_is_refused(hub, failing, approve):
    comment = hub.say(COMMAND, "bob")
    [report] = [each for each in hub.state["artifacts"] if each["name"] == REPORT]
    hub.state["artifacts"].remove(report)
    planted = hub.plant(files={"results.json": "{}"}, name=report["name"], run_id=9001)
    planted["created_at"] = report["created_at"]
    refused(approve(comment), "the report of run 9001 is refused")


def test_the_run_of_another_workflow_is_no_gate(hub, failing, approve):
    hub.state["workflows"].append(
        {"id": 777, "name": "other", "path": ".github/workflows/other.yml", "state": "active"}
    )
    next(run for run in hub.state["runs"] if run["id"] == 9001).update(workflow_id=777)
    refused(approve(hub.say(COMMAND, "bob")), "the gate has not judged commit")


def test_a_forks_run_on_a_branch_of_the_same_name_is_no_gate(hub, failing, approve):
    next(run for run in hub.state["runs"] if run["id"] == 9001).update(head_repository_id=FORK)
    refused(approve(hub.say(COMMAND, "bob")), "the gate has not judged commit")


@pytest.mark.parametrize("state", ["open", "closed"])
def test_a_pull_request_of_the_same_commit_into_another_branch_lends_no_report(hub, failing, approve, state):
    seven = hub.state["pulls"]["7"]
    hub.state["pulls"]["9"] = {**seven, "number": 9, "state": state, "base": {**seven["base"], "ref": "lax"}}
    refused(approve(hub.say(COMMAND, "bob")), "pull request 9 has the same head")
    hub.state["pulls"]["9"]["head"] = {**seven["head"], "sha": seven["base"]["sha"]}
    assert approve(hub.say(COMMAND, "bob")).exit_code == 0, "an earlier one of the branch is another change"


def test_on_a_forks_pull_request_it_is_the_same_but_no_check_is_written(hub, act, approve, workspace, head):
    pull = hub.state["pulls"]["8"]
    hub.state["commits"][pull["head"]["sha"]].update(author="mallory", committer="mallory")
    run = next(each for each in hub.state["runs"] if each["id"] == 9001)
    run.update(head_branch="main", head_sha=pull["head"]["sha"], head_repository_id=FORK, actor="mallory")
    record(workspace, trace(tool="other"))
    assert act(pr=8, token="ghs_readonly", **KEY).exit_code == 1
    own = hub.say(COMMAND, "mallory", issue_number=8)
    hub.state["collaborators"]["mallory"] = "write"
    refused(approve(own), "who has a part in the change")
    hub.state["tokens"]["ghs_write"]["permissions"]["checks"] = "write"
    told = approve(hub.say(COMMAND, "bob", issue_number=8), check_run="true")
    assert (told.exit_code, [each["type"] for each in told.annotations]) == (0, ["notice"])
    assert hub.state["check_runs"] == []
    [comment] = hub.comments_of("github-actions[bot]")
    assert comment["issue_number"] == 8
    assert "a fork's own run" in comment["body"]
    started_over = {"GITHUB_RUN_ATTEMPT": "2"}
    assert act(pr=8, token="ghs_readonly", variables=started_over, **KEY).exit_code == 0


def test_an_issue_is_no_pull_request(hub, failing, approve):
    comment = {**hub.say(COMMAND, "bob"), "issue_number": 4_000}
    assert approve(comment).exit_code == 0
    still_failing(hub)


def test_a_comment_of_another_pull_request_is_none_of_this_one(hub, failing, approve):
    comment = hub.say(COMMAND, "bob")
    heard = {**comment, "issue_number": 8}
    refused(approve(heard), "the comment is gone")


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({"baseline_workflow": ""}, "`baseline-workflow` must name the gate's workflow file"),
        ({"mode": "gate"}, "there is nothing to judge"),
    ],
)
def test_settings_that_can_not_be_meant_are_told(hub, failing, approve, inputs, words):
    told = approve(hub.say(COMMAND, "bob"), **inputs)
    assert told.exit_code == 2
    assert words in told.annotations[0]["message"]


def test_the_mode_belongs_to_comments(act):
    told = act(mode="approve")
    assert told.exit_code == 2
    assert "belongs into a workflow that runs on `issue_comment`" in told.annotations[0]["message"]


def test_as_a_process_it_does_the_same(hub, failing, runner, tmp_path):
    comment = hub.say(COMMAND, "bob")
    environ = runner.environment("issue_comment", heard=comment)
    event = tmp_path / "event.json"
    event.write_bytes(Path(environ["GITHUB_EVENT_PATH"]).read_bytes())
    asked = ("mode=approve", "comment-key=evalgate", "baseline-workflow=evalgate.yml")
    told = runner.act_as_process(
        *("--event", "workflow_dispatch", "--set", "GITHUB_EVENT_NAME=issue_comment"),
        *("--set", f"GITHUB_EVENT_PATH={event}"),
        *(word for each in asked for word in ("--input", each)),
    )
    assert (told.result, told.annotations) == ("success", [])
    assert "EvalGate passed" in ours(hub)[0]
