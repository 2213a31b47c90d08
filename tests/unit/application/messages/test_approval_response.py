"""The response of a sandboxed judge that decides a run again is validated before it is used."""

from __future__ import annotations

import copy
import json
from datetime import date
from functools import partial

import pytest
from msgspec.structs import replace
from results_builder import a_scenario, a_suite, results

from evalgate.application.documents.report_files import load_report_file
from evalgate.application.documents.untrusted_report import render_report
from evalgate.application.judge.approved_report import approve_report
from evalgate.application.messages.judge_response import decode_approved, encode_approved
from evalgate.errors import JudgeCrashed
from evalgate.models.approvals.approval import Provenance
from evalgate.models.approvals.review import CommentApproval, TriggeringRun
from evalgate.ports.outputs import RenderOptions
from evalgate.reporting.results.results_json import dump_results

HEAD = "c" * 40
RUN = TriggeringRun(7, "pull_request", 1, "acme/agent", "x", HEAD, is_same_repository=True)

CONSENTS = [
    CommentApproval(name, date(2026, 1, 9), "r", "bob", Provenance("comment", 7, number, None, HEAD), b"")
    for number, name in enumerate(["s1", "unknown"], 1)
]


@pytest.fixture(scope="module")
def report():
    reasons = [{"code": "hard_fail", "message": "m", "suite": "support", "scenario": "s1", "variant": None}]
    suites = [a_suite("support", [a_scenario("s1", "HARD_FAIL"), a_scenario("s2", "PASS")], "fail")]
    content = dump_results({**results(suites, reasons=reasons, verdict="fail", exit_code=1), "commit": HEAD})
    consents = [replace(consent, report=content) for consent in CONSENTS]
    options = RenderOptions("k", 60_000, "u")
    render = partial(render_report, options=options, asked={}, load=load_report_file)
    return approve_report(content, RUN, consents, render, ["note"], date(2026, 1, 2))


@pytest.fixture
def answer(report):
    return json.loads(json.dumps(encode_approved(report)))


@pytest.fixture
def file(report):
    files = {"comment.md": report.rendered.comment.encode(), "summary.md": report.rendered.summary.encode()}
    return files.get


def test_a_response_decodes_to_what_was_encoded(report, answer, file):
    found = decode_approved(answer, file, CONSENTS)
    assert (found.heading, found.approvals, found.refused) == (
        report.heading,
        report.approvals,
        list(report.refused),
    )
    assert (found.rendered.comment, found.rendered.summary) == (
        report.rendered.comment,
        report.rendered.summary,
    )
    assert (found.rendered.results["verdict"], found.rendered.results["exit_code"]) == ("pass", 0)
    assert [each["status"] for each in found.approvals] == ["active"]
    assert found.refused[0][0] == 2


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (["heading"], None),
        (["approvals"], {}),
        (["approvals", 0], "x"),
        (["approvals", 0, "status"], 3),
        (["approvals", 0, "limit"], {"score": 7}),
        (["approvals", 0, "limit"], {"score": "1"}),
        (["approvals", 0, "checks"], [1]),
        (["approvals", 0, "provenance"], {"source": "comment"}),
        (["not_approved"], None),
        (["not_approved", 0], {"comment": "2", "why": "x"}),
        (["not_approved", 0], {"comment": 2}),
        (["results"], {}),
    ],
)
def test_a_response_with_an_invalid_field_is_refused(answer, file, place, value):
    forged = copy.deepcopy(answer)
    *way, last = place
    parent = forged
    for step in way:
        parent = parent[step]
    parent[last] = value
    with pytest.raises(JudgeCrashed):
        decode_approved(forged, file, CONSENTS)


@pytest.mark.parametrize("forged", [None, [], "x", {}, {"heading": "passed"}])
def test_a_response_of_the_wrong_shape_is_refused(file, forged):
    with pytest.raises(JudgeCrashed):
        decode_approved(forged, file, CONSENTS)


@pytest.mark.parametrize(
    "changes",
    [
        {"scenario": "s2"},
        {"suite": "x", "scenario": "other"},
        {"provenance": {"comment_id": 2}},
        {"provenance": {"comment_id": 9}},
    ],
)
def test_an_approval_without_a_comment_is_refused(answer, file, changes):
    [approval] = answer["approvals"]
    approval |= {
        name: {**approval[name], **value} if isinstance(value, dict) else value for name, value in changes.items()
    }
    with pytest.raises(JudgeCrashed):
        decode_approved(answer, file, CONSENTS)


def test_a_comment_that_approves_all_failures_approves_any(answer, file):
    answer["approvals"][0]["scenario"] = "s9"
    everything = [replace(CONSENTS[0], scenario=None)]
    assert [each["scenario"] for each in decode_approved(answer, file, everything).approvals] == ["s9"]
