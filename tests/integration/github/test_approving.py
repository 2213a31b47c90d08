"""Approving in a comment: what counts, and every way to try to forge it (security.md, T09)."""

from __future__ import annotations

import base64
import json

import pytest
from fakes.agent import FORK, own_comments, trace, write_trace
from fakes.github.messages import in_json
from markdown_check import find_flaws

from evalgate.application.action.deliver import add_line
from evalgate.features.store.bootstrap.store import open_store

REPORT = "evalgate-report-evalgate"
KEY = {"comment_key": "evalgate", "approvals_from": "comments"}
COMMAND = "/evalgate approve refund because the API is down"
RUN_URL = "https://github.com/acme/agent/actions/runs/9001"
OURS = {
    "links": [RUN_URL],
    "comments": ["evalgate:sticky v1 key=evalgate"],
    "repositories": "acme/agent",
}


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
        environ = {"GITHUB_RUN_ATTEMPT": str(attempt), **(variables or {})}
        return act(variables=environ, **{**KEY, **inputs})

    return run


@pytest.fixture(scope="module")
def left():
    """The report and comment of a failed gate, by the commit it judged: always the same, so judged once."""
    return {}


@pytest.fixture
def failing(gate, workspace, hub, head, left):
    """The gate has failed, and its run is over."""
    write_trace(workspace, trace(tool="other"))
    if head not in left:
        assert gate().exit_code == 1
        [report], [body] = hub.state["artifacts"], own_comments(hub)
        left[head] = hub.blob(report), body
    else:
        content, body = left[head]
        blob = base64.b64encode(content).decode()
        hub.plant(name=REPORT, run_id=9001, blob_b64=blob, created_at=hub.moment(0))
        hub.post_comment(body, "github-actions[bot]", at=0)
    next(run for run in hub.state["runs"] if run["id"] == 9001).update(status="completed", conclusion="failure")
    return workspace


@pytest.fixture
def approve(act, hub):
    """The approving workflow runs for a comment."""

    def run(comment, action="created", **inputs):
        given = {"mode": "approve", "comment_key": "evalgate", "baseline_workflow": "evalgate.yml", **inputs}
        return act("issue_comment", heard=comment, action=action, **given)

    return run


def refused(step, why):
    """The run is red and says why; no failure was accepted."""
    [annotation] = [each for each in step.annotations if each["type"] == "error"]
    assert why in annotation["message"]
    assert step.exit_code == 2


def still_failing(hub):
    [body] = own_comments(hub)
    assert "EvalGate failed" in body


# --- what counts ----------------------------------------------------------------------------------------------


def test_an_approval_updates_the_one_comment_of_the_gate(hub, failing, approve, head):
    step = approve(hub.post_comment(COMMAND, "bob"))
    assert (step.exit_code, step.annotations) == (0, [])
    [body] = own_comments(hub)
    assert "EvalGate passed" in body
    assert "(covered by an approval)" in body
    assert "bob: the API is down" in body
    assert f"for {head[:7]} only, permission: write" in body
    assert "expires in 14 days" in body
    assert "self-approved" not in body
    assert find_flaws(body, **OURS) == []
    assert step.outputs["comment-id"] == str(hub.comments_of("github-actions[bot]")[0]["id"])


def test_the_links_to_trackers_stay_in_the_comment(hub, failing, approve):
    line = "Tracked: [LangSmith](https://smith.example/o/1/datasets/2/compare?selectedSessions=3)"
    [posted] = hub.comments_of("github-actions[bot]")
    posted["body"] = add_line(posted["body"], line)

    assert approve(hub.post_comment(COMMAND, "bob")).exit_code == 0

    [body] = own_comments(hub)
    assert "EvalGate passed" in body
    lines = body.split("\n")
    assert lines[lines.index(line) - 2].startswith("**Score** ")


def test_a_restarted_gate_counts_it_too(hub, failing, gate):
    hub.post_comment(COMMAND, "bob")
    step = gate(attempt=2)
    assert (step.exit_code, step.outputs["verdict"]) == (0, "pass")
    [approval] = json.loads((failing / ".evalgate/results.json").read_bytes())["approvals"]
    assert (approval["status"], approval["who"], approval["limit"]) == ("active", "bob", {"score": 0.5})
    assert len(approval["checks"]) == 1
    assert approval["provenance"]["permission"] == "write"
    assert len(own_comments(hub)) == 1


def test_approvals_work_the_same_with_sandboxed_judges(hub, failing, gate, approve):
    assert approve(hub.post_comment(COMMAND, "bob"), is_sandboxed=True).exit_code == 0
    assert "EvalGate passed" in own_comments(hub)[0]
    assert gate(attempt=2, is_sandboxed=True).exit_code == 0
    unknown = hub.post_comment("/evalgate approve other because x", "bob")
    refused(approve(unknown, is_sandboxed=True), "the run has no scenario other")


def test_what_was_approved_is_recorded_in_a_store(hub, failing, approve, gate, tmp_path):
    (tmp_path / "temp").mkdir()
    stored = {"store_url": "kept.db", "variables": {"RUNNER_TEMP": str(tmp_path / "temp")}}
    comment = hub.post_comment(COMMAND, "bob")
    assert approve(comment, **stored).exit_code == 0
    with open_store("kept.db", str(tmp_path / "temp"), create=False) as store:
        [kept] = store.approvals.list()
    assert (kept.approval.scenario, kept.approval.who, kept.approval.least_score) == ("refund", "bob", 0.5)
    assert kept.approval.checks
    assert (kept.provenance.source, kept.provenance.permission) == ("comment", "write")
    hub.state["comments"].remove(comment)
    assert gate(attempt=2, **stored).exit_code == 1, "it counts by its comment alone"


def test_all_approves_what_fails_and_until_says_how_long(hub, failing, approve):
    comment = hub.post_comment("/evalgate approve all until 2099-01-01 because x", "bob")
    refused(approve(comment), "at most 90 days")
    day = hub.moment(10 * 86_400)[:10]
    assert approve(hub.post_comment(f"/evalgate approve all until {day} because x", "bob", at=61)).exit_code == 0
    assert "expires in 10 days" in own_comments(hub)[0]


def test_the_check_turns_green_where_the_workflow_asks_for_it(hub, failing, approve, head):
    hub.state["tokens"]["ghs_write"]["permissions"]["checks"] = "write"
    approve(hub.post_comment(COMMAND, "bob"), check_run="true")
    [check] = hub.state["check_runs"]
    assert (check["name"], check["conclusion"], check["head_sha"]) == ("EvalGate (evalgate)", "success", head)


def test_two_people_approve_two_scenarios(hub, workspace, gate, approve, head):
    suite = workspace / "evals/support.yaml"
    suite.write_text(suite.read_text() + "  - {id: gone, assertions: [{type: tool_called, tool: x, required: true}]}\n")
    write_trace(workspace, trace(tool="other"))
    gone = {**trace(), "scenario_id": "gone"}
    (workspace / "traces/gone.json").write_text(json.dumps(gone))
    assert gate().exit_code == 1
    hub.state["collaborators"]["carol"] = "maintain"
    assert approve(hub.post_comment(COMMAND, "bob")).exit_code == 0
    still_failing(hub)
    assert approve(hub.post_comment("/evalgate approve support/gone because y", "carol", at=61)).exit_code == 0
    assert "EvalGate passed" in own_comments(hub)[0]
    assert gate(attempt=2).exit_code == 0


def test_an_administrator_may_and_text_below_the_command_is_ignored(hub, failing, approve):
    hub.state["collaborators"]["carol"] = "admin"
    assert approve(hub.post_comment(f"{COMMAND}\n/evalgate approve x because y", "carol")).exit_code == 0


def test_ordinary_comments_cost_no_request(hub, failing, approve):
    before = len(hub.requests)
    assert approve(hub.post_comment("I think /evalgate approve all because x would do", "bob")).exit_code == 0
    assert len(hub.requests) == before
    still_failing(hub)


def test_before_the_first_verdict_the_gate_reads_no_comments(hub, gate, workspace):
    write_trace(workspace, trace(tool="other"))
    hub.post_comment(COMMAND, "bob", at=-30)
    assert gate().exit_code == 1
    assert not any("/collaborators/" in request["path"] for request in hub.requests)


def test_a_deleted_approval_is_withdrawn(hub, failing, gate):
    comment = hub.post_comment(COMMAND, "bob")
    assert gate(attempt=2).exit_code == 0
    hub.state["comments"].remove(comment)
    assert gate(attempt=3).exit_code == 1


def test_a_workflow_without_comment_approvals_reads_no_comments(hub, failing, gate):
    hub.post_comment(COMMAND, "bob")
    assert gate(attempt=2, approvals_from="base").exit_code == 1


# --- who may not ----------------------------------------------------------------------------------------------


@pytest.fixture
def no_good(hub, failing, approve, gate):
    """The comment approves nothing, neither in the approving workflow nor in a restarted gate."""

    def check(comment, why, *, in_report=True, **inputs):
        refused(approve(comment, **inputs), why)
        still_failing(hub)
        assert gate(attempt=2, **inputs).exit_code == 1
        results = json.loads((failing / ".evalgate/results.json").read_bytes())
        assert results["approvals"] == []
        assert any(why in each["message"] for each in results["warnings"]) == in_report

    return check


def test_the_author_of_the_pull_request_does_not_approve_it(hub, no_good):
    no_good(hub.post_comment(COMMAND, "alice"), "contributors to a change may not approve it")


def test_an_author_whose_login_is_spelt_otherwise_is_the_author(hub, failing, approve):
    hub.state["users"]["alice"] = {"id": 4711, "type": "User"}
    hub.state["users"]["ALICE"] = {"id": 4711, "type": "User"}
    hub.state["collaborators"]["ALICE"] = "admin"
    refused(approve(hub.post_comment(COMMAND, "ALICE")), "contributors to a change may not approve it")


@pytest.mark.parametrize("role", ["author", "committer"])
def test_author_and_committer_of_a_commit_may_not_approve_it(hub, head, no_good, role):
    hub.state["commits"][head][role] = "bob"
    no_good(hub.post_comment(COMMAND, "bob"), "contributors to a change may not approve it")


def test_the_pusher_of_a_commit_may_not_approve_it_whatever_the_commit_names(hub, no_good):
    next(run for run in hub.state["runs"] if run["id"] == 9001)["actor"] = "bob"
    no_good(hub.post_comment(COMMAND, "bob"), "contributors to a change may not approve it")


def test_a_commit_of_an_unknown_maker_may_be_the_approvers_own(hub, head, no_good):
    del hub.state["commits"][head]["author"]
    no_good(hub.post_comment(COMMAND, "bob"), f"commit {head[:7]} has an author without a GitHub account")


def test_their_own_approval_counts_where_the_workflow_says_so_and_is_called_so(hub, failing, approve, gate):
    assert approve(hub.post_comment(COMMAND, "alice"), allow_self_approval="true").exit_code == 0
    assert "**self-approved**" in own_comments(hub)[0]
    assert gate(attempt=2, allow_self_approval="true").exit_code == 0
    assert "**self-approved**" in own_comments(hub)[0]


@pytest.mark.parametrize("level", ["read", "none", "triage"])
def test_who_may_only_read_approves_nothing(hub, no_good, level):
    hub.state["collaborators"]["mallory"] = level
    no_good(hub.post_comment(COMMAND, "mallory"), "mallory has no write access to this repository", in_report=False)


def test_for_people_with_write_access_the_report_says_why_it_does_not_count(hub, failing, approve):
    refused(approve(hub.post_comment("/evalgate approve refnd because x", "bob")), "did you mean `refund`?")
    assert "the run has no scenario refnd" in own_comments(hub)[0]
    refused(approve(hub.post_comment(COMMAND, "alice", at=61)), "contributors to a change may not approve it")
    assert "the approval by alice in comment" in own_comments(hub)[0]
    still_failing(hub)


def test_the_report_does_not_mention_people_without_write_access(hub, no_good):
    no_good(
        hub.post_comment("/evalgate approve all because @everyone", "outsider"), "has no write access", in_report=False
    )


def test_a_bot_approves_nothing_whatever_it_may_do(hub, no_good):
    hub.state["users"]["helper[bot]"] = {"id": 99, "type": "Bot"}
    hub.state["collaborators"]["helper[bot]"] = "admin"
    no_good(hub.post_comment(COMMAND, "helper[bot]"), "it was written by a bot or an app", in_report=False)


def test_a_comment_of_evalgate_approves_nothing(hub, failing, approve, gate):
    refused(approve(hub.post_comment(COMMAND, "github-actions[bot]")), "it was written by a bot or an app")
    assert gate(attempt=2).exit_code == 1


def test_an_account_that_took_over_a_name_approves_nothing(hub, failing, approve):
    comment = hub.post_comment(COMMAND, "bob")
    hub.change_answers("repos/get-collaborator-permission-level", _renamed)
    refused(approve(comment), "its name belongs to another account now")


def _renamed(answer):
    document = answer.document
    document["user"]["id"] += 1
    return in_json(document)


# --- when it may not ------------------------------------------------------------------------------------------


def test_an_edited_comment_approves_nothing(hub, no_good):
    comment = hub.post_comment("harmless", "bob")
    comment.update(body=COMMAND, updated_at=hub.moment(90))
    no_good(comment, "it was edited")


def test_an_event_of_an_edit_approves_nothing(hub, failing, approve):
    refused(approve(hub.post_comment(COMMAND, "bob"), action="edited"), "only a new comment can approve")


def test_a_comment_that_was_changed_after_its_event_approves_nothing(hub, failing, approve):
    comment = hub.post_comment(COMMAND, "bob")
    heard = dict(comment)
    comment.update(body="never mind", updated_at=hub.moment(61))
    assert approve(heard).exit_code == 2
    still_failing(hub)


def test_a_deleted_comment_approves_nothing(hub, failing, approve):
    comment = hub.post_comment(COMMAND, "bob")
    hub.state["comments"].remove(comment)
    refused(approve(comment), "the comment was deleted")


def push(hub, sha, *, at, run=9100):
    """Somebody pushes to the pull request, which begins a run of the gate."""
    hub.commit(sha, hub.state["pulls"]["7"]["head"]["sha"])
    hub.state["commits"][sha].update(author="alice", committer="alice", date="2020-01-01T00:00:00Z")
    hub.state["pulls"]["7"]["head"]["sha"] = sha
    before = next(each for each in hub.state["runs"] if each["id"] == 9001)
    begun = {"id": run, "head_sha": sha, "created_at": hub.moment(at), "status": "in_progress"}
    hub.state["runs"].append({**before, **begun, "conclusion": None})


def test_a_push_voids_it_even_one_that_claims_to_be_older(hub, failing, approve):
    comment = hub.post_comment(COMMAND, "bob", at=30)
    push(hub, "a" * 40, at=60)
    refused(approve(comment), "older than the newest push")


def test_a_push_back_to_the_approved_commit_does_not_bring_it_back(hub, failing, approve, gate, head):
    comment = hub.post_comment(COMMAND, "bob", at=30)
    push(hub, "a" * 40, at=40)
    hub.state["pulls"]["7"]["head"]["sha"] = head
    before = next(each for each in hub.state["runs"] if each["id"] == 9001)
    hub.state["runs"].append({**before, "id": 9200, "created_at": hub.moment(50)})
    refused(approve(comment), "older than the newest push")
    assert gate(attempt=2).exit_code == 1, "the run of the first push was started over"


def test_a_comment_on_an_unjudged_commit_is_not_an_approval(hub, failing, approve):
    push(hub, "a" * 40, at=10)
    refused(
        approve(hub.post_comment(COMMAND, "bob", at=30)),
        "run 9100 of the gate uploaded no report: wait for it to finish",
    )


def test_a_comment_on_a_push_without_a_run_is_not_an_approval(hub, failing, approve):
    comment = hub.post_comment(COMMAND, "bob", at=30)
    hub.commit("a" * 40)
    hub.state["pulls"]["7"]["head"]["sha"] = "a" * 40
    refused(approve(comment), "the gate has not judged commit aaaaaaa yet")


def test_a_head_that_moves_while_the_comment_is_checked_voids_it(hub, failing, approve):
    comment = hub.post_comment(COMMAND, "bob")
    asked = []

    def move():
        asked.append(1)
        if len(asked) == 2:
            hub.commit("b" * 40)
            hub.state["pulls"]["7"]["head"]["sha"] = "b" * 40

    hub.before_each("pulls/get", move)
    refused(approve(comment), "the pull request has the newer commit bbbbbbb")
    still_failing(hub)


def test_a_comment_from_before_the_verdict_approves_nothing(hub, failing, no_good):
    comment = hub.post_comment(COMMAND, "bob", at=-20)
    no_good(comment, "the gate had not judged this commit yet: comment again")


def test_a_closed_pull_request_approves_nothing(hub, failing, approve):
    hub.state["pulls"]["7"]["state"] = "closed"
    refused(approve(hub.post_comment(COMMAND, "bob")), "pull request 7 is closed")


def test_an_approval_is_over_after_its_day(hub, failing, approve):
    comment = hub.post_comment("/evalgate approve refund until 2026-01-01 because x", "bob")
    refused(approve(comment), "expired on 2026-01-01")
    still_failing(hub)


def test_a_failure_that_grew_since_is_more_than_was_approved(hub, failing, gate):
    hub.post_comment(COMMAND, "bob")
    write_trace(failing, trace(tool="other", content="no"))
    step = gate(attempt=2)
    assert step.exit_code == 1
    [approval] = json.loads((failing / ".evalgate/results.json").read_bytes())["approvals"]
    assert approval["status"] == "void"
    assert "does not count" in own_comments(hub)[0]


# --- what is not a command -------------------------------------------------------------------------------------


@pytest.mark.parametrize("body", [f"> {COMMAND}", f"```\n{COMMAND}\n```", "/ev\u0430lgate approve all because x"])
def test_quotes_code_and_look_alikes_are_not_commands(hub, failing, approve, gate, body):
    assert approve(hub.post_comment(body, "bob")).exit_code == 0
    still_failing(hub)
    assert gate(attempt=2).exit_code == 1


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("/evalgate approve ref* because x", "no wildcards"),
        ("/evalgate approve r\u0435fund because x", "the run has no scenario"),
        ("/evalgate approve refund\u202e because x", "invisible characters"),
    ],
)
def test_an_inexact_command_is_refused(hub, failing, approve, body, why):
    refused(approve(hub.post_comment(body, "bob")), why)
    still_failing(hub)


def test_a_reason_is_text_and_nothing_else(hub, failing, approve):
    reason = "@acme/everyone <img src=x> ![x](https://evil.example) ::error::x ##[error]y | `a` <!-- z -->"
    step = approve(hub.post_comment(f"/evalgate approve refund because {reason}", "bob"))
    assert step.exit_code == 0
    assert find_flaws(own_comments(hub)[0], **OURS) == []


# --- many comments, and failing requests ----------------------------------------------------------------------


def test_of_ten_thousand_old_comments_only_the_new_ones_are_read(hub, failing, gate, approve):
    hub.comment("chatter", "outsider", count=10_000)
    before = len(hub.requests)
    hub.post_comment(COMMAND, "bob")
    assert gate(attempt=2, comment="off").exit_code == 0
    pages = [each for each in hub.requests[before:] if each["path"].endswith("/issues/7/comments")]
    assert len(pages) == 1


def test_ten_thousand_new_comments_are_not_read_and_nothing_counts(hub, failing, approve):
    command = hub.post_comment(COMMAND, "bob")
    stamp = command["created_at"]
    hub.comment("chatter", "outsider", count=10_000)
    for comment in hub.state["comments"][-10_000:]:
        comment.update(created_at=stamp, updated_at=stamp)
    before = len(hub.requests)
    step = approve(command)
    assert (step.exit_code, step.outputs["exit-code"]) == (4, "4")
    pages = [each for each in hub.requests[before:] if each["path"].endswith("/issues/7/comments")]
    assert len(pages) <= 10


def test_only_a_limited_number_of_people_is_looked_up(hub, failing, approve):
    for number in range(40):
        hub.post_comment(COMMAND, f"outsider{number}", at=30)
    refused(approve(hub.post_comment(COMMAND, "bob")), "too many people")
    asked = [each for each in hub.requests if "/collaborators/" in each["path"]]
    assert len(asked) == 20


@pytest.mark.parametrize("path", ["/collaborators/", "/pulls/7/commits", "/runs$", "/artifacts"])
def test_without_an_answer_of_github_nothing_is_approved(hub, failing, approve, gate, path):
    comment = hub.post_comment(COMMAND, "bob")
    hub.fail({"kind": "forbidden"}, path=path, times=50)
    assert approve(comment).exit_code == 4
    assert gate(attempt=2).exit_code == 1


def test_an_invalid_report_is_refused(hub, failing, approve):
    comment = hub.post_comment(COMMAND, "bob")
    [report] = [each for each in hub.state["artifacts"] if each["name"] == REPORT]
    hub.state["artifacts"].remove(report)
    planted = hub.plant(files={"results.json": "{}"}, name=report["name"], run_id=9001)
    planted["created_at"] = report["created_at"]
    refused(approve(comment), "the report of run 9001 is refused")


def test_the_run_of_another_workflow_is_not_a_gate(hub, failing, approve):
    hub.state["workflows"].append(
        {"id": 777, "name": "other", "path": ".github/workflows/other.yml", "state": "active"}
    )
    next(run for run in hub.state["runs"] if run["id"] == 9001).update(workflow_id=777)
    refused(approve(hub.post_comment(COMMAND, "bob")), "the gate has not judged commit")


def test_a_forks_run_on_a_branch_of_the_same_name_is_not_a_gate(hub, failing, approve):
    next(run for run in hub.state["runs"] if run["id"] == 9001).update(head_repository_id=FORK)
    refused(approve(hub.post_comment(COMMAND, "bob")), "the gate has not judged commit")


@pytest.mark.parametrize("state", ["open", "closed"])
def test_a_pull_request_of_the_same_commit_into_another_branch_lends_no_report(hub, failing, approve, state):
    seven = hub.state["pulls"]["7"]
    hub.state["pulls"]["9"] = {**seven, "number": 9, "state": state, "base": {**seven["base"], "ref": "lax"}}
    refused(approve(hub.post_comment(COMMAND, "bob")), "pull request 9 has the same head")
    hub.state["pulls"]["9"]["head"] = {**seven["head"], "sha": seven["base"]["sha"]}
    assert approve(hub.post_comment(COMMAND, "bob")).exit_code == 0, "an earlier one of the branch is another change"


def test_on_a_forks_pull_request_it_is_the_same_but_no_check_is_written(hub, act, approve, workspace, head):
    pull = hub.state["pulls"]["8"]
    hub.state["commits"][pull["head"]["sha"]].update(author="mallory", committer="mallory")
    run = next(each for each in hub.state["runs"] if each["id"] == 9001)
    run.update(head_branch="main", head_sha=pull["head"]["sha"], head_repository_id=FORK, actor="mallory")
    write_trace(workspace, trace(tool="other"))
    assert act(pr=8, token="ghs_readonly", **KEY).exit_code == 1
    own = hub.post_comment(COMMAND, "mallory", issue_number=8)
    hub.state["collaborators"]["mallory"] = "write"
    refused(approve(own), "contributors to a change may not approve it")
    hub.state["tokens"]["ghs_write"]["permissions"]["checks"] = "write"
    step = approve(hub.post_comment(COMMAND, "bob", issue_number=8), check_run="true")
    assert (step.exit_code, [each["type"] for each in step.annotations]) == (0, ["notice"])
    assert hub.state["check_runs"] == []
    [comment] = hub.comments_of("github-actions[bot]")
    assert comment["issue_number"] == 8
    assert "which controls its results" in comment["body"]
    started_over = {"GITHUB_RUN_ATTEMPT": "2"}
    assert act(pr=8, token="ghs_readonly", variables=started_over, **KEY).exit_code == 0


def test_an_issue_is_not_a_pull_request(hub, failing, approve):
    comment = {**hub.post_comment(COMMAND, "bob"), "issue_number": 4_000}
    assert approve(comment).exit_code == 0
    still_failing(hub)


def test_a_comment_of_another_pull_request_does_not_count(hub, failing, approve):
    comment = hub.post_comment(COMMAND, "bob")
    heard = {**comment, "issue_number": 8}
    refused(approve(heard), "the comment was deleted")


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({"baseline_workflow": ""}, "`baseline-workflow` must name the workflow file"),
        ({"mode": "gate"}, "only `mode: approve` or `auto` is possible"),
    ],
)
def test_invalid_settings_are_reported(hub, failing, approve, inputs, words):
    step = approve(hub.post_comment(COMMAND, "bob"), **inputs)
    assert step.exit_code == 2
    assert words in step.annotations[0]["message"]


def test_the_mode_belongs_to_comments(act):
    step = act(mode="approve")
    assert step.exit_code == 2
    assert "belongs in a workflow that runs on `issue_comment`" in step.annotations[0]["message"]


def test_as_a_process_it_does_the_same(hub, failing, runner):
    comment = hub.post_comment(COMMAND, "bob")
    asked = {"mode": "approve", "comment_key": "evalgate", "baseline_workflow": "evalgate.yml"}
    step = runner.act_as_process("issue_comment", heard=comment, **asked)
    assert (step.result, step.annotations) == ("success", [])
    assert "EvalGate passed" in own_comments(hub)[0]
