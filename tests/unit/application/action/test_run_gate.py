from __future__ import annotations

from datetime import UTC, datetime

import pytest
from fakes.world import (
    FakeArtifacts,
    FakeBaselines,
    FakeCheckRuns,
    FakeFile,
    FakeFolder,
    FakeJudge,
    FakePullRequest,
    FakeStep,
    FakeTemplate,
)
from msgspec.structs import replace
from request_builder import make_request
from results_builder import a_baseline, a_change, a_reason, a_scenario, a_suite, results

from evalgate.application.action.run_gate import GateOptions, GatePorts, run_gate
from evalgate.application.messages.request import Judgement
from evalgate.bootstrap.outputs import load_output
from evalgate.errors import Forbidden, Problem, SettingError, Unreachable
from evalgate.models.comparison.comparison import BaselineInfo
from evalgate.models.github import Annotation, TemplateFile
from evalgate.ports import FoundBaseline
from evalgate.ports.outputs import AskedOutput, OutputSettings, RunSubject

TASK = GateOptions(make_request(comment_key="k", notes=["a note"]), ".evalgate")
FILES = {"results.json": b"{}", "comment.md": b"# c", "summary.md": b"# s", "junit.xml": b"<x/>"}
EXACT = FoundBaseline(BaselineInfo("exact", sha="a" * 40, path="/tmp/exact.zip"), ["artifact 3 was refused"])
OLDER = FoundBaseline(BaselineInfo("ancestor", sha="b" * 40, path="/tmp/older.zip", distance=2))


def make_judgement(verdict="pass", *, files=FILES, baseline_zip=None, suites=None, **changes):
    suites = [a_suite("s", [a_scenario(), a_scenario("b", "HARD_FAIL")])] if suites is None else suites
    document = results(suites, verdict, **changes)
    annotations = [Annotation("error", "t", "m")]
    return Judgement(document, files, annotations, baseline_zip=baseline_zip)


def make_ports(*answers, **parts):
    given = {"judge": FakeJudge(list(answers)), "folder": FakeFolder(), "step": FakeStep()}
    return GatePorts(**{**given, **parts})


def test_a_pass_writes_files_outputs_summary_annotations_and_one_comment():
    copies = {}
    junit = AskedOutput(load_output("junit.xml"))
    junit.output.prepare(OutputSettings({"junit_path": "reports/junit.xml"}, ".", print), {})
    ports = make_ports(
        make_judgement(),
        pull_request=FakePullRequest(),
        copies=lambda path: copies.setdefault(path, FakeFile()),
        outputs=[junit],
    )
    assert run_gate(TASK, ports) == 0
    assert ports.folder.files == FILES
    assert ports.step.summaries == ["# s"]
    assert ports.step.annotations == [Annotation("error", "t", "m")]
    assert ports.pull_request.comments == {"k": "# c"}
    assert copies["reports/junit.xml"].content == b"<x/>"


def test_a_fail_sets_the_outputs_of_its_run_and_its_exit_code():
    ports = make_ports(make_judgement("fail", baseline=a_baseline("exact")), pull_request=FakePullRequest())
    assert run_gate(TASK, ports) == 1
    assert ports.step.set == {
        "verdict": "fail",
        "exit-code": "1",
        "score": "0.5",
        "scenarios-total": "2",
        "scenarios-passed": "1",
        "scenarios-failed": "1",
        "hard-fails": "1",
        "regressions": "0",
        "improvements": "0",
        "cost-usd": "0.02",
        "baseline-status": "exact",
        "baseline-sha": a_baseline("exact")["sha"],
        "baseline-age-seconds": "7200",
        "baseline-distance": "",
        "baseline-drift": "",
        "baseline-path": "",
        "results-path": ".evalgate/results.json",
        "report-path": ".evalgate/comment.md",
        "comment-id": "7",
        "comment-url": "https://github.com/x#7",
    }


def test_invalid_input_sets_outputs_and_posts_nothing():
    ports = make_ports(
        make_judgement("invalid", files={"results.json": b"{}"}, suites=[]),
        pull_request=FakePullRequest(),
        folder=FakeFolder({"comment.md": b"of an earlier run"}),
    )
    assert run_gate(TASK, ports) == 2
    assert (ports.step.set["verdict"], ports.step.set["report-path"]) == ("invalid", "")
    assert ports.folder.files == {"results.json": b"{}"}
    assert ports.pull_request.comments == {}
    assert ports.step.summaries == []


def test_the_judge_gets_the_found_baseline_and_the_refused_ones():
    ports = make_ports(make_judgement(baseline=a_baseline("exact")), baselines=FakeBaselines([EXACT, OLDER]))
    run_gate(TASK, ports)
    [request] = ports.judge.requests
    assert request.baseline.info == EXACT.info
    assert (request.notes, request.baseline.refused) == (["a note"], ["artifact 3 was refused"])


def test_after_a_damaged_baseline_the_next_one_is_used():
    answers = make_judgement(baseline=a_baseline("refused")), make_judgement(baseline=a_baseline("ancestor"))
    ports = make_ports(*answers, baselines=FakeBaselines([EXACT, OLDER]))
    run_gate(TASK, ports)
    assert [request.baseline.info for request in ports.judge.requests] == [EXACT.info, OLDER.info]
    assert ports.step.set["baseline-status"] == "ancestor"


def test_without_a_baseline_the_judge_runs_once():
    ports = make_ports(make_judgement(baseline=a_baseline("refused")), baselines=FakeBaselines([]))
    run_gate(TASK, ports)
    assert len(ports.judge.requests) == 1


def test_the_number_of_damaged_baselines_tried_is_bounded():
    many = [FoundBaseline(BaselineInfo("latest", path=f"/tmp/{number}.zip")) for number in range(9)]
    ports = make_ports(make_judgement(baseline=a_baseline("refused")), baselines=FakeBaselines(many))
    run_gate(TASK, ports)
    assert len(ports.judge.requests) == 3


@pytest.mark.parametrize(("trouble", "level"), [(Forbidden("may not"), "notice"), (Unreachable("is down"), "warning")])
@pytest.mark.parametrize(("verdict", "code"), [("pass", 0), ("fail", 1)])
def test_a_comment_that_can_not_be_posted_changes_no_verdict(trouble, level, verdict, code):
    ports = make_ports(make_judgement(verdict), pull_request=FakePullRequest(trouble))
    assert run_gate(TASK, ports) == code
    [own] = [annotation for annotation in ports.step.annotations if annotation.title == "EvalGate"]
    assert (own.level, str(trouble) in own.message) == (level, True)
    assert ports.step.set["verdict"] == verdict


PUBLISHING = "a workflow with `mode: publish` can post it (examples/workflows/fork-publish.yml)"
FORK = replace(TASK, is_from_fork=True, request=replace(TASK.request, subject=RunSubject("c" * 40)))
REFUSED = Forbidden(Problem("GitHub refuses it (403)", hint="add `x: write` to `permissions:`"))


def own_annotations(ports):
    return [(each.level, each.message) for each in ports.step.annotations if each.title == "EvalGate"]


@pytest.mark.parametrize("mode", ["auto", "on-change", "on-failure"])
def test_a_fork_gets_a_notice_each_and_neither_comment_nor_check_run(mode):
    ports = make_ports(make_judgement(), pull_request=FakePullRequest(), checks=FakeCheckRuns())
    run_gate(replace(FORK, comment=mode), ports)
    assert (ports.pull_request.comments, ports.checks.posted) == ({}, [])
    reason = "the token is read-only on pull requests from forks"
    assert own_annotations(ports) == [
        ("notice", f"no comment: {reason}; the report is in the job summary and .evalgate/comment.md; {PUBLISHING}"),
        ("notice", f"no check run: {reason}; a required check of this name stays pending: require the job instead"),
    ]


def test_a_fork_gets_a_comment_and_a_check_run_if_always_is_set():
    ports = make_ports(make_judgement(), pull_request=FakePullRequest(), checks=FakeCheckRuns())
    run_gate(replace(FORK, comment="always"), ports)
    assert ports.pull_request.comments == {"k": "# c"}
    assert len(ports.checks.posted) == 1
    assert own_annotations(ports) == []


def test_a_refused_attempt_on_a_fork_names_no_permission_since_none_helps():
    ports = make_ports(make_judgement("fail"), pull_request=FakePullRequest(REFUSED), checks=FakeCheckRuns(REFUSED))
    assert run_gate(replace(FORK, comment="always", summarise=False), ports) == 1
    reason = "GitHub refuses it (403): the token is read-only on pull requests from forks"
    assert own_annotations(ports) == [
        ("notice", f"no comment: {reason}; the report is in .evalgate/comment.md; {PUBLISHING}"),
        ("notice", f"no check run: {reason}; a required check of this name stays pending: require the job instead"),
    ]


CHANGED = [a_suite("s", [a_scenario(change=a_change("improved"))])]
UNCHANGED = [a_suite("s", [a_scenario(change=a_change("unchanged"))])]


@pytest.mark.parametrize(
    ("mode", "verdict", "suites", "begun"),
    [
        ("always", "pass", UNCHANGED, True),
        ("off", "fail", CHANGED, False),
        ("on-failure", "pass", CHANGED, False),
        ("on-failure", "fail", UNCHANGED, True),
        ("on-change", "pass", UNCHANGED, False),
        ("on-change", "pass", CHANGED, True),
        ("on-change", "fail", UNCHANGED, True),
    ],
)
def test_the_mode_decides_whether_a_comment_is_created(mode, verdict, suites, begun):
    ports = make_ports(make_judgement(verdict, suites=suites), pull_request=FakePullRequest())
    run_gate(replace(TASK, comment=mode), ports)
    assert (ports.pull_request.comments != {}) is begun


def test_a_quiet_mode_updates_an_existing_comment():
    ports = make_ports(make_judgement(suites=UNCHANGED), pull_request=FakePullRequest(comments={"k": "old"}))
    run_gate(replace(TASK, comment="on-failure"), ports)
    assert ports.pull_request.comments == {"k": "# c"}


def test_the_baseline_of_a_failed_run_is_uploaded_too():
    ports = make_ports(make_judgement("fail", baseline_zip="/out/baseline.zip"), artifacts=FakeArtifacts())
    assert run_gate(replace(TASK, artifact="b"), ports) == 1
    assert ports.artifacts.uploaded == {"b": "/out/baseline.zip"}
    assert ports.step.set["baseline-path"] == ".evalgate/baseline.zip"


def test_the_log_says_until_when_an_artifact_is_kept():
    ports = make_ports(make_judgement(baseline_zip="/out/baseline.zip"), artifacts=FakeArtifacts())
    expiry = datetime(2030, 1, 31, tzinfo=UTC)
    run_gate(replace(TASK, artifact="b", expires_at=expiry), ports)
    assert ports.artifacts.expiry == {"b": expiry}
    assert ports.step.lines[-1] == "The baseline was uploaded as artifact b (70001), kept until 2030-01-31."


def test_a_baseline_that_is_not_uploaded_on_purpose_is_a_notice():
    ports = make_ports(make_judgement(baseline_zip="/out/baseline.zip"))
    assert run_gate(replace(TASK, upload_refusal="why"), ports) == 0
    assert ports.step.annotations[-1] == Annotation("notice", "EvalGate", "the baseline was not uploaded: why")


def test_a_failed_upload_is_a_warning_that_names_the_step_to_add():
    ports = make_ports(make_judgement(baseline_zip="/out/baseline.zip"), artifacts=FakeArtifacts(Unreachable("no")))
    assert run_gate(replace(TASK, artifact="b"), ports) == 0
    message = ports.step.annotations[-1].message
    assert "actions/upload-artifact" in message
    assert "path: .evalgate/baseline.zip" in message


def test_traces_left_out_of_a_baseline_are_a_warning():
    ports = make_ports(replace(make_judgement(baseline_zip="/out/baseline.zip"), warnings=["7 traces were left out"]))
    run_gate(TASK, ports)
    assert Annotation("warning", "EvalGate", "7 traces were left out") in ports.step.annotations


def test_without_a_new_baseline_nothing_is_uploaded():
    ports = make_ports(make_judgement(), artifacts=FakeArtifacts())
    run_gate(replace(TASK, artifact="b"), ports)
    assert ports.artifacts.uploaded == {}


def test_summary_and_annotations_can_be_turned_off():
    ports = make_ports(make_judgement())
    run_gate(replace(TASK, annotate=False, summarise=False), ports)
    assert (ports.step.summaries, ports.step.annotations) == ([], [])


def test_the_log_names_the_verdict_and_its_reasons_and_counts_the_rest():
    reasons = [a_reason("hard_fail", f"m{number}", suite="s", scenario="x") for number in range(25)]
    ports = make_ports(make_judgement("fail", reasons=reasons))
    run_gate(TASK, ports)
    assert ports.step.lines[0] == "EvalGate: fail (exit code 1), 1 of 2 scenarios pass"
    assert ports.step.lines[1] == "- s / x: m0"
    assert ports.step.lines[-1] == "5 more reasons are in results.json"
    assert len(ports.step.lines) == 22


def test_outputs_are_written_before_the_first_request_to_github():
    ports = make_ports(make_judgement("fail"), pull_request=FakePullRequest(SystemExit(143)))
    with pytest.raises(SystemExit):
        run_gate(TASK, ports)
    assert ports.step.set["exit-code"] == "1"


def test_the_judge_gets_the_template():
    template = TemplateFile("own.md.j2", "words")
    ports = make_ports(make_judgement(), template=FakeTemplate(template))
    run_gate(TASK, ports)
    assert ports.judge.requests[0].render.template == template


@pytest.mark.parametrize("trouble", [Unreachable("GitHub is down"), SettingError("it does not exist")])
def test_an_unavailable_template_is_a_warning_and_the_verdict_is_unchanged(trouble):
    ports = make_ports(make_judgement("fail"), template=FakeTemplate(trouble), pull_request=FakePullRequest())
    assert run_gate(TASK, ports) == 1
    assert ports.judge.requests[0].render.template is None
    warning = ports.step.annotations[0]
    assert (warning.level, str(trouble) in warning.message) == ("warning", True)
    assert ports.pull_request.comments == {"k": "# c"}
