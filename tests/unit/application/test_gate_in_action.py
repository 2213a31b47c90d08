from __future__ import annotations

from dataclasses import replace

import pytest
from fakes.world import (
    FakeArtifacts,
    FakeBaselines,
    FakeFile,
    FakeFolder,
    FakeJudge,
    FakePullRequest,
    FakeStep,
    FakeTemplate,
)
from results_builder import a_baseline, a_change, a_reason, a_scenario, a_suite, results

from evalgate.application.action.run_gate import GateOptions, GatePorts, run_gate
from evalgate.application.messages.request import Judgement, JudgeRequest
from evalgate.errors import Forbidden, SettingError, Unreachable
from evalgate.models.comparison.comparison import BaselineInfo
from evalgate.models.github.checks import Annotation
from evalgate.models.github.template_file import TemplateFile
from evalgate.ports import FoundBaseline

TASK = GateOptions(JudgeRequest(comment_key="k", notes=["a note"]), ".evalgate")
FILES = {"results.json": b"{}", "comment.md": b"# c", "summary.md": b"# s", "junit.xml": b"<x/>"}
EXACT = FoundBaseline(BaselineInfo("exact", sha="a" * 40, path="/tmp/exact.zip"), ["artifact 3 was refused"])
OLDER = FoundBaseline(BaselineInfo("ancestor", sha="b" * 40, path="/tmp/older.zip", distance=2))


def judged(verdict="pass", *, files=FILES, baseline_zip=None, suites=None, **changes):
    suites = [a_suite("s", [a_scenario(), a_scenario("b", "HARD_FAIL")])] if suites is None else suites
    document = results(suites, verdict, **changes)
    annotations = [Annotation("error", "t", "m")]
    return Judgement(document, files, annotations, baseline_zip=baseline_zip)


def world_of(*answers, **parts):
    given = {"judge": FakeJudge(list(answers)), "folder": FakeFolder(), "step": FakeStep()}
    return GatePorts(**{**given, **parts})


def test_a_pass_leaves_files_outputs_summary_annotations_and_one_comment():
    world = world_of(judged(), pull_request=FakePullRequest(), copies={"junit.xml": FakeFile()})
    assert run_gate(TASK, world) == 0
    assert world.folder.files == FILES
    assert world.step.summaries == ["# s"]
    assert world.step.annotations == [Annotation("error", "t", "m")]
    assert world.pull_request.comments == {"k": "# c"}
    assert world.copies["junit.xml"].content == b"<x/>"


def test_a_fail_sets_every_output_and_its_exit_code():
    world = world_of(judged("fail", baseline=a_baseline("exact")), pull_request=FakePullRequest())
    assert run_gate(TASK, world) == 1
    assert world.step.set == {
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


def test_wrong_input_sets_outputs_and_posts_nothing():
    world = world_of(
        judged("invalid", files={"results.json": b"{}"}, suites=[]),
        pull_request=FakePullRequest(),
        folder=FakeFolder({"comment.md": b"of an earlier run"}),
    )
    assert run_gate(TASK, world) == 2
    assert (world.step.set["verdict"], world.step.set["report-path"]) == ("invalid", "")
    assert world.folder.files == {"results.json": b"{}"}
    assert world.pull_request.comments == {}
    assert world.step.summaries == []


def test_the_baseline_found_and_what_was_refused_go_to_the_judge():
    world = world_of(judged(baseline=a_baseline("exact")), baselines=FakeBaselines([EXACT, OLDER]))
    run_gate(TASK, world)
    [request] = world.judge.requests
    assert request.baseline == EXACT.info
    assert request.notes == ["a note", "artifact 3 was refused"]


def test_a_damaged_baseline_gives_way_to_the_next():
    answers = judged(baseline=a_baseline("none")), judged(baseline=a_baseline("ancestor"))
    world = world_of(*answers, baselines=FakeBaselines([EXACT, OLDER]))
    run_gate(TASK, world)
    assert [request.baseline for request in world.judge.requests] == [EXACT.info, OLDER.info]
    assert world.step.set["baseline-status"] == "ancestor"


def test_no_baseline_is_judged_once():
    world = world_of(judged(baseline=a_baseline("none")), baselines=FakeBaselines([]))
    run_gate(TASK, world)
    assert len(world.judge.requests) == 1


def test_damaged_baselines_without_end_are_not_tried_without_end():
    many = [FoundBaseline(BaselineInfo("latest", path=f"/tmp/{number}.zip")) for number in range(9)]
    world = world_of(judged(baseline=a_baseline("none")), baselines=FakeBaselines(many))
    run_gate(TASK, world)
    assert len(world.judge.requests) == 3


@pytest.mark.parametrize("trouble", [Forbidden("may not"), Unreachable("is down")])
@pytest.mark.parametrize(("verdict", "code"), [("pass", 0), ("fail", 1)])
def test_a_comment_that_can_not_be_posted_is_a_warning(trouble, verdict, code):
    world = world_of(judged(verdict), pull_request=FakePullRequest(trouble))
    assert run_gate(TASK, world) == code
    [warning] = [said for said in world.step.annotations if said.level == "warning"]
    assert str(trouble) in warning.message
    assert world.step.set["verdict"] == verdict


def test_a_fork_gets_a_notice_and_no_comment():
    world = world_of(judged(), pull_request=FakePullRequest())
    run_gate(replace(TASK, is_read_only=True), world)
    assert world.pull_request.comments == {}
    assert [said.level for said in world.step.annotations] == ["error", "notice"]


def test_a_fork_gets_a_comment_where_it_is_asked_for():
    world = world_of(judged(), pull_request=FakePullRequest())
    run_gate(replace(TASK, is_read_only=True, comment="always"), world)
    assert world.pull_request.comments == {"k": "# c"}


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
def test_a_comment_is_begun_as_the_mode_says(mode, verdict, suites, begun):
    world = world_of(judged(verdict, suites=suites), pull_request=FakePullRequest())
    run_gate(replace(TASK, comment=mode), world)
    assert (world.pull_request.comments != {}) is begun


def test_a_quiet_mode_keeps_a_comment_that_is_there_true():
    world = world_of(judged(suites=UNCHANGED), pull_request=FakePullRequest(comments={"k": "old"}))
    run_gate(replace(TASK, comment="on-failure"), world)
    assert world.pull_request.comments == {"k": "# c"}


def test_the_baseline_of_a_red_run_is_uploaded_too():
    world = world_of(judged("fail", baseline_zip="/out/baseline.zip"), artifacts=FakeArtifacts())
    assert run_gate(replace(TASK, artifact="b"), world) == 1
    assert world.artifacts.uploaded == {"b": "/out/baseline.zip"}
    assert world.step.set["baseline-path"] == ".evalgate/baseline.zip"


def test_an_upload_that_fails_is_a_warning_that_names_the_step_to_add():
    world = world_of(judged(baseline_zip="/out/baseline.zip"), artifacts=FakeArtifacts(Unreachable("no")))
    assert run_gate(replace(TASK, artifact="b"), world) == 0
    message = world.step.annotations[-1].message
    assert "actions/upload-artifact" in message
    assert "path: .evalgate/baseline.zip" in message


def test_what_a_baseline_had_to_leave_out_is_a_warning():
    world = world_of(replace(judged(baseline_zip="/out/baseline.zip"), warnings=["7 traces were left out"]))
    run_gate(TASK, world)
    assert Annotation("warning", "EvalGate", "7 traces were left out") in world.step.annotations


def test_without_a_baseline_made_nothing_is_uploaded():
    world = world_of(judged(), artifacts=FakeArtifacts())
    run_gate(replace(TASK, artifact="b"), world)
    assert world.artifacts.uploaded == {}


def test_summary_and_annotations_can_be_turned_off():
    world = world_of(judged())
    run_gate(replace(TASK, annotate=False, summarise=False), world)
    assert (world.step.summaries, world.step.annotations) == ([], [])


def test_the_log_names_the_verdict_and_its_reasons_and_counts_the_rest():
    reasons = [a_reason("hard_fail", f"m{number}", suite="s", scenario="x") for number in range(25)]
    world = world_of(judged("fail", reasons=reasons))
    run_gate(TASK, world)
    assert world.step.lines[0] == "EvalGate: fail (exit code 1), 1 of 2 scenarios pass"
    assert world.step.lines[1] == "- s / x: m0"
    assert world.step.lines[-1] == "5 more reasons are in results.json"
    assert len(world.step.lines) == 22


def test_outputs_stand_before_github_is_asked_for_anything():
    world = world_of(judged("fail"), pull_request=FakePullRequest(SystemExit(143)))
    with pytest.raises(SystemExit):
        run_gate(TASK, world)
    assert world.step.set["exit-code"] == "1"


def test_the_template_goes_to_the_judge():
    template = TemplateFile("own.md.j2", "words")
    world = world_of(judged(), template=FakeTemplate(template))
    run_gate(TASK, world)
    assert world.judge.requests[0].template == template


@pytest.mark.parametrize("trouble", [Unreachable("GitHub is down"), SettingError("there is none")])
def test_a_template_that_can_not_be_had_is_a_warning_and_the_verdict_stands(trouble):
    world = world_of(judged("fail"), template=FakeTemplate(trouble), pull_request=FakePullRequest())
    assert run_gate(TASK, world) == 1
    assert world.judge.requests[0].template is None
    warning = world.step.annotations[0]
    assert (warning.level, str(trouble) in warning.message) == ("warning", True)
    assert world.pull_request.comments == {"k": "# c"}
