"""Approvals of a pull request's base, of the workspace, and what is not available."""

from __future__ import annotations

import json

import pytest
from fakes.agent import SUITE, next_run, on_main, own_comments, trace, write_trace
from msgspec.structs import replace

from evalgate.adapters.github.commit_files import ApprovalsInCommit
from evalgate.adapters.suites.approvals_file import read_approvals
from evalgate.errors import Forbidden, OverLimit, Unreachable
from evalgate.features.store.bootstrap.store import open_store
from evalgate.models.approvals.approval import FILE, ApprovalFile, Provenance, StoredApproval

APPROVAL = """\
approvals:
  - {suite: support, scenario: refund, reason: outage, who: Ana, until: 2099-12-31}
"""


@pytest.fixture
def base(hub):
    return hub.state["pulls"]["7"]["base"]["sha"]


@pytest.fixture
def failing(workspace):
    write_trace(workspace, trace(tool="other"))
    return workspace


def read_results(workspace):
    results = json.loads((workspace / ".evalgate/results.json").read_text())
    return results, [each["status"] for each in results["approvals"]]


def test_the_file_of_the_commit_is_read(hub, client, base):
    hub.write(FILE, APPROVAL.encode(), base)
    assert ApprovalsInCommit(client, base).read() == ApprovalFile(FILE, APPROVAL.encode())


def test_a_commit_without_the_file_approves_nothing(client, base):
    assert ApprovalsInCommit(client, base).read() is None


def test_a_file_that_is_too_large_is_refused(hub, client, base):
    hub.write(FILE, b"#" * 256_001, base)
    with pytest.raises(OverLimit, match="larger than 256,000 bytes"):
        ApprovalsInCommit(client, base).read()


@pytest.mark.parametrize(("fault", "error"), [("forbidden", Forbidden), ("reset", Unreachable)])
def test_what_github_does_not_give_is_an_error(hub, client, base, fault, error):
    hub.fail({"kind": fault}, path="/contents/", times=20)
    with pytest.raises(error):
        ApprovalsInCommit(client, base).read()


def test_without_an_approval_the_failure_blocks(act, failing):
    assert act().exit_code == 1
    assert read_results(failing)[1] == []


def test_an_approval_of_the_base_lets_a_failure_pass(hub, act, failing, base):
    hub.write(FILE, APPROVAL.encode(), base)
    assert act().exit_code == 0
    assert read_results(failing)[1] == ["active"]
    [body] = own_comments(hub)
    assert "Ana: outage" in body


def test_a_pull_request_does_not_approve_its_own_failure(hub, act, failing):
    (failing / FILE).write_text(APPROVAL)
    assert act().exit_code == 1
    assert read_results(failing)[1] == ["proposed"]
    [body] = own_comments(hub)
    assert "added by this pull request" in body


def test_it_does_where_the_workflow_says_so(act, failing):
    (failing / FILE).write_text(APPROVAL)
    assert act(approvals_from="head").exit_code == 0
    assert read_results(failing)[1] == ["active"]


def test_on_other_events_the_workspaces_approvals_count(act, failing):
    (failing / FILE).write_text(APPROVAL)
    assert act("workflow_dispatch").exit_code == 0
    assert read_results(failing)[1] == ["active"]


def test_approvals_that_github_does_not_give_are_a_warning_and_approve_nothing(hub, act, failing, base):
    hub.write(FILE, APPROVAL.encode(), base)
    hub.fail({"kind": "forbidden"}, path="/contents/")
    assert act().exit_code == 1
    results, approvals = read_results(failing)
    assert approvals == []
    assert any("no approval counts" in each["message"] for each in results["warnings"])


def test_an_error_in_the_pull_requests_file_ends_its_run(act, failing):
    (failing / FILE).write_text("approvals: [{suite: support}]")
    assert act().exit_code == 2
    assert read_results(failing)[0]["verdict"] == "invalid"


def test_approvals_that_are_a_link_are_not_followed(act, failing, tmp_path):
    (tmp_path / "secret").write_text(APPROVAL)
    (failing / FILE).symlink_to(tmp_path / "secret")
    assert act("workflow_dispatch").exit_code == 2
    assert read_results(failing)[0]["reasons"][0]["code"] == "refused_path"


@pytest.fixture
def store(tmp_path, request):
    """Inputs of a job whose store holds an approval that was given in a shell, for the repository of the parameter."""
    provenance = Provenance("shell", repository=getattr(request, "param", None))
    (tmp_path / "temp").mkdir()
    [approval] = read_approvals(ApprovalFile(FILE, APPROVAL.encode()))
    with open_store("kept.db", str(tmp_path / "temp")) as kept:
        kept.approvals.create(StoredApproval("", replace(approval, provenance=provenance), provenance))
    return {"store_url": "kept.db", "variables": {"RUNNER_TEMP": str(tmp_path / "temp")}}


def test_an_approval_of_the_store_counts_where_the_workspaces_do(act, failing, store):
    assert act("workflow_dispatch", **store).exit_code == 0
    [approval] = read_results(failing)[0]["approvals"]
    assert (approval["status"], approval["provenance"]["source"]) == ("active", "shell")


@pytest.mark.parametrize("store", ["acme/other"], indirect=True)
def test_an_approval_of_another_repository_in_the_same_store_opens_no_gate(act, failing, store):
    assert act("workflow_dispatch", **store).exit_code == 1
    assert read_results(failing)[1] == []


@pytest.mark.parametrize("store", ["acme/agent"], indirect=True)
def test_an_approval_of_the_store_is_shown_with_its_repository(act, failing, store):
    step = act("workflow_dispatch", **store)
    assert step.exit_code == 0
    assert "repository acme/agent" in step.summary.replace("\\", "").replace("`", "")


def test_a_file_that_a_pull_request_could_have_written_approves_nothing_in_it(act, failing, store):
    assert act(**store).exit_code == 1
    assert read_results(failing)[1] == []


CALLED = "{type: tool_called, tool: lookup_order, required: true"
NAMED = SUITE.replace(CALLED, f"{CALLED}, name: looks up").replace(
    "value: refunded", "value: refunded, name: says so, required: true"
)
SWAPPED = SUITE.replace(CALLED, f"{CALLED}, name: says so").replace(
    "value: refunded", "value: refunded, name: looks up, required: true"
)
OF_ONE_CHECK = APPROVAL.replace("scenario: refund", "scenario: refund, assertion: says so")


@pytest.fixture
def after_main(hub, act, workspace, base):
    """Main fails one check and approves that by its name, as before approvals stated what they cover."""
    (workspace / "evals/support.yaml").write_text(NAMED)
    write_trace(workspace, trace(content="no"))
    (workspace / FILE).write_text(OF_ONE_CHECK)
    on_main(hub)
    assert act("push").exit_code == 0
    next_run(hub, "success")
    hub.write(FILE, OF_ONE_CHECK.encode(), base)


@pytest.mark.usefixtures("after_main")
def test_the_failure_that_the_base_approved_passes(act, workspace):
    assert act().exit_code == 0
    assert read_results(workspace)[1] == ["active"]


@pytest.mark.usefixtures("after_main")
def test_an_approval_of_the_base_does_not_follow_the_name_of_a_check_in_a_pull_request(hub, act, workspace):
    (workspace / "evals/support.yaml").write_text(SWAPPED)
    write_trace(workspace, trace(tool="other"))
    assert act().exit_code == 1
    assert read_results(workspace)[1] == ["void"]
    [body] = own_comments(hub)
    assert "a different failure" in body


@pytest.mark.usefixtures("after_main")
def test_an_approval_of_the_base_does_not_cover_a_check_that_a_pull_request_adds(act, workspace):
    added = NAMED + "      - {type: tool_called, tool: apologize, required: true, name: says so}\n"
    (workspace / "evals/support.yaml").write_text(added)
    assert act().exit_code == 1
    assert read_results(workspace)[1] == ["void"]


ADVICE = "evalgate approve"


@pytest.mark.parametrize("event", ["pull_request", "workflow_dispatch"])
def test_with_none_no_approval_counts_and_the_report_offers_none(hub, act, failing, base, store, event):
    hub.write(FILE, APPROVAL.encode(), base)
    (failing / FILE).write_text(APPROVAL)

    step = act(event, approvals_from="none", **store)

    assert step.exit_code == 1
    assert read_results(failing)[1] == []
    assert read_results(failing)[0]["inputs"]["approvals_from"] == "none"
    assert read_results(failing)[0]["command"].endswith("--approvals-from none")
    shown = [step.summary, (failing / ".evalgate/comment.md").read_text()]
    assert ["If this is intended" in each for each in shown] == [True, True]
    assert [ADVICE in each for each in shown] == [False, False]


def test_a_broken_file_of_approvals_is_not_read_where_none_counts(act, failing):
    (failing / FILE).write_text("approvals: [{suite: support}]")
    assert act(approvals_from="none").exit_code == 1
