"""Legs of a matrix and reusable workflows: each keeps its own comment, check run and baseline."""

from __future__ import annotations

import base64
import json

import pytest
from fakes.agent import BOT, SUITE, next_run, on_main, own_comments, trace, write_trace

SUPPORT, BILLING = {"suite": "support"}, {"suite": "billing"}


def of_job(runner, number, **variables):
    """Variables of another job or attempt of the run; the runner names a job's id only in its token."""
    token = runner.environment()["ACTIONS_RUNTIME_TOKEN"]
    head, claims, signature = token.split(".")
    return {**variables, "ACTIONS_RUNTIME_TOKEN": ".".join([head, replace_job(claims, number), signature])}


def replace_job(claims, number):
    document = json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))
    run = next(scope for scope in document["scp"].split() if scope.startswith("Actions.Results:")).split(":")[1]
    document["scp"] = f"Actions.Results:{run}:job-{number}"
    return base64.urlsafe_b64encode(json.dumps(document).encode()).decode().rstrip("=")


def test_each_leg_may_keep_its_comment_and_finds_its_own_baseline(hub, act, workspace):
    on_main(hub)
    for leg in (SUPPORT, BILLING):
        (workspace / "evals/support.yaml").write_text(SUITE.replace("suite: support", f"suite: {leg['suite']}"))
        assert act("push", matrix=leg).exit_code == 0
    names = sorted(artifact["name"] for artifact in hub.state["artifacts"])
    assert names == ["evalgate-baseline-billing-09eb40fa", "evalgate-baseline-support-4747915e"]
    next_run(hub, "success")
    for leg in (SUPPORT, BILLING):
        (workspace / "evals/support.yaml").write_text(SUITE.replace("suite: support", f"suite: {leg['suite']}"))
        step = act(matrix=leg, check_run="true", comment="always")
        assert (step.outputs["baseline-status"], step.annotations) == ("exact", [])
    first, second = own_comments(hub)
    assert "key=evalgate.yml/gate/support-4747915e " in first
    assert first.splitlines()[2].startswith("## \u26aa ` suite: support `: EvalGate passed: ")
    assert second.splitlines()[2].startswith("## \u26aa ` suite: billing `: EvalGate passed: ")
    assert [check["name"] for check in hub.state["check_runs"]] == [
        "EvalGate (evalgate.yml/gate/support-4747915e)",
        "EvalGate (evalgate.yml/gate/billing-09eb40fa)",
    ]
    assert hub.state["check_runs"][0]["output"]["title"].endswith(" \u00b7 suite: support")


def judge_on_main(hub, act, *legs):
    on_main(hub)
    for leg in legs:
        act("push", matrix=leg, legs=len(legs))
    next_run(hub, "success")


@pytest.mark.parametrize(("matrix", "legs"), [([SUPPORT], 1), ([SUPPORT, BILLING], 2), ([SUPPORT, BILLING], "0")])
def test_a_leg_that_main_has_and_the_run_has_not_makes_it_yellow(hub, act, budget, matrix, legs):
    judge_on_main(hub, act, SUPPORT, BILLING)
    steps = [act(matrix=leg, legs=legs, budget=budget) for leg in matrix]
    [comment] = own_comments(hub)
    said = "passed, but 1 of the 2 legs that ` main ` has does not run here; "
    for report in (steps[-1].summary, comment):
        assert ("\U0001f7e1" in report, said in report) == (legs == 1, legs == 1)
    assert ("## \U0001f7e1 EvalGate passed in its only leg; look at it\n" in comment, steps[-1].exit_code) == (
        legs == 1,
        0,
    )


def test_a_leg_that_fails_says_too_which_legs_do_not_run(hub, act, workspace):
    judge_on_main(hub, act, SUPPORT, BILLING, {"suite": "third"})
    write_trace(workspace, trace(tool="guess"))
    step = act(matrix=SUPPORT)
    assert step.exit_code == 1
    assert "; 2 of the 3 legs that ` main ` has do not run here" in step.summary.split("\n")[0]


def test_the_shared_comment_is_yellow_until_all_legs_reported(hub, act, budget):
    headings = []
    for leg in (SUPPORT, BILLING):
        act(matrix=leg, legs=2, budget=budget)
        headings.append(own_comments(hub)[0].split("\n")[2])
    assert headings == [
        "## \U0001f7e1 EvalGate passed in 1 of 2 legs; 1 has not reported",
        "## \u2705 EvalGate passed in all 2 legs",
    ]


def test_a_job_without_a_matrix_updates_the_comment_of_the_last_version(hub, act):
    hub.comment("<!-- evalgate:sticky v1 key=evalgate.yml/gate -->\n## of the last version\n", "github-actions[bot]")
    step = act()
    [comment] = own_comments(hub)
    assert comment.startswith("<!-- evalgate:sticky v1 key=evalgate.yml/gate -->\n")
    assert "last version" not in comment
    assert step.annotations == []


def test_hostile_values_of_a_matrix_stay_text(hub, act, budget):
    leg = {"suite": "--><script>@acme/everyone ::error::x `a`\n## x", "x" * 500: [1]}
    assert act(matrix=leg, check_run="true", budget=budget).exit_code == 0
    [comment] = own_comments(hub)
    marker, _, heading = comment.splitlines()[:3]
    assert marker.count("-->") == 1
    assert "<script>" not in heading.replace("` suite: --><script>", "")
    assert "\n## x" not in comment


def test_two_legs_with_one_comment_key_warn(hub, act, runner, workspace):
    write_trace(workspace, trace(tool="guess"))
    assert act(matrix=SUPPORT, comment_key="one").exit_code == 1
    write_trace(workspace, trace())
    step = act(matrix=BILLING, comment_key="one", variables=of_job(runner, 2))
    assert step.exit_code == 0
    [warning] = [each["message"] for each in step.annotations]
    assert "the comment was not updated: it shows another job or step of this run, which did not pass" in warning
    [comment] = own_comments(hub)
    assert "suite: support" in comment.splitlines()[2]


def test_of_two_comments_that_legs_created_at_once_the_failed_one_stays(hub, act, runner, workspace):
    for number, (leg, tool) in enumerate([(SUPPORT, "lookup_order"), (BILLING, "guess")]):
        write_trace(workspace, trace(tool=tool))
        act(matrix=leg, comment_key="one" * (number + 1), variables=of_job(runner, number))
    second = hub.comments_of(BOT)[1]
    second["body"] = second["body"].replace("key=oneone ", "key=one ")
    write_trace(workspace, trace())
    step = act(matrix={"suite": "third"}, comment_key="one", variables=of_job(runner, 2))
    assert "it shows another job or step of this run, which did not pass" in step.annotations[0]["message"]
    [comment] = own_comments(hub)
    assert "1 scenario hard-failed: " in comment.splitlines()[2]
    assert comment.splitlines()[2].startswith("## \u274c ` suite: billing `: EvalGate failed")


def test_two_calls_of_a_reusable_workflow_in_one_run_warn(hub, act, runner):
    """Job, leg and step have the same names in both calls."""
    assert act().annotations == []
    [warning] = [each["message"] for each in act(variables=of_job(runner, 2)).annotations]
    assert "this report replaced that of another job or step of this run" in warning
    assert len(own_comments(hub)) == 1


def test_a_push_that_is_run_again_keeps_the_baseline_of_its_first_attempt(hub, act):
    on_main(hub)
    act("push")
    step = act("push", variables={"GITHUB_RUN_ATTEMPT": "2"})
    assert step.outputs["baseline-status"] == "none"
    [warning] = [each["message"] for each in step.annotations]
    left = "an earlier attempt of this run left the artifact 'evalgate-baseline', which stays"
    assert warning == f"the baseline was not uploaded: {left}"


@pytest.mark.parametrize(
    ("event", "attempt", "words"),
    [
        ("push", "1", ""),
        ("push", "3", "attempt 3 of its run"),
        ("workflow_dispatch", "1", "a run started by hand"),
        ("workflow_dispatch", "2", "attempt 2 of a run started by hand"),
        ("schedule", "1", ""),
    ],
)
def test_a_failure_that_only_a_chosen_baseline_knows_says_so(hub, act, workspace, event, attempt, words):
    on_main(hub, event)
    write_trace(workspace, trace(tool="guess"))
    act(event, fail_on="broken", variables={"GITHUB_RUN_ATTEMPT": attempt})
    next_run(hub, "success")
    step = act(fail_on="broken")
    heading = step.summary.split("\n")[0]
    assert "known failure ` refund `" in heading
    assert ("by a baseline of" in heading, f", by a baseline of {words}" in heading) == (bool(words), bool(words))
    assert (" of ` main ` \u00b7 of" in step.summary, f" of ` main ` \u00b7 of {words}" in step.summary) == (
        bool(words),
        bool(words),
    )


def test_a_rerun_updates_the_comment_without_a_warning(hub, act, runner, workspace):
    assert act().annotations == []
    write_trace(workspace, trace(tool="guess"))
    act(annotations="false", check_run="true")
    step = act(annotations="false", check_run="true", variables=of_job(runner, 2, GITHUB_RUN_ATTEMPT="2"))
    assert step.annotations == []
    [comment] = own_comments(hub)
    assert " attempt=2 " in comment.splitlines()[1]
    assert "failed" in comment.splitlines()[2]
    summaries = [check["output"]["summary"] for check in hub.state["check_runs"]]
    for shown in (comment, step.summary, summaries[-1]):
        assert " (attempt 2 of this run) \u00b7 " in shown
    assert "attempt 2" not in summaries[0]


def test_workflows_that_call_the_same_reusable_one_keep_their_own_comments(hub, act):
    workflow = "acme/agent/.github/workflows/{}.yml@refs/pull/7/merge"
    for caller in ("ci", "nightly"):
        assert act(variables={"GITHUB_WORKFLOW_REF": workflow.format(caller)}).annotations == []
    assert [comment.splitlines()[0].split("key=")[1] for comment in own_comments(hub)] == [
        "ci.yml/gate -->",
        "nightly.yml/gate -->",
    ]


def test_a_matrix_that_is_no_object_is_invalid_input(act):
    step = act(matrix=["support"])
    assert step.exit_code == 2
    assert "input `matrix` must be a JSON object" in step.annotations[0]["message"]
