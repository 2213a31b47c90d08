"""`policy-from: base`: what a pull request recorded is judged by the rules that judged main."""

from __future__ import annotations

import base64
import json

import pytest
from fakes.agent import SUITE, next_run, on_main, own_comments, trace, write_trace

from evalgate.adapters.http import RequestDeadline

WEAKER = SUITE.replace("      - {type: tool_called, tool: lookup_order, required: true}\n", "")


@pytest.fixture
def after_main(hub, act):
    """Main was judged, and a pull request's run begins."""
    on_main(hub)
    assert act("push").exit_code == 0
    next_run(hub, "success")


def results(workspace):
    return json.loads((workspace / ".evalgate/results.json").read_bytes())


def weaken(workspace):
    """The pull request drops the check that its trace fails."""
    (workspace / "evals/support.yaml").write_text(WEAKER)
    write_trace(workspace, trace(tool="guess"))


INPUTS = {"fail_on": "hard_fail,broken", "on_weakening": "fail", "traces": "traces/*.json"}


@pytest.fixture
def main_with_inputs(hub, act):
    """Main was judged with inputs that decide, and a pull request's run begins."""
    on_main(hub)
    assert act("push", **INPUTS).exit_code == 0
    next_run(hub, "success")


@pytest.mark.usefixtures("main_with_inputs")
@pytest.mark.parametrize("is_sandboxed", [False, True], ids=["in one process", "apart"])
def test_other_traces_by_the_workflow_of_a_pull_request_are_a_weakening(act, workspace, is_sandboxed):
    write_trace(workspace, trace(tool="guess"))
    (workspace / "ok/traces").mkdir(parents=True)
    write_trace(workspace / "ok", trace())
    elsewhere = {**INPUTS, "traces": "ok/traces/*.json", "is_sandboxed": is_sandboxed}

    step = act(**elsewhere)

    assert step.exit_code == 1
    [weak] = results(workspace)["weakenings"]
    assert weak["kind"] == "traces_changed"
    assert weak["message"] == "other files are read: traces: traces/*.json -> ok/traces/*.json"
    warned = act(**{**elsewhere, "on_weakening": "warn"})
    assert warned.exit_code == 0
    assert "🟡" in warned.summary.splitlines()[0]


@pytest.mark.usefixtures("main_with_inputs")
def test_more_traces_or_the_same_are_no_weakening(act, workspace):
    for traces in ("traces/*.json", "traces/*.json\nmore/*.json", f"{workspace}/traces/*.json"):
        step = act(**{**INPUTS, "traces": traces})
        assert step.exit_code == 0
        assert results(workspace)["weakenings"] == []


def test_traces_in_a_folder_of_the_run_are_no_other_traces(hub, act, workspace):
    def run_in_its_own_folder(event, run_id):
        (workspace / run_id / "traces").mkdir(parents=True)
        write_trace(workspace / run_id, trace())
        return act(event, traces=f"{run_id}/traces/*.json", variables={"GITHUB_RUN_ID": run_id})

    on_main(hub)
    assert run_in_its_own_folder("push", "1000001").exit_code == 0
    next_run(hub, "success")

    assert run_in_its_own_folder("pull_request", "1000002").exit_code == 0
    assert results(workspace)["weakenings"] == []
    assert results(workspace)["inputs"]["traces"] == ["*/traces/*.json"]


@pytest.mark.usefixtures("main_with_inputs")
def test_milder_inputs_than_mains_are_named(hub, act, workspace):
    step = act(fail_on="hard_fail", traces="traces/*.json")

    assert step.exit_code == 0
    assert results(workspace)["weakenings"] == []
    lines = [
        "`broken` failed the gate of the baseline's workflow, and by the input `fail-on` not this one",
        "the baseline's workflow had `on-weakening: fail`, and this one has `warn`",
    ]
    assert [each["message"] for each in results(workspace)["warnings"]] == lines
    [comment] = own_comments(hub)
    assert "on-weakening: fail" in comment


@pytest.mark.usefixtures("main_with_inputs")
def test_stricter_inputs_than_mains_are_not(act, workspace):
    step = act(fail_on="hard_fail,regression", on_weakening="fail", traces="traces/*.json")
    assert step.exit_code == 0
    assert results(workspace)["warnings"] == []


def plant_damaged(hub):
    """A newer artifact of main's commit, that holds no baseline."""
    content = base64.b64encode(hub.evil_zip("empty")).decode()
    return hub.plant(blob_b64=content, run={"id": 9_500})


@pytest.mark.usefixtures("after_main")
def test_a_pull_request_that_drops_the_failing_check_fails_by_mains_rules(hub, act, workspace):
    weaken(workspace)
    by_its_own = act()
    assert by_its_own.exit_code == 0

    step = act(policy_from="base")

    assert (step.exit_code, step.outputs["verdict"], step.outputs["hard-fails"]) == (1, "fail", "1")
    document = results(workspace)
    rules = document["rules"]
    assert rules["from"] == "base"
    assert rules["config_hash"] != rules["proposed_config_hash"]
    assert document["baseline"]["status"] == "exact"  # judged by the same rules: nothing drifted
    assert any(weak["kind"] for weak in document["weakenings"])
    [comment] = own_comments(hub)
    assert "**Rules** from the baseline, which differ from the commit's own" in comment


@pytest.mark.usefixtures("after_main")
@pytest.mark.parametrize(("policy_from", "is_added"), [("base", False), ("head", True)])
def test_only_a_check_that_decides_is_one_that_the_baselines_suite_lacks(act, workspace, policy_from, is_added):
    strict = SUITE.replace("tool: lookup_order, required: true}", "name: looks up, tool: lookup, required: true}")
    (workspace / "evals/support.yaml").write_text(strict)
    write_trace(workspace, trace(tool="guess"))
    assert act(policy_from=policy_from).exit_code == 1
    (scenario,) = results(workspace)["suites"][0]["scenarios"]
    assert scenario["change"].get("added_checks", []) == (["looks up"] if is_added else [])


@pytest.mark.parametrize(("ref", "says"), [("refs/heads/feature/x", True), ("refs/heads/main", False)])
@pytest.mark.parametrize("event", ["push", "workflow_dispatch"])
@pytest.mark.usefixtures("after_main")
def test_a_run_of_another_branch_says_that_its_own_rules_decided(act, event, ref, says):
    variables = {"GITHUB_REF": ref, "GITHUB_REF_NAME": ref.removeprefix("refs/heads/")}
    step = act(event, policy_from="base", variables=variables)
    words = "holds on pull requests and in the merge queue only: this run of another branch was judged by the rules of"
    assert (words in step.summary) == says
    assert words not in act(event, variables=variables).summary


@pytest.mark.usefixtures("after_main")
def test_the_same_verdict_comes_from_the_judges_own_process(act, workspace):
    weaken(workspace)
    assert act(policy_from="base", is_sandboxed=True).exit_code == 1
    assert results(workspace)["rules"]["from"] == "base"


@pytest.mark.usefixtures("after_main")
def test_the_report_says_so_where_a_pull_request_leaves_the_rules_alone(hub, act, workspace):
    step = act(policy_from="base")
    assert step.exit_code == 0
    rules = results(workspace)["rules"]
    assert rules["config_hash"] == rules["proposed_config_hash"]
    assert "the same as the commit's own" in own_comments(hub)[0]


@pytest.mark.usefixtures("after_main")
def test_a_policy_of_the_pull_request_does_not_count(act, workspace):
    write_trace(workspace, trace(content="no"))
    (workspace / "evals/support.yaml").write_text(SUITE + "policy: {fail_on: [below_threshold]}\n")
    assert act().exit_code == 1
    assert act(policy_from="base").exit_code == 0


def test_without_a_baseline_nothing_can_be_judged(act, workspace):
    step = act(policy_from="base")
    assert (step.exit_code, step.outputs["verdict"]) == (3, "cannot_judge")
    [reason] = results(workspace)["reasons"]
    assert reason["code"] == "no_baseline"
    assert "policy-from: head" in reason["message"]


@pytest.mark.usefixtures("after_main")
def test_where_the_best_baseline_is_damaged_the_next_ones_rules_decide(hub, act, workspace):
    plant_damaged(hub)
    weaken(workspace)
    step = act(policy_from="base")
    assert (step.exit_code, step.outputs["baseline-status"]) == (1, "exact")


def test_where_the_only_baseline_is_damaged_the_reason_says_so(hub, act, workspace):
    number = plant_damaged(hub)["id"]
    step = act(policy_from="base")
    assert (step.exit_code, step.outputs["baseline-status"]) == (3, "refused")
    document = results(workspace)
    assert f"artifact {number} of run" in document["warnings"][0]["message"]
    assert document["reasons"][0]["code"] == "no_baseline"


@pytest.mark.usefixtures("after_main")
@pytest.mark.parametrize("baseline", ["evals/baseline.zip", "none"])
def test_a_baseline_in_the_checkout_gives_no_rules(act, workspace, baseline):
    (workspace / "evals/baseline.zip").write_bytes(b"of the pull request")
    step = act(policy_from="base", baseline=baseline)
    assert (step.exit_code, step.outputs["verdict"]) == (2, "invalid")
    assert "needs `baseline: auto`" in step.annotations[0]["message"]


def test_where_github_does_not_answer_the_run_ends_in_4(hub, act, workspace):
    hub.fail({"kind": "status", "status": 500}, times=-1, op="actions/list-artifacts-for-repo")
    step = act(policy_from="base", budget=RequestDeadline(pace=0.1))
    assert (step.exit_code, results(workspace)["reasons"][0]["code"]) == (4, "unreachable")


def test_on_main_its_own_rules_decide(hub, act, workspace):
    on_main(hub)
    assert act("push", policy_from="base").exit_code == 0
    assert "rules" not in results(workspace)


@pytest.mark.usefixtures("after_main")
def test_an_invalid_suite_of_the_pull_request_is_reported(act, workspace):
    (workspace / "evals/support.yaml").write_text("suite: [")
    assert act(policy_from="base").exit_code == 2


GOOD_COPIES = SUITE.replace("../traces/*.json", "../good/*.json")


def read_good_copies(workspace):
    """The pull request's trace fails, and its suite reads a good copy instead."""
    (workspace / "good").mkdir()
    (workspace / "good/refund.json").write_text(json.dumps(trace()))
    (workspace / "evals/support.yaml").write_text(GOOD_COPIES)
    write_trace(workspace, trace(tool="guess"))


@pytest.mark.usefixtures("after_main")
@pytest.mark.parametrize("is_sandboxed", [False, True])
def test_the_files_that_main_reads_are_judged_as_well(hub, act, workspace, is_sandboxed):
    read_good_copies(workspace)
    step = act(is_sandboxed=is_sandboxed)
    assert step.exit_code == 0
    assert "1 scenario would fail under the baseline's rules and other files are read in suite" in own_comments(hub)[0]
    [weakening] = results(workspace)["weakenings"]
    assert weakening["kind"] == "traces_changed"
    assert "traces/refund.json is no longer read; read as in the baseline, refund is HARD FAIL" in weakening["message"]
    assert act(is_sandboxed=is_sandboxed, on_weakening="fail").exit_code == 1


@pytest.mark.usefixtures("after_main")
def test_by_mains_rules_mains_files_are_read(act, workspace):
    read_good_copies(workspace)
    assert act(policy_from="base").exit_code == 1
    [weakening] = results(workspace)["weakenings"]
    assert weakening["message"].endswith("not checked: the traces were not read by both rules")


@pytest.mark.usefixtures("after_main")
def test_by_mains_rules_a_suite_that_moved_is_read_where_it_was(act, workspace):
    write_trace(workspace, trace(tool="guess"))
    moved = workspace / "evals/deep"
    moved.mkdir()
    (workspace / "evals/support.yaml").rename(moved / "support.yaml")
    (workspace / "evals/traces").mkdir()
    (workspace / "evals/traces/refund.json").write_text(json.dumps(trace()))
    assert act(policy_from="base").exit_code == 1


def reserve(berth):
    """The agent's trace, in which it reserves a berth as well."""
    found = trace()
    call = {"id": "c2", "name": "reserve_berth", "arguments": {"berth": berth}}
    asked = {"role": "assistant", "content": "", "tool_calls": [call]}
    found["messages"][3:3] = [asked, {"role": "tool", "tool_call_id": "c2", "content": "{}"}]
    return found


@pytest.mark.parametrize("is_sandboxed", [False, True], ids=["in one process", "apart"])
def test_a_look_up_that_a_pull_request_lists_hides_nothing_by_mains_rules(hub, act, workspace, is_sandboxed):
    on_main(hub)
    write_trace(workspace, reserve("B7"))
    assert act("push").exit_code == 0
    next_run(hub, "success")
    (workspace / "evals/support.yaml").write_text(f"{SUITE}tools: {{lookups: [reserve_berth]}}\n")
    write_trace(workspace, reserve("B4"))
    found = {}
    for policy_from in ("head", "base"):
        step = act(policy_from=policy_from, is_sandboxed=is_sandboxed)
        (scenario,) = results(workspace)["suites"][0]["scenarios"]
        differences = [each["what"] for each in scenario.get("differences", [])]
        found[policy_from] = differences, [each["kind"] for each in results(workspace)["weakenings"]]
        assert "a tool now counts as a look-up, which changes nothing" in step.summary
    assert found == {"head": ([], ["lookup_added"]), "base": (["reserve_berth.berth"], ["lookup_added"])}
