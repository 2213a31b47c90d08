"""Approvals and freshness on the whole way through the judge."""

from __future__ import annotations

import pytest
from builders import make_trace
from fakes.core import make_tools

from evalgate.adapters.suites.approvals_file import read_approvals
from evalgate.application.approvals.approvals import with_approvals
from evalgate.application.judge.judge import judge
from evalgate.application.messages.request import JudgeRequest
from evalgate.errors import RefusedPath, SettingError, Unreachable
from evalgate.models.approvals.approval import ApprovalFile, Provenance
from evalgate.records import replace
from evalgate.reporting.terminal.run_table import render_table

SUITE = "version: 1\nsuite: s\ntraces: [t]\nscenarios: [{id: a, assertions: [{contains: yes, required: true}]}]\n"
FRESH = SUITE + "policy: {freshness: {require: head, watch: agent}, fail_on: [stale_evidence]}\n"
APPROVAL = "approvals: [{suite: s, scenario: a, reason: outage, who: Ana, until: 2026-01-05}]\n"
FAILING = make_trace(scenario_id="a", response="no")


def file(text=APPROVAL):
    return ApprovalFile("evalgate-approvals.yaml", text.encode())


def judged(suite=SUITE, trace=FAILING, fingerprints=None, **request):
    tools = make_tools(suite, traces=[trace], fingerprints=fingerprints)
    return judge(JudgeRequest(make_baseline_zip=False, **request), tools)


def statuses(judgement):
    return [each["status"] for each in judgement.results["approvals"]]


# --- approvals ------------------------------------------------------------------------------------------------


def test_an_approved_failure_blocks_nothing_and_is_told():
    found = judged(approvals=file())
    [told] = found.results["approvals"]
    assert (found.exit_code, found.results["suites"][0]["scenarios"][0]["verdict"]) == (0, "HARD_FAIL")
    assert (told["status"], told["message"], told["days_left"]) == ("active", "expires in 3 days", 3)
    assert told["location"] == {"file": "evalgate-approvals.yaml", "line": 1, "column": 13}
    comment = found.files["comment.md"].decode()
    assert "passed, but 1 scenario hard-failed (approved)" in comment
    assert "- approved: ` s / a `, ` expires in 3 days `, by ` Ana: outage `" in comment


def test_what_a_pull_request_adds_does_not_count():
    found = judged(proposed=file(), approvals_of_base=True)
    assert (found.exit_code, statuses(found)) == (1, ["proposed"])


def test_what_its_base_approves_counts_also_where_the_pull_request_has_it_too():
    found = judged(approvals=file(), proposed=file(), approvals_of_base=True)
    assert (found.exit_code, statuses(found)) == (0, ["active"])


def test_what_its_base_approves_counts_also_where_the_pull_request_takes_it_out():
    found = judged(approvals=file(), proposed=file("approvals: []"), approvals_of_base=True)
    assert (found.exit_code, statuses(found)) == (0, ["active"])


def test_a_mistake_in_the_file_that_counts_ends_the_run():
    found = judged(approvals=file("approvals:\n  - {suite: s, scenario: a, who: Ana}\n"))
    assert found.exit_code == 2
    assert [str(problem) for problem in found.problems] == [
        "evalgate-approvals.yaml:2:5: `reason` is missing",
        "evalgate-approvals.yaml:2:5: `until` is missing",
    ]


def test_a_mistake_that_the_pull_request_adds_ends_the_run():
    assert judged(approvals=file(), approvals_of_base=True, proposed=file("approvals: 1")).exit_code == 2


def test_a_mistake_of_the_base_approves_nothing_and_is_a_warning():
    found = judged(approvals=file("approvals: 1"), approvals_of_base=True, proposed=file())
    assert (found.exit_code, statuses(found)) == (1, ["proposed"])
    [warning] = found.results["warnings"]
    assert warning["message"].startswith("nothing is approved, for the approvals of the base commit can't be")


def test_what_a_store_approves_counts_and_weakens_no_gate():
    from evalgate.application.comparison.weakening import added_approvals
    from evalgate.models.approvals.approval import Approvals
    from evalgate.reporting.results.standings import build_baseline_from_results

    [said] = read_approvals(file())
    stored = replace(said, location=None, provenance=Provenance("shell"))
    found = judged(remembered=(stored,))
    assert (found.exit_code, statuses(found)) == (0, ["active"])
    before = build_baseline_from_results(judged().results)
    assert added_approvals(Approvals((stored,)), before) == []
    assert [each.kind for each in added_approvals(Approvals((said,)), before)] == ["approval_added"]


class Source:
    """Approvals, or what goes wrong instead."""

    def __init__(self, found):
        self._found = found

    def read(self):
        if isinstance(self._found, Exception):
            raise self._found
        return self._found


@pytest.mark.parametrize("trouble", [Unreachable("GitHub is down"), RefusedPath("a link")])
def test_approvals_of_the_base_that_can_not_be_had_are_a_note(trouble):
    request = with_approvals(JudgeRequest(notes=["x"]), Source(trouble), Source(file()))
    assert (request.approvals, request.proposed, request.approvals_of_base) == (None, file(), True)
    assert request.notes[0] == "x"
    assert "nothing is approved" in request.notes[1]


def test_approvals_of_the_workspace_that_can_not_be_had_end_the_run():
    with pytest.raises(SettingError):
        with_approvals(JudgeRequest(), Source(SettingError("damaged")), None)


def test_without_a_pull_request_the_one_file_counts():
    request = with_approvals(JudgeRequest(), Source(file()), None)
    assert (request.approvals, request.approvals_of_base) == (file(), False)


# --- freshness ------------------------------------------------------------------------------------------------


class Watched:
    """A fingerprint for every glob."""

    def compute_fingerprint(self, globs):
        return f"hash of {' '.join(globs)}"


def origin(commit="c" * 40, agent_hash="hash of agent"):
    trace = make_trace(scenario_id="a", response="yes")
    trace.commit, trace.agent_hash = commit, agent_hash
    return trace


@pytest.mark.parametrize("where", ["commit", "merge_commit"])
def test_a_fresh_recording_is_evidence(where):
    found = judged(FRESH, origin(), Watched(), **{where: "c" * 40})
    trace = found.results["suites"][0]["scenarios"][0]["trials"][0]["trace"]
    assert (found.exit_code, trace["commit"], trace["agent_hash"]) == (0, "c" * 40, "hash of agent")
    assert "stale" not in trace


@pytest.mark.parametrize(
    ("trace", "words"),
    [
        (origin(commit="d" * 40), "made at commit ddddddd, judged is ccccccc"),
        (origin(commit=None), "it does not say of which commit it is"),
        (origin(agent_hash="another"), "made by another, the watched files are hash of agen now"),
    ],
)
def test_a_stale_recording_fails_where_the_policy_says_so(trace, words):
    found = judged(FRESH, trace, Watched(), commit="c" * 40)
    [reason] = found.results["reasons"]
    assert (found.exit_code, reason["code"]) == (1, "stale_evidence")
    assert words in reason["message"]
    assert words in found.results["suites"][0]["scenarios"][0]["trials"][0]["trace"]["stale"]
    assert "failed: 1 scenario relied on stale evidence" in found.files["comment.md"].decode()


def test_a_stale_recording_is_a_warning_otherwise():
    found = judged(FRESH, origin(commit="d" * 40), Watched(), commit="c" * 40, fail_on=["hard_fail"])
    assert found.exit_code == 0
    assert [each["code"] for each in found.results["warnings"]] == ["stale_evidence"]


# --- evidence -------------------------------------------------------------------------------------------------


LACKING = """\
version: 1
suite: s
traces: [t]
scenarios:
  - {id: a, assertions: [{contains: "yes"}]}
  - {id: lost, assertions: [{contains: "yes"}]}
  - {id: dark, assertions: [{type: cost_limit, max_usd: 1}]}
"""


def test_what_is_lacking_is_told_once_in_comment_and_table():
    traces = [make_trace(scenario_id=name, response="yes") for name in ("a", "dark", "stray")]
    found = judge(JudgeRequest(make_baseline_zip=False), make_tools(LACKING, traces=traces))
    comment, table = found.files["comment.md"].decode(), render_table(found.results)
    assert (comment.count("MISSING"), table.count("MISSING")) == (1, 1)
    assert (comment.count("scenario id ` stray `"), table.count("stray")) == (1, 1)
    assert (comment.count("cost <= 1 USD"), table.count("cost <= 1 USD")) == (1, 1)
    assert (comment.count("1 not evaluable"), table.count("1 not evaluable")) == (1, 1)
