"""Approvals and freshness in a whole run of the judge."""

from __future__ import annotations

import pytest
from builders import make_trace
from fakes.core import make_tools
from msgspec.structs import replace
from request_builder import make_request

from evalgate.adapters.suites.approvals_file import read_approvals
from evalgate.application.approvals.approvals import with_approvals
from evalgate.application.judge.judge import judge
from evalgate.application.messages.request import ApprovalInputs
from evalgate.errors import RefusedPath, SettingError, Unreachable
from evalgate.models.approvals.approval import ApprovalFile, Provenance
from evalgate.models.comparison.weakening import WatchedFiles
from evalgate.models.run.trial_doc import LocationDoc
from evalgate.reporting.terminal.run_table import render_table

SUITE = "version: 1\nsuite: s\ntraces: [t]\nscenarios: [{id: a, assertions: [{contains: yes, required: true}]}]\n"
FRESH = SUITE + "policy: {freshness: {require: head, watch: agent}, fail_on: [stale_evidence]}\n"
APPROVAL = "approvals: [{suite: s, scenario: a, reason: outage, who: Ana, until: 2026-01-05}]\n"
FAILING = make_trace(scenario_id="a", response="no")


def file(text=APPROVAL):
    return ApprovalFile("evalgate-approvals.yaml", text.encode())


def run_judge(suite=SUITE, trace=FAILING, fingerprints=None, **request):
    tools = make_tools(suite, traces=[trace], fingerprints=fingerprints)
    return judge(make_request(make_baseline_zip=False, **request), tools)


def list_statuses(judgement):
    return [each["status"] for each in judgement.results["approvals"]]


# --- approvals ------------------------------------------------------------------------------------------------


def test_an_approved_failure_does_not_block_and_is_reported():
    found = run_judge(approvals=file())
    [approval] = found.results["approvals"]
    assert (found.exit_code, found.results["suites"][0]["scenarios"][0]["verdict"]) == (0, "HARD_FAIL")
    assert (approval["status"], approval["message"], approval["days_left"]) == ("active", "expires in 3 days", 3)
    assert approval["location"] == LocationDoc("evalgate-approvals.yaml", 1, 13)
    comment = found.files["comment.md"].decode()
    assert "passed, but 1 scenario hard-failed (covered by an approval)" in comment
    assert "- approved: ` s / a (at any score, also 0) `, by ` Ana: outage `; expires in 3 days" in comment


def test_an_approval_that_the_pull_request_adds_is_not_used():
    found = run_judge(proposed=file(), approvals_of_base=True)
    assert (found.exit_code, list_statuses(found)) == (1, ["proposed"])


def test_an_approval_of_the_base_is_used_if_the_pull_request_has_it_too():
    found = run_judge(approvals=file(), proposed=file(), approvals_of_base=True)
    assert (found.exit_code, list_statuses(found)) == (0, ["active"])


def test_an_approval_of_the_base_is_used_if_the_pull_request_removes_it():
    found = run_judge(approvals=file(), proposed=file("approvals: []"), approvals_of_base=True)
    assert (found.exit_code, list_statuses(found)) == (0, ["active"])


def test_an_error_in_the_approvals_file_ends_the_run():
    found = run_judge(approvals=file("approvals:\n  - {suite: s, scenario: a, who: Ana}\n"))
    assert found.exit_code == 2
    assert [str(problem) for problem in found.problems] == [
        "evalgate-approvals.yaml:2:5: `reason` is missing",
        "evalgate-approvals.yaml:2:5: `until` is missing",
    ]


def test_an_error_that_the_pull_request_adds_ends_the_run():
    assert run_judge(approvals=file(), approvals_of_base=True, proposed=file("approvals: 1")).exit_code == 2


def test_an_error_in_the_file_of_the_base_approves_nothing_and_is_a_warning():
    found = run_judge(approvals=file("approvals: 1"), approvals_of_base=True, proposed=file())
    assert (found.exit_code, list_statuses(found)) == (1, ["proposed"])
    [warning] = found.results["warnings"]
    assert warning["message"].startswith("no approval counts, because those of the base commit can't be read: ")


def test_an_approval_of_the_store_is_used_and_is_not_a_weakening():
    from evalgate.application.comparison.weakening import added_approvals
    from evalgate.models.approvals.approval import Approvals
    from evalgate.reporting.results.load_results import convert_baseline_run

    [approval] = read_approvals(file())
    stored = replace(approval, location=None, provenance=Provenance("shell"))
    found = run_judge(remembered=(stored,))
    assert (found.exit_code, list_statuses(found)) == (0, ["active"])
    before = convert_baseline_run(run_judge().results)
    assert added_approvals(Approvals((stored,)), before) == []
    assert [each.kind for each in added_approvals(Approvals((approval,)), before)] == ["approval_added"]


class Source:
    """Returns approvals, or raises an error."""

    def __init__(self, found):
        self._found = found

    def read(self):
        if isinstance(self._found, Exception):
            raise self._found
        return self._found


@pytest.mark.parametrize("trouble", [Unreachable("GitHub is down"), RefusedPath("a link")])
def test_unavailable_approvals_of_the_base_are_a_note(trouble):
    request = with_approvals(make_request(notes=["x"]), Source(trouble), Source(file()))
    assert request.approvals == ApprovalInputs(None, is_of_base=True, proposed=file())
    assert request.notes[0] == "x"
    assert "no approval counts" in request.notes[1]


def test_unavailable_approvals_of_the_workspace_end_the_run():
    with pytest.raises(SettingError):
        with_approvals(make_request(), Source(SettingError("damaged")), None)


def test_without_a_pull_request_the_file_of_the_workspace_is_used():
    request = with_approvals(make_request(), Source(file()), None)
    assert request.approvals == ApprovalInputs(file())


# --- freshness ------------------------------------------------------------------------------------------------


class Watched:
    """A fingerprint for every glob."""

    def read_watched(self, globs):
        return WatchedFiles(f"hash of {' '.join(globs)}", {globs[0]: "d1" * 32})


def trace_with_origin(commit="c" * 40, agent_hash="hash of agent"):
    trace = make_trace(scenario_id="a", response="yes")
    trace.commit, trace.agent_hash = commit, agent_hash
    return trace


@pytest.mark.parametrize("where", ["commit", "merge_commit"])
def test_a_fresh_trace_is_accepted(where):
    found = run_judge(FRESH, trace_with_origin(), Watched(), **{where: "c" * 40})
    trace = found.results["suites"][0]["scenarios"][0]["trials"][0].trace
    assert (found.exit_code, trace.commit, trace.agent_hash) == (0, "c" * 40, "hash of agent")
    assert trace.stale is None


@pytest.mark.parametrize(
    ("trace", "words"),
    [
        (trace_with_origin(commit="d" * 40), "recorded at commit ddddddd, expected ccccccc"),
        (trace_with_origin(commit=None), "it does not record its commit (`evalgate.commit`)"),
        (trace_with_origin(agent_hash="another"), "its agent hash is another, the watched files have hash of agen"),
    ],
)
def test_a_stale_trace_fails_the_gate_if_the_policy_requires_it(trace, words):
    found = run_judge(FRESH, trace, Watched(), commit="c" * 40)
    [reason] = found.results["reasons"]
    assert (found.exit_code, reason["code"]) == (1, "stale_evidence")
    assert words in reason["message"]
    assert words in found.results["suites"][0]["scenarios"][0]["trials"][0].trace.stale
    assert "failed: 1 scenario relied on stale evidence" in found.files["comment.md"].decode()


def test_a_stale_trace_is_a_warning_otherwise():
    found = run_judge(FRESH, trace_with_origin(commit="d" * 40), Watched(), commit="c" * 40, fail_on=["hard_fail"])
    assert found.exit_code == 0
    assert [each["code"] for each in found.results["warnings"]] == ["stale_evidence"]


# --- evidence -------------------------------------------------------------------------------------------------


MISSING_EVIDENCE = """\
version: 1
suite: s
traces: [t]
scenarios:
  - {id: a, assertions: [{contains: "yes"}]}
  - {id: lost, assertions: [{contains: "yes"}]}
  - {id: dark, assertions: [{type: cost_limit, max_usd: 1}]}
"""


def test_missing_evidence_is_reported_once_in_comment_and_table():
    ids = ("a", "dark", "stray")
    traces = [make_trace(scenario_id=id_, response="yes", path=f"traces/{at}.json") for at, id_ in enumerate(ids)]
    found = judge(make_request(make_baseline_zip=False), make_tools(MISSING_EVIDENCE, traces=traces))
    comment, table = found.files["comment.md"].decode(), render_table(found.results)
    assert (comment.count("MISSING"), table.count("MISSING")) == (1, 1)
    assert (comment.count("belongs to no scenario"), comment.count("stray"), table.count("stray")) == (1, 1, 1)
    assert (comment.count("cost <= 1 USD"), table.count("cost <= 1 USD")) == (1, 1)
    assert comment.count("not evaluable: cost unknown") == table.count("1 not evaluable") == 1
